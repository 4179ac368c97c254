"""The loop nests of a run by size: what was expected, what was simulated, what was measured.

All bytes are of one execution by one core: simulations and measurements of several cores, each on
arrays of its own, are divided by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from memgauge.analysis.counters.figures import Kernel, counts_of_point
from memgauge.analysis.figures.run import Figures, slug
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.analysis.traffic.expected import (
    GPU_SECTOR_BYTES,
    LARGEST_SIZE,
    Band,
    Expected,
    Nest,
    band_of,
    expected_of,
    nest_of,
)
from memgauge.analysis.traffic.measured import MEASURED, Flow, Measured, is_measured, measured
from memgauge.model.cache_machine import THIS, CacheMachine, with_cores
from memgauge.model.counting.calibration import calibration_marks
from memgauge.model.points.traffic import TrafficActual, TrafficRequested
from memgauge.model.record_kinds.simulated import Simulated
from memgauge.model.records import Point
from memgauge.model.text import plain
from memgauge.model.units import format_count

NAME = "traffic"
USUAL_LINE_BYTES = 64

Direction = Literal["reads", "writes"]
DIRECTIONS: tuple[Direction, Direction] = ("reads", "writes")


class SizeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One nest of one size."""

    point: str
    size: int
    cores: int
    nest: Nest
    actual: TrafficActual
    expected: Expected
    simulated: dict[str, Simulated]
    """By machine."""
    measured: dict[str, Measured]
    """By source: one for each route to the counters."""
    readings: int
    """Of the counters; where there are some and nothing is measured, all were set aside."""
    speed: Estimate | None
    """GB/s of the elements that all cores read and write by themselves; None: nothing was run, or
    every region was set aside."""
    set_aside: int
    """Regions whose time says nothing, for other programs took the processor or pages came."""

    def flow(self, direction: Direction, source: str = MEASURED) -> Flow | None:
        """What was measured one way, by a route; None of a source that was not measured."""
        found = self.measured.get(source)
        if found is None:
            return None
        return found.read if direction == "reads" else found.write

    def moved(self, source: str, direction: Direction) -> float | None:
        """Bytes one way, by a machine of the model or as measured."""
        if is_measured(source):
            flow = self.flow(direction, source)
            return None if flow is None else flow.bytes.value
        simulated = self.simulated.get(source)
        if simulated is None:
            return None
        whole = simulated.read_bytes if direction == "reads" else simulated.write_bytes
        return whole / simulated.cores

    def expected_bytes(self, direction: Direction) -> int:
        """As expected, while cached."""
        return self.expected.read_bytes if direction == "reads" else self.expected.write_bytes

    def past_bytes(self, direction: Direction) -> int:
        """As expected at most, past the caches."""
        return (
            self.expected.past_read_bytes
            if direction == "reads"
            else self.expected.past_write_bytes
        )

    @property
    def bypassing_bytes(self) -> int:
        """Reads as expected where stores that may bypass the caches do."""
        return expected_of(self.nest, bypass=True).read_bytes

    def ratio(self, source: str, direction: Direction) -> float | None:
        """To the expectation; None where nothing is known or expected."""
        moved, expected = self.moved(source, direction), self.expected_bytes(direction)
        return moved / expected if moved is not None and expected else None

    def route_ratio(self, first: str, other: str, direction: Direction) -> Estimate | None:
        """What one route counted over what another did, of the same regions: their median.

        Args:
            first: Source of the route that the other is compared with.
            other: Source of the other.
            direction: Which way.
        """
        one, two = self.measured.get(first), self.measured.get(other)
        if one is None or two is None:
            return None
        regions = (
            zip(one.read_of_regions, two.read_of_regions, strict=True)
            if direction == "reads"
            else zip(one.write_of_regions, two.write_of_regions, strict=True)
        )
        return sustained([b / a for a, b in regions if a and b is not None], 0.5)

    def per_element(self, bytes_: float) -> float:
        """Elements moved for each element of the result."""
        return bytes_ / (self.expected.elements * self.expected.element_bytes)

    def is_drowned(self, direction: Direction, source: str = MEASURED) -> bool:
        """Whether what was measured is mostly others' or too uncertain to show anything."""
        flow = self.flow(direction, source)
        return flow is not None and flow.is_drowned


USUAL = ((0, 0), (512, 0))
"""Distances of the prefetch of stores whose tables and files name none; 0: in older runs."""


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """One nest over its sizes."""

    kernel: str
    threads: int
    prefetched: bool
    grid: str
    results: list[SizeResult]
    """By size."""
    machines: dict[str, CacheMachine]
    gpu: str = ""
    """The GPU that executed it in its memory, such as `cuda:0`; empty: cores did."""
    library: str = ""
    """The BLAS library that computed it, such as `openblas`; empty: the loop nest did."""
    ahead: str = ""
    """What is prefetched by software, and how far ahead; empty: nothing."""
    near_bytes: int = 0
    """How far ahead; 0: nothing is prefetched, or it is not known how far."""
    far_bytes: int = 0
    """Of a second prefetch each; 0: there is none."""

    @property
    def title(self) -> str:
        """Such as `gemm, 2 cores, batched`, `gemm by openblas, 1 core`, or `gemm, cuda:0`."""
        words = [f"{self.kernel} by {plain(self.library)}" if self.library else self.kernel]
        if self.grid:
            words.append(f"grid {self.grid}")
        cores = f"{format_count(self.threads, 'core')}{', batched' * (self.threads > 1)}"
        words.append(self.gpu or cores)
        if self.ahead:
            words.append(self.ahead)
        if marks := self.calibration:
            words.append(f"measured {marks}")
        return ", ".join(words)

    @property
    def calibration(self) -> str:
        """Marks of the calibrations that are contained in what was measured; else empty."""
        measured = [one for result in self.results for one in result.measured.values()]
        return calibration_marks(counter for one in measured for counter in one.counts.counters)

    @property
    def slug(self) -> str:
        """For names of tables and files."""
        by = self.gpu.replace(":", "") or f"{self.threads}t"
        library = slug(self.library) if self.library else ""
        usual = self.ahead.startswith("stores") and (self.near_bytes, self.far_bytes) in USUAL
        ahead = "prefetched" if usual else slug(self.ahead)
        parts = [NAME, self.kernel, self.grid, by, library, ahead]
        return "-".join(part for part in parts if part)

    @property
    def sources(self) -> list[str]:
        """Machines whose caches were simulated, then what was measured, where anything is."""
        simulated = {name: None for result in self.results for name in result.simulated}
        return [*simulated, *self.measured_sources]

    @property
    def measured_sources(self) -> list[str]:
        """What was measured: one for each route to the counters; empty where nothing was."""
        return list({name: None for result in self.results for name in result.measured})

    def ratios(self, source: str, direction: Direction) -> list[tuple[int, float]]:
        """Sizes and ratios to the expectation; without measured ones that show nothing."""
        return [
            (result.size, ratio)
            for result in self.results
            if (ratio := result.ratio(source, direction)) is not None
            and not (is_measured(source) and result.is_drowned(direction, source))
        ]

    def result(self, size: int) -> SizeResult:
        """Of that size, which there is."""
        return next(result for result in self.results if result.size == size)

    def cached_bytes(self, source: str) -> int | None:
        """What a core may keep of its data; None where the system hides it."""
        if is_measured(source):
            return self.results[-1].actual.cached_bytes
        return self.machines[source].cached_bytes

    def band(self, source: str) -> Band | None:
        """Sizes at which caching ends, for the caches of a source."""
        machine = self.machines.get(source)
        sector = machine.sector_bytes if machine else None
        return self.band_for(self.cached_bytes(source), sector)

    def band_of_lines(self, source: str) -> Band | None:
        """The same where each piece that is read takes the place of a whole line, if that differs.

        None where memory gives whole lines, or where nothing is walked in pieces of lines.
        """
        machine = self.machines.get(source)
        if machine is None or machine.line_bytes == machine.sector_bytes:
            return None
        found = self.band_for(machine.cached_bytes, machine.line_bytes)
        return None if found == self.band(source) else found

    def band_for(self, cached_bytes: int | None, sector_bytes: int | None = None) -> Band | None:
        """For caches that keep so much for a core, and get sectors of so many bytes."""
        if not cached_bytes:
            return None
        sector = sector_bytes or self.line_bytes
        return band_of(self.results[-1].nest, cached_bytes, sector_bytes=sector)

    @property
    def line_bytes(self) -> int:
        """What this machine's memory gives at a time, as far as its model shows it."""
        if self.gpu:
            return GPU_SECTOR_BYTES
        this = self.machines.get(THIS)
        return this.sector_bytes if this else USUAL_LINE_BYTES


class _Ahead(NamedTuple):
    """What a curve's nests prefetch."""

    text: str
    near_bytes: int
    far_bytes: int


def _ahead_of(point: Point) -> _Ahead:
    requested = TrafficRequested.of(point.requested)
    text = requested.prefetch_text
    near, far = requested.prefetch_near_bytes or 0, requested.prefetch_far_bytes or 0
    return _Ahead(text, *((near, far) if text else (0, 0)))


def curves_of(figures: Figures) -> list[Curve]:
    """All nests of a run, in the order of their points."""
    grouped: dict[tuple[str, int, bool, str, str, str, _Ahead], list[SizeResult]] = {}
    for point in figures.run.points_of(NAME):
        result = _result(point, figures)
        if result is not None:
            nest = result.nest
            nest_key = (nest.kernel, point.threads, nest.prefetched, nest.grid, nest.gpu)
            key = (*nest_key, nest.library, _ahead_of(point))
            grouped.setdefault(key, []).append(result)
    machines = {name: record.machine for name, record in figures.run.machines.items()}
    return [
        Curve(
            kernel=kernel,
            threads=threads,
            prefetched=prefetched,
            grid=grid,
            results=sorted(results, key=lambda result: result.size),
            machines=_used(results, machines),
            gpu=gpu,
            library=library,
            ahead=ahead.text,
            near_bytes=ahead.near_bytes,
            far_bytes=ahead.far_bytes,
        )
        for (kernel, threads, prefetched, grid, gpu, library, ahead), results in grouped.items()
    ]


def _used(
    results: Sequence[SizeResult], machines: dict[str, CacheMachine]
) -> dict[str, CacheMachine]:
    names = {name for result in results for name in result.simulated}
    cores = results[0].cores
    return {name: _at_work(machine, cores) for name, machine in machines.items() if name in names}


def _at_work(machine: CacheMachine, cores: int) -> CacheMachine:
    """With so many cores at work: a record holds one machine of a name for all numbers of them.

    More than a socket has work on several sockets alike.
    """
    sockets = -(-cores // machine.machine_cores)
    return with_cores(machine, max(1, cores // sockets))


def _result(point: Point, figures: Figures) -> SizeResult | None:
    """None where a point does not describe its nest."""
    nest, size = nest_of(point), TrafficRequested.of(point.requested).size
    if nest is None or size is None:
        return None
    expected = expected_of(nest)
    if not expected.write_bytes:
        return None
    kernel = Kernel(
        name=point.point,
        elements=expected.elements,
        read_bytes=round(expected.read_bytes * point.threads),
        write_bytes=round(expected.write_bytes * point.threads),
        evadable_bytes=0,
        streams=False,
        gpu=nest.gpu,
    )
    return SizeResult(
        point=point.point,
        size=size,
        cores=point.threads,
        nest=nest,
        actual=TrafficActual.of(point.actual),
        expected=expected,
        simulated=figures.run.simulated.get(point.point, {}),
        measured=measured(counts_of_point(point, kernel, figures), point.threads),
        readings=len(figures.run.counted_samples_of(point.point)),
        speed=figures.summaries[point.point][0].sustained,
        set_aside=figures.summaries[point.point][0].set_aside,
    )


def times(ratio: float) -> str:
    """Such as `1.03 times` or `68 times`."""
    return f"{ratio:.2f} times" if ratio < 10 else f"{ratio:,.0f} times"


def band_text(band: Band) -> str:
    """Such as `467 to 809`; one size where all that is needed is let go at once."""
    if band.all_fit == band.one_fits:
        return str(band.all_fit)
    if band.one_fits >= LARGEST_SIZE:
        return f"{band.all_fit} on"
    return f"{band.all_fit} to {band.one_fits}"


def band_label(band: Band) -> str:
    """As in a sentence."""
    return f"N = {band_text(band)}"
