"""Parts of the page: verdicts, headlines, tables and cells; every string of a run is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from memgauge.analysis.section import Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.reports import cells
from memgauge.reports.answer import step_words, with_units
from memgauge.reports.html.escaped import text
from memgauge.reports.html.strip import standing_strip
from memgauge.reports.severity import SYMBOLS, folded, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from memgauge.analysis.section import (
        Answer,
        AnswerLine,
        Cell,
        Headline,
        Quality,
        Table,
        Verdict,
    )

MOST_ROWS = 2000
"""Of a table in the page."""
_LONG_CELL = 32
_LONG_FACT = 16
_LONG_TIGHT = 12
"""Characters beyond which a cell of words wraps: in a table, in one of just two columns, and in one
of so many columns that it is set tightly."""
_MOST_CHARACTERS = 110
"""Of a row that fits the page's width as it is usually set."""
_GAP_CHARACTERS = 3


def verdict_list(verdicts: list[Verdict]) -> str:
    """The verdicts, the gravest first."""
    if not verdicts:
        return ""
    return f'<ul class="verdicts">{"".join(map(_verdict, shown(verdicts)))}</ul>'


def folded_list(verdicts: list[Verdict]) -> str:
    """Verdicts on conditions as one line that unfolds."""
    if not verdicts:
        return ""
    return (
        f'<details class="table conditions"><summary><h3>{text(folded(verdicts))}</h3></summary>'
        f"{verdict_list(verdicts)}</details>"
    )


def _verdict(verdict: Verdict) -> str:
    remedy = f'<p class="remedy">{text(verdict.remedy)}</p>' if verdict.remedy else ""
    level = verdict.level
    return (
        f'<li class="verdict {level}">'
        f'<span class="level" data-symbol="{SYMBOLS[level]}">{level}</span>'
        f"<div><p>{text(verdict.text)}</p>{remedy}</div></li>"
    )


def headline_item(headline: Headline, precision: float | None) -> str:
    """One key figure of the strip at the top."""
    column = Column(title=headline.label, unit=headline.unit, digits=headline.digits)
    figure = _figure(headline.value, column, precision)
    if headline.unit not in {None, "B"} and headline.value is not None:
        value, *around = figure.split('<span class="spread"', 1)
        unit = f' <span class="unit">{text(headline.unit or "")}</span>'
        figure = value + unit + "".join(f'<span class="spread"{rest}' for rest in around)
    detail = f'<dd class="detail">{text(headline.detail)}</dd>' if headline.detail else ""
    if headline.between is not None:
        detail += f'<dd class="detail">{text(headline.between.words)}</dd>'
    label = f"<dt>{text(headline.label)}</dt>"
    return f'<div class="headline">{label}<dd class="figure">{figure}</dd>{detail}</div>'


def answer_block(answer: Answer) -> str:
    """Rows of figures, then the grade of the run and what to do next."""
    rows = _answer_rows(answer.lines)
    graded = "" if answer.quality is None else _graded(answer.quality)
    steps = "".join(
        f'<li class="{step.level}"><span data-symbol="{SYMBOLS[step.level]}">'
        f"{text(step_words(step))}</span></li>"
        for step in answer.next_steps
    )
    todo = f'<dt>Next</dt><dd><ul class="steps">{steps}</ul></dd>' if steps else ""
    said = "".join(f"<p>{text(sentence)}</p>" for sentence in answer.sentences)
    return f'<div class="answer">{said}<dl>{rows}{graded}{todo}</dl></div>'


def answer_lines(lines: Sequence[AnswerLine]) -> str:
    """Rows of figures alone."""
    return f'<div class="answer"><dl>{_answer_rows(lines)}</dl></div>'


def _answer_rows(lines: Sequence[AnswerLine]) -> str:
    return "".join(
        f"<dt>{text(line.label)}</dt><dd>{_answer_figures(line)}{_answer_detail(line)}</dd>"
        for line in lines
    )


def _graded(quality: Quality) -> str:
    tone = _TONES[quality.grade]
    return (
        f'<dt>Quality</dt><dd><span class="grade {tone}">{text(quality.grade)}</span>'
        f'<span class="detail">{text("; ".join(quality.reasons))}</span></dd>'
    )


_TONES = {"good": "good", "fair": "warning", "poor": "problem", "nothing measured": "problem"}


def _answer_figures(line: AnswerLine) -> str:
    written = []
    for figure, shown_unit in with_units(line):
        column = Column(title=figure.name, unit=figure.unit, digits=figure.digits)
        value, around, rest = _figure(figure.value, column, None).partition('<span class="spread"')
        unit = f' <span class="unit">{text(shown_unit)}</span>' if shown_unit else ""
        name = f'<span class="name">{text(figure.name)}</span> ' if figure.name else ""
        written.append(f'<span class="one">{name}<b>{value}</b>{unit}{around}{rest}</span> ')
    return "".join(written)


def _answer_detail(line: AnswerLine) -> str:
    if line.standing is None:
        return f'<span class="detail">{text(line.detail)}</span>'
    return standing_strip(line.standing)


def table_block(table: Table, precision: float | None, *, titled: bool = True) -> str:
    """A table that scrolls sideways by itself; one of details only is folded away.

    Args:
        table: Table to show; of a long one only the first `MOST_ROWS` rows.
        precision: Requested half width of intervals over their values; None marks no estimate.
        titled: Whether the table has its title as a heading; one without is never folded.
    """
    title = text(table.title)
    heading = f"<h3>{title}</h3>" if titled else ""
    if not table.rows:
        return f'<div class="table">{heading}<p class="aside">Nothing was measured.</p></div>'
    table = _with_content(table)
    tight = _is_wide(table, precision)
    alike = _alike(table) if tight else {}
    said = [*([_said_once(table, alike)] if alike else []), *_notes(table)]
    note = "".join(f'<p class="aside">{text(one)}</p>' for one in said)
    grid = f"""<div class="scroll" tabindex="0" role="region" aria-label="{title}">
<table{' class="tight"' * tight}>{_grid(table, precision, alike, tight=tight)}</table>
</div>{note}"""
    if titled and not any(column.narrow for column in table.columns):
        count = f'<span class="count">{len(table.rows)} rows</span>'
        return f"""<details class="table"><summary>{heading} {count}</summary>
{grid}
</details>"""
    return f"""<div class="table">{heading}
{grid}
</div>"""


def _with_content(table: Table) -> Table:
    """Without the columns in which no row has anything."""
    kept = [
        at
        for at in range(len(table.columns))
        if any(row[at] not in {None, ""} for row in table.rows)
    ]
    if len(kept) in {0, len(table.columns)}:
        return table
    return msgspec.structs.replace(
        table,
        columns=[table.columns[at] for at in kept],
        rows=[[row[at] for at in kept] for row in table.rows],
    )


def _alike(table: Table) -> dict[int, str]:
    """What is the same in every row, by column: of a wide table it is said once below it."""
    if len(table.rows) < 2:
        return {}
    columns = list(zip(*table.rows, strict=True))
    return {
        at: cells.centre(column[0], table.columns[at])
        for at, column in enumerate(columns)
        if at and not isinstance(column[0], Estimate) and all(one == column[0] for one in column)
    }


def _said_once(table: Table, alike: dict[int, str]) -> str:
    named = (f"{_titled(table.columns[at])}: {value}" for at, value in alike.items())
    return f"The same in every row: {'; '.join(named)}."


def _titled(column: Column) -> str:
    return column.title if column.unit in {None, "", "B"} else f"{column.title} ({column.unit})"


def _notes(table: Table) -> list[str]:
    """What stands below a table."""
    more = len(table.rows) - MOST_ROWS
    cut = [f"{more:,} further rows are omitted here."] if more > 0 else []
    return [*cut, *([table.note] if table.note else [])]


def _is_wide(table: Table, precision: float | None) -> bool:
    """Whether its rows are wider than the page unless they are set tightly."""
    taken = 0
    for at, column in enumerate(table.columns):
        words = max(map(len, column.title.split()), default=0)
        figures_ = [_width(row[at], column, precision) for row in table.rows[:MOST_ROWS]]
        taken += max(words, *figures_) + _GAP_CHARACTERS
    return taken > _MOST_CHARACTERS


def _width(cell: Cell, column: Column, precision: float | None) -> int:
    """Characters of a cell, its interval among them; of words that wrap the least line."""
    value = len(cells.centre(cell, column))
    if isinstance(cell, Estimate):
        mark = cells.is_wide(cell, column, precision) * len(cells.WIDE_MARK)
        return value + 1 + len(cells.spread(cell, column.unit)) + mark
    return min(value, _LONG_CELL)


def _grid(table: Table, precision: float | None, hidden: Collection[int], *, tight: bool) -> str:
    """Heads and rows; hidden columns are there to be copied."""
    numeric = [cells.is_numeric(row[at] for row in table.rows) for at in range(len(table.columns))]
    shown = [_Shown(column, numeric[at], at in hidden) for at, column in enumerate(table.columns)]
    long = _LONG_TIGHT if tight else _LONG_CELL if len(table.columns) > 2 else _LONG_FACT
    heads = "".join(
        f'<th scope="col"{" class=number" * one.numeric}{" hidden" * one.hidden}>'
        f"{_column_head(one.column)}</th>"
        for one in shown
    )
    rows = "".join(_row(shown, row, precision, long) for row in table.rows[:MOST_ROWS])
    return f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"


def _column_head(column: Column) -> str:
    if column.unit in {None, "", "B"}:
        return text(column.title)
    return f'{text(column.title)} <span class="unit">({text(column.unit or "")})</span>'


class _Shown(NamedTuple):
    """How a column is written."""

    column: Column
    numeric: bool
    hidden: bool


def _row(shown: list[_Shown], row: list[Cell], precision: float | None, long: int) -> str:
    """Cells, of which those of words longer than `long` wrap."""
    written = []
    for at, (cell, (column, numeric, hidden)) in enumerate(zip(row, shown, strict=True)):
        classes = ["number"] if numeric else []
        if cells.is_wide(cell, column, precision):
            classes.append("wide")
        if isinstance(cell, str) and len(cell) > long:
            classes.append("words")
        attribute = f' class="{" ".join(classes)}"' if classes else ""
        attribute += _data(cell) + " hidden" * hidden
        figure = _figure(cell, column, precision)
        head = at == 0 and not numeric
        tag, scope = ("th", ' scope="row"') if head else ("td", "")
        written.append(f"<{tag}{scope}{attribute}>{figure}</{tag}>")
    return f"<tr>{''.join(written)}</tr>"


def _data(cell: Cell) -> str:
    """The number of a cell and the ends of its interval, by which the page sorts and copies."""
    if isinstance(cell, Estimate):
        ends = f' data-low="{cell.low:.9g}" data-high="{cell.high:.9g}"'
        return f' data-value="{cell.value:.9g}"{ends if has_interval(cell) else ""}'
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return f' data-value="{cell:.12g}"'
    return ""


def _figure(cell: Cell, column: Column, precision: float | None) -> str:
    """A cell: its value, and behind it the interval, whose ends show on hover."""
    value = text(cells.centre(cell, column))
    if cell is None:
        return f'<span class="missing" title="not measured">{value}</span>'
    if not isinstance(cell, Estimate):
        return value
    mark = cells.WIDE_MARK if cells.is_wide(cell, column, precision) else ""
    around = text(cells.spread(cell, column.unit)) + mark
    ends = text(f"95% interval: {cells.interval(cell, column)}")
    return f'{value}<span class="spread" title="{ends}">{around}</span>'
