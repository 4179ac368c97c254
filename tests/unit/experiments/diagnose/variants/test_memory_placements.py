"""On which memory nodes a program is tried, on trees of made-up machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from msgspec.structs import replace
from tests.unit.system.trees import NODES, Files, plant, with_cxl, xeon

from memgauge.experiments.diagnose.treatments import NotTried, Treatment
from memgauge.experiments.diagnose.variants import preloaded
from memgauge.experiments.diagnose.variants.memory_placements import (
    ALL,
    in_stretches,
    memory_placements,
    with_room,
)
from memgauge.model.records import MeasuredWeights
from memgauge.model.system import System
from memgauge.system.detect import detect
from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.tree import Tree

NEAR, EVERY = [0, 1, 8, 9], [*range(16)]
"""CPUs of node 0 of the Xeon, and of both nodes."""
MIB = 1 << 20
Placed = dict[str, tuple[str, list[int], str]]


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloaded, "installed_file", lambda path: Path("/package") / path)


def weights(*of_nodes: int) -> Files:
    folder = "/sys/kernel/mm/mempolicy/weighted_interleave"
    return {f"{folder}/node{node}": f"{weight}\n" for node, weight in enumerate(of_nodes)}


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> System:
    root = tmp_path_factory.mktemp("xeon")
    plant(root, xeon())
    return detect(root)


def placed(
    system: System,
    program: list[int],
    refusal: str | None = None,
    measured: Sequence[MeasuredWeights] = (),
) -> tuple[Placed, dict[str, str]]:
    made, not_tried = memory_placements(program, system, refusal, measured)
    found: Placed = {}
    for one in made:
        if one.large_block_weights:
            ratio = ":".join(map(str, one.large_block_weights.values()))
            found[one.name] = (ratio, one.nodes_wanted, one.change)
            continue
        policy = one.memory_policy or one.large_block_policy
        assert policy is not None
        assert one.nodes_wanted == policy.nodes
        assert ("MEMGAUGE_LARGE_POLICY" in one.environment) == (one.memory_policy is None)
        found[one.name] = (policy.mode, policy.nodes, one.change)
    return found, {one.name: one.reason for one in not_tried}


def test_a_program_on_one_of_two_nodes(two_nodes: System) -> None:
    assert placed(two_nodes, NEAR) == (
        {
            "local memory": ("bind", [0], "memory on node 0 only"),
            "remote memory": ("bind", [1], "memory on node 1 only"),
            "interleaved memory": ("interleave", [0, 1], "memory interleaved over nodes 0-1"),
            "large blocks interleaved": (
                "interleave",
                [0, 1],
                "large blocks and maps interleaved over nodes 0-1, by a preloaded library (mbind)",
            ),
        },
        {
            "memory interleaved by weights": "the kernel has no weights of its nodes (weighted "
            "interleave, since Linux 6.9)",
            "large blocks interleaved by weights": "the kernel has no weights of its nodes "
            "(weighted interleave, since Linux 6.9); name a run of 'memgauge interleave' with "
            "--weights",
        },
    )


def test_a_program_on_all_nodes_has_no_remote_one(two_nodes: System) -> None:
    made, reasons = placed(two_nodes, EVERY)
    assert made["local memory"] == ("bind", [0, 1], "memory on nodes 0-1 only")
    assert "remote memory" not in made
    assert reasons["remote memory"].startswith("the program has CPUs on each node")


def test_memory_without_cpus_is_preferred_and_in_the_weights(tmp_path: Path) -> None:
    plant(tmp_path, with_cxl() | weights(3, 3, 1))
    made, reasons = placed(detect(tmp_path), NEAR)
    assert made["interleaved memory"][1] == [0, 1]
    assert made["memory interleaved by weights"] == (
        "weighted interleave",
        [0, 1, 2],
        "memory interleaved over nodes 0-2 by the kernel's weights 3:3:1",
    )
    mode, nodes, text = made["node 2 preferred"]
    assert (mode, nodes) == ("preferred", [2])
    assert text.startswith("memory on node 2")
    assert made["large blocks, node 2 preferred"] == (
        "preferred",
        [2],
        f"large blocks and maps: {text}, by a preloaded library (mbind)",
    )
    mode, nodes, text = made["large blocks interleaved by weights"]
    assert (mode, nodes) == ("weighted interleave", [0, 1, 2])
    assert text.startswith("large blocks and maps: memory interleaved over nodes 0-2 by the kernel")
    assert reasons == {}


def test_equal_weights_are_the_plain_interleave(two_nodes: System) -> None:
    tiers = [replace(tier, interleave_weight=2) for tier in two_nodes.tiers]
    made, reasons = placed(replace(two_nodes, tiers=tiers), NEAR)
    assert "memory interleaved by weights" not in made
    why = "the kernel's weights are the same for all nodes"
    assert reasons["memory interleaved by weights"] == why
    assert reasons["large blocks interleaved by weights"].startswith(f"{why}; name a run")


def best(of_nodes: dict[int, int], *kernels: str) -> MeasuredWeights:
    return MeasuredWeights(
        run_id="earlier",
        started_at="2026-11-28T00:00:00Z",
        kernels=list(kernels) or ["copy"],
        weights=of_nodes,
    )


def test_measured_weights_need_none_of_the_kernel(two_nodes: System) -> None:
    made, reasons = placed(two_nodes, NEAR, measured=[best({0: 5, 1: 2}, "read", "copy")])
    ratio, nodes, text = made["large blocks interleaved by weights"]
    assert (ratio, nodes) == ("5:2", [0, 1])
    assert text == (
        "large blocks and maps interleaved over nodes 0-1 by the weights 5:2 that run earlier "
        "measured (read, copy), by a preloaded library (mbind)"
    )
    assert reasons.keys() == {"memory interleaved by weights"}


def test_measured_weights_come_before_those_of_the_kernel(tmp_path: Path) -> None:
    plant(tmp_path, with_cxl() | weights(3, 3, 1))
    measured = [best({0: 3, 2: 1}, "read"), best({0: 4, 2: 1}, "copy")]
    made, _ = placed(detect(tmp_path), NEAR, measured=measured)
    found = {name: ratio for name, (ratio, *_) in made.items() if "by weights" in name}
    assert found == {
        "memory interleaved by weights": "weighted interleave",
        "large blocks interleaved by weights of read": "3:1",
        "large blocks interleaved by weights of copy": "4:1",
    }


@pytest.mark.parametrize(
    ("of_nodes", "why"),
    [
        ({1: 1}, "no weights were faster than node 1 alone"),
        ({0: 1, 1: 1}, "the best weights were the same for all nodes"),
        ({0: 3, 5: 1, 7: 1}, "need memory on nodes 5,7, which the program may not use"),
    ],
)
def test_measured_weights_that_change_nothing_are_not_tried(
    two_nodes: System, of_nodes: dict[int, int], why: str
) -> None:
    made, reasons = placed(two_nodes, NEAR, measured=[best(of_nodes)])
    assert "large blocks interleaved by weights" not in made
    assert why in reasons["large blocks interleaved by weights"]


def test_stretches_are_longer_where_the_program_has_much_memory(two_nodes: System) -> None:
    made, _ = memory_placements(NEAR, two_nodes, None, [best({0: 3, 1: 1})])
    (by_weights,) = (one for one in made if one.large_block_weights)
    assert by_weights.unit_bytes == 2 * MIB
    usual = Treatment(name="as it is", kind="variant")
    same, longer = in_stretches([usual, by_weights], 1 << 40, Tree(Path("/nowhere")))
    assert same == usual
    assert longer.unit_bytes == 128 * MIB
    assert longer.environment["MEMGAUGE_LARGE_POLICY"] == f"stretches:{128 * MIB}:0=3,1=1"


def test_large_blocks_need_the_library(two_nodes: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preloaded, "installed_file", lambda _path: None)
    made, reasons = placed(two_nodes, NEAR)
    assert "large blocks interleaved" not in made
    assert "is missing from this installation" in reasons["large blocks placed"]


def test_nothing_is_tried_where_nothing_can_be(two_nodes: System) -> None:
    refusal = "memory policies are not permitted here"
    assert placed(two_nodes, NEAR, refusal) == ({}, {ALL: refusal})
    outside = replace(two_nodes, allowed_nodes=[1])
    assert placed(outside, NEAR) == ({}, {ALL: "there is one memory node"})


def bound(*nodes: int) -> Treatment:
    policy = MemoryPolicy(mode="bind", nodes=list(nodes))
    return Treatment(name=f"on {nodes}", kind="variant", memory_policy=policy)


def meminfo(node: int, free_kib: int, inactive_kib: int) -> Files:
    text = f"Node {node} MemFree: {free_kib} kB\nNode {node} Inactive(file): {inactive_kib} kB\n"
    return {f"{NODES}/node{node}/meminfo": text}


def test_a_program_is_bound_only_where_twice_its_memory_is_free(tmp_path: Path) -> None:
    tree = plant(tmp_path, meminfo(0, 1024, 1024) | meminfo(1, 1024, 1023))
    usual = Treatment(name="as it is", kind="variant")
    preferred = Treatment(
        name="p", kind="variant", memory_policy=MemoryPolicy(mode="preferred", nodes=[1])
    )
    given = [usual, bound(0), bound(1), bound(0, 1), bound(7), preferred]
    kept, not_tried = with_room(given, MIB, tree)
    assert kept == [usual, bound(0), bound(0, 1), preferred]
    few, unknown = not_tried
    assert few.name == bound(1).name
    assert few.reason.endswith(
        "free on node 1, which is less than twice the 1 MiB that the program had"
    )
    assert unknown == NotTried(bound(7).name, "how much memory is free on node 7 cannot be read")
