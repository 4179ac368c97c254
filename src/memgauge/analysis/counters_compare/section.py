"""What the points of `counters_compare` show: the difference of two ways to the same counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.counters_verify.faults import agrees
from memgauge.analysis.counters_verify.figures import EventSeries, event_series
from memgauge.analysis.counters_verify.rules import signature
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.section import (
    Axis,
    Cell,
    Chart,
    Column,
    Rule,
    Section,
    Series,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import LEAST_ROUNDS, paired
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.calibration import factor_text
from memgauge.model.counting.events import Counter
from memgauge.model.loads import LOADS, NON_TEMPORAL, READ, TEMPORAL
from memgauge.model.run import Run

NAME = "counters_compare"
IDLE = "idle"
CLOSE = 0.02
"""Half of an interval up to which two routes are reported to agree, or to differ."""

_NAMES = {"read_bytes": "reads", "write_bytes": "writes", "traffic_bytes": "reads and writes"}
_LOADS = {
    "read_bytes": (READ, TEMPORAL),
    "write_bytes": (NON_TEMPORAL, TEMPORAL),
    "traffic_bytes": (READ, NON_TEMPORAL, TEMPORAL),
}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Two routes around the same regions."""

    quantity: str
    load: str
    """`all loads`, one of them, or `idle`."""
    socket: int | None
    """None: all together."""
    one: Estimate | None
    """GB/s, by the first route,"""
    other: Estimate | None
    """and by the second."""
    ratio: Estimate | None
    """Of the second to the first; None: too few rounds, or nothing counted."""


def analyse(figures: Figures) -> Section:
    """Tables, a picture and what they show."""
    run = figures.run
    routes = route_names(run)
    rows = rows_of(run)
    return section_of(
        NAME,
        verdicts=[*_verdicts(rows, routes)],
        tables=[_table(rows, routes)] if rows else [],
        charts=[_chart(rows, routes)] if rows else [],
    )


def route_names(run: Run) -> tuple[str, str]:
    """The back ends, the first one being what the other is compared with."""
    requested = str(run.start.parameters.get(NAME, {}).get("back_ends") or "")
    found = [name for name in requested.split(",") if name]
    found += [counter.back_end for made in run.counters.values() for counter in made.of]
    names = list(dict.fromkeys(found))
    one, other, *_ = [*names, "", ""]
    return one, other


def rows_of(run: Run) -> list[Row]:
    """Each quantity that both routes count: all loads, each load, idle; then each socket."""
    one, other = route_names(run)
    events = event_series(run, NAME)
    rows: list[Row] = []
    for quantity in _NAMES:
        pair = [_of(events, route, quantity) for route in (one, other)]
        if not all(pair):
            continue
        known = [*_LOADS[quantity], *_nests(pair[0])]
        loads = [load for load in known if any(s.under(load) for s in pair[0])]
        everything = _pairs(pair, loads)
        rows.append(_row(quantity, "all loads", None, everything))
        rows += [_row(quantity, load, None, _pairs(pair, [load])) for load in loads]
        rows.append(_row(quantity, IDLE, None, _pairs(pair, loads, idle=True)))
        rows += [
            _row(quantity, "all loads", socket, _pairs(pair, loads, socket=socket))
            for socket in _sockets(pair)
        ]
    return rows


def _nests(events: Sequence[EventSeries]) -> list[str]:
    """Loop nests that were run as loads, in their order: all move bytes both ways."""
    names = (series.where.load for one in events for series in one.of)
    return list(dict.fromkeys(name for name in names if name not in LOADS))


def _of(events: Sequence[EventSeries], route: str, quantity: str) -> list[EventSeries]:
    return [one for one in events if one.counters[0].back_end == route and one.quantity == quantity]


def _sockets(pair: Sequence[Sequence[EventSeries]]) -> list[int]:
    """Sockets that both routes distinguish, where there are several."""
    reported = [{c.socket for one in side for c in one.counters} for side in pair]
    both = sorted(socket for socket in reported[0] & reported[1] if socket is not None)
    return both if len(both) > 1 else []


Rates = dict[tuple[str, int], float]
"""Bytes a second, by point and round."""


def _pairs(
    pair: Sequence[Sequence[EventSeries]],
    loads: Sequence[str],
    *,
    idle: bool = False,
    socket: int | None = None,
) -> list[tuple[float, float]]:
    """Rates of the two routes in each region that both were read around."""
    one, other = (_rates(side, loads, idle=idle, socket=socket) for side in pair)
    return [(one[key], other[key]) for key in one if key in other]


def _rates(
    side: Sequence[EventSeries], loads: Sequence[str], *, idle: bool, socket: int | None
) -> Rates:
    """Sums over a route's events of one quantity."""
    rates: Rates = {}
    broken: set[tuple[str, int]] = set()
    for events in side:
        names = [c.name for c in events.counters if _is_on(c, socket)]
        for load in events.of:
            where = load.where
            if where.load not in loads:
                continue
            place = f"{where.load}/{where.cpu_node}/{where.memory_node}"
            for count in load.rounds:
                bytes_ = count.idle if idle else count.loaded
                key = (place, count.round)
                if all(name in bytes_ for name in names):
                    total = sum(bytes_[name] for name in names)
                    rates[key] = rates.get(key, 0.0) + total / count.region_s
                else:
                    broken.add(key)
    return {key: rate for key, rate in rates.items() if key not in broken}


def _is_on(counter: Counter, socket: int | None) -> bool:
    return socket is None or counter.socket == socket


def _row(quantity: str, load: str, socket: int | None, pairs: Sequence[tuple[float, float]]) -> Row:
    ratios = [other / one for one, other in pairs if one > 0]
    return Row(
        quantity=quantity,
        load=load,
        socket=socket,
        one=paired([one * 1e-9 for one, _ in pairs]),
        other=paired([other * 1e-9 for _, other in pairs]),
        ratio=paired(ratios),
    )


def _verdicts(rows: Sequence[Row], routes: tuple[str, str]) -> Iterator[Verdict]:
    if not rows:
        yield Verdict(
            level="warning",
            text=f"{routes[0]} and {routes[1]} count no quantity in common: nothing is compared.",
        )
    for row in rows:
        if row.load == "all loads":
            yield _verdict(row, routes)
    yield from _of_nests(rows, routes)


def _of_nests(rows: Sequence[Row], routes: tuple[str, str]) -> Iterator[Verdict]:
    """Whether the routes agree around each size of each loop nest: one line a quantity."""
    one, other = (_route(name) for name in routes)
    for quantity, what in _NAMES.items():
        mine = [row for row in rows if row.quantity == quantity and _is_nest(row)]
        judged = [(row, row.ratio) for row in mine if row.ratio is not None]
        if not judged:
            continue
        apart = [
            (row, ratio) for row, ratio in judged if ratio.low > 1 + CLOSE or ratio.high < 1 - CLOSE
        ]
        if not apart:
            worst = max(max(abs(r.low - 1), abs(r.high - 1)) for _, r in judged)
            loads = "; ".join(row.load for row, _ in judged)
            text = (
                f"Of {what} of loop nests, {other} agrees with {one} within {worst:.2%}: {loads}."
            )
            yield Verdict(level="good" if worst <= CLOSE else "note", text=text)
        for row, ratio in apart:
            yield Verdict(level="problem", text=_differ(f"{what} of {row.load}", one, other, ratio))


def _is_nest(row: Row) -> bool:
    return row.socket is None and row.load not in {*LOADS, "all loads", IDLE}


def _verdict(row: Row, routes: tuple[str, str]) -> Verdict:
    what = _NAMES[row.quantity]
    where = "" if row.socket is None else f" of socket {row.socket}"
    one, other = (_route(name) for name in routes)
    if row.ratio is None:
        why = f"fewer than {LEAST_ROUNDS} regions, or nothing counted by {routes[0]}"
        text = f"Of {what}{where}, {one} and {other} cannot be compared: {why}."
        return Verdict(level="warning", text=text)
    ratio = row.ratio
    beyond = max(abs(ratio.low - 1), abs(ratio.high - 1))
    if ratio.low <= 1 + CLOSE and ratio.high >= 1 - CLOSE:
        if (ratio.high - ratio.low) / 2 > CLOSE:
            text = f"Of {what}{where}, {other} may differ from {one} by up to {beyond:.1%}: too "
            return Verdict(level="note", text=text + "wide an interval to conclude more.")
        text = f"Of {what}{where}, {other} agrees with {one} within {beyond:.2%}."
        return Verdict(level="good", text=text)
    return Verdict(level="problem", text=_differ(what + where, one, other, ratio))


def _differ(what: str, one: str, other: str, ratio: Estimate) -> str:
    level = "more" if ratio.value > 1 else "less"
    factor = None if agrees(ratio, 1.0) else signature(ratio)
    known = f", the known wrong factor {factor_text(factor)}" if factor is not None else ""
    return (
        f"Of {what}, {other} counts {level} than {one}: {ratio.value:.4g} times as much "
        f"({ratio.low:.4g} to {ratio.high:.4g}){known}."
    )


def _route(name: str) -> str:
    return (
        f"the unprivileged route ({name})" if entry_of(name).unprivileged else f"the route {name}"
    )


def _table(rows: Sequence[Row], routes: tuple[str, str]) -> Table:
    return Table(
        name=NAME,
        title="The same regions by both routes",
        columns=[
            Column(title="what"),
            Column(title="load"),
            Column(title="socket"),
            Column(title=routes[0], unit="GB/s", digits=3),
            Column(title=routes[1], unit="GB/s", digits=3),
            Column(title=f"{routes[1]} over {routes[0]}", digits=4),
        ],
        rows=[
            [
                _NAMES[row.quantity],
                row.load,
                "all" if row.socket is None else row.socket,
                _cell(row.one),
                _cell(row.other),
                row.ratio,
            ]
            for row in rows
        ],
        note="Medians of regions, each of which both routes were read around; idle traffic is not "
        "taken off. The ratio is of each region, with an interval of at least 95%.",
    )


def _cell(rate: Estimate | None) -> Cell:
    """Without an interval where nothing was counted: a share of zero means nothing."""
    return rate.value if rate is not None and rate.low <= 0 else rate


def _chart(rows: Sequence[Row], routes: tuple[str, str]) -> Chart:
    drawn = [row for row in rows if row.socket is None and row.load != IDLE]
    loads = list(dict.fromkeys(row.load for row in drawn))
    quantities = dict.fromkeys(row.quantity for row in drawn)
    return Chart(
        name="routes-ratios",
        title=f"{routes[1]} over {routes[0]}",
        kind="bar",
        x=Axis(title="Load", unit=""),
        y=Axis(title=f"{routes[1]} over {routes[0]}", unit="", from_zero=True),
        series=[_bars(drawn, quantity, loads) for quantity in quantities],
        rules=[Rule(label="the same", axis="y", value=1.0)],
        note="Of each region that both routes were read around.",
    )


def _bars(rows: Sequence[Row], quantity: str, loads: Sequence[str]) -> Series:
    by_load = {row.load: row.ratio for row in rows if row.quantity == quantity}
    return series(_NAMES[quantity], [*loads], [by_load.get(load) for load in loads])
