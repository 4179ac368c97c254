"""A report as text of a given width: verdicts first, then the narrow columns of each table."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, TextIO

import msgspec

from memgauge.analysis.machine.table import system_table
from memgauge.analysis.machine.tiers import tier_notes, tiers_table
from memgauge.analysis.machine.topology import text_of, topology_of
from memgauge.reports.answer import one_of
from memgauge.reports.severity import apart

if TYPE_CHECKING:
    from memgauge.analysis.section import Answer, Report, Section
    from memgauge.model.system import System
    from memgauge.reports.terminal.page import Page

DEFAULT_COLUMNS = 80
NARROWEST_COLUMNS = 20

_FEW_SECTIONS = 3
"""Sections that a reader takes in with tables of any length."""
_MOST_LINES = 37
"""Of an answer: with where the run is, forty."""
_LEAST_STEPS = 2
"""What to do next that is shown in any case."""
_MOST_LINES_COMPARED = 15
_LEAST_COMPARED = 6
"""Figures of a comparison that are shown in any case."""


class Look(msgspec.Struct, frozen=True):
    """What the output can show."""

    columns: int = DEFAULT_COLUMNS
    color: bool = False
    encoding: str = "utf-8"

    @classmethod
    def of(cls, stream: TextIO) -> Look:
        """The look for a stream: colour only on a terminal and without NO_COLOR.

        As wide as the terminal, or as COLUMNS says, else 80 columns.
        """
        tty = stream.isatty()
        is_known = tty or os.environ.get("COLUMNS", "").isdecimal()
        columns = shutil.get_terminal_size().columns if is_known else DEFAULT_COLUMNS
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
        whole: Whether everything is shown, the answer last. Else a report that has an answer is
            that alone; another of many sections keeps to what matters (the first table of each
            section, both ends of a long table, no notes on the run) and says what only the HTML
            page shows.
    """
    shown = _rendered(report, width, color, encoding, whole=whole)
    while not whole and (shorter := _shorter(report, shown.count("\n"))) is not None:
        report = shorter
        shown = _rendered(report, width, color, encoding, whole=whole)
    return shown


def _shorter(report: Report, lines: int) -> Report | None:
    """With a little less in its answer, where that has too many lines and anything to spare."""
    answer = report.answer
    if answer is None:
        return None
    if answer.quality is not None:
        fewer = _with_less_to_do(answer) if lines > _MOST_LINES else None
    else:
        fewer = _with_less_compared(answer) if lines > _MOST_LINES_COMPARED else None
    return None if fewer is None else msgspec.structs.replace(report, answer=fewer)


def _with_less_to_do(answer: Answer) -> Answer | None:
    """Without the least valuable of the steps of a run; None: few are left."""
    steps = answer.next_steps
    if len(steps) <= _LEAST_STEPS or steps[-1].level == "problem":
        return None
    return msgspec.structs.replace(answer, next_steps=steps[:-1])


def _with_less_compared(answer: Answer) -> Answer | None:
    """What was not alike in one sentence, then fewer figures; None: few are left."""
    warned = [one for one in answer.next_steps if one.level == "warning"]
    if len(warned) > 1:
        others = [one for one in answer.next_steps if one.level != "warning"]
        steps = [one_of(warned, "--all"), *others]
        return msgspec.structs.replace(answer, next_steps=steps)
    if len(answer.lines) > _LEAST_COMPARED:
        return msgspec.structs.replace(answer, lines=answer.lines[:-1])
    return None


def _rendered(report: Report, width: int, color: bool, encoding: str, *, whole: bool) -> str:
    page = _page(width, color, encoding, whole=whole or len(report.sections) <= _FEW_SECTIONS)
    if report.answer is not None and report.answer.sentences and not whole:
        page.heading(f"{report.title}: {report.machine}")
        page.answer(report.answer)
        return page.text()
    page.heading(report.title)
    page.line(report.machine)
    page.line(report.status, "" if report.complete else "bold yellow")
    if report.answer is None and report.headlines:
        page.blank()
        page.headlines(report.headlines, report.precision)
    folds = report.pictures_first and not whole
    if report.answer is None or whole:
        page.verdicts(apart(report.verdicts)[0] if folds else report.verdicts, notes=False)
        for section in report.sections:
            page.section(_without_conditions(section) if folds else section, report.precision)
        if folds:
            every = [report.verdicts, *(section.verdicts for section in report.sections)]
            page.folded([one for verdicts in every for one in apart(verdicts)[1]])
        page.legend(report)
    if report.answer is not None:
        page.answer(report.answer)
    return page.text()


def _without_conditions(section: Section) -> Section:
    return msgspec.structs.replace(section, verdicts=apart(section.verdicts)[0])


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
    _topology(page, system, width)
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


def _topology(page: Page, system: System, width: int) -> None:
    """What lies in what, as a tree."""
    machine = topology_of(system)
    if machine is None:
        return
    page.blank()
    page.line("Processors, caches and memory", "underline")
    for line in text_of(machine, max(width, NARROWEST_COLUMNS)):
        page.line(line)


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
