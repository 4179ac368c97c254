"""How large the arrays of each set of weights are, and what all of them take from each node."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.experiments.interleave.parameters import InterleaveParameters
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.experiments.stream.sizes import Layout, layout
from memgauge.model.interleave_weights import Weights
from memgauge.model.memory import MemoryPlacement, on_node
from memgauge.model.system import System
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES

ARRAYS = 3
"""Of each set of weights: those of STREAM."""

FURTHER_SETS = 4
"""Weights that a search has open at a time beside the first ones."""

PERIODS = 8
"""Times that weights are dealt out over an array at least, so that its shares are theirs."""

MEMORY_SHARE = 0.5
"""Of what is available, and of each node, that all arrays may take."""

HUGE_PAGE_BYTES = 2 << 20
"""Transparent huge pages of most machines."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Arrays of one team."""

    shape: Layout
    largest_sum: int
    """Of weights: an array has pages for `PERIODS` times as many."""
    bytes_by_node: dict[int, int]
    """Of all sets that are open at a time, those that a search adds dealt out evenly."""

    @property
    def bytes_in(self) -> dict[MemoryPlacement, int]:
        """The same by placement."""
        return {on_node(node): size for node, size in self.bytes_by_node.items()}


def sizes(
    parameters: InterleaveParameters,
    system: System,
    cpus: Sequence[int],
    nodes: Sequence[int],
    first: Sequence[Weights],
) -> Sizes:
    """Array sizes by the STREAM rule, smaller where memory is short, unless requested otherwise.

    Args:
        parameters: As requested; with `array_bytes` None the rule applies.
        system: Machine, for its caches, its page sizes and the memory of each node.
        cpus: CPUs of the team, one for each thread.
        nodes: NUMA nodes that pages are dealt out to.
        first: Weights whose arrays are open from the start, each in the order of `nodes`.
    """
    at_most = _shares(nodes, first, FURTHER_SETS)
    shape = _shape(parameters, parameters.array_bytes, system, cpus)
    if parameters.array_bytes is None:
        sets = len(first) + FURTHER_SETS
        most = [int(system.available_bytes * MEMORY_SHARE / (ARRAYS * sets))]
        most += [
            int(node.bytes * MEMORY_SHARE / (ARRAYS * at_most[node.node]))
            for node in system.nodes
            if at_most.get(node.node)
        ]
        if min(most) < shape.array_bytes:
            shape = _shape(parameters, min(most), system, cpus)
    return Sizes(
        shape=shape,
        largest_sum=shape.array_bytes // (page_bytes(parameters, system) * PERIODS),
        bytes_by_node={
            node: round(ARRAYS * shape.array_bytes * share)
            for node, share in _shares(nodes, first, FURTHER_SETS / len(nodes)).items()
        },
    )


def page_bytes(parameters: InterleaveParameters, system: System) -> int:
    """Of the pages that are dealt out."""
    explicit = EXPLICIT_PAGE_BYTES.get(parameters.pages)
    if explicit is not None:
        return explicit
    huge = parameters.pages == "thp" or (
        parameters.pages == "auto" and system.thp in {"always", "madvise"}
    )
    return HUGE_PAGE_BYTES if huge else system.base_page_bytes


def _shape(
    parameters: InterleaveParameters,
    array_bytes: int | None,
    system: System,
    cpus: Sequence[int],
) -> Layout:
    of_stream = StreamParameters(element=parameters.element, array_bytes=array_bytes)
    return layout(of_stream, system, cpus)


def _shares(nodes: Sequence[int], first: Sequence[Weights], further: float) -> dict[int, float]:
    """Arrays' worth of pages on each node: of the first weights, and `further` for the search's.

    The sets that a search adds may have nearly all their pages on any one node, never on all.
    """
    return {
        node: further + sum(weights[place] / sum(weights) for weights in first)
        for place, node in enumerate(nodes)
    }
