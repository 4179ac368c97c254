"""What must hold whatever was read: a refusal in one plain line, or something that can be used."""

from __future__ import annotations

import zlib

import msgspec

from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report
from memgauge.analysis.stream.best_of import stream_form
from memgauge.model.errors import MemgaugeError, RunFileError
from memgauge.model.run import Run
from memgauge.model.text import plain
from memgauge.reports.export.registry import EXPORTERS, Exporter
from memgauge.reports.export.tables import TABLES
from memgauge.reports.html.page import render as render_html
from memgauge.reports.terminal.report import render

LONGEST_MESSAGE = 4096
"""Characters of an error: the choices that some name make them long."""


def check_refusal(error: Exception) -> None:
    """An error's message is one line of plain text, of bounded length."""
    message = str(error)
    assert message, "an error without a message"
    assert plain(message) == message, f"not plain: {message!r}"
    assert len(message) <= LONGEST_MESSAGE, f"{len(message)} characters: {message[:200]!r}"


def check_shown(report: Report) -> None:
    """A report as the terminal shows it steers no terminal."""
    for whole in (True, False):
        shown = render(report, width=80, color=False, whole=whole)
        assert all(plain(line) == line for line in shown.splitlines())


def one_in(many: int, data: bytes) -> bool:
    """Whether this input is among the few that what is slow is tried on; the same each time."""
    return zlib.crc32(data) % many == 0


def use_run(run: Run, data: bytes) -> None:
    """Everything a user can do with a run. Pages and Parquet files are made of few: they cost."""
    report = analyse_run(run)
    check_shown(report)
    msgspec.json.encode(json_document(run))
    allowing(stream_form, run)
    for exporter in _exporters(data):
        if exporter.table is not None:
            for table in TABLES:
                exporter.table(run, table)
        if exporter.curves is not None:
            allowing(exporter.curves, run)
    if one_in(64, data):
        render_html(report)


def use_timeline(run: Run, data: bytes) -> None:
    """Every export of a profile's readings."""
    for exporter in _exporters(data):
        if exporter.timeline is not None:
            allowing(lambda of, timeline=exporter.timeline: list(timeline(of)), run)


def _exporters(data: bytes) -> list[Exporter]:
    """Those that need no further package, and of few inputs the others too."""
    return [one for one in EXPORTERS.values() if one.extra is None or one_in(16, data)]


def allowing(use: object, run: Run) -> None:
    """Use a run, or be refused as any user is."""
    assert callable(use)
    try:
        use(run)
    except (RunFileError, MemgaugeError) as error:
        check_refusal(error)
