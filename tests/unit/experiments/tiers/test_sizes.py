"""How large arrays are, and what a small second memory makes of them."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import GIB, MIB, a_machine

from memgauge.experiments.tiers import sizes as tiers_sizes
from memgauge.experiments.tiers.parameters import TiersParameters
from memgauge.experiments.tiers.sizes import TierSizes, tier_sizes
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import build
from memgauge.model.system import System

DRAM = MemoryPlacement()
SMALL = MemoryPlacement("file", path="/mnt/x")


def sizes(
    system: System, *, threads: int = 4, small: int = 0, probed: bool = False, **given: str
) -> TierSizes:
    arrays = {DRAM: 2 * threads} | ({SMALL: small} if small else {})
    return tier_sizes(
        build(TiersParameters, **given),
        system,
        system.allowed_cpus[:threads],
        arrays,
        list(arrays) if probed else [],
    )


def rooms(monkeypatch: pytest.MonkeyPatch, small_bytes: int) -> None:
    def room(system: System, placement: MemoryPlacement) -> list[tuple[object, int]]:
        del system
        return [(placement, small_bytes) if placement == SMALL else ("memory", 1 << 40)]

    monkeypatch.setattr(tiers_sizes, "room", room)


@given(st.integers(1, 16), st.integers(1, 256))
def test_arrays_are_twice_the_cache_of_their_thread(threads: int, llc_mib: int) -> None:
    found = sizes(a_machine(16, llc_bytes=llc_mib * MIB), threads=threads)
    assert found.array_bytes >= max(2 * llc_mib, 32) * MIB
    assert found.array_bytes < max(2 * llc_mib, 32) * MIB + 2 * MIB
    assert found.exceeds_caches
    assert found.array_bytes >= 4 * found.iteration_bytes
    walked = found.lead_in_iterations * found.iteration_bytes * 2 * threads
    assert walked >= llc_mib * MIB


def test_small_memory_makes_small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms(monkeypatch, GIB)
    wide = sizes(a_machine(16), threads=16, small=8)
    assert wide.array_bytes == 64 * MIB
    narrow = sizes(a_machine(16), threads=16, small=32)
    assert narrow.array_bytes == 16 * MIB
    assert not narrow.exceeds_caches
    assert 32 * narrow.array_bytes <= GIB // 2
    assert narrow.iteration_bytes == 4 * MIB


@given(st.integers(1, 1 << 34), st.integers(1, 64))
def test_what_is_fitted_is_a_power_of_two_and_fits(room_bytes: int, arrays: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        rooms(patch, room_bytes)
        found = sizes(a_machine(16), threads=16, small=arrays).array_bytes
    assert found.bit_count() == 1
    assert found == 2 * MIB or arrays * found <= room_bytes // 2
    assert found == 64 * MIB or arrays * found * 2 > room_bytes // 2


def test_a_small_node_makes_small_arrays() -> None:
    system = a_machine(4)
    small = msgspec.structs.replace(system.nodes[0], node=2, cpus=[], bytes=GIB // 4)
    machine = msgspec.structs.replace(system, nodes=[*system.nodes, small])
    arrays = {DRAM: 8, MemoryPlacement("node", (2,)): 8}
    found = tier_sizes(TiersParameters(), machine, machine.allowed_cpus, arrays, [])
    assert found.array_bytes == 16 * MIB


def test_hardly_any_memory_still_gives_a_size_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms(monkeypatch, 1 << 16)
    assert sizes(a_machine(16), small=32).array_bytes == 2 * MIB


def test_what_was_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms(monkeypatch, MIB)
    found = sizes(a_machine(4), small=4, array_bytes="1MiB")
    assert (found.array_bytes, found.iteration_bytes) == (MIB, MIB // 4)


def test_fixed_iterations_are_walks_over_whole_arrays() -> None:
    found = sizes(a_machine(4), fixed_iterations="20")
    assert found.iteration_bytes == found.array_bytes
    assert found.lead_in_iterations == 0


def test_rings_of_a_probe_leave_room_for_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms(monkeypatch, GIB)
    found = sizes(a_machine(4), small=8, probed=True)
    assert found.ring_bytes == 102 * MIB
    assert found.ring_bytes + 8 * found.array_bytes < 0.8 * GIB
    assert sizes(a_machine(4)).ring_bytes is None


def test_hidden_caches_are_not_called_exceeded() -> None:
    hidden = msgspec.structs.replace(a_machine(4), caches=[])
    found = sizes(hidden)
    assert found.array_bytes == 128 * MIB
    assert found.llc_bytes is None
    assert not found.exceeds_caches
