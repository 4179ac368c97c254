"""Verify: do the counters of memory traffic count what memory really moves?

Question: of bytes that are known to be read and written, how many does each event count, on which
socket and controller, and what does it count while nothing is done?

Method: the CPUs of each node issue reads, ordinary writes and writes past the caches to memory
several times their last-level caches, long enough that what is read of counters lies far above idle
traffic, and after an untimed lead-in of the same that fills the caches, so that as many changed
lines are pushed out as are left behind. Counters of all back ends are read around exactly that, and
around an idle time of about the same length just before, in rounds. What is known: reads read what
was issued and write nothing; writes past the caches write it and read nothing; ordinary writes
write it and read between nothing and all of it, as the processor evades the write-allocate or not.
Source: the calibration that likwid's, PCP's and perf's users are advised to do (LIKWID issues 527
and 531), made a measurement.

What would invalidate it: memory that caches hold in part; a host that moves memory between nodes;
traffic of others that comes and goes with the loads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Annotated, Any, ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.host import Host, this_host
from memgauge.experiments.counters_verify.bench import (
    Amount,
    CountersVerifyBench,
    Load,
    Moved,
    Stimulus,
    Turns,
    amounts_of,
    bytes_for,
    in_turns,
)
from memgauge.experiments.counters_verify.events import Openable, openable, wanted
from memgauge.experiments.counters_verify.loads import MOST_THREADS, Place, places, sizes_of, specs
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.shared.traffic_sizes import TrafficSizes, size_warnings
from memgauge.model.counting.back_ends import MEMORY_ORDER
from memgauge.model.counting.event_names import events_option
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, memory_option, on_gpu, on_node
from memgauge.model.option import choices_option, counts_option, duration_option
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.points.counters_verify import VerifyActual, VerifyRequested
from memgauge.model.records import Point, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import POLICIES

LONGEST_REGION_S = 2.0

_GPU_EVENT = re.compile(r"cupti:(\d{1,4})/")
_gpu_option = msgspec.structs.replace(
    memory_option,
    group="where",
    help="GPU whose counters are verified, such as cuda:0",
    automatic="none, the counters of the host's memory",
)


class LoadParameters(CommonParameters, frozen=True, kw_only=True):
    """What experiments take that load every node with known traffic."""

    takes_threads: ClassVar[bool] = False
    unlisted: ClassVar[frozenset[str]] = frozenset(
        {"threads", "memory", "keep", "overwrite", "sweep"}
    )

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "not accepted: each node is loaded by its own cores, or by those that --cpus lists",
            1,
            MAX_THREADS,
            automatic=f"one thread on each core, at most {MOST_THREADS} per node",
        ),
    ] = None
    events: Annotated[
        tuple[str, ...] | None,
        events_option(
            "events of memory traffic to verify", automatic="all events of the back ends"
        ),
    ] = None
    region_s: Annotated[
        float, duration_option("duration of each load, and of each idle time", flag="--region")
    ] = 0.05

    def check(self) -> None:
        """Refuse what has no meaning here.

        Raises:
            RequestError: teams or memory of the host were requested, or a region without end.
        """
        if self.threads is not None or self.memory != MemoryPlacement():
            raise RequestError(
                "--threads, --memory: every node's memory is loaded by its own CPUs; leave them "
                "out, or choose nodes with --nodes"
            )
        self.check_region()

    def check_region(self) -> None:
        """Refuse a region without end.

        Raises:
            RequestError: it is one.
        """
        if not 0 < self.region_s <= LONGEST_REGION_S:
            raise RequestError(
                f"--region {self.region_s:g}s: is not between 0 and {LONGEST_REGION_S:g}s; regions "
                f"of 30ms to 200ms lie far above idle traffic"
            )


class CountersVerifyParameters(LoadParameters, frozen=True, kw_only=True):
    """What `counters verify` takes."""

    unlisted: ClassVar[frozenset[str]] = LoadParameters.unlisted - {"memory"}

    memory: Annotated[MemoryPlacement, _gpu_option] = MemoryPlacement()
    back_ends: Annotated[
        tuple[str, ...] | None,
        choices_option("back ends whose events are verified", MEMORY_ORDER, automatic="all"),
    ] = None

    @property
    def memories(self) -> tuple[MemoryPlacement, ...]:
        """A GPU's, where it was requested or all events that were named are of that GPU."""
        on_gpus = [_GPU_EVENT.match(event) for event in self.events or ()]
        devices = {int(found[1]) for found in on_gpus if found}
        if self.memory == MemoryPlacement() and len(devices) == 1 and all(on_gpus):
            return (on_gpu(devices.pop()),)
        return super().memories


class PlannedLoad(msgspec.Struct, frozen=True, kw_only=True):
    """A load of one place."""

    load: str
    spec: _core.TrafficSpec
    point: Point

    def moved(self, place: Place, bytes_: int) -> Moved:
        """What it is known to move where each thread issues so much."""
        total = bytes_ * len(place.cpus)
        reads = total if self.spec.reads else 0
        lines = (total - reads) // self.spec.line_bytes
        return Moved(
            load=self.load,
            place=place,
            read_bytes=reads,
            write_bytes=total - reads,
            allocate_bytes=lines * self.spec.write_allocate_bytes,
        )


class PlannedPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place with all its loads."""

    place: Place
    sizes: TrafficSizes
    nodes: list[int]
    """That its memory is bound to; empty where there is only one."""
    loads: list[PlannedLoad]


class VerifyGroup(Group, frozen=True, kw_only=True):
    """All loads of all places."""

    places: list[PlannedPlace]


class CountersVerify(Experiment):
    """The `counters_verify` experiment, behind `memgauge counters verify`."""

    name: ClassVar[str] = "counters_verify"
    parameters: ClassVar[type[LoadParameters]] = CountersVerifyParameters

    stimulus: ClassVar[Stimulus | None] = None
    """For counters that this machine's memory traffic does not reach: see `bench`."""

    def plan(self, parameters: LoadParameters, system: System) -> list[VerifyGroup]:
        """One group: all loads share the counters, and every round has all of them."""
        parameters.check()
        found = _places(parameters, system)
        planned = [
            PlannedPlace(
                place=place,
                sizes=sizes_of(place, system, len(found)),
                nodes=[place.memory_node] if len(system.nodes) > 1 else [],
                loads=[
                    PlannedLoad(
                        load=load, spec=spec, point=self._point(place, load, spec, parameters)
                    )
                    for load, spec in specs().items()
                ],
            )
            for place in found
        ]
        return [
            VerifyGroup(
                name="known traffic",
                points=[load.point for one in planned for load in one.loads],
                bytes=sum(one.sizes.total_bytes for one in planned),
                places=planned,
            )
        ]

    @contextmanager
    def open(
        self,
        group: VerifyGroup,
        parameters: LoadParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Open the counters, then allocate the memory of every place and see how fast it is.

        Args:
            group: All loads of all places.
            parameters: What `group` was planned with; events, pages and duration of loads are used.
            memories: Not used: the memory of each place is bound to its own node.
        """
        del memories  # every node is loaded by itself
        host = msgspec.structs.replace(this_host(), calibration="none")
        found = self.events(parameters, host)
        turns = Turns(found.turns, self.name, host, type(self).stimulus)
        with ExitStack() as stack:
            stack.enter_context(turns.ready(found.refused))
            loads = [
                in_turn
                for point, load in self.prepared(stack, group, parameters)
                for in_turn in in_turns(point, load, len(found.turns))
            ]
            yield CountersVerifyBench(loads, turns, self.name, parameters.region_s)

    def prepared(
        self, stack: ExitStack, group: VerifyGroup, parameters: LoadParameters
    ) -> Iterator[tuple[Point, Load]]:
        """Each load with its memory allocated, and with what one region of it issues.

        Args:
            stack: Frees the memory.
            group: One that `plan` returned.
            parameters: What `group` was planned with.
        """
        for planned in group.places:
            yield from _prepared(stack, planned, parameters)

    def events(self, parameters: Any, host: Host) -> Openable:
        """What to open; raises CounterRefused where nothing can be."""
        return openable(wanted(parameters.events, parameters.back_ends, host), host)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about memory that caches may hold in part.

        Args:
            point: Its actual facts state whether the memory of its place exceeds the caches.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return size_warnings(point)

    def _point(
        self, place: Place, load: str, spec: _core.TrafficSpec, parameters: LoadParameters
    ) -> Point:
        line = spec.line_bytes
        requested = VerifyRequested(
            load=load,
            cpu_node=place.cpu_node,
            memory_node=place.memory_node,
            memory=str(on_node(place.memory_node)),
            pages=parameters.pages,
        )
        return Point(
            point=f"{self.name}/{load}/{place.name}",
            experiment=self.name,
            quantity="bandwidth",
            requested=requested.recorded(),
            actual=VerifyActual(cpus=format_cpu_list(place.cpus)).recorded(),
            bytes_counted=line,
            bytes_moved=line + (spec.write_allocate_bytes if spec.writes else 0),
            threads=len(place.cpus),
            role="counted",
            work="counted",
        )


def _places(parameters: LoadParameters, system: System) -> list[Place]:
    """One thread a core, unless CPUs are named."""
    policy = "cores" if parameters.cpus in POLICIES else parameters.cpus
    found = places(policy, system)
    if not found:
        raise RequestError(
            "counters verify: no node here has both memory and CPUs that this process may use; "
            "widen the affinity mask or --nodes"
        )
    return found


def _prepared(
    stack: ExitStack, planned: PlannedPlace, parameters: LoadParameters
) -> Iterator[tuple[Point, Load]]:
    """Allocate the memory of a place, and see how much each load issues in the time."""
    place, sizes = planned.place, planned.sizes
    team = _core.Team(place.cpus)
    traffic = _core.Traffic(
        team, sizes.region_bytes, pages=parameters.pages, memory=_core.Memory(planned.nodes)
    )
    stack.callback(traffic.close)
    facts = backing_facts(traffic.backing(), parameters.pages) | sizes.facts | sizes.notes
    for one in planned.loads:
        run = partial(traffic.run, one.spec, lead_in_bytes=sizes.lead_in_bytes)
        bytes_ = bytes_for(run, sizes.lead_in_bytes, parameters.region_s)
        issued = VerifyActual(issued_bytes=bytes_ * len(place.cpus))
        load = Load(
            worker=team,
            amounts=[
                Amount(run=partial(run, each), moved=one.moved(place, each))
                for each in amounts_of(bytes_)
            ],
            memory=traffic,
            subject=place.name,
        )
        yield one.point.with_actual(facts | issued.recorded()), load
