"""What `loaded` plans, where it puts probe and generators, and what a visit gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import MIB, a_machine

from memgauge import _core
from memgauge.experiments.loaded import plan as loaded_points
from memgauge.experiments.loaded.host import ENOUGH_VALUES, Loaded, LoadedBench
from memgauge.experiments.loaded.parameters import (
    COARSE_DELAYS,
    FINE_DELAYS,
    FINE_SHARES,
    LoadedParameters,
    generator_counts,
)
from memgauge.experiments.loaded.plan import team_plans
from memgauge.experiments.mix.host import Mix
from memgauge.experiments.shared import read_write_mix as traffic_loads
from memgauge.experiments.shared.base import Experiment
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.system.detect import detect
from memgauge.system.topology.placement import within

SMALL = {"threads": "1", "read_share": "100%,50%", "store": "temporal", "delay": "0,50,20000"}

two_cpus = pytest.mark.skipif(
    len(detect().allowed_cpus) < 2, reason="needs two CPUs: a probe and a generator"
)


def leaders(points: Sequence[Point]) -> list[Point]:
    return [point for point in points if point.measured_with is None]


def test_one_cpu_is_not_enough() -> None:
    with pytest.raises(NotPossibleHere, match="only one CPU can be used"):
        Loaded().plan(LoadedParameters(), a_machine(8, allowed=[3]))
    with pytest.raises(NotPossibleHere, match="only one CPU can be used"):
        Loaded().plan(LoadedParameters(cpus="3"), a_machine(8))


def test_more_generators_than_cpus_beside_the_probe_are_refused() -> None:
    with pytest.raises(RequestError, match=r"--threads 4: .* 4 can be used; use at most 3"):
        Loaded().plan(build(LoadedParameters, threads="1,4"), a_machine(4))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"read_share": "101%"}, "--read-share '101%' is more than 100%"),
        ({"delay": "-1"}, "--delay '-1' holds a negative number"),
        ({"delay": "1000000"}, "not from 0 to 100000"),
        ({"store": "cached"}, "choose from temporal, non-temporal"),
        ({"order": "shuffled"}, "choose from sequential, random"),
        ({"threads": "0"}, "--threads '0' holds 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        build(LoadedParameters, **given)
    assert "\n" not in str(refused.value)


def test_teams_double_up_to_all_cpus_but_the_probes() -> None:
    system = a_machine(12, threads_per_core=2)
    assert generator_counts(LoadedParameters(), system) == (1, 2, 4, 8, 11, 16, 22)
    assert generator_counts(LoadedParameters(), a_machine(2)) == (1,)
    assert generator_counts(build(LoadedParameters, threads="5,3"), system) == (3, 5)


@pytest.mark.parametrize("policy", ["scatter", "compact"])
def test_the_probes_core_is_its_own_unless_all_cpus_were_asked_for(policy: str) -> None:
    system = a_machine(4, threads_per_core=2)
    core_of = {one.cpu: one.core for one in system.cpus}
    for plan in team_plans(build(LoadedParameters, cpus=policy, threads="1-7"), system):
        probe, *others = [core_of[cpu] for cpu in plan.cpus]
        assert len(set(plan.cpus)) == plan.generators + 1
        assert (probe in others) == (plan.generators == 7)
        if policy == "scatter":
            assert len({probe, *others}) == min(plan.generators + 1, 4)
    assert generator_counts(LoadedParameters(), system)[-1] == 6
    assert generator_counts(LoadedParameters(), a_machine(1, threads_per_core=2)) == (1,)


def test_a_generator_on_the_probes_core_is_warned_of_once() -> None:
    experiment, system = Loaded(), a_machine(1, threads_per_core=2)
    (group,) = experiment.plan(LoadedParameters(), system)
    found = [w for point in group.points for w in experiment.check(point, [], system)]
    assert [(w.code, w.point) for w in found] == [("probe-shares-core", group.points[0].point)]


def test_traffic_that_may_fit_the_caches_is_warned_of_once() -> None:
    system = a_machine(2, llc_bytes=512 * MIB, available_bytes=1 << 30)
    experiments: list[Experiment] = [Loaded(), Mix()]
    for experiment in experiments:
        group = experiment.plan(experiment.parameters(), system)[-1]
        found = [w for point in group.points for w in experiment.check(point, [], system)]
        assert [w.code for w in found] == ["traffic-in-caches"]


def test_one_socket_or_all() -> None:
    system = a_machine(4, sockets=2)
    (*_, everywhere) = team_plans(LoadedParameters(), system)
    assert sorted(everywhere.cpus) == list(range(8))
    (*_, one_socket) = team_plans(LoadedParameters(), within(system, [1]))
    assert sorted(one_socket.cpus) == [4, 5, 6, 7]
    (*_, listed) = team_plans(LoadedParameters(cpus="6,1,2"), system)
    assert listed.cpus == [6, 1, 2]


def test_only_the_largest_team_has_all_curves_unless_teams_were_asked_for() -> None:
    *small, largest = team_plans(LoadedParameters(), a_machine(8))
    assert all([c.load.name for c in one.curves] == ["100r/sequential"] for one in small)
    assert all(one.curves[0].delays == (0, 20_000) for one in small)
    assert {load.name for load in LoadedParameters().loads} == {c.load.name for c in largest.curves}
    requested = team_plans(build(LoadedParameters, threads="1,2"), a_machine(8))
    assert {len(one.curves) for one in requested} == {len(largest.curves)}


def test_a_coarse_sweep_has_random_traffic_for_reads_only_and_a_fine_one_for_all() -> None:
    coarse, fine = LoadedParameters(), LoadedParameters(sweep="fine")
    assert {load.writes > 0 for load in coarse.loads if load.order == "random"} == {False}
    assert {load.read_share for load in fine.loads if load.order == "random"} == set(FINE_SHARES)
    assert (coarse.delays, fine.delays) == (COARSE_DELAYS, FINE_DELAYS)
    requested = build(LoadedParameters, order="random", sweep="fine")
    assert {load.order for load in requested.loads} == {"random"}


def test_what_a_group_needs_includes_ring_and_traffic() -> None:
    system = a_machine(8)
    for group, plan in zip(
        Loaded().plan(LoadedParameters(), system),
        team_plans(LoadedParameters(), system),
        strict=True,
    ):
        assert group.bytes == plan.ring_bytes + 2 * plan.generators * plan.sizes.region_bytes


def test_a_processor_without_non_temporal_stores_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traffic_loads, "has_non_temporal_stores", lambda: False)
    experiment, system = Loaded(), a_machine(2)
    (group,) = experiment.plan(LoadedParameters(), system)
    warnings = [w for point in group.points for w in experiment.check(point, [], system)]
    assert [warning.code for warning in warnings] == ["no-non-temporal-stores"]


@given(st.sampled_from(["coarse", "fine"]), st.integers(2, 40))
def test_points_are_named_once_and_followers_come_after_leaders(sweep: str, cores: int) -> None:
    groups = Loaded().plan(LoadedParameters(sweep=sweep), a_machine(cores))
    names = [point.point for group in groups for point in group.points]
    assert len(names) == len(set(names))
    for group in groups:
        for leader, follower in zip(group.points[::2], group.points[1::2], strict=True):
            assert (leader.quantity, leader.threads) == ("latency", 1)
            assert follower.measured_with == leader.point
            assert (follower.quantity, follower.work) == ("bandwidth", "counted")
            assert follower.threads == leader.requested["generators"]
            assert follower.requested == leader.requested


@pytest.fixture
def small_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_points, "memory_footprint", lambda *_: 8 * MIB)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_planned_points_are_those_that_are_opened_and_measured() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert [p.point for p in bench.points] == [p.point for p in group.points]
        followers = {p.measured_with: p for p in bench.points if p.measured_with is not None}
        for leader in leaders(bench.points):
            latency, traffic = bench.measure(leader.point, 3)
            follower = followers[leader.point]
            assert (latency.point, traffic.point) == (leader.point, follower.point)
            assert latency.round == traffic.round == 3
            assert latency.pingpong_ns == traffic.pingpong_ns
            assert len(latency.threads) == leader.threads
            assert len(traffic.threads) == follower.threads
            assert latency.threads[0].cpu == leader.actual["probe_cpu"]
            assert sum(count for _, count in latency.load_ns) > 0
            assert traffic.threads[0].begin_ns[0] <= latency.threads[0].begin_ns[0]
            assert traffic.threads[0].end_ns[0] >= latency.threads[0].end_ns[0]
        (validation,) = bench.validate()
        assert all(check.passed for check in validation.checks)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_what_was_got_is_beside_what_was_asked() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        for point in bench.points:
            issued, requested = point.actual["read_share_issued"], point.requested["read_share"]
            assert isinstance(issued, float)
            assert isinstance(requested, float)
            assert issued == pytest.approx(requested, abs=1e-3)
            assert point.actual["huge_share"] is not None
        pauses_ns = {int(str(p.requested["delay"])): p.actual["delay_ns"] for p in bench.points}
        assert pauses_ns[0] == 0.0
        assert float(str(pauses_ns[20_000])) == pytest.approx(400 * float(str(pauses_ns[50])), 0.01)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_counted_bytes_follow_the_mix() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        for point in (p for p in leaders(bench.points) if p.requested["delay"] == 0):
            threads = [t for n in range(4) for t in bench.measure(point.point, n)[1].threads]
            read = sum(thread.read_bytes for thread in threads)
            written = sum(thread.write_bytes for thread in threads)
            assert read / (read + written) == pytest.approx(point.requested["read_share"], abs=0.02)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_delays_are_added_where_a_curve_bends_and_no_more_than_allowed() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        bent = {0: (30.0, 300.0), 50: (28.0, 110.0), 20_000: (1.0, 100.0)}

        def values() -> dict[str, list[float]]:
            points = [*bench.points, *added]
            return {
                p.point: [
                    bent.get(int(str(p.requested["delay"])), (29.0, 150.0))[p.quantity == "latency"]
                ]
                * 6
                for p in points
            }

        added: list[Point] = []
        few = {name: found[:5] for name, found in values().items()}
        assert bench.refine(few) == []
        for _ in range(10):
            added += bench.refine(values())
        curves = Counter(point.point.rpartition("/")[0] for point in leaders(added))
        assert set(curves) == {p.point.rpartition("/")[0] for p in leaders(bench.points)}
        assert max(curves.values()) <= parameters.further_points
        assert len({p.point for p in [*bench.points, *added]}) == len(bench.points) + len(added)
        for leader in leaders(added):
            assert len(bench.measure(leader.point, 0)) == 2


class Untouchable(dict[str, list[float]]):
    def __getitem__(self, point: str) -> list[float]:
        raise AssertionError(f"{point} was looked at")


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_straight_curves_are_looked_at_no_more_once_well_known() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert bench.refine({p.point: [1.0] * (ENOUGH_VALUES - 1) for p in bench.points}) == []
        assert bench.refine({p.point: [1.0] * ENOUGH_VALUES for p in bench.points}) == []
        assert bench.refine(Untouchable()) == []


class Recorded:
    """Traffic that notes what runs before a probe."""

    def __init__(self, traffic: _core.Traffic) -> None:
        self.lead_ins: list[tuple[int, int, int]] = []
        self._traffic = traffic

    def run(self, spec: _core.TrafficSpec, size: int) -> _core.Slice:
        self.lead_ins.append((spec.reads, spec.writes, spec.delay))
        return self._traffic.run(spec, size)

    def __getattr__(self, name: str) -> object:
        return getattr(self._traffic, name)


@two_cpus
@pytest.mark.usefixtures("small_rings")
def test_each_curve_leads_in_once_a_round_without_a_pause() -> None:
    experiment, system = Loaded(), detect()
    parameters = build(LoadedParameters, **SMALL, order="sequential")
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as bench:
        assert isinstance(bench, LoadedBench)
        recorded = Recorded(bench._traffic)
        bench._traffic = recorded  # type: ignore[assignment]
        for round_ in range(2):
            for leader in leaders(bench.points):
                bench.measure(leader.point, round_)
        assert recorded.lead_ins == [(1, 0, 0), (1, 1, 0)] * 2
