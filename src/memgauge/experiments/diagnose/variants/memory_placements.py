"""Other memory nodes for a program, by a policy that it inherits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.experiments.diagnose.variants.preloaded import (
    LEAST_UNIT_BYTES,
    placed,
    stretched,
    unit_bytes_for,
    why_not_preloaded,
)
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.interleave_weights import kernels_weights
from memgauge.model.records import MeasuredWeights
from memgauge.model.system import Node, System
from memgauge.model.units import format_bytes
from memgauge.system.memory.policy import MemoryPolicy
from memgauge.system.topology.memory_nodes import nodes_with_memory
from memgauge.system.tree import Tree

ALL = "local, remote and interleaved memory"
BY_WEIGHTS = "large blocks interleaved by weights"
ROOM_FACTOR = 2
"""So many times the memory of the first run must be free on nodes to which a program is bound: once
they are full the kernel ends programs, and not only this one."""
_KIB = 1024
_HOW = "by a preloaded library (mbind)"


class _Candidate(msgspec.Struct, frozen=True):
    """A place for the program's memory."""

    name: str
    policy: MemoryPolicy | None
    """None: there is none, for this reason:"""
    text: str
    """What is different, or why it is not tried."""
    of_large_blocks: bool = False
    """Whether the policy is of large blocks and maps alone, by the preloaded library."""
    weights: dict[int, int] = {}
    """Of nodes, by which that library places stretches of them, in place of a policy."""


def memory_placements(
    program: Sequence[int],
    system: System,
    refusal: str | None,
    measured: Sequence[MeasuredWeights] = (),
) -> tuple[list[Treatment], list[NotTried]]:
    """Places for the program's memory that differ from each other.

    The local one is tried where it is the usual one too: a program may have been started on
    another node.

    Args:
        program: CPUs that the program has.
        system: The machine.
        refusal: Why memory policies cannot be set; None: they can.
        measured: Weights of nodes by an earlier run of this machine.
    """
    nodes = nodes_with_memory(system)
    if len(nodes) < 2:
        return [], [NotTried(ALL, "there is one memory node")]
    if refusal is not None:
        return [], [NotTried(ALL, refusal)]
    made: list[Treatment] = []
    not_tried: list[NotTried] = []
    for one in _candidates(set(program), nodes, system, measured):
        if one.weights:
            made.append(
                _in_stretches(
                    replace(variant(one.name, one.text), large_block_weights=one.weights),
                    LEAST_UNIT_BYTES,
                )
            )
        elif one.policy is None:
            not_tried.append(NotTried(one.name, one.text))
        elif one.of_large_blocks:
            made.append(
                replace(
                    variant(one.name, one.text),
                    large_block_policy=one.policy,
                    environment=placed(os.environ, one.policy),
                )
            )
        else:
            made.append(replace(variant(one.name, one.text), memory_policy=one.policy))
    return made, not_tried


def _in_stretches(one: Treatment, unit_bytes: int) -> Treatment:
    environment = stretched(os.environ, one.large_block_weights, unit_bytes)
    return replace(one, environment=environment, unit_bytes=unit_bytes)


def in_stretches(
    treatments: Sequence[Treatment], resident_bytes: int, tree: Tree | None = None
) -> list[Treatment]:
    """Set how long stretches are by the memory that the program had.

    Args:
        treatments: All of the diagnosis.
        resident_bytes: Memory of the program in its first run.
        tree: Root of the procfs to read.
    """
    return [
        _in_stretches(one, unit_bytes_for(one.large_block_weights, resident_bytes, tree))
        if one.large_block_weights
        else one
        for one in treatments
    ]


def _candidates(
    program: set[int], nodes: list[int], system: System, measured: Sequence[MeasuredWeights]
) -> Iterator[_Candidate]:
    known = {node.node: node for node in system.nodes}
    with_memory = [known[node] for node in nodes]
    near = [node for node in with_memory if node.cpus]
    home = [node for node in near if program & set(node.cpus)]
    yield _local(home)
    yield _remote(home, near)
    wide = [node.node for node in (near if len(near) > 1 else with_memory)]
    yield _Candidate(
        "interleaved memory",
        MemoryPolicy(mode="interleave", nodes=wide),
        f"memory interleaved over nodes {format_cpu_list(wide)}",
    )
    weighted = _weighted(nodes, wide, system)
    yield weighted
    preferred = list(_preferred([node for node in with_memory if not node.cpus], system))
    yield from preferred
    why_not = why_not_preloaded()
    if why_not is not None:
        yield _Candidate("large blocks placed", None, why_not)
        return
    yield from _of_large_blocks(wide, preferred)
    if measured:
        yield from _by_measured(measured, nodes, wide)
    else:
        yield _by_kernels(weighted)


def _local(home: Sequence[Node]) -> _Candidate:
    nodes = [node.node for node in home]
    if not nodes:
        return _Candidate(
            "local memory", None, "the nodes of the program's CPUs have no memory it may use"
        )
    return _Candidate(
        "local memory", MemoryPolicy(mode="bind", nodes=nodes), f"memory on {_words(nodes)} only"
    )


def _remote(home: Sequence[Node], near: Sequence[Node]) -> _Candidate:
    """The farthest node with CPUs, where none of the program's is."""
    others = [node for node in near if node not in home]
    if not others:
        reason = "the program has CPUs on each node that has both CPUs and memory"
        return _Candidate("remote memory", None, reason)
    start = home[0].distances if home else {}
    far = max(others, key=lambda node: (start.get(node.node, 0), -node.node)).node
    return _Candidate(
        "remote memory", MemoryPolicy(mode="bind", nodes=[far]), f"memory on {_words([far])} only"
    )


def _weighted(nodes: list[int], plain: list[int], system: System) -> _Candidate:
    name = "memory interleaved by weights"
    weights = kernels_weights(nodes, system)
    if weights is None:
        reason = "the kernel has no weights of its nodes (weighted interleave, since Linux 6.9)"
        return _Candidate(name, None, reason)
    if len(set(weights)) == 1 and nodes == plain:
        return _Candidate(name, None, "the kernel's weights are the same for all nodes")
    ratio = ":".join(map(str, weights))
    return _Candidate(
        name,
        MemoryPolicy(mode="weighted interleave", nodes=nodes),
        f"memory interleaved over nodes {format_cpu_list(nodes)} by the kernel's weights {ratio}",
    )


def _preferred(without_cpus: Iterable[Node], system: System) -> Iterator[_Candidate]:
    """Memory of each kind that no CPU is near to: faster, or larger, than that of the nodes."""
    kinds: Mapping[int, str] = {
        tier.nodes[0]: tier.kind for tier in system.tiers if len(tier.nodes) == 1
    }
    for node in without_cpus:
        kind = kinds.get(node.node, "unknown")
        of_kind = "" if kind == "unknown" else f" ({kind})"
        yield _Candidate(
            f"node {node.node} preferred",
            MemoryPolicy(mode="preferred", nodes=[node.node]),
            f"memory on node {node.node}{of_kind} as long as it has room",
        )


def _of_large_blocks(wide: list[int], preferred: Iterable[_Candidate]) -> Iterator[_Candidate]:
    """Large blocks elsewhere, and all small ones near the CPUs as usual."""
    yield _Candidate(
        "large blocks interleaved",
        MemoryPolicy(mode="interleave", nodes=wide),
        f"large blocks and maps interleaved over nodes {format_cpu_list(wide)}, {_HOW}",
        of_large_blocks=True,
    )
    for one in preferred:
        yield replace(
            one,
            name=f"large blocks, {one.name}",
            text=f"large blocks and maps: {one.text}, {_HOW}",
            of_large_blocks=True,
        )


def _by_kernels(weighted: _Candidate) -> _Candidate:
    """The kernel's weights of large blocks alone, where no measured ones were named."""
    if weighted.policy is None:
        return replace(
            weighted,
            name=BY_WEIGHTS,
            text=f"{weighted.text}; name a run of 'memgauge interleave' with --weights",
        )
    return replace(
        weighted,
        name=BY_WEIGHTS,
        text=f"large blocks and maps: {weighted.text}, {_HOW}",
        of_large_blocks=True,
    )


def _by_measured(
    measured: Sequence[MeasuredWeights], nodes: Sequence[int], plain: Sequence[int]
) -> Iterator[_Candidate]:
    """Those that an earlier run found best: they need no setting of the kernel, so no root."""
    for one in measured:
        of_kernels = f" of {', '.join(one.kernels)}" if len(measured) > 1 else ""
        name = f"{BY_WEIGHTS}{of_kernels}"
        reason = _useless(one.weights, nodes, plain)
        if reason is not None:
            yield _Candidate(name, None, f"run {one.run_id}: {reason}")
            continue
        ratio = ":".join(map(str, one.weights.values()))
        of_nodes = format_cpu_list([*one.weights])
        yield _Candidate(
            name,
            None,
            f"large blocks and maps interleaved over nodes {of_nodes} by the weights {ratio} that "
            f"run {one.run_id} measured ({', '.join(one.kernels)}), {_HOW}",
            weights=one.weights,
        )


def _useless(weights: Mapping[int, int], nodes: Sequence[int], plain: Sequence[int]) -> str | None:
    """Why measured weights are not tried; None: they are."""
    gone = sorted({*weights} - {*nodes})
    if gone:
        return f"its weights need memory on {_words(gone)}, which the program may not use"
    if len(weights) == 1:
        return f"no weights were faster than {_words([*weights])} alone"
    if len(set(weights.values())) == 1 and [*weights] == [*plain]:
        return "the best weights were the same for all nodes"
    return None


def _words(nodes: Sequence[int]) -> str:
    return f"node{'s' if len(nodes) > 1 else ''} {format_cpu_list(nodes)}"


def with_room(
    treatments: Sequence[Treatment], resident_bytes: int, tree: Tree | None = None
) -> tuple[list[Treatment], list[NotTried]]:
    """Leave out what binds the program to nodes that may have too little memory for it.

    Args:
        treatments: All of the diagnosis.
        resident_bytes: Memory of the program in its first run.
        tree: Root of the sysfs to read.
    """
    kept: list[Treatment] = []
    not_tried: list[NotTried] = []
    for one in treatments:
        policy = one.memory_policy
        reason = None
        if policy is not None and policy.mode == "bind":
            reason = _too_small(policy.nodes, resident_bytes, tree or Tree())
        if reason is None:
            kept.append(one)
        else:
            not_tried.append(NotTried(one.name, reason))
    return kept, not_tried


def _too_small(nodes: Sequence[int], resident_bytes: int, tree: Tree) -> str | None:
    free = [_free_bytes(tree, node) for node in nodes]
    known = [one for one in free if one is not None]
    if len(known) < len(free):
        return f"how much memory is free on {_words(nodes)} cannot be read"
    if sum(known) >= ROOM_FACTOR * resident_bytes:
        return None
    return (
        f"{format_bytes(sum(known))} are free on {_words(nodes)}, which is less than twice the "
        f"{format_bytes(resident_bytes)} that the program had"
    )


def _free_bytes(tree: Tree, node: int) -> int | None:
    """Free memory of a node, and its least used file cache, which the kernel gives up first."""
    found = {}
    for line in (tree.text(f"/sys/devices/system/node/node{node}/meminfo") or "").splitlines():
        words = line.replace(":", " ").split()  # Node 0 MemFree: 123 kB
        if len(words) >= 4 and words[2] in {"MemFree", "Inactive(file)"} and words[3].isdecimal():
            found[words[2]] = int(words[3]) * _KIB
    return sum(found.values()) if len(found) == 2 else None
