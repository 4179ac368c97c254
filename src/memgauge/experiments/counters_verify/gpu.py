"""Counters verify on a GPU: do its counters count what its memory really moves?

Question: of bytes that kernels are known to read and write, how many does each event count, and
what does it count while the GPU is left alone?

Method: as on the host (`verify`), by kernels in the GPU's own memory. They read, write, or copy so
many bytes of memory several times the second-level cache, of several sizes, long enough that
what is read of counters lies far above idle traffic, and after an untimed lead-in of the same as
large as that cache. The counters are read around exactly that, the device idle at both readings,
and around an idle time just before, in rounds. What is known: reads read what was issued and write
nothing; writes write it and read nothing, for the cache writes whole sectors of 32 bytes without
reading them; a copy does as much of both.

What would invalidate it: other programs on the GPU whose traffic comes and goes with the loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.host import this_host
from memgauge.experiments.counters_verify.bench import STEP_BYTES, Turns
from memgauge.experiments.counters_verify.events import Openable, openable
from memgauge.experiments.counters_verify.host import CountersVerifyParameters
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.counted import TeamCounters
from memgauge.experiments.shared.gpu import UNKNOWN_L2_BYTES, gpu_facts, refuse_host_options
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.experiments.stream.gpu_counted import counts_memory_of, gpu_events
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.counting.events import Event
from memgauge.model.errors import RequestError
from memgauge.model.loads import COPY, READ, WRITE
from memgauge.model.memory import MemoryPlacement
from memgauge.model.records import Point, Sample, Scalar, Validation, Warning
from memgauge.model.system import System
from memgauge.model.units import format_bytes
from memgauge.system.gpu.driver import device_facts, opened_gpu
from memgauge.system.memory.sources import ORDINARY, Memories

_L2 = "l2_bytes"

MIXES = {READ: (1, 0), WRITE: (0, 1), COPY: (1, 1)}
"""Reads and writes of each load."""

L2_MULTIPLES = (4, 16)
"""Of the second-level cache: what each size reads from, and what it writes to."""
LEAST_BYTES = 4 << 20
MEMORY_SHARE = 0.5
"""Of the GPU's memory, that all sizes together may take."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """What the loads walk over."""

    l2_bytes: int | None
    of: list[int]
    """Each is read from, and as much written to."""

    @property
    def lead_in_bytes(self) -> int:
        """What goes before: as much as the cache holds."""
        return self.l2_bytes or UNKNOWN_L2_BYTES

    @property
    def facts(self) -> dict[str, Scalar]:
        """What the records say once: whether the smallest exceeds the cache, as it should."""
        least = L2_MULTIPLES[0] * (self.l2_bytes or UNKNOWN_L2_BYTES)
        return {"exceeds_caches": self.l2_bytes is not None and self.of[0] >= least}


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What a point does."""

    load: str
    traffic: _core.GpuTraffic
    lead_in_bytes: int
    bytes: int
    """Of all its accesses."""
    turn: int = 0

    def run(self) -> _core.Slice:
        """Once, after its lead-in."""
        return _run(self.traffic, self.load, self.bytes, self.lead_in_bytes)


class GpuVerifyBench(Bench):
    """Loads of one GPU, with the counters they share."""

    def __init__(
        self, gpu: _core.Gpu, cells: Sequence[tuple[Point, Load]], turns: Turns, idle_s: float
    ) -> None:
        self.points = [point for point, _ in cells]
        self.counters = turns.sets
        self._gpu = gpu
        self._loads = {point.point: load for point, load in cells}
        self._turns = turns
        self._idle_s = idle_s

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Rest, then load, with the counters read around both."""
        load = self._loads[point]
        with self._turns.turn(load.turn) as counters:
            reads = TeamCounters(team=self._gpu, counters=counters)
            idle = reads.idle(self._idle_s)
            taken, reading = reads.around(load.run)
        sample = to_sample(point, round_, taken)
        return [msgspec.structs.replace(sample, reading=reading, idle=idle)]

    def validate(self) -> list[Validation]:
        """All that was written holds what it must."""
        walked = {id(load.traffic): load.traffic for load in self._loads.values()}
        return [
            to_validation("counters_verify", format_bytes(one.bytes), one.validate())
            for one in walked.values()
        ]


class GpuCountersVerify(Experiment):
    """The `verify` experiment in a GPU's memory."""

    name: ClassVar[str] = "counters_verify"
    parameters: ClassVar[type[CountersVerifyParameters]] = CountersVerifyParameters

    def plan(self, parameters: CountersVerifyParameters, system: System) -> list[Group]:
        """One group: all loads share the counters, and every round visits all of them."""
        del system
        refuse_host_options(parameters, ("back_ends",))
        parameters.check_region()
        memory = parameters.memories[0]
        sizes = sizes_of(memory)
        points = [_point(memory, load, size) for size in sizes.of for load in MIXES]
        return [
            Group(
                name=f"known traffic on {memory}",
                points=points,
                bytes=0,
                bytes_in={memory: 2 * sum(sizes.of)},
            )
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: CountersVerifyParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """See which counters open, allocate and see how fast each load is, and open them."""
        del system, memories
        memory = parameters.memories[0]
        found = events_of(parameters, memory)
        gpu = opened_gpu(memory)
        turns = Turns(found.turns, self.name, this_host(), None)
        with ExitStack() as stack:
            sizes = sizes_of(memory)
            planned = {point.point: point for point in group.points}
            facts = gpu_facts(gpu)
            cells: list[tuple[Point, Load]] = []
            for size in sizes.of:
                traffic = _core.GpuTraffic(gpu, size)
                stack.callback(traffic.close)
                traffic.prepare(list(MIXES.values()))
                for load in MIXES:
                    point = planned[_name(memory, load, size)]
                    made = _made(traffic, load, sizes.lead_in_bytes, parameters.region_s)
                    point = _with(point, facts | {"issued_bytes": made.bytes})
                    cells += [
                        (_in_turn(point, turn), msgspec.structs.replace(made, turn=turn))
                        for turn in range(len(found.turns))
                    ]
            # Last: a profiler's session sees no allocation or compilation.
            stack.enter_context(turns.ready(found.refused))
            cells[0] = (_with(cells[0][0], sizes.facts), cells[0][1])
            yield GpuVerifyBench(gpu, cells, turns, parameters.region_s)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Memory that the second-level cache may hold in part."""
        del samples, system
        if point.actual.get("exceeds_caches", True):
            return []
        size, l2_bytes = (int(str(point.actual[key] or 0)) for key in ("traffic_bytes", _L2))
        cache = f"of {format_bytes(l2_bytes)}" if l2_bytes else "of unknown size"
        return [
            Warning(
                code="traffic-in-caches",
                message=(
                    f"the {format_bytes(size)} that loads go over are not known to be four times "
                    f"the second-level cache, {cache}: part of it may stay there"
                ),
                remedy="end what else uses the GPU's memory" if l2_bytes else None,
                experiment=point.experiment,
                point=point.point,
            )
        ]


def sizes_of(memory: MemoryPlacement) -> Sizes:
    """Multiples of the second-level cache, as far as the GPU's memory has room for them."""
    facts = device_facts(memory)
    room = int(facts.memory_bytes * MEMORY_SHARE) // 2
    wanted = [max(LEAST_BYTES, m * (facts.l2_bytes or UNKNOWN_L2_BYTES)) for m in L2_MULTIPLES]
    wanted = list(dict.fromkeys(wanted))
    fitting = [size for n, size in enumerate(wanted) if sum(wanted[: n + 1]) <= room]
    return Sizes(l2_bytes=facts.l2_bytes, of=fitting or [room // STEP_BYTES * STEP_BYTES])


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
    if event.back_end == "modelled":
        raise RequestError(
            f"event {event.name}: is modelled, and a model cannot be verified; name events of cupti"
        )
    if not counts_memory_of(event, memory):
        raise RequestError(
            f"event {event.name}: counts no traffic of {memory}, which the loads use; leave "
            f"--events out, or verify it without --memory"
        )


def _name(memory: MemoryPlacement, load: str, size: int) -> str:
    return f"counters_verify/{load}/{memory}/{format_bytes(size).replace(' ', '')}"


def _point(memory: MemoryPlacement, load: str, size: int) -> Point:
    reads, writes = MIXES[load]
    return Point(
        point=_name(memory, load, size),
        experiment="counters_verify",
        quantity="bandwidth",
        requested={"load": load, "reads": reads, "writes": writes, "memory": str(memory)},
        actual={"traffic_bytes": size},
        bytes_counted=1,
        bytes_moved=1,
        role="counted",
        work="counted",
    )


def _made(traffic: _core.GpuTraffic, load: str, lead_in_bytes: int, seconds: float) -> Load:
    """As many bytes as last so long, by a short trial."""
    trial = max(STEP_BYTES, lead_in_bytes)
    (thread,) = _run(traffic, load, trial, lead_in_bytes).threads
    took_ns = max(1, thread.end_ns[-1] - thread.begin_ns[0])
    issued = (thread.read_bytes + thread.write_bytes) * seconds * 1e9 / took_ns
    steps = max(1, -(-int(issued) // STEP_BYTES))
    return Load(load=load, traffic=traffic, lead_in_bytes=lead_in_bytes, bytes=steps * STEP_BYTES)


def _run(traffic: _core.GpuTraffic, load: str, bytes_: int, lead_in_bytes: int) -> _core.Slice:
    reads, writes = MIXES[load]
    return traffic.run(reads, writes, bytes=bytes_, lead_in_bytes=lead_in_bytes)


def _in_turn(point: Point, turn: int) -> Point:
    """A point for each group of counters that cannot be open together."""
    return point if not turn else msgspec.structs.replace(point, point=f"{point.point}/turn{turn}")


def _with(point: Point, facts: Mapping[str, Scalar]) -> Point:
    return msgspec.structs.replace(point, actual={**point.actual, **facts})
