"""Which of several ways to count the same traffic `auto` takes, by how certain their scales are."""

from pathlib import Path

import msgspec
import pytest
from tests.counters_trees.machines import ice_lake, power9

from memgauge.counters.choice import Rank, chosen_of, preferred
from memgauge.counters.opening import find
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.verdicts import KeptVerdicts
from memgauge.model.counting.events import Event, EventVerdict, VerdictWord
from memgauge.model.errors import CounterRefused
from memgauge.model.memory import on_gpu

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


def test_the_name_of_a_route_alone_means_what_auto_would_choose_by_it(tmp_path: Path) -> None:
    host = ice_lake(tmp_path).host
    by_route = find(["perf"], host)
    assert {one.quantity for one in by_route} == {R, W}
    assert [one.name for one in by_route] == [one.name for one in find(["auto"], host)]
    assert {one.back_end for one in find(["perf,perf:cycles"], host)} == {"perf"}


def test_a_route_that_counts_nothing_is_refused_with_its_reason(tmp_path: Path) -> None:
    host = ice_lake(tmp_path).host
    with pytest.raises(CounterRefused, match="can be opened by this route; resctrl: "):
        find(["perf,resctrl"], host)
    with pytest.raises(CounterRefused, match="cupti: no route to the memory of the host"):
        find(["cupti"], host)
    with pytest.raises(CounterRefused, match="perf: no route to the memory of cuda:0"):
        find(["perf"], host, placement=on_gpu(0))


def kept(events: list[Event], **of: tuple[VerdictWord, float | None]) -> KeptVerdicts:
    """Verdicts on all events of the ways that are named."""
    return KeptVerdicts(
        of={
            event.name: EventVerdict(
                event=event.name,
                verdict=of[event.way][0],
                factor=of[event.way][1],
                evidence="test",
                encoding=event.encoding,
                scale=event.scale,
                machine="m",
                kernel="k",
                made_at="2026-01-02T03:04:05+00:00",
            )
            for event in events
            if event.way in of
        }
    )


def traffic(root: Path) -> list[Event]:
    rows = [one.event for one in Catalogue(power9(root).host).known]
    return [one for one in rows if one.quantity in {R, W}]


@pytest.mark.parametrize(
    ("found", "way", "rank"),
    [
        ({}, "mba", Rank.UNVERIFIED),
        ({"mcs": ("verified", None)}, "mcs", Rank.VERIFIED),
        ({"mba": ("mis-scaled", 64.0), "mcs": ("verified", None)}, "mcs", Rank.VERIFIED),
        ({"mba": ("mis-scaled", 64.0)}, "mcs", Rank.UNVERIFIED),
        ({"mba": ("mis-scaled", None), "mcs": ("mis-scaled", 2.0)}, "mcs", Rank.CALIBRATED),
        ({"mba": ("dead", None), "mcs": ("partial", None)}, "mcs", Rank.WRONG),
        ({"mba": ("noisy", None), "mcs": ("partial", None)}, "mba", Rank.UNVERIFIED),
        ({"mba": ("verified", None), "mcs": ("verified", None)}, "mba", Rank.VERIFIED),
    ],
)
def test_verdicts_rank_before_the_order_of_the_tables(
    tmp_path: Path, found: dict[str, tuple[VerdictWord, float | None]], way: str, rank: Rank
) -> None:
    events = traffic(tmp_path)
    chosen = chosen_of(events, kept(events, **found), "known")
    assert {one.way for one in chosen.events} == {way}
    assert chosen.rank == rank
    assert f"dram is counted by {way}" in chosen.reasons[0]
    if way == "mcs" and "mba" in found:
        assert f"not by mba, found {found['mba'][0]} on 2026-01-02" in chosen.reasons[1]


def test_one_bad_direction_makes_its_way_bad(tmp_path: Path) -> None:
    events = traffic(tmp_path)
    known = kept(events, mba=("verified", None), mcs=("verified", None)).of
    writes = next(one.name for one in events if (one.way, one.quantity) == ("mba", W))
    spoilt = known | {writes: msgspec.structs.replace(known[writes], verdict="dead")}
    assert {one.way for one in chosen_of(events, KeptVerdicts(of=spoilt), "known").events} == {
        "mcs"
    }


def test_a_verdict_of_another_encoding_decides_nothing(tmp_path: Path) -> None:
    events = traffic(tmp_path)
    known = kept(events, mba=("dead", None)).of
    stale = {name: msgspec.structs.replace(one, encoding="x") for name, one in known.items()}
    chosen = chosen_of(events, KeptVerdicts(of=stale), "known")
    assert {one.way for one in chosen.events} == {"mba"}
    assert "not applied; verify it again" in chosen.reasons[0]
