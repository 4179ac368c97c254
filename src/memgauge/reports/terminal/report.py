"""A report as text of a given width: verdicts first, then the narrow columns of each table."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, TextIO

import msgspec

from memgauge.analysis.machine.table import system_table
from memgauge.analysis.machine.tiers import tier_notes, tiers_table

if TYPE_CHECKING:
    from memgauge.analysis.section import Report
    from memgauge.model.system import System
    from memgauge.reports.terminal.page import Page

DEFAULT_COLUMNS = 80
NARROWEST_COLUMNS = 20

_FEW_SECTIONS = 3
"""Sections that a reader takes in with tables of any length."""


class Look(msgspec.Struct, frozen=True):
    """What the output can show."""

    columns: int = DEFAULT_COLUMNS
    color: bool = False
    encoding: str = "utf-8"

    @classmethod
    def of(cls, stream: TextIO) -> Look:
        """The look for a stream: colour only on a terminal and without NO_COLOR."""
        tty = stream.isatty()
        columns = shutil.get_terminal_size().columns if tty else DEFAULT_COLUMNS
        return cls(
            columns=max(NARROWEST_COLUMNS, min(columns, 100)),
            color=tty and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
            encoding=getattr(stream, "encoding", None) or "ascii",
        )


def render(
    report: Report,
    width: int = DEFAULT_COLUMNS,
    color: bool = False,
    encoding: str = "utf-8",
    *,
    whole: bool = True,
) -> str:
    """The summary of a run.

    Args:
        report: The analysed run.
        width: Most columns of a line; below 20 it counts as 20.
        color: Whether the text contains escape sequences for colours.
        encoding: Encoding of the output; any other than UTF gets plain ASCII.
        whole: Whether everything is shown. Else a report of many sections keeps to what matters
            (the first table of each section, both ends of a long table, no notes on the run) and
            says what only the HTML page shows.
    """
    page = _page(width, color, encoding, whole=whole or len(report.sections) <= _FEW_SECTIONS)
    page.heading(report.title)
    page.line(report.machine)
    page.line(report.status, "" if report.complete else "bold yellow")
    if report.headlines:
        page.blank()
        page.headlines(report.headlines, report.precision)
    page.verdicts(report.verdicts, notes=False)
    for section in report.sections:
        page.section(section, report.precision)
    page.legend(report)
    return page.text()


def render_system(
    system: System, width: int = DEFAULT_COLUMNS, color: bool = False, encoding: str = "utf-8"
) -> str:
    """What was found about the machine and what is possible on it, with remedies.

    Args:
        system: The machine, as detected.
        width: Most columns of a line; below 20 it counts as 20.
        color: Whether the text contains escape sequences for colours.
        encoding: Encoding of the output; any other than UTF gets plain ASCII.
    """
    page = _page(width, color, encoding)
    page.heading(system.cpu_model)
    page.table(system_table(system), None)
    _tiers(page, system)
    for note in system.topology_notes:
        page.entry("·", "note", note, None)
    page.blank()
    for capability in system.capabilities:
        symbol, word = ("✓", "yes") if capability.available else ("✗", "no")
        said = f"{capability.name}: {capability.detail}"
        style = "green" if capability.available else "yellow"
        page.entry(symbol, word, said, None if capability.available else capability.remedy, style)
    return page.text()


def _tiers(page: Page, system: System) -> None:
    table = tiers_table(system)
    if table is not None:
        page.blank()
        page.line(table.title, "underline")
        page.table(table, None)
    for said in tier_notes(system):
        page.entry("·", said.kind, said.text, said.remedy)


def _page(width: int, color: bool, encoding: str, *, whole: bool = True) -> Page:
    """An empty page; rich is loaded here, so that it costs nothing to those who print nothing."""
    from memgauge.reports.terminal.page import Page

    return Page(max(width, NARROWEST_COLUMNS), color, encoding, whole=whole)
