"""What the `transfers` points show: between host and GPU, both ways, and between GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import Cell, Column, Headline, Section, Table, digits_for, section_of
from memgauge.analysis.transfers.charts import charts
from memgauge.analysis.transfers.directions import short_way
from memgauge.analysis.transfers.figures import (
    AtOnce,
    Duplex,
    Line,
    duplexes_of,
    lines_of,
    time_ns,
)
from memgauge.analysis.transfers.link import claimed_link, fastest
from memgauge.analysis.transfers.verdicts import verdicts
from memgauge.model.units import format_bytes

NOTE = (
    "90th percentile of speed and its 95% interval. Half at: the size from which on half of the "
    "best is reached, by the curve; n1/2: the same by a fit of t = (n + n1/2) / r (Hockney and "
    "Jesshope). Copies within one GPU are those of stream."
)
SIZES_NOTE = (
    "GB/s; ns: of one transfer, back to back with others of its size. Pinned, and between GPUs: by "
    "the GPU's events, so that what the host needs to launch one and to wait for it is not in it. "
    "Pageable: by the host's clock, for the host copies too."
)
DUPLEX_NOTE = (
    "GB/s, medians over passes, in the time in which both directions were at work. Gain: over the "
    "faster direction alone."
)


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of the transfers of a run."""
    lines = lines_of(figures)
    duplexes = duplexes_of(figures, lines)
    return section_of(
        "transfers",
        verdicts=verdicts(lines, duplexes, figures.run.start.system),
        tables=_tables(lines, duplexes),
        charts=charts(lines, duplexes),
    )


def best_transfers(figures: Figures) -> Headline | None:
    """The fastest transfers of a run, to or from the host; None where it holds none."""
    lines = lines_of(figures)
    top = fastest([line for line in lines if line.way.host]) or fastest(lines)
    if top is None or top.best is None:
        return None
    size, speed = top.best
    detail = f"{top.name}, {format_bytes(size)}"
    return Headline(label="Best transfers", value=speed, unit="GB/s", detail=detail)


def _tables(lines: Sequence[Line], duplexes: Sequence[Duplex]) -> list[Table]:
    ends = dict.fromkeys(line.way.peer for line in lines)
    found = [_summary(lines)] if lines else []
    found += [_sizes([line for line in lines if line.way.peer == peer], peer) for peer in ends]
    return [*found, *(_duplex(one) for one in duplexes)]


def _summary(lines: Sequence[Line]) -> Table:
    """A row for each direction and end."""
    columns = [
        Column(title="transfer"),
        Column(title="best", unit="GB/s"),
        Column(title="half at", unit="B", digits=0),
        Column(title="n1/2", unit="B", digits=0),
        Column(title="smallest", unit="ns", digits=0),
        Column(title="with", unit="B", narrow=False),
        Column(title="r", unit="GB/s", narrow=False),
        Column(title="n1/2 over r", unit="ns", digits=0, narrow=False),
        Column(title="furthest from the fit", unit="%", narrow=False),
        Column(title="smallest size", unit="B", narrow=False),
        Column(title="of the link", unit="%", narrow=False),
        Column(title="host memory", narrow=False),
        Column(title="pages", narrow=False),
        Column(title="node", narrow=False),
        Column(title="samples", narrow=False),
    ]
    host = [line for line in lines if line.way.host]
    rows = [_row(line, host) for line in lines]
    return Table(name="transfers", title="Transfers", columns=columns, rows=rows, note=NOTE)


def _row(line: Line, host: Sequence[Line]) -> list[Cell]:
    model, top = line.model, line.best
    size, took = line.smallest
    node = line.actual.node
    return [
        line.name,
        top[1] if top else None,
        line.half,
        model.half_bytes if model else None,
        took,
        top[0] if top else None,
        model.asymptote if model else None,
        model.start_up_ns if model else None,
        model.worst if model else None,
        size,
        _of_link(line, host),
        line.requested.host_memory or None,
        line.actual.pages or None,
        None if node is None else str(node),
        line.samples,
    ]


def _of_link(line: Line, host: Sequence[Line]) -> Cell:
    link = claimed_link(line, host)
    return line.best[1].value / link.gb_per_s if link and line.best else None


def _sizes(lines: Sequence[Line], peer: str) -> Table:
    """A row for each size: bandwidth of each direction, and the time of one transfer."""
    sizes = sorted({size for line in lines for size in line.speeds})
    digits = digits_for(one.value for line in lines for one in line.speeds.values())
    columns = [Column(title="size", unit="B")]
    columns += [
        Column(title=_short(line), unit="GB/s", digits=min(digits, 2), narrow=at < MOST_COLUMNS)
        for at, line in enumerate(lines)
    ]
    columns += [Column(title=_short(line), unit="ns", digits=0, narrow=False) for line in lines]
    return Table(
        name="transfers-sizes" + (f"-{peer.replace(':', '')}" if peer else ""),
        title="Bandwidth by size" + (f", {peer}" if peer else ""),
        columns=columns,
        rows=[_size_row(size, lines) for size in sizes],
        note=None if peer else SIZES_NOTE,
    )


MOST_COLUMNS = 4
"""Of bandwidth, in a terminal."""


def _short(line: Line) -> str:
    direction = short_way(line.direction)
    return f"{direction}, {line.way.host}" if line.way.host else direction


def _size_row(size: int, lines: Sequence[Line]) -> list[Cell]:
    speeds = [line.speeds.get(size) for line in lines]
    return [
        size,
        *speeds,
        *(None if speed is None else time_ns(size, speed) for speed in speeds),
    ]


def _duplex(duplex: Duplex) -> Table:
    directions = list(dict.fromkeys(name for one in duplex.sizes for name in one.by_direction))
    columns = [
        Column(title="size", unit="B"),
        *(Column(title=short_way(direction), unit="GB/s") for direction in directions),
        Column(title="sum", unit="GB/s"),
        Column(title="gain", digits=2),
        Column(title="of both alone, added", unit="%", narrow=False),
    ]
    return Table(
        name=f"transfers-both-{duplex.way.end.replace(':', '')}",
        title=f"Both directions at once, {duplex.way.end}",
        columns=columns,
        rows=[_at_once(one, directions) for one in duplex.sizes],
        note=DUPLEX_NOTE,
    )


def _at_once(one: AtOnce, directions: Sequence[str]) -> list[Cell]:
    return [
        one.size,
        *(one.by_direction.get(direction) for direction in directions),
        one.total,
        one.over_faster,
        one.over_both,
    ]
