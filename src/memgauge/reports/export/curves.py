"""Bandwidth-latency curves as files: for simulators, beside Ramulator's results, and as a table.

A curve is the median bandwidth and the median latency of the same sampling passes, for each delay
of a load. Bandwidth is what memory moved: lines that ordinary stores read first are counted, as a
model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.loaded.measured import measured_curves
from memgauge.model.errors import RequestError
from memgauge.model.records import MeasuredCurve
from memgauge.model.run import Run
from memgauge.model.storage.curve_files import (
    CURVE_COLUMNS,
    MEASURED_LINE,
    MESS_PERCENTAGES,
    NOTE_NAME,
    NOTE_TITLE,
    NS_LINE,
    RAMULATOR_COLUMNS,
    mess_name,
)
from memgauge.model.text import plain, shown
from memgauge.reports.export.formats import csv_cell, csv_lines

_NOTE = """{title}

run: {run}, begun {started}
machine: {machine}
{ns}
bandwidth unit: MB/s (1e6 bytes a second) that memory moved; what stores read first is modelled
order: from the highest load to the lowest
{measured}

Each file bwlat_P.txt holds the curve for P percent reads. Mess's simulators need all 51 files.
Those of percentages that were not measured repeat the nearest measured curve: nothing is
interpolated.

measured curves:
{curves}
"""


def curves_of(run: Run) -> list[MeasuredCurve]:
    """The curves of a run, with the most reads first.

    Raises:
        RequestError: it has none.
    """
    found = measured_curves(figures_of(run))
    if not found:
        raise RequestError(
            f"{shown(run.directory)}: has no curve of latency under load; export a run of "
            "'memgauge loaded' or 'memgauge survey'"
        )
    return sorted(found, key=lambda curve: -curve.read_share)


def mess_files(run: Run) -> dict[str, bytes]:
    """A directory as Mess's simulators read it, with a note that says what was measured.

    Raises:
        RequestError: the run has no curve.
    """
    curves = curves_of(run)
    by_percent: dict[int, MeasuredCurve] = {}
    for curve in curves:
        percent = 2 * round(50 * curve.read_share)
        known = by_percent.get(percent)
        if known is None or len(curve.points) > len(known.points):
            by_percent[percent] = curve
    files = {
        mess_name(percent): _mess_file(by_percent[_nearest(percent, by_percent)])
        for percent in MESS_PERCENTAGES
    }
    return files | {NOTE_NAME: _note(run, by_percent, curves).encode("utf-8", "replace")}


def _nearest(percent: int, measured: Iterable[int]) -> int:
    return min(measured, key=lambda one: (abs(one - percent), -one))


def _mess_file(curve: MeasuredCurve) -> bytes:
    lines = [
        f"{1e3 * point.gb_per_s:.3f}\t{point.latency_ns:.3f}" for point in reversed(curve.points)
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _note(run: Run, by_percent: dict[int, MeasuredCurve], curves: Sequence[MeasuredCurve]) -> str:
    start = run.start
    where = {id(curve): "in no file" for curve in curves}
    where |= {id(curve): mess_name(percent) for percent, curve in by_percent.items()}
    described = [
        f"{where[id(curve)]}: {plain(curve.load)}, "
        f"{100 * curve.read_share:.2f}% reads of the bytes moved, {len(curve.points)} points"
        for curve in curves
    ]
    return _NOTE.format(
        title=NOTE_TITLE,
        run=plain(start.run_id),
        started=plain(start.started_at),
        machine=plain(start.system.cpu_model or start.system.architecture),
        ns=NS_LINE,
        measured=MEASURED_LINE + ", ".join(str(percent) for percent in sorted(by_percent)),
        curves="\n".join(described),
    )


def csv_file(run: Run) -> dict[str, bytes]:
    """A table with a row for each point of each curve.

    Raises:
        RequestError: the run has no curve.
    """
    rows = [
        [
            csv_cell(run.start.run_id),
            csv_cell(curve.load),
            f"{100 * curve.read_share:.4g}",
            repr(point.gb_per_s),
            repr(point.latency_ns),
        ]
        for curve in curves_of(run)
        for point in curve.points
    ]
    return {"curves.csv": csv_lines([CURVE_COLUMNS, *rows])}


def ramulator_file(run: Run) -> dict[str, bytes]:
    """A table with the columns under which Ramulator 2 collects what it simulates under load.

    Ramulator reads no curves: this is what its own are held against.

    Raises:
        RequestError: the run has no curve.
    """
    rows = [
        [f"{100 * curve.read_share:.0f}% reads", repr(point.gb_per_s), repr(point.latency_ns)]
        for curve in _one_for_each_label(curves_of(run))
        for point in curve.points
    ]
    return {"curves.csv": csv_lines([RAMULATOR_COLUMNS, *rows])}


def _one_for_each_label(curves: Iterable[MeasuredCurve]) -> list[MeasuredCurve]:
    found: dict[str, MeasuredCurve] = {}
    for curve in curves:
        found.setdefault(f"{100 * curve.read_share:.0f}", curve)
    return [*found.values()]
