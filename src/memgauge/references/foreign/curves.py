"""Bandwidth-latency curves: directories as Mess's simulators read them, and tables of `export`.

In Mess's files the unit of latency is not stated: its tables for the standalone simulator are in
cycles, and its model in ZSim takes ns. The note that `memgauge export` adds says that it is ns, and
which percentages were measured.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from itertools import islice

from memgauge.model.storage.curve_files import (
    CURVE_COLUMNS,
    MEASURED_LINE,
    MESS_NAME,
    NOTE_NAME,
    NOTE_TITLE,
    NS_LINE,
    RAMULATOR_COLUMNS,
)
from memgauge.references.foreign.latency import ends
from memgauge.references.foreign.parsed import (
    AS_PRINTED,
    MB_PER_S,
    MOST_ROWS,
    Parsed,
    figure,
    number,
    part,
    scaled,
)
from memgauge.references.library import PublishedFigure

MEDIAN = "median"
"""Of what `export` writes."""
MOVED = "all bytes that memory moves, with lines that stores read first"
_NUMBERED = (
    "points are numbered from the least load on: points of one number were not loaded alike in "
    "two files"
)
_APART = "a point within a curve is that of no other curve, for its load is another"

Point = tuple[float | None, float | None]
"""GB/s and ns; None where it is not known."""


def mess(files: Mapping[str, str]) -> Parsed:
    """The curves of a directory, by the names of its files."""
    lines = files.get(NOTE_NAME, "").splitlines()
    ours, is_ns = NOTE_TITLE in lines, NS_LINE in lines
    measured = {
        percent
        for line in lines
        if line.startswith(MEASURED_LINE)
        for percent in line.removeprefix(MEASURED_LINE).replace(",", " ").split()
    }
    by_percent = {match[1]: name for name in files if (match := MESS_NAME.fullmatch(name))}
    rows: list[dict[str, str]] = []
    figures: list[PublishedFigure] = []
    for percent in sorted(by_percent, key=int):
        if measured and percent not in measured:
            continue
        points: list[Point] = []
        for line in islice(files[by_percent[percent]].splitlines(), MOST_ROWS):
            cells = line.split()
            if len(cells) == 2:
                rows.append({"reads %": percent, "bandwidth MB/s": cells[0], "latency": cells[1]})
                latency = number(cells[1]) if is_ns else None
                points.append((scaled(number(cells[0]), MB_PER_S), latency))
        # The files begin with the highest load.
        curve = f"mess/{percent}r"
        figures += _curve(
            curve, points[::-1], MEDIAN if ours else AS_PRINTED, is_reads=percent == "100"
        )
    return Parsed(
        tool="memgauge, as Mess's files" if ours else "Mess",
        counts=MOVED if ours else "all bytes that memory moves, by its counters",
        apart=_APART,
        figures=figures,
        columns=["reads %", "bandwidth MB/s", "latency"],
        rows=rows[:MOST_ROWS],
        caveats=[_NUMBERED]
        if is_ns
        else [
            "the unit of its latencies, cycles or ns, is not in the files: none is a figure",
            _NUMBERED,
        ],
    )


def curve_csv(text: str) -> Parsed:
    """What `export --format csv-curve` writes."""
    _, load, share, rate, latency = CURVE_COLUMNS
    return _table(text, CURVE_COLUMNS, load, rate, latency, share)


def ramulator_csv(text: str) -> Parsed:
    """What `export --format ramulator` writes, or a table of Ramulator's own with these columns."""
    label, rate, latency = RAMULATOR_COLUMNS
    return _table(text, RAMULATOR_COLUMNS, label, rate, latency, label)


def _table(  # noqa: PLR0913, PLR0917 - the columns
    text: str, columns: Iterable[str], load: str, rate: str, latency: str, share: str
) -> Parsed:
    kept = [*columns]
    reader = csv.DictReader(io.StringIO(text))
    try:
        rows = [{name: row.get(name) or "" for name in kept} for row in islice(reader, MOST_ROWS)]
    except csv.Error:
        rows = []
    curves: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        curves.setdefault(row[load], []).append(row)
    all_reads = [name for name, points in curves.items() if _is_reads(points[0][share])]
    figures = [
        one
        for name, points in curves.items()
        for one in _curve(
            f"curve/{part(name)}",
            [(number(row[rate]), number(row[latency])) for row in points],
            MEDIAN,
            is_reads=[name] == all_reads,
        )
    ]
    return Parsed(
        tool="table of curves",
        counts=MOVED,
        apart=_APART,
        figures=figures,
        columns=kept,
        rows=rows,
        caveats=[_NUMBERED],
    )


def _is_reads(share: str) -> bool:
    return number(share.removesuffix("% reads")) == 100.0


def _curve(
    name: str, points: list[Point], statistic: str, *, is_reads: bool
) -> list[PublishedFigure]:
    """Figures of a curve, from the least load to the highest; of reads alone also its ends."""
    figures: list[PublishedFigure] = []
    for at, (rate, latency) in enumerate(points):
        label = f"{name}, point {at}"
        figures += figure(f"{name}/p{at}", "ns", latency, f"latency, {label}", statistic)
        figures += figure(f"{name}/p{at}/traffic", "GB/s", rate, f"traffic, {label}", statistic)
    if is_reads and len(points) > 1:
        figures += ends(points[0][1], points[-1][0], statistic)
    return figures
