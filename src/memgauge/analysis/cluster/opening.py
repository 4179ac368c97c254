"""What the page of a cluster begins with: which nodes are in it, and whether one is unlike."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.cluster.groups import Combined
from memgauge.analysis.cluster.keys import key_figures, label_of
from memgauge.analysis.cluster.outliers import LEAST_NODES, Spread
from memgauge.analysis.cluster.verdicts import outlier_text, some
from memgauge.analysis.section import AnswerFigure, AnswerLine, digits_for
from memgauge.model.units import format_count


def opening(combined: Combined) -> list[AnswerLine]:
    """Nodes, those that differ, and bandwidth and latency of the largest group."""
    return [*_nodes(combined), *_unlike(combined), *_keys(combined)]


def _nodes(combined: Combined) -> Iterator[AnswerLine]:
    cluster = combined.cluster
    measured = f"{len(cluster.figures)} of {format_count(len(cluster.manifest.nodes), 'node')}"
    without = f"; no figures: {some(list(cluster.missing))}" if cluster.missing else ""
    yield AnswerLine(label="Measured", figures=[], detail=measured + without)


def _unlike(combined: Combined) -> Iterator[AnswerLine]:
    tests = sum(group.judged.tests for group in combined.groups)
    if combined.unlike:
        worst = combined.unlike[0]
        more = len(combined.unlike) - 1
        others = f"; {format_count(more, 'more node')} differ" + "s" * (more == 1) if more else ""
        said = f"{worst.node} differs most: {outlier_text(worst.outliers[0])}{others}"
    elif tests:
        said = f"no node differs from the others by more than chance ({tests} figures tested)"
    else:
        said = (
            f"cannot be told: the test needs {LEAST_NODES} nodes of one kind with figures whose "
            "intervals are known"
        )
    yield AnswerLine(label="Unlike", figures=[], detail=said)


def _keys(combined: Combined) -> Iterator[AnswerLine]:
    """Medians over the nodes of the largest group, and their ends."""
    if not combined.groups:
        return
    judged = combined.groups[0].judged
    spreads = [judged.spreads[key] for key in key_figures(judged)]
    bandwidths = [one for one in spreads if one.figure.unit == "GB/s"]
    latencies = [one for one in spreads if one.figure.unit == "ns"]
    if bandwidths:
        yield _line("Bandwidth", bandwidths[0])
    if latencies:
        yield _line("Latency", latencies[-1])


def _line(label: str, one: Spread) -> AnswerLine:
    digits = digits_for([one.median])
    ends = [("median", one.median), ("lowest", one.lowest[1]), ("highest", one.highest[1])]
    shown = ends if one.nodes > 1 else [("", one.median)]
    ends_at = f"; lowest on {one.lowest[0]}, highest on {one.highest[0]}"
    return AnswerLine(
        label=label,
        figures=[
            AnswerFigure(name=name, value=value, unit=one.figure.unit, digits=digits)
            for name, value in shown
        ],
        detail=f"{label_of((one.figure.name, one.figure.regime))}, "
        f"{format_count(one.nodes, 'node')}{ends_at if one.nodes > 1 else ''}",
    )
