"""Weights to measure: their names, what is swept first, and where a search goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles

from memgauge.model.interleave_weights import Weights, reduced
from memgauge.model.memory import MAX_WEIGHT

LEAST_SAMPLES = 8
MARGIN = 0.05
"""Weights further behind the best than this after some rounds will not win,"""
FLAT = 0.005
"""and where the neighbours of the best are closer than this, finer steps are indistinguishable."""
LEAST_STEP = 0.02
"""In a node's part of the pages."""


def label(nodes: Sequence[int], weights: Weights) -> str:
    """As Linux's nodes and weights are written: `0=3,2=1`."""
    return ",".join(
        f"{node}={weight}" for node, weight in zip(nodes, weights, strict=True) if weight
    )


def always_measured(weights: Weights) -> bool:
    """What others are compared with: each node alone, and nodes that are given the same."""
    return max(weights) == 1


def first_weights(count: int, up_to: int, further: Iterable[Weights] = ()) -> list[Weights]:
    """Weights to measure first: each node alone, all alike, then one with more than the others.

    With two nodes that one has 2, 3 ... `up_to` times as much; with more nodes only twice as much,
    from where the search goes on.

    Args:
        count: Number of nodes.
        up_to: Largest weight of one node beside 1 for each other node; below 2: none of these.
        further: Weights to append, reduced to the smallest numbers; left out where all are 0.
    """
    alone = [_unit(count, index) for index in range(count)]
    steps = range(2, up_to + 1) if count == 2 else range(2, min(up_to, 2) + 1)
    more = [
        tuple(step if place == index else 1 for place in range(count))
        for step in steps
        for index in range(count)
    ]
    given = (reduced(weights) for weights in further if any(weights))
    return list(dict.fromkeys([*alone, (1,) * count, *more, *given]))


class Search:
    """A search for the best ratio of one kernel and team, one node after the other.

    Along each node's line the ratio of the others stays what the best weights so far have. There
    its neighbours that were measured stand on both sides of the best, and what is measured next
    lies between, where the numbers are smallest: the mediants of the Stern-Brocot tree (M. Stern,
    1858; A. Brocot, 1861), so that 2:1 and 3:1 give 5:2. It ends where neighbours are as fast as
    the best, or nearer than `LEAST_STEP`, or numbers would exceed `largest_sum`. Of two nodes
    bandwidth over weights has one top, and this finds it; of more it may stay beside the top.
    """

    def __init__(self, largest_sum: int) -> None:
        self._largest_sum = largest_sum

    def further(self, speeds: Mapping[Weights, float]) -> list[Weights]:
        """Weights to measure next, by the speeds of all that were; none: the search has ended."""
        best = max(speeds, key=lambda weights: (speeds[weights], -sum(weights)))
        found = (weights for node in range(len(best)) for weights in _beside(best, node, speeds))
        return [
            weights
            for weights in dict.fromkeys(found)
            if weights not in speeds
            and max(weights) <= MAX_WEIGHT
            and sum(weights) <= self._largest_sum
        ]


def _beside(best: Weights, node: int, speeds: Mapping[Weights, float]) -> list[Weights]:
    """On the line of one node, what lies between the best and its neighbours there."""
    others = reduced([0 if place == node else weight for place, weight in enumerate(best)])
    if not any(others):
        return []  # the lines of the other nodes lead away from it

    def at(part: Part) -> Weights:
        mine, theirs = part
        return tuple(
            mine if place == node else theirs * weight for place, weight in enumerate(others)
        )

    line = {part for weights in speeds if (part := _part(weights, node, others)) is not None}
    here = _part(best, node, others) or (0, 1)
    below = max((part for part in line if _share(part) < _share(here)), key=_share, default=NONE)
    above = min((part for part in line if _share(part) > _share(here)), key=_share, default=ALL)
    sides = [side for side in (below, above) if side != here]
    level = speeds[best] * (1 - FLAT)
    if len(sides) == 2 and all(speeds.get(at(side), 0.0) >= level for side in sides):
        return []
    return [
        at((here[0] + side[0], here[1] + side[1]))
        for side in sides
        if abs(_share(side) - _share(here)) >= LEAST_STEP
    ]


Part = tuple[int, int]
"""So many pages for one node, to so many times the weights of the others."""
NONE: Part = (0, 1)
ALL: Part = (1, 0)


def _part(weights: Weights, node: int, others: Weights) -> Part | None:
    """Where weights stand on the line of a node; None: the others have another ratio."""
    rest = [0 if place == node else weight for place, weight in enumerate(weights)]
    if not any(rest):
        return ALL
    if reduced(rest) != others:
        return None
    return weights[node], sum(rest) // sum(others)


def _share(part: Part) -> float:
    """Rises with the node's weight: from 0 to 1."""
    return part[0] / sum(part)


def fast_side(values: Sequence[float]) -> float | None:
    """90th percentile of what was measured; None of too few."""
    return quantiles(values, n=10, method="inclusive")[-1] if len(values) >= LEAST_SAMPLES else None


def behind(speeds: Mapping[Weights, float]) -> set[Weights]:
    """Weights clearly behind the best of their contest that nothing is compared with."""
    limit = max(speeds.values(), default=0.0) * (1 - MARGIN)
    slow = (weights for weights, speed in speeds.items() if speed < limit)
    return {weights for weights in slow if not always_measured(weights)}


def _unit(count: int, index: int) -> Weights:
    return tuple(int(place == index) for place in range(count))
