"""When a point is done whose counters are read in regions."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.records import bandwidth_point
from tests.unit.runner.fakes import FakeBench

from memgauge.analysis.figures.regimes import find_regimes
from memgauge.model.records import Sample, ThreadSample
from memgauge.runner.point_progress import REGIONS, REPETITIONS, PointProgress


def region(repetitions: int) -> Sample:
    begins = list(range(0, 10 * repetitions, 10))
    ends = [begin + 5 for begin in begins]
    return Sample(point="p", round=0, threads=[ThreadSample(cpu=0, begin_ns=begins, end_ns=ends)])


def reached(regions: int, repetitions: int, work: str = "fixed") -> bool:
    samples = [region(repetitions) for _ in range(regions)]
    point = bandwidth_point("p", role="counted", work=work)
    cell = PointProgress(FakeBench([], lambda *_: 1, valid=True), point, samples)
    assert cell.due
    cell.look(0.01, find_regimes([]))
    return cell.reached


def test_a_counted_kernel_needs_regions_and_repetitions() -> None:
    assert not reached(REGIONS - 1, REPETITIONS)
    assert not reached(REGIONS, (REPETITIONS - 1) // REGIONS)
    assert reached(REGIONS, -(-REPETITIONS // REGIONS))


def test_known_traffic_needs_regions_only() -> None:
    assert not reached(REGIONS - 1, 1, "counted")
    assert reached(REGIONS, 1, "counted")


@pytest.mark.parametrize(("known", "regions", "done"), [(6, 5, False), (6, 6, True), (0, 0, True)])
def test_a_point_may_say_how_many_regions_suffice(known: int, regions: int, done: bool) -> None:
    point = bandwidth_point("p", role="counted")
    point = msgspec.structs.replace(point, actual={"regions": known})
    cell = PointProgress(FakeBench([], lambda *_: 1, valid=True), point, [region(1)] * regions)
    cell.look(0.01, find_regimes([]))
    assert cell.reached == done
    assert cell.to_sample != done


@pytest.mark.parametrize("least", [1, 2])
def test_a_point_is_sampled_no_more_often_than_it_may(least: int) -> None:
    point = bandwidth_point("p")
    bench = FakeBench([point], lambda *_: 1, valid=True)
    cell = PointProgress(bench, point, least_stride=least)
    assert cell.next_stride == least
    cell.look(1e-9, find_regimes([]))
    assert cell.next_stride == least, "it is not precise"
