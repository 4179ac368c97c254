"""What the preloaded library is told, and how long stretches of blocks are."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.system.trees import plant

from memgauge.experiments.diagnose.variants import preloaded
from memgauge.experiments.diagnose.variants.preloaded import (
    LEAST_UNIT_BYTES,
    MAPS_PART,
    MOST_MAPS_FILE,
    stretched,
    unit_bytes_for,
)
from memgauge.system.tree import Tree

MIB, GIB = 1 << 20, 1 << 30


def test_a_unit_is_two_mebibytes_until_maps_become_many(tmp_path: Path) -> None:
    """Turns of 3:1 are 8 MiB and two stretches: 8 x 1024 maps are 4096 turns, which are 32 GiB."""
    tree = plant(tmp_path, {MOST_MAPS_FILE: f"{MAPS_PART * 8 * 1024}\n"})
    weights = {0: 3, 2: 1}
    assert unit_bytes_for(weights, 0, tree) == 2 * MIB
    assert unit_bytes_for(weights, 32 * GIB, tree) == 2 * MIB
    assert unit_bytes_for(weights, 32 * GIB + 1, tree) == 4 * MIB
    assert unit_bytes_for(weights, 1024 * GIB, tree) == 64 * MIB


@given(
    weights=st.dictionaries(st.integers(0, 7), st.integers(1, 255), min_size=1),
    resident_bytes=st.integers(0, 1 << 46),
)
def test_all_memory_takes_few_maps_and_no_shorter_unit_does(
    weights: dict[int, int], resident_bytes: int
) -> None:
    empty = Tree(Path("/nowhere"))
    unit_bytes = unit_bytes_for(weights, resident_bytes, empty)

    def maps(unit: int) -> float:
        return resident_bytes / (unit * sum(weights.values())) * len(weights)

    assert maps(unit_bytes) <= preloaded.MOST_MAPS / MAPS_PART
    assert unit_bytes % LEAST_UNIT_BYTES == 0
    if unit_bytes > LEAST_UNIT_BYTES:
        assert maps(unit_bytes // 2) > preloaded.MOST_MAPS / MAPS_PART - 2 * len(weights)


def test_the_library_is_told_the_unit_and_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloaded, "installed_file", lambda path: Path("/package") / path)
    assert stretched({"LD_PRELOAD": "mine.so"}, {0: 3, 2: 1}, 2 * MIB) == {
        "LD_PRELOAD": "/package/lib/libmemgauge_preload.so:mine.so",
        "MEMGAUGE_LARGE_BYTES": "2097152",
        "MEMGAUGE_LARGE_POLICY": "stretches:2097152:0=3,2=1",
    }
