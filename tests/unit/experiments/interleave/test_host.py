"""What `interleave` plans on which machine, how it refines, and what its arrays are made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import GIB, MIB, a_machine
from tests.unit.experiments.made_up_nodes import memory_anywhere, two_nodes

from memgauge.experiments.interleave.host import Interleave
from memgauge.experiments.interleave.parameters import COARSE_FURTHER, InterleaveParameters
from memgauge.experiments.interleave.sizes import ARRAYS, FURTHER_SETS
from memgauge.experiments.shared.base import Bench
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.parameters import build
from memgauge.model.records import Point
from memgauge.model.system import Node, System, Tier
from memgauge.system.detect import detect

SMALL = {"array_bytes": "4MiB", "threads": "1", "pages": "4k", "up_to": "2"}


def with_cxl(*, weights: tuple[int, int, int] | None = None) -> System:
    """Two sockets and a node without CPUs."""
    system = a_machine(4, sockets=2)
    far = Node(node=2, cpus=[], bytes=64 * GIB, distances={})
    tiers = [
        Tier(
            kind="dram",
            placement=f"node:{n}",
            bytes=None,
            nodes=[n],
            evidence="",
            interleave_weight=w,
        )
        for n, w in enumerate(weights or ())
    ]
    return msgspec.structs.replace(system, nodes=[*system.nodes, far], tiers=tiers)


def labels(points: list[Point]) -> list[str]:
    return list(dict.fromkeys(point.point.split("/")[2] for point in points))


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    experiment, system = Interleave(), two_nodes()
    parameters = build(InterleaveParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with memory_anywhere(monkeypatch), experiment.open(group, parameters) as opened:
        yield opened


def test_one_node_is_not_enough_and_says_how_a_second_is_named() -> None:
    with pytest.raises(NotPossibleHere, match=r"one node only; .* --tiers 0,2") as refused:
        Interleave().plan(InterleaveParameters(), a_machine(4))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tiers": "0"}, "--tiers 0: pages are dealt out to two nodes or more"),
        (
            {"tiers": "0,7"},
            "--tiers: this machine has no node 7 .* 0, 1, 2",
        ),
        ({"memory": "node:1"}, "--memory node:1: interleave measures the nodes of --tiers"),
        ({"up_to": "0"}, "--up-to '0'"),
        ({"kernel": "dot"}, "--kernel 'dot' is not known"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(RequestError, match=message) as refused:
        Interleave().plan(build(InterleaveParameters, **given), with_cxl())
    assert "\n" not in str(refused.value)


def test_one_thread_a_core_walks_each_weights_unless_asked_otherwise() -> None:
    system = a_machine(4, sockets=2, threads_per_core=2)
    (group,) = Interleave().plan(InterleaveParameters(), system)
    assert {point.threads for point in group.points} == {8}
    groups = Interleave().plan(build(InterleaveParameters, threads="1,2"), system)
    assert [group.points[0].threads for group in groups] == [1, 2]


def test_all_nodes_with_memory_are_dealt_to_or_those_named() -> None:
    (every,) = Interleave().plan(build(InterleaveParameters, up_to="2"), with_cxl())
    assert labels(every.points)[:4] == ["0=1", "1=1", "2=1", "0=1,1=1,2=1"]
    (named,) = Interleave().plan(build(InterleaveParameters, tiers="2,0", up_to="2"), with_cxl())
    assert labels(named.points) == ["0=1", "2=1", "0=1,2=1", "0=2,2=1", "0=1,2=2"]
    assert {point.requested["kernel"] for point in named.points} == {"read", "copy"}


def test_the_kernels_own_weights_are_measured_too() -> None:
    system = with_cxl(weights=(7, 7, 2))
    (group,) = Interleave().plan(build(InterleaveParameters, tiers="0,2"), system)
    assert "0=7,2=2" in labels(group.points)


def test_what_is_allocated_is_told_node_by_node_and_fits_them() -> None:
    small = msgspec.structs.replace(
        with_cxl(), nodes=[*with_cxl().nodes[:2], Node(node=2, cpus=[], bytes=GIB, distances={})]
    )
    for system in (with_cxl(), small):
        (group,) = Interleave().plan(build(InterleaveParameters, tiers="0,2"), system)
        room = {node.node: node.bytes for node in system.nodes}
        assert set(group.bytes_in) == {MemoryPlacement("node", (n,)) for n in (0, 2)}
        for placement, size in group.bytes_in.items():
            assert 0 < size <= room[placement.nodes[0]] / 2 + MIB
        assert group.bytes == sum(group.bytes_in.values())


def test_what_many_nodes_hold_together_is_what_all_sets_of_arrays_take() -> None:
    """A set that is added lies on some nodes, and is not counted on each of them."""
    system = a_machine(4, sockets=8)
    (group,) = Interleave().plan(build(InterleaveParameters, threads="4"), system)
    sets = len(group.plan.first) + FURTHER_SETS
    assert len(group.plan.first) == 8 + 1 + 8, "alone, alike, and one with twice as much"
    shape = group.plan.sizes.shape
    assert group.bytes == pytest.approx(sets * ARRAYS * shape.array_bytes, rel=1e-9)
    assert len(set(group.bytes_in.values())) == 1


def test_planned_points_are_those_that_are_opened_and_measured(bench: Bench) -> None:
    assert labels(bench.points) == ["0=1", "1=1", "0=1,1=1", "0=2,1=1", "0=1,1=2"]
    for point in bench.points:
        (sample,) = bench.measure(point.point, 0)
        (thread,) = sample.threads
        assert thread.end_ns[0] > thread.begin_ns[0]
        counted = {"read": 1, "copy": 2}[str(point.requested["kernel"])]
        array_bytes = point.actual["array_bytes"]
        assert isinstance(array_bytes, int)
        assert point.bytes_counted == counted * array_bytes
    assert all(check.passed for one in bench.validate() for check in one.checks)
    assert len(bench.validate()) == 5


def values_of(bench: Bench, speeds: dict[str, float], count: int = 8) -> dict[str, list[float]]:
    """The same speed for either kernel, by label."""
    return {
        f"interleave/{kernel}/{label}/1t": [speed] * count
        for label, speed in speeds.items()
        for kernel in ("read", "copy")
    }


def test_weights_are_refined_around_the_best_and_eliminated_make_room(bench: Bench) -> None:
    speeds = {"0=1": 10.0, "1=1": 5.0, "0=1,1=1": 10.0, "0=2,1=1": 15.0, "0=1,1=2": 7.0}
    values = values_of(bench, speeds)
    assert bench.eliminated(values) == {
        f"interleave/{kernel}/0=1,1=2/1t" for kernel in ("read", "copy")
    }
    added = bench.refine(values)
    assert set(labels(added)) == {"0=3,1=2", "0=3,1=1"}
    for point in added:
        bench.measure(point.point, 1)
    assert len(bench.validate()) == 7
    with pytest.raises(RuntimeError, match="closed"):
        bench.measure("interleave/copy/0=1,1=2/1t", 1)


def test_what_a_search_gives_up_is_never_more_than_what_the_runner_does(bench: Bench) -> None:
    """Arrays that were closed are visited no more, whichever weights are best."""
    labels_ = labels(bench.points)
    for best in labels_:
        speeds = {label: 10.0 if label == best else 5.0 for label in labels_}
        lost = bench.eliminated(values_of(bench, speeds))
        rivals = {label for label in labels_ if "2" in label and label != best}
        assert {name.split("/")[2] for name in lost} == rivals


def test_nothing_is_refined_before_every_weights_has_values(bench: Bench) -> None:
    few = values_of(bench, dict.fromkeys(labels(bench.points), 1.0), count=7)
    assert bench.refine(few) == []
    assert bench.refine({}) == []


def test_no_more_arrays_are_open_than_were_planned_for(bench: Bench) -> None:
    def is_open(point: str) -> bool:
        with suppress(RuntimeError):
            return bool(bench.measure(point, 0))
        return False

    speeds = {"0=1": 5.0, "1=1": 5.0, "0=1,1=1": 5.0, "0=2,1=1": 5.1, "0=1,1=2": 5.0}
    for _ in range(8):
        added = labels(bench.refine(values_of(bench, speeds)))
        speeds |= {label: max(speeds.values()) + 0.1 for label in added}
        assert sum(map(is_open, values_of(bench, speeds))) <= 2 * (5 + FURTHER_SETS)
    assert 5 < len(speeds) <= 5 + COARSE_FURTHER


def point_with(**actual: object) -> Point:
    (group,) = Interleave().plan(build(InterleaveParameters, **SMALL), with_cxl())
    point = next(p for p in group.points if p.requested["weights"] == "2,1,1")
    facts = {**point.actual, "array_bytes": 4 * MIB, **actual}
    return msgspec.structs.replace(point, actual=facts)


def test_pages_that_lie_otherwise_than_dealt_are_warned_of() -> None:
    experiment, system = Interleave(), with_cxl()
    right = point_with(shares="0=0.51,1=0.25,2=0.24")
    assert experiment.check(right, [], system) == []
    assert experiment.check(point_with(shares=None), [], system) == []
    (warning,) = experiment.check(point_with(shares="0=0.6,1=0.4"), [], system)
    assert warning.code == "pages-not-as-dealt"
    assert "0=0.6,1=0.4" in warning.message


def test_arrays_that_caches_may_hold_are_warned_of() -> None:
    (group,) = Interleave().plan(build(InterleaveParameters, **SMALL), with_cxl())
    found = [w for p in group.points for w in Interleave().check(p, [], with_cxl())]
    assert {warning.code for warning in found} == {"arrays-in-caches"}
    assert len(found) < len(group.points)


@pytest.mark.skipif(
    sum(node.bytes > 0 for node in detect().nodes) < 2, reason="this machine has one memory node"
)
def test_pages_lie_where_they_were_dealt_on_real_nodes() -> None:
    experiment, system = Interleave(), detect()
    parameters = build(InterleaveParameters, **SMALL)
    (group,) = experiment.plan(parameters, system)
    with experiment.open(group, parameters) as opened:
        for point in opened.points:
            codes = [warning.code for warning in experiment.check(point, [], system)]
            assert "pages-not-as-dealt" not in codes
