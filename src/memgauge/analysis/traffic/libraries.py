"""What BLAS libraries do beside the plain loop nest: which they are, how fast, and what they move.

Both are executed on arrays of the same kind in the same rounds. What a library must move at least
is what the nest must: each array once. How it gets there, by blocks and copies of them, is its own:
nothing of it is simulated, and no size is known at which caches cease to hold what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Cell, Chart, Column, Series, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import bounds
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.traffic.figures import Curve, SizeResult
from memgauge.analysis.traffic.measured import MEASURED
from memgauge.model.cache_machine import THIS
from memgauge.model.text import plain
from memgauge.model.units import format_count

FIGURES_APART = 100
"""From here on decimals mean nothing."""


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A library's curve, and that of the loop nest on as many cores."""

    nest: Curve
    library: Curve

    @property
    def sizes(self) -> list[tuple[SizeResult, SizeResult]]:
        """The nest's and the library's result of each size that both have."""
        nests = {result.size: result for result in self.nest.results}
        return [
            (nests[result.size], result) for result in self.library.results if result.size in nests
        ]


def pairs(curves: Sequence[Curve]) -> list[Pair]:
    """Every library beside its loop nest, in the order of the curves."""
    nests = {(curve.kernel, curve.threads): curve for curve in curves if not curve.library}
    return [
        Pair(nest=nests[curve.kernel, curve.threads], library=curve)
        for curve in curves
        if curve.library and (curve.kernel, curve.threads) in nests
    ]


def verdicts(curves: Sequence[Curve]) -> Iterator[Verdict]:
    """Which libraries computed on how many threads, and how much faster than the nest."""
    for curve in {curve.library: curve for curve in curves if curve.library}.values():
        yield Verdict(level="note", text=_who(curve))
    for pair in pairs(curves):
        gains = [
            (result.size, gain)
            for nest, result in pair.sizes
            if (gain := ratio(result.speed, nest.speed)) is not None
        ]
        if gains:
            size, gain = gains[-1]
            yield Verdict(level="note", text=f"{pair.library.title}: {_gain(size, gain)}.")


def _who(curve: Curve) -> str:
    actual = curve.results[0].actual
    version = plain(actual.blas_version) or "does not tell its version"
    reported = (
        f"it reports {format_count(actual.blas_threads, 'thread')}"
        if actual.blas_threads
        else "it does not report its threads, and started none when it was tried"
    )
    return (
        f"{plain(curve.library)}: {version}; {plain(actual.blas_file)}. Each pinned thread calls "
        f"it on arrays of its own, and it is limited to the thread that calls ({reported}). What "
        "is expected of it is the least that any code must move; nothing of it is simulated."
    )


def _gain(size: int, gain: Estimate) -> str:
    low, high = bounds(gain)
    if low <= 1 <= high:
        return f"as fast as the loop nest within the intervals at N = {size}"
    value = gain.value if gain.value > 1 else 1 / gain.value
    times = f"{value:.1f}" if value < FIGURES_APART else f"{value:,.0f}"
    return f"{times} times as {'fast' if gain.value > 1 else 'slow'} as the loop nest at N = {size}"


def tables(curves: Sequence[Curve]) -> list[Table]:
    """For each number of cores: the nest beside the libraries, by size."""
    return [_table(nest, libraries) for nest, libraries in _grouped(curves)]


def _grouped(curves: Sequence[Curve]) -> list[tuple[Curve, list[Curve]]]:
    found: dict[str, tuple[Curve, list[Curve]]] = {}
    for pair in pairs(curves):
        found.setdefault(pair.nest.slug, (pair.nest, []))[1].append(pair.library)
    return list(found.values())


def _table(nest: Curve, libraries: Sequence[Curve]) -> Table:
    counted = [curve for curve in (nest, *libraries) if MEASURED in curve.sources]
    simulated = THIS in nest.sources
    columns = [Column(title="N"), Column(title="expected read", digits=2)]
    columns += [Column(title="nest, simulated", digits=2)] * simulated
    columns += [Column(title=f"{_by(curve)}, measured", digits=2) for curve in counted]
    columns += [Column(title=f"{curve.library}: times as fast", digits=1) for curve in libraries]
    columns += [
        Column(title=f"{_by(curve)}, executed at", unit="GB/s", narrow=False)
        for curve in (nest, *libraries)
    ]
    return Table(
        name=f"{nest.slug}-libraries",
        title=f"{nest.title}: the loop nest beside {' and '.join(_names(libraries))}",
        columns=columns,
        rows=[
            _row(
                result,
                [_of(curve, result.size) for curve in libraries],
                counted,
                simulated=simulated,
            )
            for result in nest.results
        ],
        note="Reads: elements read per element of the result, by one core. Expected: each array "
        "once, which is the least for both. Simulated: of the loop nest on this machine's caches; "
        "a library's loops are not known. Times as fast: the library's speed over the nest's, in "
        "the same rounds.",
    )


def _names(libraries: Sequence[Curve]) -> list[str]:
    return [curve.library for curve in libraries]


def _by(curve: Curve) -> str:
    return curve.library or "nest"


def _of(curve: Curve, size: int) -> SizeResult | None:
    return next((result for result in curve.results if result.size == size), None)


def _row(
    nest: SizeResult,
    libraries: Sequence[SizeResult | None],
    counted: Sequence[Curve],
    *,
    simulated: bool,
) -> list[Cell]:
    row: list[Cell] = [nest.size, nest.per_element(nest.expected_bytes("reads"))]
    if simulated:
        row.append(_read(nest, THIS))
    row += [_read(_of(curve, nest.size), MEASURED) for curve in counted]
    speeds = [None if one is None else one.speed for one in libraries]
    row += [ratio(speed, nest.speed) for speed in speeds]
    return [*row, nest.speed, *speeds]


def _read(result: SizeResult | None, source: str) -> float | None:
    moved = None if result is None else result.moved(source, "reads")
    return None if result is None or moved is None else result.per_element(moved)


def charts(curves: Sequence[Curve]) -> list[Chart]:
    """Reads of the nest and of libraries over N, where they are counted; and speeds."""
    found = []
    for nest, libraries in _grouped(curves):
        if len(nest.results) < 2:
            continue
        if any(MEASURED in curve.sources for curve in libraries):
            found.append(_reads(nest, libraries))
        if any(result.speed for curve in libraries for result in curve.results):
            found.append(_speeds(nest, libraries))
    return found


def _reads(nest: Curve, libraries: Sequence[Curve]) -> Chart:
    lines = [
        *((curve, MEASURED, f"{_by(curve)}, measured") for curve in (nest, *libraries)),
        (nest, THIS, "nest, simulated on this machine"),
    ]
    return Chart(
        name=f"{nest.slug}-libraries-reads",
        title=f"{nest.title}: reads of the loop nest and of {' and '.join(_names(libraries))}",
        kind="line",
        x=_sizes_axis(nest),
        y=Axis(title="Elements read per element of the result", unit="", scale="log2"),
        series=[
            *(
                Series(
                    name=name,
                    x=[float(result.size) for result in curve.results],
                    y=[_read(result, source) for result in curve.results],
                    low=[_end(result, source, least=True) for result in curve.results],
                    high=[_end(result, source, least=False) for result in curve.results],
                )
                for curve, source, name in lines
                if source in curve.sources
            ),
            Series(
                name="expected",
                x=[float(result.size) for result in nest.results],
                y=[one.per_element(one.expected_bytes("reads")) for one in nest.results],
                dashed=True,
            ),
        ],
        around="least and most of the regions",
        note="Dotted: expected, each array once. Around measured points: the least and the most of "
        "the repeated regions.",
    )


def _end(result: SizeResult, source: str, *, least: bool) -> float | None:
    flow = result.flow("reads") if source == MEASURED else None
    if flow is None:
        return None
    return result.per_element(flow.least if least else flow.most)


def _speeds(nest: Curve, libraries: Sequence[Curve]) -> Chart:
    return Chart(
        name=f"{nest.slug}-libraries-speed",
        title=f"{nest.title}: speed of the loop nest and of {' and '.join(_names(libraries))}",
        kind="line",
        x=_sizes_axis(nest),
        y=Axis(title="Elements of all arrays, each once", unit="GB/s", scale="log10"),
        series=[
            series(
                _by(curve),
                [float(result.size) for result in curve.results],
                [result.speed for result in curve.results],
            )
            for curve in (nest, *libraries)
        ],
        note="Bytes of all arrays, each once, over the time of an execution; not what memory "
        "moved.",
    )


def _sizes_axis(nest: Curve) -> Axis:
    wide = nest.results[-1].size >= 8 * nest.results[0].size
    return Axis(title="N", unit="", scale="log2" if wide else "linear")
