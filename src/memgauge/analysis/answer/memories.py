"""Two kinds of memory beside each other, and CPUs that are near or far."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memgauge.analysis.answer.latency import nanoseconds
from memgauge.analysis.core_to_core.figures import PairResult, matrix_of
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import AnswerLine
from memgauge.analysis.tiers.figures import contests
from memgauge.analysis.tiers.opening import opening
from memgauge.analysis.transfers.beside import is_beside_transfers
from memgauge.model.points.core_to_core import STORE
from memgauge.model.units import format_count


def tiers_lines(figures: Figures) -> Iterator[AnswerLine]:
    """What each of two memories gives alone, and which share of the threads the second deserves."""
    if is_beside_transfers(figures.run):
        return
    found = [one for one in contests(figures) if len(one.splits) > 1]
    if not found:
        return
    advice, *others = opening(found)
    alone = [one for one in others if one.label == "Alone"]
    for at, line in enumerate([*alone, advice]):
        yield msgspec.structs.replace(line, label="" if at else "Tiers")


def _ns(one: PairResult) -> float:
    return one.ns


def cores_line(figures: Figures) -> Iterator[AnswerLine]:
    """How long a line takes from one CPU to another: the nearest and the farthest pair."""
    matrix = matrix_of(figures)
    found = [] if matrix is None else sorted(matrix.results.get(STORE, {}).values(), key=_ns)
    ends = [found[0], found[-1]] if len(found) > 1 else found
    known = [(one.pair, one.figure) for one in ends if one.figure is not None]
    if known:
        pairs = format_count(len(found), "pair")
        yield AnswerLine(
            label="Cores",
            figures=[nanoseconds(f"CPUs {a} and {b}", value) for (a, b), value in known],
            detail=f"handing over a line; of {pairs}" if len(found) > 1 else "handing over a line",
        )
