"""Analysis of a cluster: groups nodes by kind, and finds those that differ, and why."""

from __future__ import annotations

import msgspec

from memgauge.analysis.cluster.outliers import Judged, Outlier, judge
from memgauge.analysis.cluster.reasons import Usual, reasons, usual
from memgauge.model.storage.cluster import ClusterNode, Manifest, NodeFigures
from memgauge.model.units import format_count


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """The input: a manifest, and the figures of those nodes that have some."""

    manifest: Manifest
    figures: dict[str, NodeFigures]
    """By name of node, in the manifest's order."""
    missing: dict[str, str]
    """Nodes without figures, with the reasons."""

    @property
    def nodes(self) -> dict[str, ClusterNode]:
        """By name."""
        return {node.name: node for node in self.manifest.nodes}


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes of one kind."""

    kind: str
    """Description: processor, threads, sockets and NUMA nodes."""
    figures: dict[str, NodeFigures]
    judged: Judged
    usual: Usual

    @property
    def names(self) -> list[str]:
        """Of its nodes."""
        return list(self.figures)


class UnlikeNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node with outliers."""

    node: str
    kind: str
    """Of its group."""
    outliers: list[Outlier]
    """The most significant first."""
    reasons: list[str]
    """What else distinguishes it; empty if nothing that was recorded does."""

    @property
    def is_worse(self) -> bool:
        """Whether it is slower in anything."""
        return any(one.is_worse for one in self.outliers)


class Combined(msgspec.Struct, frozen=True, kw_only=True):
    """The nodes of a cluster, compared with each other."""

    cluster: Cluster
    groups: list[Group]
    """The largest first."""
    unlike: list[UnlikeNode]
    """Slower ones first."""


def combine(cluster: Cluster) -> Combined:
    """Group the nodes, test each group, and look for reasons."""
    by_kind: dict[str, dict[str, NodeFigures]] = {}
    for name, figures in cluster.figures.items():
        by_kind.setdefault(kind_of(figures), {})[name] = figures
    groups = [
        Group(
            kind=kind,
            figures=of_nodes,
            judged=judge({name: one.figures for name, one in of_nodes.items()}),
            usual=usual(of_nodes),
        )
        for kind, of_nodes in by_kind.items()
    ]
    groups.sort(key=lambda group: -len(group.figures))
    unlike = [one for group in groups for one in _unlike(group)]
    unlike.sort(key=lambda one: (not one.is_worse, -abs(one.outliers[0].score)))
    return Combined(cluster=cluster, groups=groups, unlike=unlike)


def kind_of(figures: NodeFigures) -> str:
    """Properties that nodes must share to be compared.

    Memory size is not one of them: a node with less memory is to be reported.
    """
    processor = figures.facts.get("processor") or figures.facts.get("architecture") or "unknown"
    parts = [processor, format_count(figures.cpus, "thread")]
    if figures.sockets > 1:
        parts.append(f"{figures.sockets} sockets")
    if figures.numa_nodes > 1:
        parts.append(f"{figures.numa_nodes} NUMA nodes")
    return ", ".join(parts)


def same_machine(manifest: Manifest) -> list[list[str]]:
    """Nodes that are one machine under several names, as containers and name spaces are."""
    by_boot: dict[str, list[str]] = {}
    for node in manifest.nodes:
        if node.boot:
            by_boot.setdefault(node.boot, []).append(node.name)
    return [names for names in by_boot.values() if len(names) > 1]


def _unlike(group: Group) -> list[UnlikeNode]:
    by_node: dict[str, list[Outlier]] = {}
    for one in group.judged.outliers:
        by_node.setdefault(one.node, []).append(one)
    return [
        UnlikeNode(
            node=node,
            kind=group.kind,
            outliers=outliers,
            reasons=reasons(group.figures[node], group.usual),
        )
        for node, outliers in by_node.items()
    ]
