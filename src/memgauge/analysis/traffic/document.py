"""Expected, simulated and measured traffic as plain data, for `--json`."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.analysis.counters_verify.messages import trust_in
from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.traffic.departures import departures, place
from memgauge.analysis.traffic.figures import DIRECTIONS, Curve, Direction, SizeResult, curves_of
from memgauge.analysis.traffic.measured import Flow
from memgauge.model.counting.calibration import calibrations_of


class ExpectedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """By thought: bytes of one execution by one core."""

    read_bytes: int
    load_read_bytes: int
    """Of these, by loads; the rest is of lines read before they are stored."""
    write_bytes: int
    elements: int
    """Of the result."""
    element_bytes: int


class SimulatedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """By the cache model, of one machine: bytes of one execution by one core. Not measured."""

    machine: str
    read_bytes: float
    load_read_bytes: float
    allocate_read_bytes: float
    software_prefetch_read_bytes: float
    hardware_prefetch_read_bytes: float
    array_read_bytes: dict[str, float]
    write_bytes: float
    bypass_write_bytes: float
    """Of these, past the caches."""
    reads_to_expected: float | None
    writes_to_expected: float | None


class FlowFigures(msgspec.Struct, frozen=True, kw_only=True):
    """By the memory controllers' counters, one way: bytes of one execution by one core."""

    bytes: Figure | None
    """Median over regions, idle traffic subtracted."""
    least_bytes: float
    """Of any region."""
    most_bytes: float
    idle_share: float | None
    """Of what was counted, idle traffic; None: not measured."""
    to_expected: float | None
    is_conclusive: bool
    """Whether enough was counted to conclude anything from it."""


class MeasuredFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted of one size."""

    read: FlowFigures | None
    """None: not distinguished, or not to be read."""
    write: FlowFigures | None
    regions: int
    executions: int
    region_s: float
    back_end: str
    trust: str
    calibrations: list[float]
    """Factors that verification found and that are contained in the figures; empty: none are."""
    missing: list[str]
    """Counters that could not be read; in no sum."""
    reads_to_first_route: Figure | None = None
    """Of a further route: what it counted over what the first one did, of the same regions."""
    writes_to_first_route: Figure | None = None


class SizeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One size."""

    size: int
    point: str
    expected: ExpectedFigures
    simulated: list[SimulatedFigures]
    measured: MeasuredFigures | None
    """By the first route that was named; None: nothing was counted."""
    measured_by_other_routes: list[MeasuredFigures] = []
    """By each further route, of the same regions."""


class DepartureFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Where one way of one source leaves the expectation, to the largest size."""

    direction: Direction
    above: bool
    first: int
    """The size from which on it has left."""
    ratio: float
    before: int | None
    """The largest size that had not."""
    largest_at: int
    largest_ratio: float
    place: Literal["before", "inside", "behind"] | None
    """Beside the band; None: not known."""


class SourceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One source over all sizes."""

    source: str
    """`measured`, of several routes each as `measured by perf`, or the machine that was
    simulated."""
    cached_bytes: int | None
    """What a core may keep; None: hidden."""
    all_fit: int | None
    """The largest size of which all arrays fit,"""
    one_fits: int | None
    """and the largest of which one does."""
    lines_fit: int | None
    """As `all_fit`, where each piece of a line that is read takes a whole line's place and that
    matters; else None."""
    departures: list[DepartureFigures]


class LibraryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The BLAS library that computed what a loop nest does."""

    name: str
    version: str | None
    """In its own words; None: it does not tell."""
    file: str | None
    threads: int | None
    """Of one call, as it reports them; None: it does not tell, and started none when tried."""


class NestFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One loop nest over its sizes."""

    kernel: str
    memory: str | None
    """Of the GPU that executed it, such as `cuda:0`; None: cores of the host did."""
    cores: int
    grid: str | None
    store_prefetch: bool
    prefetch: str
    """Such as `loads and stores prefetched 512 B ahead`; empty: nothing is prefetched."""
    library: LibraryFigures | None = None
    """None: the loop nest was executed."""
    sources: list[SourceFigures]
    sizes: list[SizeFigures]


def traffic_figures(figures: Figures) -> list[NestFigures]:
    """All loop nests of a run."""
    return [_curve(curve) for curve in curves_of(figures)]


def _curve(curve: Curve) -> NestFigures:
    return NestFigures(
        kernel=curve.kernel,
        memory=curve.gpu or None,
        cores=curve.threads,
        grid=curve.grid or None,
        store_prefetch=curve.prefetched,
        prefetch=curve.ahead,
        library=_library(curve),
        sources=[_source(curve, source) for source in curve.sources],
        sizes=[_size(result) for result in curve.results],
    )


def _library(curve: Curve) -> LibraryFigures | None:
    if not curve.library:
        return None
    actual = curve.results[0].actual
    return LibraryFigures(
        name=curve.library,
        version=actual.blas_version or None,
        file=actual.blas_file or None,
        threads=actual.blas_threads,
    )


def _source(curve: Curve, source: str) -> SourceFigures:
    band = curve.band(source)
    ends = (band.all_fit, band.one_fits) if band else None
    lines = curve.band_of_lines(source)
    return SourceFigures(
        source=source,
        cached_bytes=curve.cached_bytes(source),
        all_fit=band.all_fit if band else None,
        one_fits=band.one_fits if band else None,
        lines_fit=lines.all_fit if lines else None,
        departures=[
            DepartureFigures(
                direction=one.direction,
                above=one.above,
                first=one.first,
                ratio=one.ratio,
                before=one.before,
                largest_at=one.most,
                largest_ratio=one.most_ratio,
                place=place(one, ends) if ends and one.above else None,
            )
            for one in departures(curve, source)
        ],
    )


def _size(result: SizeResult) -> SizeFigures:
    expected = result.expected
    measured = [_measured(result, source) for source in result.measured]
    return SizeFigures(
        size=result.size,
        point=result.point,
        expected=ExpectedFigures(
            read_bytes=expected.read_bytes,
            load_read_bytes=expected.load_bytes,
            write_bytes=expected.write_bytes,
            elements=expected.elements,
            element_bytes=expected.element_bytes,
        ),
        simulated=[_simulated(result, name) for name in result.simulated],
        measured=next(iter(measured), None),
        measured_by_other_routes=measured[1:],
    )


def _simulated(result: SizeResult, name: str) -> SimulatedFigures:
    one = result.simulated[name]
    arrays = {array: bytes_ / one.cores for array, bytes_ in one.array_read_bytes.items()}
    return SimulatedFigures(
        machine=name,
        read_bytes=one.read_bytes / one.cores,
        load_read_bytes=one.load_read_bytes / one.cores,
        allocate_read_bytes=one.allocate_read_bytes / one.cores,
        software_prefetch_read_bytes=one.software_prefetch_read_bytes / one.cores,
        hardware_prefetch_read_bytes=one.hardware_prefetch_read_bytes / one.cores,
        array_read_bytes=arrays,
        write_bytes=one.write_bytes / one.cores,
        bypass_write_bytes=one.bypass_write_bytes / one.cores,
        reads_to_expected=result.ratio(name, "reads"),
        writes_to_expected=result.ratio(name, "writes"),
    )


def _measured(result: SizeResult, source: str) -> MeasuredFigures:
    measured = result.measured[source]
    first = next(iter(result.measured))
    to_first: dict[Direction, Figure | None] = {}
    if source != first:
        for direction in DIRECTIONS:
            to_first[direction] = figure(result.route_ratio(first, source, direction))
    return MeasuredFigures(
        read=_flow(result, "reads", measured.read, source),
        write=_flow(result, "writes", measured.write, source),
        regions=measured.regions,
        executions=measured.executions,
        region_s=measured.region_s,
        back_end=measured.counts.back_end,
        trust=trust_in(measured.counts.counters),
        calibrations=calibrations_of(measured.counts.counters),
        missing=measured.missing,
        reads_to_first_route=to_first.get("reads"),
        writes_to_first_route=to_first.get("writes"),
    )


def _flow(
    result: SizeResult, direction: Direction, flow: Flow | None, source: str
) -> FlowFigures | None:
    if flow is None:
        return None
    return FlowFigures(
        bytes=figure(flow.bytes),
        least_bytes=flow.least,
        most_bytes=flow.most,
        idle_share=flow.idle_share,
        to_expected=result.ratio(source, direction),
        is_conclusive=not flow.is_drowned,
    )
