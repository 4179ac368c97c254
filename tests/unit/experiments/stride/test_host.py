"""Which patterns `stride` walks on which machine, and that each is measured as planned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import GIB, MIB, a_machine

from memgauge.experiments.stride.host import Stride
from memgauge.experiments.stride.plan import (
    COARSE_STRIDES,
    FINE_STRIDES,
    LEAST_SLOTS,
    Pattern,
    StrideParameters,
    footprint_of,
    patterns,
)
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build, texts
from memgauge.model.system import System
from memgauge.system.detect import detect

KIB = 1 << 10
SIZES = st.sampled_from([8, 64, 128, 256, 1024, 4096, 65536])


def planned(system: System, **requested: object) -> list[Pattern]:
    return patterns(build(StrideParameters, **requested), system, system.allowed_cpus[0])


def test_every_size_meets_every_stride_it_fits_in_both_kinds_and_orders() -> None:
    found = planned(a_machine(4))
    assert len({one.name for one in found}) == len(found)
    sizes = {(one.access_bytes, one.stride_bytes) for one in found}
    assert sizes == {
        (access, stride)
        for access in (64, 256, KIB, 4 * KIB)
        for stride in COARSE_STRIDES
        if stride >= access
    }
    assert len(found) == 4 * len(sizes)


def test_a_fine_sweep_takes_every_power_of_two() -> None:
    found = planned(a_machine(4), sweep="fine")
    strides = sorted({one.stride_bytes for one in found})
    assert strides == list(FINE_STRIDES)
    assert strides == [64 << power for power in range(11)]


def test_one_order_may_be_asked_for_alone() -> None:
    assert {one.order for one in planned(a_machine(4), order="random")} == {"random"}


@given(st.integers(0, 34), st.integers(28, 40))
def test_the_footprint_is_far_above_the_cache_however_short_memory_is(
    llc_power: int, available_power: int
) -> None:
    llc, available = 1 << llc_power, 1 << available_power
    system = a_machine(4, llc_bytes=llc, available_bytes=available)
    footprint = footprint_of(build(StrideParameters), system, 0)
    assert footprint & (footprint - 1) == 0
    assert footprint >= 4 * llc
    assert footprint >= min(128 * MIB, available // 8)
    assert footprint <= max(128 * MIB, 4 * llc)
    assert footprint <= available // 8 or footprint == 4 * llc


@given(SIZES, SIZES, st.integers(64 * MIB, 4 * GIB), st.sampled_from(["sequential", "random"]))
def test_a_sample_stays_within_one_pass_and_the_slots_within_the_buffer(
    access: int, stride: int, footprint: int, order: str
) -> None:
    if stride < access:
        return
    system = a_machine(4)
    found = planned(system, access=[access], stride=[stride], footprint=footprint, order=order)
    for one in found:
        timed, warm = one.accesses
        assert timed >= 1
        assert warm >= 1
        assert timed + warm <= one.slots
        assert one.slots & (one.slots - 1) == 0
        assert footprint // 2 < one.slots * one.stride_bytes <= footprint


@pytest.mark.parametrize(
    ("access", "stride", "order", "line", "moves"),
    [
        (64, 64, "random", 64, (1, 64)),
        (8, 64, "random", 64, (1, 64)),
        (8, 8, "sequential", 64, (1, 8)),
        (4096, 4096, "sequential", 64, (64, 4096)),
        (64, 64, "random", 128, (1, 128)),
        (64, 64, "sequential", 128, (1, 64)),
        (64, 256, "sequential", 128, (1, 128)),
        (192, 256, "random", 128, (2, 256)),
    ],
)
def test_what_moves_is_whole_lines_and_shared_ones_once(
    access: int, stride: int, order: str, line: int, moves: tuple[int, int]
) -> None:
    one = Pattern(
        kind="dependent", order=order, access_bytes=access, stride_bytes=stride, slots=1024
    )
    assert (one.lines(line), one.moved_bytes(line)) == moves


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"stride": "0"}, r"--stride '0' is zero"),
        ({"stride": "32"}, r"--stride 32 B: leaves no room for an access of 64 B"),
        ({"stride": "100"}, r"--stride 100 B: .* multiple of 64 B from 64 B on"),
        ({"access": "12"}, r"--access 12: is neither a word of 8 bytes nor whole lines"),
        ({"access": "0"}, r"--access '0' is zero"),
        ({"footprint": "64TiB"}, r"--footprint 64.* only .* of memory may be used; ask for less"),
        ({"footprint": "1MiB"}, r"--footprint 1 MiB: fits in a cache of 32 MiB"),
        ({"stride": "4MiB"}, rf"holds only 32 accesses .* ask for {LEAST_SLOTS * 4} MiB or more"),
        ({"order": "zigzag"}, r"zigzag"),
        ({"threads": "1,2"}, r"--threads: patterns are walked by one core"),
    ],
)
def test_bad_requests_are_refused_in_one_line(requested: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        Stride().plan(build(StrideParameters, **requested), a_machine(4))
    assert "\n" not in str(refused.value)


def test_parameters_read_back_from_their_text() -> None:
    requested = build(StrideParameters, access="8,64", stride="64,1KiB", order="random")
    assert build(StrideParameters, **texts(requested)) == requested


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Stride(), detect()
    parameters = build(StrideParameters, access="64,1KiB", stride="1KiB")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        assert bench.points[0].point == "stride/dependent/sequential/64/1024"
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            (thread,) = sample.threads
            assert len(thread.begin_ns) == 1
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert point.accesses > 0
            assert point.actual["walked_bytes"] == group.bytes
