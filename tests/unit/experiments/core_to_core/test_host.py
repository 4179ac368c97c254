"""What `core_to_core` plans on which machine, and what a sampling pass gives."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine
from tests.unit.experiments.made_up_nodes import memory_anywhere, two_nodes

from memgauge import _core
from memgauge.experiments.core_to_core.host import CoreToCore
from memgauge.experiments.core_to_core.parameters import MOST_PAIRS, CoreToCoreParameters
from memgauge.experiments.core_to_core.plan import (
    LEAST_PAIRS,
    OPERATIONS,
    ROUND_TRIPS,
    CoreToCoreGroup,
)
from memgauge.experiments.shared.importance import Importance
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import on_node
from memgauge.model.parameters import build
from memgauge.model.points.core_to_core import CoreToCoreActual
from memgauge.model.system import System
from memgauge.system.detect import detect

TWO_CPUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


def planned(system: System, **given: str) -> CoreToCoreGroup:
    (group,) = CoreToCore().plan(build(CoreToCoreParameters, **given), system)
    return group


def test_pairs_are_measured_by_both_operations_and_across_nodes_in_both_directions() -> None:
    group = planned(a_machine(1, sockets=2), threads="2")
    assert [point.point for point in group.points] == [
        "core_to_core/store/c0-c1",
        "core_to_core/compare-and-swap/c0-c1",
        "core_to_core/store/c1-c0",
        "core_to_core/compare-and-swap/c1-c0",
        "core_to_core/contended/fetch-add/2t",
        "core_to_core/contended/compare-and-swap/2t",
    ]
    assert group.places == {0: on_node(0), 1: on_node(1)}
    assert sum(group.bytes_in.values()) == group.bytes
    store, swap = group.points[:2]
    assert swap.measured_with == store.point
    assert {store.accesses, swap.accesses} == {2 * ROUND_TRIPS}
    added, swapped = group.points[4:]
    assert (added.accesses, swapped.accesses) == (OPERATIONS + 2, OPERATIONS)


def test_on_one_node_one_direction_is_enough() -> None:
    group = planned(a_machine(4), threads="1")
    assert len(group.pairs) == 6
    assert [*group.places.values()] == [CoreToCoreParameters().memory]


def test_many_cpus_have_a_bounded_number_of_pairs_and_say_so() -> None:
    group = planned(a_machine(1000), threads="1")
    assert len(group.pairs) == MOST_PAIRS
    actual = CoreToCoreActual.of(group.points[0].actual)
    assert actual.pairs_possible == 1000 * 999 // 2
    assert actual.pairs_chosen == MOST_PAIRS
    assert actual.measured_cpus == "0-999"


def test_a_survey_with_little_time_keeps_a_few_pairs_near_and_far() -> None:
    group = planned(a_machine(32, sockets=2))
    pairs, *teams = group.parts()
    assert pairs.importance == Importance.SHAPES
    assert {part.importance for part in teams} == {Importance.TEAMS}
    coarsest = [pairs.points[at] for at in pairs.halvings()[0]]
    assert LEAST_PAIRS <= len(coarsest) <= 2 * LEAST_PAIRS
    kept = group.keeping(coarsest)
    assert len(kept.points) == 2 * len(coarsest)
    assert kept.parts()[0].points == coarsest
    assert len(kept.cpus) < len(group.cpus)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"memory": "shm:"}, "--memory shm:: core-to-core measures lines .*; leave --memory out"),
        ({"cpus": "3"}, "core-to-core: only one CPU can be used"),
        ({"threads": "9"}, "--threads 9: 9 threads need one CPU each"),
        ({"pairs": "0"}, "--pairs"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        planned(a_machine(8), **given)
    assert "\n" not in str(refused.value)


def test_a_survey_goes_on_without_it_on_one_cpu() -> None:
    with pytest.raises(NotPossibleHere):
        planned(a_machine(1))


@TWO_CPUS
def test_a_pass_gives_a_sample_of_each_operation_with_the_same_ping_pong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = planned(two_nodes(), cpus=",".join(map(str, detect().allowed_cpus[:2])), threads="2")
    with (
        memory_anywhere(monkeypatch),
        CoreToCore().open(group, CoreToCoreParameters()) as bench,
    ):
        for leader in [point for point in bench.points if point.measured_with is None]:
            for _ in range(5):
                taken = bench.measure(leader.point, 3)
                if len(taken) == (1 if leader.point in group.teams else 2):
                    break  # else a CPU was not to be had
            assert {sample.round for sample in taken} <= {3}
            assert len({sample.pingpong_ns for sample in taken}) <= 1
            for sample in taken:
                assert len(sample.threads) == 2
                assert all(len(one.begin_ns) == 1 for one in sample.threads)


def test_what_cannot_share_a_line_is_refused() -> None:
    team = _core.Team(detect().allowed_cpus[:1])
    with pytest.raises(RequestError, match="name each once, by a rank below the team's size of 1"):
        _core.SharedLines(team, 1)
    lines = _core.SharedLines(team, 0)
    with pytest.raises(RequestError, match="0 operations cannot be timed"):
        lines.contend([0], "fetch-add", 0)
    with pytest.raises(RequestError, match="unknown contention 'smoke'"):
        lines.contend([0], "smoke", 1)
    lines.close()
    with pytest.raises(RuntimeError, match="SharedLines is closed"):
        lines.contend([0], "fetch-add", 1)
