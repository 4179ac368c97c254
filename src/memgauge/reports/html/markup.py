"""Parts of the page: verdicts, headlines, tables and cells; every string of a run is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from memgauge.analysis.section import Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.text import bounded, plain
from memgauge.reports import cells
from memgauge.reports.severity import SYMBOLS, shown

if TYPE_CHECKING:
    from memgauge.analysis.section import Cell, Headline, Table, Verdict

MOST_ROWS = 2000
"""Of a table in the page."""
_LONG_CELL = 32
_LONG_FACT = 16
"""Characters beyond which a cell of words wraps, in a table and in one of just two columns."""


def text(text: str) -> str:
    """Text of a run as text of the page."""
    return escape(plain(bounded(text, cells.MOST_TEXT)))


def verdict_list(verdicts: list[Verdict]) -> str:
    """The verdicts, the gravest first."""
    if not verdicts:
        return ""
    return f'<ul class="verdicts">{"".join(map(_verdict, shown(verdicts)))}</ul>'


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
    note = "".join(f'<p class="aside">{text(said)}</p>' for said in _notes(table))
    grid = f"""<div class="scroll" tabindex="0" role="region" aria-label="{title}">
<table>{_grid(table, precision)}</table>
</div>{note}"""
    if titled and not any(column.narrow for column in table.columns):
        count = f'<span class="count">{len(table.rows)} rows</span>'
        return f"""<details class="table"><summary>{heading} {count}</summary>
{grid}
</details>"""
    return f"""<div class="table">{heading}
{grid}
</div>"""


def _notes(table: Table) -> list[str]:
    """What stands below a table."""
    more = len(table.rows) - MOST_ROWS
    cut = [f"{more:,} further rows are omitted here."] if more > 0 else []
    return [*cut, *([table.note] if table.note else [])]


def _grid(table: Table, precision: float | None) -> str:
    numeric = [cells.is_numeric(row[at] for row in table.rows) for at in range(len(table.columns))]
    heads = "".join(
        f'<th scope="col"{" class=number" if figures_ else ""}>{_column_head(column)}</th>'
        for column, figures_ in zip(table.columns, numeric, strict=True)
    )
    rows = "".join(_row(table, row, numeric, precision) for row in table.rows[:MOST_ROWS])
    return f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody>"


def _column_head(column: Column) -> str:
    if column.unit in {None, "", "B"}:
        return text(column.title)
    return f'{text(column.title)} <span class="unit">({text(column.unit or "")})</span>'


def _row(table: Table, row: list[Cell], numeric: list[bool], precision: float | None) -> str:
    written = []
    long = _LONG_CELL if len(table.columns) > 2 else _LONG_FACT
    for at, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
        classes = ["number"] if numeric[at] else []
        if cells.is_wide(cell, column, precision):
            classes.append("wide")
        if isinstance(cell, str) and len(cell) > long:
            classes.append("words")
        attribute = f' class="{" ".join(classes)}"' if classes else ""
        figure = _figure(cell, column, precision)
        head = at == 0 and not numeric[at]
        tag, scope = ("th", ' scope="row"') if head else ("td", "")
        written.append(f"<{tag}{scope}{attribute}>{figure}</{tag}>")
    return f"<tr>{''.join(written)}</tr>"


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
