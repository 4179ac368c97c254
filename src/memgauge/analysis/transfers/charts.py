"""Pictures of transfers: bandwidth and time over their size."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.run import series, slug
from memgauge.analysis.section import Axis, Chart, Rule, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.transfers.directions import way_text
from memgauge.analysis.transfers.figures import Duplex, Line, time_ns
from memgauge.analysis.transfers.link import claimed_link

SIZE = Axis(title="Bytes of one transfer", unit="B", scale="log2")
LEAST_SIZES = 2


def charts(lines: Sequence[Line], duplexes: Sequence[Duplex]) -> list[Chart]:
    """Of the host, then of each peer: bandwidth, time, both directions at once."""
    drawn = [line for line in lines if len(line.speeds) >= LEAST_SIZES]
    found = []
    for peer in dict.fromkeys(line.way.peer for line in drawn):
        mine = [line for line in drawn if line.way.peer == peer]
        found.append(_bandwidth(mine, peer))
        ends = dict.fromkeys(line.way.end for line in mine)
        found += [_time([line for line in mine if line.way.end == end], end) for end in ends]
    found += [_duplex(one, lines) for one in duplexes if len(one.sizes) >= LEAST_SIZES]
    return found


def _bandwidth(lines: Sequence[Line], peer: str) -> Chart:
    link = claimed_link(lines[0], lines)
    return Chart(
        name=slug("transfers-bandwidth", peer),
        title=f"Bandwidth of transfers over their size{_with(peer)}",
        kind="line",
        x=SIZE,
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[_line(line) for line in lines],
        rules=[Rule(label=f"PCIe link, {link.text}", axis="y", value=link.gb_per_s)]
        if link
        else [],
        note="90th percentile of speed; one direction at a time.",
    )


def _line(line: Line) -> Series:
    sizes: list[float | str] = [float(size) for size in line.speeds]
    return series(line.name, sizes, list(line.speeds.values()))


def _time(lines: Sequence[Line], end: str) -> Chart:
    by = "the host's clock" if lines[0].way.host == "pageable" else "the GPU's events"
    return Chart(
        name=slug("transfers-time", end),
        title=f"Time of one transfer over its size: {end}",
        kind="line",
        x=SIZE,
        y=Axis(title="Time", unit="ns", scale="log10"),
        series=[made for line in lines for made in _times(line)],
        note=f"Back to back with others of its size, by {by}. Fitted: t = (n + n1/2) / r.",
    )


def _times(line: Line) -> list[Series]:
    sizes: list[float | str] = [float(size) for size in line.speeds]
    times: list[Estimate | None] = [time_ns(size, one) for size, one in line.speeds.items()]
    measured = series(line.name, sizes, times)
    model = line.model
    if model is None:
        return [measured]
    modelled = Series(
        name=f"{line.name}, fitted",
        x=sizes,
        y=[size / model.gb_per_s(size) for size in line.speeds],
        dashed=True,
    )
    return [measured, modelled]


def _duplex(duplex: Duplex, lines: Sequence[Line]) -> Chart:
    x: list[float | str] = [float(one.size) for one in duplex.sizes]
    directions = list(dict.fromkeys(name for one in duplex.sizes for name in one.by_direction))
    way = duplex.way
    alone = [line for line in lines if line.way == way]
    return Chart(
        name=slug("transfers-both", way.end),
        title=f"Both directions at once: {way.end}",
        kind="line",
        x=SIZE,
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series("sum", x, [one.total for one in duplex.sizes]),
            *(
                series(way_text(name), x, [one.by_direction.get(name) for one in duplex.sizes])
                for name in directions
            ),
            *(
                series(
                    f"{way_text(line.direction)} alone",
                    [float(size) for size in line.medians],
                    list(line.medians.values()),
                )
                for line in alone
            ),
        ],
        note="Medians over passes, in the time in which both were at work; alone: with nothing the "
        "other way.",
    )


def _with(peer: str) -> str:
    return f": {peer}" if peer else ""
