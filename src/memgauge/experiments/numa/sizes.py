"""How large the arrays and rings of `numa` are, and how much one iteration walks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.experiments.numa.parameters import CpuNode, NumaParameters
from memgauge.experiments.shared.rings import BLOCK_BYTES, memory_footprint
from memgauge.model.points.numa import NumaActual
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.system import System
from memgauge.system.topology.placement import cached_bytes, hides_caches

MIB = 1 << 20

CACHE_MULTIPLE = 4
"""Of what the threads of a node walk together over its last-level caches: the STREAM rule."""
LEAST_BYTES = 8 * MIB
STEP_BYTES = 2 * MIB
"""A huge page of most machines."""
MEMORY_SHARE = 0.5
"""Of what is available, and of each node, that arrays sized by default may take at most."""
ITERATION_BYTES = MIB
"""Of each array: a tenth of a millisecond or so of one thread; dozens in a sampling pass."""
LEAST_ITERATIONS = 4
"""In a walk over an array."""
RING_SHARE = 0.1
"""Of a node, that all rings there may take."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of all pairs."""

    array_bytes: int
    """Of each array of each thread on each memory node."""
    iteration_bytes: int
    lead_in_iterations: int
    ring_bytes: int
    """Of each pair's."""
    llc_bytes: int | None
    """Of the node with the most; None where the system hides it."""
    exceeds_caches: bool

    @property
    def facts(self) -> dict[str, Scalar]:
        """What points record about arrays."""
        return NumaActual(
            array_bytes=self.array_bytes,
            iteration_bytes=self.iteration_bytes,
            llc_bytes=self.llc_bytes,
        ).recorded()


def sizes(
    parameters: NumaParameters,
    system: System,
    cpus: Sequence[CpuNode],
    nodes: Sequence[int],
    arrays: int,
) -> Sizes:
    """Sizes by the STREAM rule, smaller where memory is short, unless requested otherwise.

    Args:
        parameters: As requested; with `array_bytes` None the rule applies.
        system: Machine, for its caches, the memory of each node and what may still be allocated.
        cpus: CPU nodes, each with one thread on each CPU listed.
        nodes: Numbers of the memory nodes.
        arrays: Number of arrays that each thread has on each memory node.
    """
    caches = {one.node: cached_bytes(one.cpus, system) for one in cpus}
    wanted = max(
        _steps(CACHE_MULTIPLE * caches[one.node] / len(one.cpus), LEAST_BYTES) for one in cpus
    )
    on_each = arrays * sum(len(one.cpus) for one in cpus)
    most = [system.available_bytes * MEMORY_SHARE / (on_each * len(nodes))]
    most += [n.bytes * MEMORY_SHARE / on_each for n in system.nodes if n.node in nodes]
    fitting = min(wanted, max(1, int(min(most)) // STEP_BYTES) * STEP_BYTES)
    array_bytes = parameters.array_bytes or fitting
    iteration_bytes = min(ITERATION_BYTES, max(256, array_bytes // LEAST_ITERATIONS))
    hidden = any(hides_caches(one.cpus, system) for one in cpus)
    return Sizes(
        array_bytes=array_bytes,
        iteration_bytes=iteration_bytes,
        lead_in_iterations=max(
            1, *(-(-caches[one.node] // (len(one.cpus) * iteration_bytes)) for one in cpus)
        ),
        ring_bytes=_ring_bytes(system, len(cpus), nodes),
        llc_bytes=None if hidden else max(caches.values()),
        exceeds_caches=not hidden
        and all(array_bytes * len(one.cpus) >= CACHE_MULTIPLE * caches[one.node] for one in cpus),
    )


def _steps(wanted: float, least: int) -> int:
    return max(least, -(-int(wanted) // STEP_BYTES) * STEP_BYTES)


def _ring_bytes(system: System, rings: int, nodes: Sequence[int]) -> int:
    """As `latency` walks, unless a node has too little memory for those of all CPU nodes."""
    smallest = min(node.bytes for node in system.nodes if node.node in nodes)
    most = int(smallest * RING_SHARE / rings) // BLOCK_BYTES * BLOCK_BYTES
    return max(BLOCK_BYTES, min(memory_footprint(system), most))
