"""Lines of text under way: rich lays out, everything that enters is made safe first."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import Box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from memgauge.analysis.section import Column
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.text import bounded, plain
from memgauge.model.units import format_count
from memgauge.reports import cells, severity
from memgauge.reports.severity import SYMBOLS
from memgauge.reports.terminal.answer import NO_BREAK, STYLES, answer_rows, step_rows
from memgauge.reports.terminal.columns import widths, wrapped

if TYPE_CHECKING:
    from memgauge.analysis.section import (
        Answer,
        Cell,
        Headline,
        Report,
        Section,
        Table,
        Verdict,
    )

_ASCII = str.maketrans(
    {
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{MICRO SIGN}": "u",
        "±": "+-",
        "·": "-",
        "→": "->",
        "✓": "+",
        "✗": "x",
        "≥": ">=",
        "≤": "<=",
        "…": "...",
        "├": "+",
        "└": "+",
        "│": "|",
        "─": "-",
    }
)
"""What stands for a sign where the output has no Unicode."""

_RULED = "    \n    \n ── \n    \n    \n    \n    \n    \n"
_RULED_ASCII = "    \n    \n -- \n    \n    \n    \n    \n    \n"

_MOST_ROWS_OF_ANY = 500
"""Of a table in text: of a longer one both ends are shown, wherever it is from."""
_MOST_ROWS = 12
_FIRST_ROWS, _LAST_ROWS = 6, 4
"""Of a table longer than that, where a page keeps to what matters: both ends of what was swept."""

_CUT = "…"


class Page:
    """Lines under way; every string that enters is stripped of what a terminal would obey."""

    def __init__(self, columns: int, color: bool, encoding: str, *, whole: bool = True) -> None:
        self._whole = whole
        self._ascii = "utf" not in encoding.lower()
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=columns,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
            force_jupyter=False,
            force_interactive=False,
        )

    def text(self) -> str:
        """All lines so far, with no space at the end of any."""
        lines = self._out.getvalue().replace(NO_BREAK, " ").splitlines()
        return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def heading(self, text: str, style: str = "bold") -> None:
        """A line of its own, in bold where the terminal can."""
        self._console.print(self._styled(text, style))

    def line(self, text: str, style: str = "") -> None:
        """One paragraph, wrapped at the width of the page."""
        self._console.print(self._styled(text, style))

    def headlines(self, headlines: list[Headline], precision: float | None) -> None:
        """The headline figures, aligned in a grid."""
        grid = RichTable.grid(padding=(0, 2))
        for headline in headlines:
            between = headline.between.words if headline.between else ""
            beside = "; ".join(filter(None, (headline.detail, between)))
            grid.add_row(
                self._styled(headline.label),
                self._styled(_headline_value(headline, precision), "bold"),
                self._styled(beside, "dim"),
            )
        self._console.print(grid)

    def answer(self, answer: Answer) -> None:
        """The lines of an answer, the grade of the run, and what to do next."""
        self.blank()
        for sentence in answer.sentences:
            self.line(sentence, "bold")
        rows, steps = [*answer_rows(answer, self._styled)], [*step_rows(answer, self._styled)]
        is_one_grid = answer.quality is not None
        for part in [[*rows, *steps]] if is_one_grid else [rows, steps]:
            grid = RichTable.grid(padding=(0, 2))
            grid.add_column(no_wrap=True)
            grid.add_column(ratio=1, overflow="fold")
            for label, said in part:
                grid.add_row(label, said)
            if part:
                self._console.print(grid)

    def verdicts(self, verdicts: list[Verdict], *, notes: bool = True) -> None:
        """The most severe first; `notes` are only counted where a page keeps to what matters."""
        shown = [one for one in verdicts if notes or self._whole or one.level != "note"]
        if verdicts:
            self.blank()
        for verdict in severity.shown(shown):
            symbol, style = SYMBOLS[verdict.level], STYLES[verdict.level]
            self.entry(symbol, verdict.level, verdict.text, verdict.remedy, style)
        if len(shown) < len(verdicts):
            self._left_to_page(len(verdicts) - len(shown), "note")

    def folded(self, conditions: list[Verdict]) -> None:
        """One line for verdicts on conditions, which the page unfolds."""
        if conditions:
            self.blank()
            self.line(f"{_CUT} {severity.folded(conditions)}: in report.html", "dim")

    def _left_to_page(self, count: int, what: str) -> None:
        verb = "is" if count == 1 else "are"
        self.line(f"{_CUT} {format_count(count, what)} {verb} only in report.html", "dim")

    def entry(
        self, symbol: str, word: str, said: str, remedy: str | None, style: str = "cyan"
    ) -> None:
        """One sentence behind its symbol and word, indented when it wraps.

        Args:
            symbol: One character, such as `✓`.
            word: What the sentence is, such as `warning`.
            said: The sentence; untrusted text is made safe.
            remedy: What the reader can do, on lines of its own; None if there is nothing to do.
            style: Style of symbol and word, as rich names it, such as `bold red`.
        """
        grid = RichTable.grid(padding=(0, 1))
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, min_width=7)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(self._styled(symbol, style), self._styled(word, style), self._styled(said))
        if remedy:
            grid.add_row("", "", self._styled(f"→ {remedy}", "dim"))
        self._console.print(grid)

    def section(self, section: Section, precision: float | None) -> None:
        """A section: its title, verdicts and first tables."""
        self.blank()
        self.heading(section.title)
        self.line(section.question, "dim")
        self.verdicts(section.verdicts)
        tables = [t for t in section.tables if any(column.narrow for column in t.columns)]
        for table in tables if self._whole else tables[:1]:
            self.blank()
            if table.title != section.title:
                self.line(table.title, "underline")
            self.table(table, precision)
        if not self._whole and len(tables) > 1:
            self._left_to_page(len(tables) - 1, "further table")

    def table(self, table: Table, precision: float | None) -> None:
        """A table with the columns that fit the width."""
        if not table.rows:
            self.line("nothing was measured", "dim")
            return
        shown = [index for index, column in enumerate(table.columns) if column.narrow]
        columns = [table.columns[index] for index in shown]
        first, kept, cut = self._kept(table)
        rows = [[row[index] for index in shown] for row in kept]
        by_column = [[row[at] for row in rows] for at in range(len(columns))]
        numeric = [cells.is_numeric(column_cells) for column_cells in by_column]
        written = [
            cells.aligned(column_cells, column, precision)
            for column_cells, column in zip(by_column, columns, strict=True)
        ]
        for at in (at for at, figures in enumerate(numeric) if figures):
            written[at] = [cell.replace(" ", NO_BREAK) for cell in written[at]]
        if cut:
            for cells_ in written:
                cells_.insert(first, _CUT)
        fitted = widths(columns, written, numeric, self._console.width)
        if fitted:
            self._console.print(self._rich_table(columns, written, numeric, fitted))
        else:
            self._stacked(columns, written)
        if cut:
            self.line(f"{_CUT} {cut} of {len(table.rows)} rows are only in report.html", "dim")
        if table.note and self._whole:
            self.line(table.note, "dim")

    def _kept(self, table: Table) -> tuple[int, list[list[Cell]], int]:
        """How many of the first rows to show, all that are shown, and how many are left out."""
        most = _MOST_ROWS_OF_ANY if self._whole else _MOST_ROWS
        first, last = (most // 2, most // 2) if self._whole else (_FIRST_ROWS, _LAST_ROWS)
        if len(table.rows) <= most:
            return len(table.rows), table.rows, 0
        kept = [*table.rows[:first], *table.rows[-last:]]
        return first, kept, len(table.rows) - len(kept)

    def legend(self, report: Report) -> None:
        """What the marks in the tables mean, where they stand."""
        tables = [table for section in report.sections for table in section.tables]
        marked = [
            cell
            for table in tables
            for row in table.rows
            for cell, column in zip(row, table.columns, strict=True)
            if column.narrow and cells.is_wide(cell, column, report.precision)
        ]
        if report.precision is None or not marked:
            return
        requested = cells.number(100 * report.precision, 1).removesuffix(".0")
        self.blank()
        self.line(
            f"{cells.WIDE_MARK} the interval is wider than the ±{requested}% requested", "dim"
        )
        if any("±?" in cells.spread(cell) for cell in marked if isinstance(cell, Estimate)):
            self.line("±? too few samples for an interval", "dim")

    def _rich_table(
        self,
        columns: list[Column],
        written: list[list[str]],
        numeric: list[bool],
        fitted: list[int],
    ) -> RichTable:
        box = Box(_RULED_ASCII, ascii=True) if self._ascii else Box(_RULED)
        rich_table = RichTable(
            box=box, pad_edge=False, padding=(0, 1), show_edge=False, header_style="bold"
        )
        for at, column in enumerate(columns):
            rich_table.add_column(
                self._styled(cells.heading(column)),
                justify="right" if numeric[at] else "left",
                width=fitted[at],
                overflow="fold",
            )
        for row in zip(*written, strict=True):
            rich_table.add_row(*map(self._wrapped, row, fitted))
        return rich_table

    def _wrapped(self, cell: str, width: int) -> Text:
        return Text("\n").join(self._styled(line) for line in wrapped(cell, width))

    def _stacked(self, columns: list[Column], written: list[list[str]]) -> None:
        """One line a cell, for outputs too narrow for the table."""
        for row in zip(*written, strict=True):
            for at, (cell, column) in enumerate(zip(row, columns, strict=True)):
                self.line(f"{'  ' if at else ''}{cells.heading(column)}: {cell.strip()}")

    def _styled(self, text: str, style: str = "") -> Text:
        indent = text[: len(text) - len(text.lstrip(" "))]
        safe = indent + plain(bounded(text, cells.MOST_TEXT)).lstrip(" ")
        if self._ascii:
            mapped = safe.translate(_ASCII)
            safe = NO_BREAK.join(
                part.encode("ascii", "replace").decode("ascii") for part in mapped.split(NO_BREAK)
            )
        return Text(safe, style=style, overflow="fold")


def _headline_value(headline: Headline, precision: float | None) -> str:
    column = Column(title=headline.label, unit=headline.unit, digits=headline.digits)
    unit = headline.unit if headline.unit not in {None, "B"} and headline.value is not None else ""
    centre = f"{cells.centre(headline.value, column)} {unit}".rstrip()
    written = cells.text(headline.value, column, precision)
    return centre + written.removeprefix(cells.centre(headline.value, column))
