"""Which of several ways to count the same traffic `auto` takes, by how certain their scales are."""

from pathlib import Path

import msgspec
from tests.counters_trees.machines import ice_lake

from memgauge.counters.opening import preferred
from memgauge.counters.perf.catalogue import Catalogue

R, W = "read_bytes", "write_bytes"


def test_a_disputed_way_is_no_choice_beside_another(tmp_path: Path) -> None:
    """Its place in the tables decides only where nothing else counts both directions."""
    rows = [
        one.event
        for one in Catalogue(ice_lake(tmp_path).host).known
        if one.event.quantity in {R, W}
    ]
    doubted = [
        msgspec.structs.replace(one, certainty="conflict") if one.way == "imc" else one
        for one in rows
    ]
    assert {one.way for one in preferred(rows)} == {"imc"}
    assert {one.way for one in preferred(doubted)} == {"imc_free_running"}
    alone = [one for one in doubted if one.way == "imc"]
    assert preferred(alone)
    half = [one for one in doubted if one.way == "imc" or one.quantity == R]
    assert {one.way for one in preferred(half)} == {"imc"}
