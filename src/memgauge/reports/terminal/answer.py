"""The answer of a survey as rows of text: a label, and what is said behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from rich.text import Text

from memgauge.analysis.section import Column
from memgauge.reports import cells
from memgauge.reports.answer import step_words, with_units
from memgauge.reports.severity import SYMBOLS

if TYPE_CHECKING:
    from memgauge.analysis.section import Answer, AnswerFigure, AnswerLine

NO_BREAK = "\N{BRAILLE PATTERN BLANK}"
"""Stands for a space inside a figure, which rich would wrap at or strip."""
STYLES = {"problem": "bold red", "warning": "yellow", "note": "cyan", "good": "green"}

_GRADES = {
    "good": "bold green",
    "fair": "bold yellow",
    "poor": "bold red",
    "nothing measured": "bold red",
}
_BETWEEN = "  "
"""Figures of a line."""


class Styled(Protocol):
    """Makes text safe for the output, in a style as rich names it."""

    def __call__(self, text: str, style: str = "") -> Text:
        """The text, safe and in that style."""
        ...


def answer_rows(answer: Answer, styled: Styled) -> Iterator[tuple[Text, Text]]:
    """Label and content of each row: figures, and the grade of the run."""
    for line in answer.lines:
        yield styled(line.label, "bold"), _line(line, styled)
    quality = answer.quality
    if quality is not None:
        grade = styled(f"{quality.grade}: ", _GRADES[quality.grade])
        yield styled("Quality", "bold"), grade + styled("; ".join(quality.reasons))


def step_rows(answer: Answer, styled: Styled) -> Iterator[tuple[Text, Text]]:
    """What to do next, a row each."""
    for at, step in enumerate(answer.next_steps):
        symbol = styled(f"{SYMBOLS[step.level]} ", STYLES[step.level])
        yield styled("" if at else "Next", "bold"), symbol + styled(step_words(step))


def _line(line: AnswerLine, styled: Styled) -> Text:
    written = [_figure(figure, unit, styled) for figure, unit in with_units(line)]
    detail = [styled(line.detail, "dim")] if line.detail else []
    return Text(_BETWEEN).join([*written, *detail])


def _figure(figure: AnswerFigure, unit: str, styled: Styled) -> Text:
    """Name, value, unit and interval, which stay on one line."""
    column = Column(title=figure.name, unit=figure.unit, digits=figure.digits)
    centre = cells.centre(figure.value, column)
    spread = cells.text(figure.value, column, None).removeprefix(centre)
    name = f"{figure.name} " if figure.name else ""
    parts = ((name, ""), (f"{centre} {unit}".rstrip(), "bold"), (spread, ""))
    return Text().join(styled(part.replace(" ", NO_BREAK), style) for part, style in parts)
