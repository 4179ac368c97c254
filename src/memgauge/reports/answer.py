"""What of an answer is worded alike in a terminal and on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from memgauge.analysis.section import AnswerFigure, AnswerLine, Verdict

MOST_WHY = 90
"""Characters of why something is to be done;"""
MOST_ALONE = 140
"""of what is said where nothing can be done."""


def with_units(line: AnswerLine) -> Iterator[tuple[AnswerFigure, str]]:
    """Each figure of a line, and its unit where it is another than that of the figure before."""
    before: str | None = None
    for figure in line.figures:
        yield figure, figure.unit if figure.unit and figure.unit != before else ""
        before = figure.unit


def step_words(step: Verdict) -> str:
    """Why, by the beginning of its sentence, and what to do.

    All of the sentence where it is a problem, more of it where there is nothing to do.
    """
    if step.level == "problem":
        return f"{step.text} {step.remedy or ''}".rstrip()
    if not step.remedy:
        return _cut(step.text, MOST_ALONE)
    return f"{_cut(_why(step), MOST_WHY)}: {step.remedy}"


def one_of(steps: Sequence[Verdict], where: str) -> Verdict:
    """Several steps as one sentence: where more is said, and the beginning of each."""
    said = (f"{why[:1].lower()}{why[1:]}" for why in map(_why, steps))
    text = f"See {where}: {', '.join(said)}"
    return msgspec.structs.replace(steps[0], text=text, remedy=None)


def _why(step: Verdict) -> str:
    """The beginning of its sentence."""
    return re.split(r"[:;.](?: |$)| \(|, most", step.text, maxsplit=1)[0]


def _cut(text: str, most: int) -> str:
    """Its first clauses, or its first words with an ellipsis."""
    if len(text) <= most:
        return text
    clauses = text[:most].rpartition(", ")[0]
    return clauses or f"{text[:most].rpartition(' ')[0]} …"
