"""The figures of a cluster as plain data: what `memgauge cluster --json` prints."""

from __future__ import annotations

import msgspec

from memgauge.analysis.cluster.groups import Combined, Group, UnlikeNode
from memgauge.analysis.cluster.outliers import LEAST_NODES, Key, Spread
from memgauge.analysis.cluster.report import status_line
from memgauge.analysis.cluster.verdicts import verdicts
from memgauge.analysis.section import Verdict
from memgauge.model.storage.cluster import CLUSTER_VERSION, FigureOfNode, Manifest, State


class SpreadFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One figure over the nodes of a kind."""

    name: str
    regime: str
    unit: str
    statistic: str
    """What is counted, and how."""
    nodes: int
    tested: int
    median: float
    robust_spread: float
    """1.4826 MAD, in the unit."""
    least: float
    least_node: str
    most: float
    most_node: str


class NodeFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one node, and how it compares."""

    figure: FigureOfNode
    departure: float | None
    """Deviation from the median of its kind, as a share of it; None if it is the only such node."""
    verdict: str
    """`usual`, `slower`, `faster`, or why it was not tested."""


class NodeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One node."""

    name: str
    state: State
    why: str | None
    run_id: str | None
    """None: it has no figures."""
    status: str | None
    kind: str | None
    facts: dict[str, str]
    shares: dict[str, float]
    clock_ghz: float | None
    figures: list[NodeFigure]


class KindDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of one kind, compared with each other."""

    kind: str
    nodes: list[str]
    tests: int
    spreads: list[SpreadFigures]


class UnlikeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a node that is unlike the others'."""

    node: str
    name: str
    regime: str
    departure: float
    robust_z: float
    slower: bool
    reasons: list[str]


class ClusterDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster, analysed, as data."""

    format_version: int
    manifest: Manifest
    status: str
    complete: bool
    verdicts: list[Verdict]
    kinds: list[KindDocument]
    unlike: list[UnlikeDocument]
    nodes: list[NodeDocument]


def cluster_document(combined: Combined) -> ClusterDocument:
    """The figures of a cluster, whatever of its nodes is there."""
    manifest = combined.cluster.manifest
    return ClusterDocument(
        format_version=CLUSTER_VERSION,
        manifest=manifest,
        status=status_line(combined),
        complete=manifest.ended and all(node.state == "done" for node in manifest.nodes),
        verdicts=verdicts(combined),
        kinds=[_kind(group) for group in combined.groups],
        unlike=[found for one in combined.unlike for found in _unlike(one)],
        nodes=_nodes(combined),
    )


def _kind(group: Group) -> KindDocument:
    return KindDocument(
        kind=group.kind,
        nodes=group.names,
        tests=group.judged.tests,
        spreads=[_spread(one) for one in group.judged.spreads.values()],
    )


def _spread(one: Spread) -> SpreadFigures:
    return SpreadFigures(
        name=one.figure.name,
        regime=one.figure.regime,
        unit=one.figure.unit,
        statistic=one.figure.statistic,
        nodes=one.nodes,
        tested=one.tested,
        median=one.median,
        robust_spread=one.scale,
        least=one.lowest[1],
        least_node=one.lowest[0],
        most=one.highest[1],
        most_node=one.highest[0],
    )


def _unlike(node: UnlikeNode) -> list[UnlikeDocument]:
    return [
        UnlikeDocument(
            node=node.node,
            name=one.figure.name,
            regime=one.figure.regime,
            departure=one.departure,
            robust_z=one.score,
            slower=one.is_worse,
            reasons=node.reasons,
        )
        for one in node.outliers
    ]


def _nodes(combined: Combined) -> list[NodeDocument]:
    of_group = {name: group for group in combined.groups for name in group.names}
    worse = {
        (one.node, one.figure.name, one.figure.regime): "slower" if one.is_worse else "faster"
        for node in combined.unlike
        for one in node.outliers
    }
    found = []
    for node in combined.cluster.manifest.nodes:
        group = of_group.get(node.name)
        figures = None if group is None else group.figures[node.name]
        judged = [] if group is None else _judged(node.name, group, worse)
        found.append(
            NodeDocument(
                name=node.name,
                state=node.state,
                why=node.why or combined.cluster.missing.get(node.name),
                run_id=None if figures is None else figures.run_id,
                status=None if figures is None else figures.status,
                kind=None if group is None else group.kind,
                facts={} if figures is None else figures.facts,
                shares={} if figures is None else figures.shares,
                clock_ghz=None if figures is None else figures.clock_ghz,
                figures=judged,
            )
        )
    return found


def _judged(name: str, group: Group, worse: dict[tuple[str, str, str], str]) -> list[NodeFigure]:
    found = []
    for one in group.figures[name].figures:
        key: Key = (one.name, one.regime)
        spread = group.judged.spreads[key]
        alone = spread.nodes < 2 or not spread.median
        found.append(
            NodeFigure(
                figure=one,
                departure=None if alone else one.value / spread.median - 1,
                verdict=worse.get((name, *key)) or _untested(one, spread) or "usual",
            )
        )
    return found


def _untested(one: FigureOfNode, spread: Spread) -> str | None:
    if spread.nodes < LEAST_NODES:
        return f"not tested: fewer than {LEAST_NODES} nodes of its kind have this figure"
    return "not tested: its interval is not known" if one.low is None else None
