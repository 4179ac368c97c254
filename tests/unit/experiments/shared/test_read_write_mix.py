"""Mixes of reads and writes, and the memory they walk over."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import GIB, MIB, a_machine

from memgauge.experiments.shared import read_write_mix as traffic_loads
from memgauge.experiments.shared.read_write_mix import STORES, left_out, loads, ratio
from memgauge.experiments.shared.traffic_sizes import (
    CACHE_MULTIPLE,
    LEAST_REGION_BYTES,
    traffic_sizes,
)
from memgauge.model.errors import RequestError

SEQUENTIAL = {False: ("sequential",), True: ("sequential",)}


@pytest.mark.parametrize(
    ("share", "reads", "writes"),
    [
        (1.0, 1, 0),
        (0.75, 3, 1),
        (2 / 3, 2, 1),
        (0.667, 2, 1),
        (0.5, 1, 1),
        (1 / 3, 1, 2),
        (0.9, 9, 1),
        (0.99, 99, 1),
        (0.003, 3, 997),
        (0.0, 0, 1),
    ],
)
def test_a_share_becomes_a_ratio_of_small_numbers(share: float, reads: int, writes: int) -> None:
    assert ratio(share) == (reads, writes)


@given(st.floats(0, 1))
def test_any_ratio_is_as_near_as_names_tell_apart(share: float) -> None:
    reads, writes = ratio(share)
    assert 1 <= reads + writes <= 1000
    assert gcd(reads, writes) == 1
    assert abs(Fraction(reads, reads + writes) - Fraction(share)) <= Fraction(1, 1000)


def test_stores_of_a_mix_stand_side_by_side_and_reads_have_none() -> None:
    if not traffic_loads.has_non_temporal_stores():
        pytest.skip("this processor has no non-temporal stores")
    found = loads((1.0, 2 / 3, 0.0), STORES, {False: ("sequential", "random"), True: ("random",)})
    assert [load.name for load in found] == [
        "100r/sequential",
        "100r/random",
        "66.7r-temporal/random",
        "66.7r-non-temporal/random",
        "0r-temporal/random",
        "0r-non-temporal/random",
    ]


def test_the_same_mix_asked_for_twice_is_one() -> None:
    found = loads((2 / 3, 0.667, 0.6667), ("temporal",), SEQUENTIAL)
    assert [load.name for load in found] == ["66.7r-temporal/sequential"]


def test_bytes_count_lines_and_what_stores_read_before_they_write() -> None:
    (load,) = loads((0.75,), ("temporal",), SEQUENTIAL)
    spec = load.spec()
    counted, moved = load.bytes_of(4_000)
    assert counted == 4_000 * spec.line_bytes
    assert moved == counted + 1_000 * spec.write_allocate_bytes


def test_without_non_temporal_stores_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traffic_loads, "has_non_temporal_stores", lambda: False)
    found = loads((1.0, 0.5), STORES, SEQUENTIAL)
    assert [load.name for load in found] == ["100r/sequential", "50r-temporal/sequential"]
    assert left_out(STORES) == {"left_out": "non-temporal"}
    assert left_out(("temporal",)) == {}
    with pytest.raises(RequestError, match="use --store temporal"):
        loads((0.5,), ("non-temporal",), SEQUENTIAL)


@given(st.integers(1, 64), st.integers(1, 4), st.integers(1, 1024))
def test_all_threads_walk_over_more_than_the_caches_hold(
    cores: int, sockets: int, llc_mib: int
) -> None:
    system = a_machine(cores, sockets=sockets, llc_bytes=llc_mib * MIB)
    sizes = traffic_sizes(system.allowed_cpus, system)
    assert sizes.llc_bytes == sockets * llc_mib * MIB
    assert sizes.region_bytes >= LEAST_REGION_BYTES
    assert sizes.region_bytes * sizes.threads >= CACHE_MULTIPLE * sizes.llc_bytes
    assert sizes.lead_in_bytes * sizes.threads >= sizes.llc_bytes


def test_traffic_takes_half_of_a_small_memory_at_most() -> None:
    system = a_machine(2, llc_bytes=512 * MIB, available_bytes=GIB)
    assert traffic_sizes([0, 1], system).total_bytes <= GIB // 2
