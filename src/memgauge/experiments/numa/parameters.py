"""Parameters of `numa`, and the CPU and memory nodes they stand for on a machine."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import MAX_NODE, MemoryPlacement
from memgauge.model.option import choices_option, counts_option, grouped, size_option
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.system import System
from memgauge.system.topology.memory_nodes import nodes_with_memory, require_nodes
from memgauge.system.topology.placement import cpus_for

KERNELS = ("read", "copy", "scale", "write", "update")
"""Those that need one array to read and one to write at most."""

MOST_THREADS = 64
"""Of one node by default: as many saturate its memory, and arrays stay larger than caches."""


class NumaParameters(CommonParameters, frozen=True, kw_only=True):
    """What `numa` takes."""

    takes_threads: ClassVar[bool] = False
    """A survey's --threads counts threads of one team; here it counts those of each node."""
    unlisted: ClassVar[frozenset[str]] = frozenset({"memory", "keep", "overwrite", "sweep"})

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "number of threads on each CPU node",
            1,
            MAX_THREADS,
            automatic=f"one for each core of the node, {MOST_THREADS} at most",
        ),
    ] = None
    memory_nodes: Annotated[
        tuple[int, ...] | None,
        grouped(
            counts_option(
                "nodes whose memory is measured, such as 0,2",
                0,
                MAX_NODE,
                automatic="all with memory",
            ),
            "where",
        ),
    ] = None
    kernel: Annotated[tuple[str, ...], choices_option("kernels to run", KERNELS)] = ("read", "copy")
    array_bytes: Annotated[
        int | None,
        size_option(
            "bytes of each array of each thread",
            automatic="four times the last-level caches of a node, divided among its threads",
        ),
    ] = None


class CpuNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node whose CPUs load memory."""

    node: int
    cpus: tuple[int, ...]
    """A thread on each, the one that chases pointers first."""


def memory_nodes(parameters: NumaParameters, system: System) -> list[int]:
    """Nodes whose memory is measured, rising.

    Raises:
        NotPossibleHere: only one node has memory, or other memory than that of nodes was requested.
        RequestError: a node without memory.
    """
    if parameters.memory != MemoryPlacement():
        raise NotPossibleHere(
            f"--memory {parameters.memory}: numa measures the memory of nodes; leave --memory out, "
            "or name nodes with --memory-nodes"
        )
    present = nodes_with_memory(system)
    require_nodes(parameters.memory_nodes or (), "--memory-nodes", system)
    if len(present) < 2:
        raise NotPossibleHere(
            "numa: this machine has memory on one node only, so all of it is equally far; "
            "measure it with latency and stream"
        )
    return sorted(set(parameters.memory_nodes or present))


def cpu_nodes(parameters: NumaParameters, system: System) -> list[CpuNode]:
    """Nodes whose CPUs may be used, rising, with as many threads as they are to have.

    Raises:
        RequestError: several numbers of threads, or more than a node has CPUs.
    """
    by_node: dict[int, list[int]] = {}
    node_of = {cpu.cpu: cpu.node for cpu in system.cpus}
    core_of = {cpu.cpu: cpu.core for cpu in system.cpus}
    for cpu in cpus_for(parameters.cpus, None, system):
        by_node.setdefault(node_of[cpu], []).append(cpu)
    found = []
    for node, cpus in sorted(by_node.items()):
        cores = len({core_of[cpu] for cpu in cpus})
        threads = _threads(parameters, node, len(cpus)) or min(cores, MOST_THREADS)
        found.append(CpuNode(node=node, cpus=tuple(cpus[:threads])))
    return found


def _threads(parameters: NumaParameters, node: int, most: int) -> int | None:
    """The number requested; None: it was left out."""
    if parameters.threads is None:
        return None
    if len(parameters.threads) > 1:
        raise RequestError(
            "--threads: numa measures with one number of threads on every node; give one"
        )
    if parameters.threads[0] > most:
        raise RequestError(
            f"--threads {parameters.threads[0]}: node {node} has {most} CPUs that can be used; "
            f"use at most {most}, or leave the node out with --nodes"
        )
    return parameters.threads[0]
