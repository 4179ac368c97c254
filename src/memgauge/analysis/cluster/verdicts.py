"""Verdicts on a cluster: missing nodes, nodes that differ, and what impairs the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memgauge.analysis.cluster.groups import Combined, UnlikeNode, same_machine
from memgauge.analysis.cluster.keys import label_of
from memgauge.analysis.cluster.outliers import LEAST_NODES, Outlier
from memgauge.analysis.section import Verdict
from memgauge.model.text import few
from memgauge.model.units import format_count

MOST_NAMED = 8
"""Nodes named in one sentence."""
MOST_SAID = 10
"""Nodes with a sentence of their own; tables hold all."""
MOST_REASONS = 4
"""Of one node, in its sentence; the table holds all."""


def verdicts(combined: Combined) -> list[Verdict]:
    """All of them, of the cluster as a whole."""
    return [
        *_missing(combined),
        *_unheard(combined),
        *_incomplete(combined),
        *_problems(combined),
        *_unlike(combined),
        *_alike(combined),
        *_too_few(combined),
        *_one_machine(combined),
        *_versions(combined),
        *_bound(combined),
    ]


def some(names: Sequence[str]) -> str:
    """A few of the names, and how many more."""
    return few(names, MOST_NAMED)


def outlier_text(one: Outlier) -> str:
    """`triad tuned 2t 21% below the median of 31 nodes, robust z -9.1`."""
    side = "below" if one.departure < 0 else "above"
    label = label_of((one.figure.name, one.figure.regime))
    return (
        f"{label} {abs(one.departure):.1%} {side} the median of {one.nodes} nodes, "
        f"robust z {one.score:.1f}"
    )


def reasons_text(one: UnlikeNode, most: int | None = None) -> str:
    """What else distinguishes the node, or that nothing does."""
    known = one.reasons[:most]
    more = len(one.reasons) - len(known)
    if not known:
        return "nothing else that was recorded distinguishes it from the others"
    return "; ".join(known) + (f"; and {more} more" if more else "")


def _missing(combined: Combined) -> Iterator[Verdict]:
    missing = combined.cluster.missing
    for name, why in list(missing.items())[:MOST_SAID]:
        yield Verdict(level="problem", text=f"{name} has no figures: {why}.")
    if len(missing) > MOST_SAID:
        rest = list(missing)[MOST_SAID:]
        yield Verdict(level="problem", text=f"Also without figures: {some(rest)}.")


def _unheard(combined: Combined) -> Iterator[Verdict]:
    ranks = combined.cluster.manifest.unheard
    if ranks:
        yield Verdict(
            level="problem",
            text=f"{format_count(len(ranks), 'rank')} never reported their node: "
            f"{some([str(rank) for rank in ranks])}. Their nodes may be missing from this report.",
        )


def _incomplete(combined: Combined) -> Iterator[Verdict]:
    figures, nodes = combined.cluster.figures, combined.cluster.nodes
    short = [
        name
        for name, one in figures.items()
        if one.ended in {None, "interrupted", "failed"} or nodes[name].state != "done"
    ]
    by_why: dict[str, list[str]] = {}
    for name in short:
        by_why.setdefault(nodes[name].why or figures[name].status, []).append(name)
    for why, names in list(by_why.items())[:MOST_SAID]:
        yield Verdict(
            level="warning",
            text=f"The survey of {some(names)} was ended early ({why}): its figures use the "
            "samples taken until then."
            if len(names) == 1
            else f"The surveys of {some(names)} were ended early ({why}): their figures use the "
            "samples taken until then.",
        )


def _problems(combined: Combined) -> Iterator[Verdict]:
    by_problem: dict[str, list[str]] = {}
    for name, figures in combined.cluster.figures.items():
        for problem in figures.problems:
            by_problem.setdefault(problem, []).append(name)
    for problem, names in list(by_problem.items())[:MOST_SAID]:
        yield Verdict(level="problem", text=f"{some(names)}: {problem}")


def _unlike(combined: Combined) -> Iterator[Verdict]:
    for one in combined.unlike[:MOST_SAID]:
        others = len(one.outliers) - 1
        more = f", and {format_count(others, 'further figure')} of it" if others else ""
        yield Verdict(
            level="warning" if one.is_worse else "note",
            text=f"{one.node}: {outlier_text(one.outliers[0])}{more}; "
            f"{reasons_text(one, MOST_REASONS)}.",
            remedy=_REMEDY if one.is_worse and not one.reasons else None,
        )
    rest = [one.node for one in combined.unlike[MOST_SAID:]]
    if rest:
        yield Verdict(
            level="warning", text=f"Further nodes that differ from the others: {some(rest)}."
        )


_REMEDY = "check its memory modules, firmware settings and cooling, and measure it again alone"


def _alike(combined: Combined) -> Iterator[Verdict]:
    tested = [group for group in combined.groups if group.judged.tests]
    if tested and not combined.unlike:
        nodes = sum(len(group.figures) for group in tested)
        tests = sum(group.judged.tests for group in tested)
        yield Verdict(
            level="good",
            text=f"No node differs from the others ({tests} figures of {nodes} nodes were tested).",
        )


def _too_few(combined: Combined) -> Iterator[Verdict]:
    for group in combined.groups:
        if len(group.figures) < LEAST_NODES:
            nodes = format_count(len(group.figures), "node")
            yield Verdict(
                level="note",
                text=f"No outliers can be identified among {nodes} of {group.kind} "
                f"({some(group.names)}): the test needs {LEAST_NODES} of one kind. The tables "
                "show how they differ; 'memgauge compare' shows whether a difference is chance.",
            )
        elif not group.judged.tests:
            yield Verdict(
                level="note",
                text=f"No outliers can be identified among the nodes of {group.kind}: no figure "
                f"has an interval on {LEAST_NODES} of them.",
                remedy="increase --budget",
            )


def _one_machine(combined: Combined) -> Iterator[Verdict]:
    manifest = combined.cluster.manifest
    for names in same_machine(manifest):
        at_once = manifest.nodes_at_once != 1
        yield Verdict(
            level="warning" if at_once else "note",
            text=f"{some(names)} are one machine under {len(names)} host names (one boot)"
            + (": measured at the same time, they competed for memory." if at_once else "."),
            remedy="measure them in turn with --nodes-at-once 1" if at_once else None,
        )


def _versions(combined: Combined) -> Iterator[Verdict]:
    versions = Counter(one.memgauge_version for one in combined.cluster.figures.values())
    if len(versions) > 1:
        known = ", ".join(f"{version} on {count}" for version, count in versions.most_common())
        yield Verdict(
            level="warning",
            text=f"Nodes were measured by different versions of memgauge: {known}.",
            remedy="install one version on all of them",
        )


def _bound(combined: Combined) -> Iterator[Verdict]:
    whys: dict[str, list[str]] = {}
    for node in combined.cluster.manifest.nodes:
        if node.cpus_why:
            whys.setdefault(node.cpus_why, []).append(node.name)
    for why, names in list(whys.items())[:3]:
        yield Verdict(level="note", text=f"{some(names)}: {why}.")
