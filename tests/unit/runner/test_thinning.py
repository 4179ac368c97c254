"""What a survey keeps and leaves out, on scripted groups and on planted machines."""

from __future__ import annotations

import cProfile
import random
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from tests.unit.runner.fakes import FakeExperiment, a_point
from tests.unit.system.large_trees import LARGE_MACHINES
from tests.unit.system.trees import plant

from memgauge.experiments.registry import load
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.model.experiments import SURVEYED
from memgauge.model.parameters import CommonParameters, build
from memgauge.model.system import System
from memgauge.runner.batches import Planned
from memgauge.runner.budget import BudgetPlan
from memgauge.runner.costs import CostModel
from memgauge.runner.prediction import Prediction, predict
from memgauge.runner.thinning import Choice, choose
from memgauge.system.detect import detect

MODEL = CostModel(cpu_nodes=1)
PROMISED_ROUNDS = 20
CALLS_PER_POINT = 500
"""Of Python functions while a survey is planned; quadratic work on a large machine makes
thousands."""


class Swept(Group, frozen=True, kw_only=True):
    """A sweep of slow points."""

    importance: Importance

    def parts(self) -> list[Part]:
        names = [point.point for point in self.points]
        works = [Work(seconds=0.05)] * len(names)
        return [Part(importance=self.importance, points=names, works=works, least=4)]


def swept(name: str, importance: Importance, count: int = 16) -> Planned:
    points = [a_point(f"{name}/{index}") for index in range(count)]
    group = Swept(name=name, points=points, bytes=1000, importance=importance)
    return FakeExperiment({}), CommonParameters(), group


def chosen(planned: list[Planned], total_s: float) -> Choice:
    return choose(planned, MODEL, BudgetPlan(total_s=total_s, spent_s=0.5))


def names(choice: Choice) -> list[str]:
    return [point.point for _, _, group in choice.kept for point in group.points]


def test_with_enough_time_all_is_kept() -> None:
    planned = [swept("a", Importance.SHAPES), swept("b", Importance.LEVELS)]
    choice = chosen(planned, 200.0)
    assert choice.points == 32
    assert not list(choice.left.taken_messages())


def test_a_short_budget_makes_sweeps_coarser_before_it_leaves_one_out() -> None:
    """Coarse sweeps of both take 24 rounds of 8 points of 50 ms; then the first gets finer."""
    planned = [swept("a", Importance.SHAPES), swept("b", Importance.LEVELS)]
    kept = names(chosen(planned, 18.0))
    assert kept == [f"{sweep}/{index}" for sweep in "ab" for index in (0, 4, 8, 12, 15)]
    kept = names(chosen(planned, 10.0))
    assert kept == [f"b/{index}" for index in (0, 4, 8, 12, 15)]


def test_what_is_left_out_is_said_with_the_budget_that_fits_it() -> None:
    planned = [swept("a", Importance.SHAPES), swept("b", Importance.LEVELS)]
    ((experiment, message),) = chosen(planned, 10.0).left.taken_messages()
    assert experiment == "fake"
    assert message.startswith(
        "fake: 27 of 32 points are left out, because the budget of 10.0 s has no time to sample "
        "them often enough for an interval; use --budget "
    )
    budget_s = float(message.rpartition(" ")[2].removesuffix("s"))
    assert chosen(planned, budget_s).points == 32


def test_what_is_essential_is_kept_where_a_median_of_it_fits() -> None:
    """Six rounds of five points of 50 ms take 1.5 s."""
    planned = [swept("a", Importance.LEVELS), swept("b", Importance.ESSENTIAL)]
    assert names(chosen(planned, 5.0)) == [f"b/{index}" for index in (0, 4, 8, 12, 15)]


def test_without_time_for_anything_the_cheapest_essential_part_is_measured() -> None:
    planned = [swept("a", Importance.ESSENTIAL), swept("b", Importance.ESSENTIAL, 4)]
    choice = chosen(planned, 0.1)
    assert names(choice) == [f"b/{index}" for index in range(4)]
    ((_, message),) = choice.left.taken_messages()
    assert message.startswith("fake: 16 of 20 points are left out")


def test_points_of_a_run_that_is_resumed_are_kept() -> None:
    planned = [swept("a", Importance.SHAPES)]
    times = BudgetPlan(total_s=0.1, spent_s=0.5)
    assert not choose(planned, MODEL, times).kept
    assert "a/2" in names(choose(planned, MODEL, times, forced=["a/2"]))


def system_of(machine: str, root: Path) -> System:
    plant(root, LARGE_MACHINES[machine]())
    return detect(root)


def predicted(system: System, budget_s: float = 60.0) -> Prediction:
    requested = [(one := load(name), build(one.parameters)) for name in SURVEYED]
    return predict(requested, system, budget_s)


class Plan(NamedTuple):
    """What a minute is planned for, and the calls of Python functions that planning took."""

    system: System
    prediction: Prediction
    calls: int


@pytest.fixture(scope="module")
def plan_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Plan]:
    """The plan of a minute on a large machine, made once: its trees have 30,000 files."""

    @cache
    def made(machine: str) -> Plan:
        root = tmp_path_factory.mktemp("machine")
        system = system_of(machine, root)
        shutil.rmtree(root)
        profile = cProfile.Profile(subcalls=False, builtins=False)
        prediction = profile.runcall(predicted, system)
        return Plan(system, prediction, sum(each.callcount for each in profile.getstats()))

    return made


def kept_of(prediction: Prediction, importance: Importance) -> set[str]:
    return {
        name
        for _, _, group in prediction.choice.kept
        for part in group.parts()
        if part.importance == importance
        for name in part.points
    }


@pytest.mark.native
def test_points_kept_and_left_out_add_up_in_what_is_printed(
    plan_of: Callable[[str], Plan],
) -> None:
    prediction = plan_of("two sockets of 96 cores, 8 nodes").prediction
    lines = list(prediction.lines())
    kept = [int(count) for _, count in found_in(lines, r"  (\w+): (\d+) points? \(")]
    left = found_in(lines, r"  (\w+): (?:all )?(\d+)(?: of \d+)? points are left out")
    (total,) = found_in(lines, r"points +(\d+) of (\d+)")
    assert sum(kept) == int(total[0])
    assert sum(kept) + sum(int(count) for _, count in left) == int(total[1])


def found_in(lines: list[str], pattern: str) -> list[tuple[str, ...]]:
    return [match.groups() for line in lines if (match := re.match(pattern, line))]


@pytest.mark.native
@pytest.mark.parametrize("machine", LARGE_MACHINES)
def test_a_minute_is_enough_for_what_matters_on_a_large_machine(
    machine: str, plan_of: Callable[[str], Plan]
) -> None:
    system, found, _ = plan_of(machine)
    assert found.choice.rounds >= PROMISED_ROUNDS
    essential = kept_of(found, Importance.ESSENTIAL)
    cpus = len(system.allowed_cpus)
    for threads in (1, cpus):
        assert f"stream/triad/tuned/double/{threads}t" in essential
    cpu_nodes = [node.node for node in system.nodes if node.cpus]
    latencies = {name for name in essential if name.startswith("latency/DRAM/")}
    assert len(latencies) == 2 * len(cpu_nodes)
    loaded = [name for name in essential if name.startswith("loaded/100r/sequential/")]
    assert len(loaded) >= 4


@pytest.mark.native
@pytest.mark.parametrize("machine", LARGE_MACHINES)
def test_planning_takes_work_in_proportion_to_the_points(
    machine: str, plan_of: Callable[[str], Plan]
) -> None:
    plan = plan_of(machine)
    assert plan.calls > plan.prediction.points
    assert plan.calls < CALLS_PER_POINT * plan.prediction.points


@pytest.mark.native
def test_any_choice_of_points_can_be_kept_and_stays_with_its_group(
    plan_of: Callable[[str], Plan],
) -> None:
    """Whatever a group keeps, its parts are those points, in their order."""
    draw = random.Random(17)
    for machine in ("72 cores, one node", "eight sockets, 32 nodes"):
        for _, _, group in predicted(plan_of(machine).system, 100_000.0).choice.kept:
            for part in group.parts():
                indices = draw.choice(part.halvings())
                kept = {group.points[0].point, *(part.points[index] for index in indices)}
                smaller = group.keeping(kept)
                assert {point.point for point in smaller.leaders} == kept
                assert {n for one in smaller.parts() for n in one.points} == kept
                assert smaller.setup().linked_bytes <= group.setup().linked_bytes


@pytest.mark.native
def test_a_plan_reads_as_lines(plan_of: Callable[[str], Plan]) -> None:
    text = "\n".join(plan_of("72 cores, one node").prediction.lines())
    assert text.startswith(
        "Predicted for Large Example, 144 CPUs, 1 memory node, and a budget of 1 min 00 s. "
        "Nothing was measured.\n"
    )
    for title in ("set-up  ", "one round  ", "rounds  ", "report  ", "memory  ", "points  "):
        assert f"\n{title}" in text
    assert "\nKept\n  stream: " in text
    assert "\nLeft out for want of time\n" in text
    assert "\nNot possible here\n" in text
    assert len(text.splitlines()) < 50


def test_a_work_takes_longer_with_its_bytes_loads_threads_and_pace() -> None:
    small, large = Work(bytes=1 << 20), Work(bytes=1 << 30)
    assert MODEL.sample_s(small) < MODEL.sample_s(large)
    assert MODEL.sample_s(small) < MODEL.sample_s(msgspec.structs.replace(small, loads=1000))
    busy = CostModel(cpu_nodes=1, pace=3.0)
    assert busy.sample_s(large) == pytest.approx(3 * MODEL.sample_s(large))
    team = msgspec.structs.replace(large, threads=8)
    assert CostModel(cpu_nodes=2).sample_s(team) < MODEL.sample_s(team)
