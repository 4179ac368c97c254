"""Which mixes are measured, and that each issues what it says."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.mix.host import ALWAYS, Mix, MixParameters
from memgauge.experiments.shared import read_write_mix as traffic_loads
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build
from memgauge.system.detect import detect

CANONICAL = {(1, 0), (3, 1), (2, 1), (1, 1), (0, 1)}


@example([0.66725], "coarse")
@given(st.lists(st.floats(0, 1), max_size=4), st.sampled_from(["coarse", "fine"]))
def test_the_five_ratios_are_always_there(shares: list[float], sweep: str) -> None:
    parameters = MixParameters(read_share=tuple(shares) or None, sweep=sweep)
    loads = parameters.loads
    assert {(load.reads, load.writes) for load in loads} >= CANONICAL
    assert [load.read_share for load in loads] == sorted(
        (load.read_share for load in loads), reverse=True
    )
    assert len({load.name for load in loads}) == len(loads)


def test_a_fine_sweep_goes_in_steps_of_a_tenth() -> None:
    shares = {round(load.read_share, 3) for load in MixParameters(sweep="fine").loads}
    assert shares == {*(tenth / 10 for tenth in range(11)), 0.75, 0.667}


def test_every_team_has_every_mix() -> None:
    groups = Mix().plan(MixParameters(), a_machine(4, threads_per_core=2))
    assert [group.points[0].threads for group in groups] == [1, 2, 4, 5, 8]
    assert len({len(group.points) for group in groups}) == 1
    requested = Mix().plan(
        build(MixParameters, threads="3", order="sequential,random"), a_machine(4)
    )
    assert [group.points[0].threads for group in requested] == [3]
    assert {point.requested["order"] for point in requested[0].points} == {"sequential", "random"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"read_share": "101%"}, "--read-share '101%' is more than 100%"),
        ({"read_share": "-5%"}, "is negative"),
        ({"store": "none"}, "choose from temporal, non-temporal"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        build(MixParameters, **given)


def test_a_processor_without_non_temporal_stores_is_said_once_a_team(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traffic_loads, "has_non_temporal_stores", lambda: False)
    experiment, system = Mix(), a_machine(1)
    (group,) = experiment.plan(MixParameters(), system)
    warnings = [w for point in group.points for w in experiment.check(point, [], system)]
    assert [warning.code for warning in warnings] == ["no-non-temporal-stores"]
    assert len(group.points) == len(ALWAYS)


def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Mix(), detect()
    parameters = build(MixParameters, threads="1", order="sequential,random")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        for point in bench.points:
            (sample,) = bench.measure(point.point, 0)
            (thread,) = sample.threads
            assert thread.end_ns[0] > thread.begin_ns[0]
            assert thread.read_bytes + thread.write_bytes == point.bytes_counted
            assert thread.read_bytes / point.bytes_counted == pytest.approx(
                point.requested["read_share"], abs=1e-3
            )
            assert point.actual["read_share_issued"] == pytest.approx(
                point.requested["read_share"], abs=1e-3
            )
            ordinary = point.requested.get("store") == "temporal"
            assert (point.bytes_moved > point.bytes_counted) == ordinary
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)


def test_too_many_threads_are_refused() -> None:
    with pytest.raises(RequestError, match="5 threads need one CPU each"):
        Mix().plan(build(MixParameters, threads="5"), a_machine(4))
