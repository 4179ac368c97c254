"""Counters verify on a GPU: do its counters count what its memory really moves?

Question: of bytes that kernels are known to read and write, how many does each event count, and
what does it count while the GPU is left alone?

Method: as on the host (`host`), by kernels in the GPU's own memory. They read, write, or copy so
many bytes of memory several times the second-level cache, of several sizes, long enough that
what is read of counters lies far above idle traffic, and after an untimed lead-in of the same as
large as that cache. The counters are read around exactly that, the device idle at both readings,
and around an idle time just before, in rounds. What is known: reads read what was issued and write
nothing; writes write it and read nothing, for the cache writes whole sectors of 32 bytes without
reading them; a copy does as much of both.

What would invalidate it: other programs on the GPU whose traffic comes and goes with the loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.host import this_host
from memgauge.experiments.counters_verify.bench import (
    STEP_BYTES,
    Amount,
    CountersVerifyBench,
    Load,
    Turns,
    bytes_for,
    in_turns,
)
from memgauge.experiments.counters_verify.events import Openable, openable
from memgauge.experiments.counters_verify.host import CountersVerifyParameters
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.gpu import UNKNOWN_L2_BYTES, gpu_facts, refuse_host_options
from memgauge.experiments.stream.gpu_counted import counts_memory_of, gpu_events
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.counting.events import Event
from memgauge.model.errors import RequestError
from memgauge.model.loads import COPY, READ, WRITE
from memgauge.model.memory import MemoryPlacement
from memgauge.model.points.counters_verify import VerifyActual, VerifyRequested
from memgauge.model.points.gpu import GpuDevice
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.gpu.driver import device_facts, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

MIXES = {READ: (1, 0), WRITE: (0, 1), COPY: (1, 1)}
"""Reads and writes of each load."""

L2_MULTIPLES = (4, 16)
"""Of the second-level cache: what each size reads from, and what it writes to."""
LEAST_BYTES = 4 << 20
MEMORY_SHARE = 0.5
"""Of the GPU's memory, that all sizes together may take."""


class Area(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of one size that the loads walk over."""

    bytes: int
    """Is read from, and as much written to."""
    loads: dict[str, Point]


class GpuVerifyGroup(Group, frozen=True, kw_only=True):
    """All loads of one GPU."""

    memory: MemoryPlacement
    areas: list[Area]
    lead_in_bytes: int
    """What goes before each load: as much as the second-level cache holds."""
    exceeds_caches: bool
    """Whether even the smallest area is known to be four times that."""


class GpuCountersVerify(Experiment):
    """The `counters_verify` experiment in a GPU's memory."""

    name: ClassVar[str] = "counters_verify"
    parameters: ClassVar[type[CountersVerifyParameters]] = CountersVerifyParameters

    def plan(self, parameters: CountersVerifyParameters, system: System) -> list[GpuVerifyGroup]:
        """One group: all loads share the counters, and every round has all of them."""
        del system
        refuse_host_options(parameters, ("back_ends",))
        parameters.check_region()
        memory = parameters.memories[0]
        l2_bytes = device_facts(memory).l2_bytes
        lead_in_bytes = l2_bytes or UNKNOWN_L2_BYTES
        areas = [
            Area(bytes=size, loads={load: _point(memory, load, size) for load in MIXES})
            for size in _sizes(memory, lead_in_bytes)
        ]
        least = L2_MULTIPLES[0] * lead_in_bytes
        return [
            GpuVerifyGroup(
                name=f"known traffic on {memory}",
                points=[point for area in areas for point in area.loads.values()],
                bytes=0,
                bytes_in={memory: 2 * sum(area.bytes for area in areas)},
                memory=memory,
                areas=areas,
                lead_in_bytes=lead_in_bytes,
                exceeds_caches=l2_bytes is not None and areas[0].bytes >= least,
            )
        ]

    @contextmanager
    def open(
        self,
        group: GpuVerifyGroup,
        parameters: CountersVerifyParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """See which counters open, allocate and see how fast each load is, and open them.

        Args:
            group: All loads of one GPU.
            parameters: What `group` was planned with; `events` and `region_s` are used.
            memories: Not used: the driver allocates the GPU's memory.
        """
        del memories
        found = events_of(parameters, group.memory)
        gpu = opened_gpu(group.memory)
        turns = Turns(found.turns, self.name, this_host(), None)
        with ExitStack() as stack:
            loads = [
                in_turn
                for area in group.areas
                for point, load in _prepared(stack, gpu, area, group, parameters.region_s)
                for in_turn in in_turns(point, load, len(found.turns))
            ]
            # Last: a profiler's session sees no allocation or compilation.
            stack.enter_context(turns.ready(found.refused))
            (first, load), *others = loads
            note = VerifyActual(exceeds_caches=group.exceeds_caches).recorded()
            loads = [(first.with_actual(note), load), *others]
            yield CountersVerifyBench(loads, turns, self.name, parameters.region_s)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about memory that the second-level cache may hold in part.

        Args:
            point: Only the first point of a group records whether the memory exceeds the cache.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        actual = VerifyActual.of(point.actual)
        if actual.exceeds_caches is not False:
            return []
        l2_bytes = GpuDevice.of(point.actual).l2_bytes
        cache = f"of {format_bytes(l2_bytes)}" if l2_bytes else "of unknown size"
        return [
            Warning(
                code="traffic-in-caches",
                message=(
                    f"the {format_bytes(actual.traffic_bytes or 0)} that loads go over are not "
                    f"known to be four times the second-level cache, {cache}: part of it may stay "
                    f"there"
                ),
                remedy="end what else uses the GPU's memory" if l2_bytes else None,
                experiment=point.experiment,
                point=point.point,
            )
        ]


def _sizes(memory: MemoryPlacement, l2_bytes: int) -> list[int]:
    """Multiples of the second-level cache, as far as the GPU's memory has room for them."""
    room = int(device_facts(memory).memory_bytes * MEMORY_SHARE) // 2
    wanted = list(dict.fromkeys(max(LEAST_BYTES, m * l2_bytes) for m in L2_MULTIPLES))
    fitting = [size for n, size in enumerate(wanted) if sum(wanted[: n + 1]) <= room]
    return fitting or [room // STEP_BYTES * STEP_BYTES]


def events_of(parameters: CountersVerifyParameters, memory: MemoryPlacement) -> Openable:
    """What to open; raises CounterRefused where nothing can be.

    Raises:
        RequestError: an event was named that does not count that GPU's memory.
    """
    events = gpu_events(parameters.events or (AUTOMATIC,), memory)
    for event in events:
        _require_measured(event, memory)
    return openable(events, this_host())


def _require_measured(event: Event, memory: MemoryPlacement) -> None:
    if entry_of(event.back_end).is_model:
        raise RequestError(
            f"event {event.name}: is modelled, and a model cannot be verified; name events of cupti"
        )
    if not counts_memory_of(event, memory):
        raise RequestError(
            f"event {event.name}: counts no traffic of {memory}, which the loads use; leave "
            f"--events out, or verify it without --memory"
        )


def _point(memory: MemoryPlacement, load: str, size: int) -> Point:
    reads, writes = MIXES[load]
    requested = VerifyRequested(load=load, reads=reads, writes=writes, memory=str(memory))
    return Point(
        point=f"counters_verify/{load}/{memory}/{format_bytes(size).replace(' ', '')}",
        experiment="counters_verify",
        quantity="bandwidth",
        requested=requested.recorded(),
        actual=VerifyActual(traffic_bytes=size).recorded(),
        bytes_counted=1,
        bytes_moved=1,
        role="counted",
        work="counted",
    )


def _prepared(
    stack: ExitStack, gpu: _core.Gpu, area: Area, group: GpuVerifyGroup, region_s: float
) -> Iterator[tuple[Point, Load]]:
    """Allocate an area, and see how much each load issues in the time."""
    traffic = _core.GpuTraffic(gpu, area.bytes)
    stack.callback(traffic.close)
    traffic.prepare(list(MIXES.values()))
    facts = gpu_facts(gpu)
    for name, point in area.loads.items():
        run = partial(_run, traffic, name, group.lead_in_bytes)
        bytes_ = bytes_for(run, group.lead_in_bytes, region_s)
        issued = VerifyActual(issued_bytes=bytes_)
        load = Load(
            worker=gpu,
            amounts=[Amount(run=partial(run, bytes_))],
            memory=traffic,
            subject=format_bytes(traffic.bytes),
        )
        yield point.with_actual(facts | issued.recorded()), load


def _run(traffic: _core.GpuTraffic, load: str, lead_in_bytes: int, bytes_: int) -> _core.Slice:
    reads, writes = MIXES[load]
    return traffic.run(reads, writes, bytes=bytes_, lead_in_bytes=lead_in_bytes)
