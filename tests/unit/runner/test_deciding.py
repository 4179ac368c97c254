"""Points that may end early end once they are decided, with those measured beside them."""

from __future__ import annotations

import msgspec
from tests.unit.analysis.diagnose.programs import diagnosed
from tests.unit.runner.fakes import FakeBench

from memgauge.model.records import Point, Sample
from memgauge.runner.deciding import Deciding
from memgauge.runner.point_progress import PointProgress

BENCH = FakeBench([], lambda *_: 1, valid=True)


def tracked(rounds: int, *, may_end_early: bool) -> dict[str, PointProgress]:
    run = diagnosed(latency=0.5, rounds=rounds, noise=0.002).run
    made: dict[str, PointProgress] = {}
    for point in run.points_of("diagnose"):
        known = point.with_actual({"passes": 40, "may_end_early": may_end_early})
        made[point.point] = PointProgress(BENCH, known, run.samples[point.point])
        if point.measured_with:
            made[point.measured_with].followers.append(made[point.point])
    return made


def test_decided_points_are_not_sampled_any_more() -> None:
    points = tracked(12, may_end_early=True)
    assert all(one.wanted for one in points.values())
    Deciding().look(list(points.values()))
    assert not any(one.wanted or one.to_sample for one in points.values())


def test_a_number_of_rounds_that_was_asked_for_is_kept() -> None:
    points = tracked(12, may_end_early=False)
    Deciding().look(list(points.values()))
    assert all(one.wanted for one in points.values())
    assert not any(one.samples for one in points.values())


def test_there_is_no_look_between_two_that_were_fixed() -> None:
    points = tracked(11, may_end_early=True)
    deciding = Deciding()
    deciding.look(list(points.values()))
    assert all(one.wanted for one in points.values())
    more = tracked(12, may_end_early=True)
    deciding.look(list(more.values()))
    assert not any(one.wanted for one in more.values())
    later = tracked(13, may_end_early=True)
    deciding.look(list(later.values()))
    assert all(one.wanted for one in later.values())


def test_samples_that_decide_are_kept_as_they_come() -> None:
    point = Point(
        point="p",
        experiment="diagnose",
        quantity="latency",
        requested={},
        actual={"may_end_early": True},
        accesses=1,
        role="run",
    )
    progress = PointProgress(BENCH, point)
    run = diagnosed(rounds=1).run
    sample: Sample = msgspec.structs.replace(run.samples["diagnose/program/compute"][0], point="p")
    progress.recorded(sample, 1)
    assert progress.samples == [sample]
