"""Finds nodes that differ from the others, by a test that is robust against outliers.

A node's figure is held against the median of its group (nodes of one kind) by its modified z-score
(Iglewicz and Hoaglin 1993): its distance from the median over the scale 1.4826 MAD, the median
absolute deviation made comparable with a standard deviation. Three things are done beside:

- The scale is at least the standard error of the node's own figure, so that a badly known figure is
  no outlier, and at least 0.5% of the median, so that nodes which are alike to the last digit make
  none. A figure whose interval is not known is not tested.
- A MAD of few nodes is itself uncertain: the score is taken as Student's t with 0.37 (n - 1)
  degrees of freedom, since the efficiency of the MAD is 37% of that of the standard deviation for
  normal values (Hampel 1974). Below 6 nodes nothing is tested.
- All figures of all nodes are tested together, in two steps (Benjamini and Bogomolov 2014). A
  node's chance is that of its farthest figure, times the number of its figures. Of the nodes named
  5% are expected to be false (Benjamini and Hochberg 1995), and in a cluster without an outlier
  one is named in 5% of runs at most. Of a named node, those figures are reported that pass the same
  limit. As Iglewicz and Hoaglin advise, none is below a score of 3.5.

What would invalidate it: two kinds of nodes in a group, half and half. Then no node is unlike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from memgauge.analysis.statistics.intervals import MAD_TO_SIGMA, regularized_beta
from memgauge.analysis.statistics.significance import FALSE_SHARE, NORMAL, stand
from memgauge.model.storage.cluster import FigureOfNode

LEAST_NODES = 6
LEAST_SCORE = 3.5
LEAST_SCALE = 0.005
"""As a share of the median."""
MAD_EFFICIENCY = 0.37
_USUAL = 2.0
"""Scores below this are never outliers, so their probability need not be computed."""

Key = tuple[str, str]
"""Name and regime of a figure."""


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over the nodes of one group."""

    figure: FigureOfNode
    """Of any of the nodes: for its name and unit."""
    nodes: int
    median: float
    scale: float
    """1.4826 MAD, in the unit."""
    lowest: tuple[str, float]
    """Node and value."""
    highest: tuple[str, float]
    tested: int
    """Nodes whose interval is known, where there are enough nodes; else 0."""

    @property
    def share(self) -> float:
        """Robust spread as a share of the median."""
        return self.scale / self.median if self.median else math.inf


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a node that differs from those of the others."""

    node: str
    figure: FigureOfNode
    departure: float
    """From the median, as a share of it."""
    score: float
    """Modified z-score; below zero: less than the median."""
    nodes: int
    """In its group."""

    @property
    def is_worse(self) -> bool:
        """Whether it is on the slow side."""
        return (self.departure < 0) == (self.figure.direction == "higher")


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A group of nodes of one kind, tested."""

    spreads: dict[Key, Spread]
    outliers: list[Outlier]
    tests: int
    """How many figures of nodes were."""


def judge(figures: Mapping[str, Sequence[FigureOfNode]]) -> Judged:
    """Test the figures of the nodes of one group, by their names."""
    by_key: dict[Key, dict[str, FigureOfNode]] = {}
    for node, reported in figures.items():
        for one in reported:
            by_key.setdefault((one.name, one.regime), {})[node] = one
    spreads = {key: spread_of(of_nodes) for key, of_nodes in by_key.items()}
    scored: dict[str, list[Outlier]] = {}
    for key, of_nodes in by_key.items():
        for found in _scored(of_nodes, spreads[key]):
            scored.setdefault(found.node, []).append(found)
    return Judged(spreads=spreads, outliers=_standing(scored), tests=sum(map(len, scored.values())))


def _standing(scored: Mapping[str, Sequence[Outlier]]) -> list[Outlier]:
    """Figures of the nodes that stand out when all are taken together, the most telling first."""
    chances = {
        node: [_chance(one) * len(tested) for one in tested] for node, tested in scored.items()
    }
    least = {node: min(of_node) for node, of_node in chances.items()}
    standing = sum(stand(list(least.values())))
    limit = FALSE_SHARE * standing / max(1, len(least))
    found = [
        one
        for node, tested in scored.items()
        for one, p in zip(tested, chances[node], strict=True)
        if standing and p <= limit and abs(one.score) >= LEAST_SCORE
    ]
    return sorted(found, key=lambda one: (not one.is_worse, -abs(one.score)))


def _chance(one: Outlier) -> float:
    return chance(one.score, one.nodes) if abs(one.score) > _USUAL else 1.0


def spread_of(of_nodes: Mapping[str, FigureOfNode]) -> Spread:
    """Median and robust spread of one figure."""
    values = {node: one.value for node, one in of_nodes.items()}
    middle = median(values.values())
    lowest, highest = (end(values, key=lambda node: values[node]) for end in (min, max))
    known = sum(one.low is not None for one in of_nodes.values())
    return Spread(
        figure=next(iter(of_nodes.values())),
        nodes=len(values),
        median=middle,
        scale=MAD_TO_SIGMA * median(abs(value - middle) for value in values.values()),
        lowest=(lowest, values[lowest]),
        highest=(highest, values[highest]),
        tested=known if len(values) >= LEAST_NODES and middle > 0 else 0,
    )


def _scored(of_nodes: Mapping[str, FigureOfNode], spread: Spread) -> list[Outlier]:
    if not spread.tested:
        return []
    least = max(spread.scale, LEAST_SCALE * spread.median)
    return [
        Outlier(
            node=node,
            figure=one,
            departure=one.value / spread.median - 1,
            score=(one.value - spread.median) / max(least, error),
            nodes=spread.nodes,
        )
        for node, one in of_nodes.items()
        if (error := _error(one, spread.median)) is not None
    ]


def _error(one: FigureOfNode, towards: float) -> float | None:
    """Standard error on the side where the others are; None where no interval is known."""
    if one.low is None or one.high is None:
        return None
    reach = one.high - one.value if towards > one.value else one.value - one.low
    return max(reach, 0.0) / NORMAL


def chance(score: float, nodes: int) -> float:
    """Two-sided, of a score like this or farther among so many nodes that are alike."""
    freedom = MAD_EFFICIENCY * (nodes - 1)
    return regularized_beta(freedom / (freedom + score * score), freedom / 2, 0.5)
