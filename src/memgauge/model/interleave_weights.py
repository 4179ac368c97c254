"""Weights of interleaved nodes: how many pages each of them gets in turn.

Weights are whole numbers, one for each node, 0 where a node has no pages; only their ratios count,
so that they are kept without a common divisor.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING

from memgauge.model.memory import MemoryPlacement, on_node

if TYPE_CHECKING:
    from memgauge.model.system import System

Weights = tuple[int, ...]
"""Of nodes, in their order."""


def reduced(weights: Sequence[int]) -> Weights:
    """The same ratio in the smallest numbers."""
    divisor = gcd(*weights)
    return tuple(weight // divisor for weight in weights) if divisor else tuple(weights)


def placement(nodes: Sequence[int], weights: Weights) -> MemoryPlacement:
    """Where arrays of these weights are put; of one node alone, bound to it."""
    used = {node: weight for node, weight in zip(nodes, weights, strict=True) if weight}
    if len(used) == 1:
        return on_node(*used)
    return MemoryPlacement("interleave", tuple(used), tuple(used.values()))


def kernels_weights(nodes: Sequence[int], system: System) -> Weights | None:
    """Those of Linux's weighted interleave; None: not known for every node."""
    known = [weight for node in nodes if (weight := _kernels_weight(node, system)) is not None]
    return reduced(known) if len(known) == len(nodes) else None


def _kernels_weight(node: int, system: System) -> int | None:
    """Of the smallest tier that holds the node."""
    of_node = [tier for tier in system.tiers if node in tier.nodes and tier.interleave_weight]
    nearest = min(of_node, key=lambda tier: len(tier.nodes), default=None)
    return None if nearest is None else nearest.interleave_weight
