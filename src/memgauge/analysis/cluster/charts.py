"""Nodes in colour: how much faster or slower each is than the middle of its kind.

Up to 40 nodes are a heat map with a row for each. More are drawn as tiles, 20 in a row, each with
the farthest departure of its node; below them the nodes that stand out have rows of their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from memgauge.analysis.cluster.groups import Combined, Group
from memgauge.analysis.cluster.keys import key_figures, label_of
from memgauge.analysis.cluster.outliers import Key
from memgauge.analysis.section import Axis, Chart, Series
from memgauge.model.storage.cluster import FigureOfNode

MOST_ROWS = 40
TILES = 20
_MAP_NOTE = (
    "0 is the median of all nodes of one kind; below 0 is slower: less bandwidth or more latency. "
    "A dash means not measured."
)
_SPEED = Axis(title="speed against the middle", unit="%")


class Departure(msgspec.Struct, frozen=True):
    """How far one figure of a node is from the median of its group."""

    key: Key
    figure: FigureOfNode
    share: float
    """Below zero: slower."""


def departures(combined: Combined) -> dict[str, dict[Key, Departure]]:
    """Deviations of the key figures of every node with others of its kind, by name."""
    found: dict[str, dict[Key, Departure]] = {}
    for group in combined.groups:
        if len(group.figures) > 1:
            found |= _of_group(group)
    return found


def charts(combined: Combined) -> list[Chart]:
    """The chart that fits the number of nodes; none if no node has others of its kind."""
    found = departures(combined)
    if not found:
        return []
    names = [node.name for node in combined.cluster.manifest.nodes]
    if len(names) <= MOST_ROWS:
        return [_heat_map("Nodes by figure", names, found)]
    standing = sorted(found, key=lambda name: _farthest(found[name]), reverse=True)[:MOST_ROWS]
    return [
        _tiles(names, found),
        _heat_map(f"The {len(standing)} nodes farthest from the median", standing, found),
    ]


def _of_group(group: Group) -> dict[str, dict[Key, Departure]]:
    keys = {key: group.judged.spreads[key].median for key in key_figures(group.judged)}
    found: dict[str, dict[Key, Departure]] = {}
    for name, figures in group.figures.items():
        known = {(one.name, one.regime): one for one in figures.figures}
        found[name] = {
            key: Departure(key, known[key], _speed(known[key], middle))
            for key, middle in keys.items()
            if key in known and middle > 0 and known[key].value > 0
        }
    return found


def _speed(one: FigureOfNode, middle: float) -> float:
    return one.value / middle - 1 if one.direction == "higher" else middle / one.value - 1


def _farthest(of_node: Mapping[Key, Departure]) -> float:
    return max((abs(one.share) for one in of_node.values()), default=0.0)


def _heat_map(
    title: str, names: Sequence[str], found: Mapping[str, Mapping[Key, Departure]]
) -> Chart:
    keys = list(dict.fromkeys(key for name in names for key in found.get(name, {})))
    return Chart(
        name="cluster-nodes",
        title=title,
        kind="heatmap",
        x=Axis(title="figure", unit=""),
        y=_SPEED,
        rows=Axis(title="node", unit=""),
        series=[_row(name, keys, found.get(name, {})) for name in names],
        note=_MAP_NOTE,
    )


def _row(name: str, keys: Sequence[Key], of_node: Mapping[Key, Departure]) -> Series:
    cells = [of_node.get(key) for key in keys]
    return Series(
        name=name,
        x=[label_of(key) for key in keys],
        y=[None if cell is None else cell.share for cell in cells],
        notes=[None if cell is None else _told(cell) for cell in cells],
    )


def _told(cell: Departure) -> str:
    one = cell.figure
    reach = "" if one.low is None or one.high is None else f" ({one.low:.4g} to {one.high:.4g})"
    return f"{one.value:.4g}{reach} {one.unit}"


def _tiles(names: Sequence[str], found: Mapping[str, Mapping[Key, Departure]]) -> Chart:
    """The farthest departure of each node, in the order of the manifest."""
    rows = [names[start : start + TILES] for start in range(0, len(names), TILES)]
    return Chart(
        name="cluster-tiles",
        title="All nodes, each with its largest deviation",
        kind="heatmap",
        x=Axis(title="node of the row", unit=""),
        y=_SPEED,
        rows=Axis(title="first node of the row", unit=""),
        series=[_tile_row(row, found) for row in rows],
        note=f"{_MAP_NOTE} Hover over a tile to see its figure and its node.",
    )


def _tile_row(names: Sequence[str], found: Mapping[str, Mapping[Key, Departure]]) -> Series:
    cells = [
        max(found.get(name, {}).values(), key=lambda one: abs(one.share), default=None)
        for name in names
    ]
    return Series(
        name=names[0],
        x=[str(at) for at in range(1, len(names) + 1)],
        y=[None if cell is None or not math.isfinite(cell.share) else cell.share for cell in cells],
        notes=[
            None if cell is None else f"{name}: {label_of(cell.key)}, {_told(cell)}"
            for name, cell in zip(names, cells, strict=True)
        ],
    )
