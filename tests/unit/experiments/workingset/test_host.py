"""Which footprints `workingset` visits, and that each is measured as planned."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from memgauge.experiments.workingset.host import Workingset
from memgauge.experiments.workingset.plan import LEAST_BYTES, WorkingsetParameters, footprints
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.system.detect import detect
from memgauge.system.topology.placement import LINE_BYTES


@given(st.integers(LEAST_BYTES // LINE_BYTES, 1 << 30).map(lambda lines: lines * LINE_BYTES))
def test_footprints_rise_from_4_kib_to_the_largest_in_whole_lines(largest: int) -> None:
    sizes = footprints(largest)
    assert sizes[0] == LEAST_BYTES
    assert sizes[-1] == largest
    assert sizes == sorted(set(sizes))
    assert all(size % LINE_BYTES == 0 for size in sizes)


@given(st.integers(20, 34))
def test_no_step_is_wider_than_half_an_octave(power: int) -> None:
    sizes = footprints(1 << power)
    assert max(b / a for a, b in pairwise(sizes)) <= 1.5


def test_more_than_one_thread_is_refused() -> None:
    with pytest.raises(RequestError, match="working set is that of one core"):
        Workingset().plan(build(WorkingsetParameters, threads="1,2"), detect())


def test_the_sweep_fits_where_memory_is_short() -> None:
    available = 256 << 20
    system = msgspec.structs.replace(detect(), caches=[], available_bytes=available)
    (group,) = Workingset().plan(WorkingsetParameters(), system)
    assert available / 2 < group.bytes < available * 0.8
    (asked,) = Workingset().plan(WorkingsetParameters(largest_bytes=64 << 20), system)
    assert asked.bytes > available


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Workingset(), detect()
    parameters = build(WorkingsetParameters, largest_bytes="256KiB")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            (thread,) = sample.threads
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert (point.accesses > 0) == (point.quantity == "latency")
            assert (point.bytes_counted > 0) == (point.quantity == "bandwidth")
