"""What a cache model of named machines predicts for the points of `traffic`.

One execution with caches that hold nothing, by as many cores as the point has threads, each on
arrays of its own; then everything changed is written back. The arrays of a core follow each other
as those of a native `LoopNest` do: each in pages of its own, and shifted in them by 17 x 128 bytes
against the one before. Those of the next core follow. Where parts of a machine share no cache, one
of them is simulated and multiplied, see `machines`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from memgauge import _core
from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.experiments.traffic.cold import PAGE_BYTES
from memgauge.experiments.traffic.machines import MachinePart
from memgauge.model.cache_machine import CacheMachine, machine_name
from memgauge.model.errors import RequestError
from memgauge.model.points.traffic import TrafficRequested
from memgauge.model.record_kinds.simulated import Simulated, SimulatedLevel, SimulatedMachine
from memgauge.model.records import AnyRecord, Point, Warning
from memgauge.model.units import format_duration, format_long

STAGGER_BYTES = 17 * 128
FIRST_ADDRESS = 1 << 32

FEW_TRIPS = 1 << 20
"""Of innermost loops: what has no more is taken to cost no time, and shows no speed."""
SLOWER_BEYOND = 2.0
"""Times that a trip takes longer where caches are exceeded than in a small nest; assumed."""
SPARE = 1.5
"""Of the time that the rest would take: how much of it to ask for, which is an estimate."""
LIMITS = (
    *((60.0 * minutes, f"{minutes}m") for minutes in (1, 2, 5, 10, 15, 20, 30, 45)),
    *((3600.0 * hours, f"{hours}h") for hours in (1, 2, 3, 4, 6, 8, 12, 24)),
)
"""Limits of --simulate-up-to that are worth proposing."""
WORTH_THREADS_S = 0.2
"""Less is simulated by one thread."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One point on one machine."""

    point: Point
    spec: _core.NestSpec
    part: MachinePart

    @property
    def machine(self) -> CacheMachine:
        """With all cores at work."""
        return self.part.machine

    @property
    def size(self) -> int | None:
        """N of the point."""
        return TrafficRequested.of(self.point.requested).size

    @property
    def trips(self) -> int:
        """Of innermost loops that are simulated."""
        return self.spec.trips * self.part.unit.cores


def simulate(
    jobs: Sequence[Job], probe: _core.NestSpec, limit_s: float, threads: int
) -> Iterator[AnyRecord]:
    """Simulate one by one, the cheapest first, as far as the limit reaches.

    What would exceed it, by the speed of what was simulated before, is left out and reported in the
    end; what the model refuses, such as arrays of more lines than it can number, is reported at
    once.

    Args:
        jobs: Points with the machines to simulate them on, in any order.
        probe: Small nest that shows the speed where nothing was simulated before.
        limit_s: Time for all jobs together, in s.
        threads: Largest number of threads for one job; each simulates a part of the caches' sets.
    """
    deadline = time.monotonic() + limit_s
    speeds = _Speeds(probe)
    declared: dict[str, CacheMachine] = {}
    left_out: list[tuple[Job, int]] = []
    for job, trips in _cheapest_first(jobs):
        machine = job.machine
        cost_s = speeds.cost_s(job, trips)
        if cost_s > deadline - time.monotonic():
            left_out.append((job, trips))
            continue
        try:
            made = _simulated(job, threads if cost_s > WORTH_THREADS_S else 1)
        except RequestError as refused:
            yield _beyond_the_model(job, refused)
            continue
        if declared.get(machine.name) != machine:
            declared[machine.name] = machine
            yield SimulatedMachine(machine=machine)
        speeds.took(job, trips, made.took_s)
        yield made
    if left_out:
        cost_s = sum(speeds.cost_s(job, trips) for job, trips in left_out)
        yield _not_simulated([job for job, _ in left_out], cost_s, limit_s)


def estimated_s(jobs: Sequence[Job], probe: _core.NestSpec) -> float:
    """About how long `simulate` takes with one thread and no limit, by the speed of a small nest.

    Args:
        jobs: Points with the machines to simulate them on.
        probe: The small nest, which is simulated on each machine.
    """
    speeds = _Speeds(probe)
    return sum(speeds.cost_s(job, trips) for job, trips in _cheapest_first(jobs))


def _cheapest_first(jobs: Sequence[Job]) -> list[tuple[Job, int]]:
    """Each job with the trips of it that at least are simulated one by one."""
    return sorted(((job, _trips_simulated(job)) for job in jobs), key=lambda pair: pair[1])


def _trips_simulated(job: Job) -> int:
    unit = job.part.unit
    return job.trips if unit.cores > 1 else _core.trips_simulated(job.spec, cache_model(unit))


class _Speeds:
    """What a simulated trip takes, by machine."""

    def __init__(self, probe: _core.NestSpec) -> None:
        self._probe = probe
        self._trip_s: dict[str, float] = {}

    def cost_s(self, job: Job, trips: int) -> float:
        """What a job takes of which so many trips are simulated; little ones take no time."""
        if trips <= FEW_TRIPS:
            return 0.0
        name = job.machine.name
        if name not in self._trip_s:
            small = msgspec.structs.replace(job, spec=self._probe)
            self._trip_s[name] = SLOWER_BEYOND * _simulated(small, 1).took_s / small.trips
        return trips * self._trip_s[name]

    def took(self, job: Job, trips: int, took_s: float) -> None:
        """A job took so long. Where some trips are not simulated, it may be more than those."""
        if job.trips > FEW_TRIPS and trips == job.trips:
            self._trip_s[job.machine.name] = took_s / trips


def layout(arrays: Sequence[_core.NestArray], cores: int) -> list[list[int]]:
    """Where the arrays of each core begin."""
    found, page = [], FIRST_ADDRESS
    for _ in range(cores):
        bases = []
        for index, array in enumerate(arrays):
            stagger = index * STAGGER_BYTES
            bases.append(page + stagger)
            page += -(-(stagger + array.bytes) // PAGE_BYTES) * PAGE_BYTES
        found.append(bases)
    return found


def _simulated(job: Job, threads: int) -> Simulated:
    unit, times = job.part.unit, job.part.times
    arrays = job.spec.arrays
    model = _model(unit, threads)
    began = time.monotonic()
    _core.simulate_nest(job.spec, layout(arrays, unit.cores), model)
    model.write_back_all()
    counts = model.counts()
    return Simulated(
        point=job.point.point,
        machine=job.machine.name,
        cores=unit.cores * times,
        accesses=(counts.loads + counts.stores + counts.store_prefetches) * times,
        load_read_bytes=counts.load_read_bytes * times,
        allocate_read_bytes=counts.allocate_read_bytes * times,
        software_prefetch_read_bytes=counts.software_prefetch_read_bytes * times,
        hardware_prefetch_read_bytes=counts.hardware_prefetch_read_bytes * times,
        write_back_bytes=counts.write_back_bytes * times,
        bypass_write_bytes=counts.bypass_write_bytes * times,
        array_read_bytes=_by_array(arrays, counts.stream_read_bytes, times),
        levels=[
            SimulatedLevel(
                level=name,
                hits=found.hits * times,
                misses=found.misses * times,
                write_backs=found.write_backs * times,
            )
            for name, found in zip(model.level_names, counts.levels, strict=True)
        ],
        took_s=time.monotonic() - began,
    )


def _model(machine: CacheMachine, threads: int) -> _core.CacheModel:
    """With as many threads as its sets part over, halving."""
    while threads > 1:
        try:
            return cache_model(machine, threads)
        except RequestError:
            threads //= 2
    return cache_model(machine)


def _by_array(
    arrays: Sequence[_core.NestArray], streams: Sequence[int], times: int
) -> dict[str, int]:
    """After the streams of the arrays come that of the stores' prefetch, and of the loads'."""
    found = {array.name: streams[at] * times for at, array in enumerate(arrays)}
    of_stores, *of_loads = (*streams[len(arrays) :], 0)
    found[arrays[-1].name] += of_stores * times
    for array, read_bytes in zip(arrays, of_loads, strict=False):
        found[array.name] += read_bytes * times
    return found


def _not_simulated(jobs: Sequence[Job], cost_s: float, limit_s: float) -> Warning:
    sizes: dict[str, dict[str, None]] = {}
    for job in jobs:
        sizes.setdefault(job.machine.name, {})[str(job.size)] = None
    listed = "; ".join(f"N = {', '.join(of)} on {machine_name(name)}" for name, of in sizes.items())
    return Warning(
        code="not-simulated",
        message=(
            f"not simulated: {listed}; that would take about {format_long(cost_s)} more, and the "
            f"limit of --simulate-up-to is {format_duration(limit_s)}"
        ),
        remedy=_remedy(limit_s + SPARE * cost_s),
        experiment=jobs[0].point.experiment,
    )


def _beyond_the_model(job: Job, refused: RequestError) -> Warning:
    return Warning(
        code="not-simulated",
        message=f"not simulated: N = {job.size} on {machine_name(job.machine.name)}: {refused}",
        remedy="give smaller --sizes",
        experiment=job.point.experiment,
    )


def _remedy(needed_s: float) -> str:
    """The next limit that people would give, or smaller sizes where that is out of reach."""
    for limit_s, text in LIMITS:
        if needed_s <= limit_s:
            return f"give --simulate-up-to {text}"
    return "give smaller --sizes"
