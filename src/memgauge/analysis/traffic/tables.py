"""Expected, simulated and measured traffic as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.section import Cell, Column, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval, stated
from memgauge.analysis.traffic.departures import departures
from memgauge.analysis.traffic.expected import LARGEST_SIZE
from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, Direction, SizeResult
from memgauge.analysis.traffic.measured import MEASURED, back_end_of, is_measured
from memgauge.model.cache_machine import machine_name
from memgauge.model.units import format_bytes

MACHINES_OF_A_TABLE = 2
"""More would not fit a narrow terminal; beside what was measured, one less."""

FIGURES_APART = 100
"""From here on decimals mean nothing."""

VERBS: dict[Direction, str] = {"reads": "read", "writes": "written"}


def tables(curves: Sequence[Curve]) -> list[Table]:
    """The bands of all nests, then reads and writes of each by size."""
    ending = any(
        curve.band(source) is not None or any(one.above for one in departures(curve, source))
        for curve in curves
        for source in curve.sources
    )
    found = [_bands(curves)] if ending else []
    for curve in curves:
        if curve.library and not curve.sources:
            continue  # its speed stands beside the nest's
        for direction in DIRECTIONS:
            found += _by_size(curve, direction)
    return found


def _bands(curves: Sequence[Curve]) -> Table:
    return Table(
        name="traffic-bands",
        title="Where caching ends",
        columns=[
            Column(title="loop nest", narrow=len(curves) > 1),
            Column(title="by"),
            Column(title="cache" if _on_gpu(curves) else "caches of a core", unit="B"),
            Column(title="all fits to N"),
            Column(title="one fits to N"),
            Column(title="reads leave from N"),
            Column(title="times there", digits=2),
            Column(title="times at the largest", digits=1, narrow=False),
            Column(title="writes leave from N", narrow=False),
            Column(title="fit to N by whole lines", narrow=False),
        ],
        rows=[row for curve in curves for row in _band_rows(curve)],
        note="Reads leave the expectation at the first size from which they stay more than 10% "
        "above it, up to the largest. Between the two other N caching ends. All: all arrays, or "
        "all that is touched until a line is needed again; one: that which is needed again.",
    )


def _band_rows(curve: Curve) -> Iterator[list[Cell]]:
    for source in curve.sources:
        gone = {one.direction: one for one in departures(curve, source) if one.above}
        reads, writes = gone.get("reads"), gone.get("writes")
        band, lines = curve.band(source), curve.band_of_lines(source)
        yield [
            curve.title,
            source_name(source),
            curve.cached_bytes(source),
            band.all_fit if band else None,
            band.one_fits if band and band.one_fits < LARGEST_SIZE else None,
            reads.first if reads else None,
            _rounded(reads.ratio) if reads else None,
            _rounded(reads.most_ratio if reads else None),
            writes.first if writes else None,
            lines.all_fit if lines else None,
        ]


def source_name(source: str) -> str:
    """`measured`, or a machine's name with the word `simulated`, for it was not measured."""
    return source if is_measured(source) else f"{machine_name(source)}, simulated"


def _by_size(curve: Curve, direction: Direction) -> Iterator[Table]:
    machines = [source for source in curve.sources if not is_measured(source)]
    routes = curve.measured_sources
    most = MACHINES_OF_A_TABLE - (len(routes) == 1)
    chunks = [machines[at : at + most] for at in range(0, len(machines), most)]
    if not machines or len(routes) > 1:
        chunks = [[], *chunks]
    ran = any(result.speed is not None for result in curve.results)
    speed = [Column(title="executed at", unit="GB/s", narrow=False)] if ran else []
    for at, some in enumerate(chunks):
        # Several routes have a table of their own.
        counted = routes if len(routes) < 2 or not some else []
        yield Table(
            name="-".join([curve.slug, direction, *([str(at + 1)] if at else [])]),
            title=f"{curve.title}: {_unit(curve, direction)}" + ", continued" * (at > 0),
            columns=[*_columns(some, counted), *speed],
            rows=[
                [
                    *_row(result, some, direction, counted),
                    *([result.speed] if speed else []),
                ]
                for result in curve.results
            ],
            note=None if at or direction != DIRECTIONS[0] else _note(curve, routes),
        )


def _unit(curve: Curve, direction: Direction) -> str:
    element_bytes = curve.results[0].expected.element_bytes
    return f"elements of {format_bytes(element_bytes)} {VERBS[direction]} per element of the result"


def _columns(machines: Sequence[str], routes: Sequence[str]) -> list[Column]:
    found = [Column(title="N"), Column(title="expected", digits=2)]
    for name in machines:
        found += [Column(title=source_name(name), digits=2), Column(title="ratio", digits=2)]
    for route in routes:
        found += [
            Column(title=route, digits=2),
            Column(title="ratio", digits=2, narrow=len(routes) == 1),
        ]
    found += [
        Column(title=f"{back_end_of(other)} : {back_end_of(routes[0])}", digits=4)
        for other in routes[1:]
    ]
    for route in routes:
        by = route.removeprefix(MEASURED)
        found += [
            Column(title=f"least {route}", digits=2, narrow=False),
            Column(title=f"most {route}", digits=2, narrow=False),
            Column(title=f"idle share{by}", unit="%", narrow=False),
            Column(title=f"regions{by}", narrow=False),
            Column(title=f"executions{by}", narrow=False),
        ]
    found.append(Column(title="expected, all of it", unit="B", narrow=False))
    found += [
        Column(title=f"{source_name(name)}, all of it", unit="B", narrow=False) for name in machines
    ]
    found += [Column(title=f"{route}, all of it", unit="B", narrow=False) for route in routes]
    return found


def _row(
    result: SizeResult, machines: Sequence[str], direction: Direction, routes: Sequence[str]
) -> list[Cell]:
    expected = result.expected_bytes(direction)
    row: list[Cell] = [result.size, _rounded(result.per_element(expected))]
    for name in machines:
        row += [
            _each(result, result.moved(name, direction)),
            _rounded(result.ratio(name, direction)),
        ]
    measured = [_measured(result, direction, route) for route in routes]
    row += [cell for cells in measured for cell in cells[:2]]
    row += [stated(result.route_ratio(routes[0], other, direction)) for other in routes[1:]]
    row += [cell for cells in measured for cell in cells[2:]]
    row.append(expected)
    row += [result.moved(name, direction) for name in (*machines, *routes)]
    return row


def _each(result: SizeResult, bytes_: float | None) -> float | None:
    return None if bytes_ is None else _rounded(result.per_element(bytes_))


def _measured(result: SizeResult, direction: Direction, route: str) -> list[Cell]:
    """Figure and ratio, then what they are made of."""
    flow, measured = result.flow(direction, route), result.measured.get(route)
    if flow is None or measured is None:
        return [None] * 7
    low, high = flow.bytes.low, flow.bytes.high
    each: Cell = result.per_element(flow.bytes.value)
    if has_interval(flow.bytes):
        each = Estimate(*(result.per_element(one) for one in (flow.bytes.value, low, high)))
    return [
        each,
        _rounded(result.ratio(route, direction)),
        result.per_element(flow.least),
        result.per_element(flow.most),
        flow.idle_share,
        measured.regions,
        measured.executions,
    ]


def _on_gpu(curves: Sequence[Curve]) -> bool:
    return any(curve.gpu for curve in curves)


def _note(curve: Curve, routes: Sequence[str]) -> str:
    if curve.gpu:
        note = (
            "Of one execution. Expected: closed form, each array read once while it is cached, "
            "nothing read before it is written."
        )
        ratio, counters = " Ratio: of measured to expected.", "the GPU's"
    else:
        note = (
            "Of one execution by one core. Expected: closed form, each array read once while it is "
            "cached. Simulated: by the cache model, of the machine named; not measured. Ratio: of "
            "the figure before it to the expectation."
        )
        ratio, counters = "", "the memory controllers'"
    if not routes:
        return note
    several = (
        " Routes were read around the same regions; their ratio is the median of each region's, "
        "idle traffic included."
    )
    return (
        f"{note}{ratio} Measured: by {counters} counters, median over regions with its 95% "
        f"interval, idle traffic subtracted.{several * (len(routes) > 1)}"
    )


def _rounded(value: float | None) -> float | None:
    """Large figures without decimals."""
    return value if value is None or abs(value) < FIGURES_APART else round(value)
