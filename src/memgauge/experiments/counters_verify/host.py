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
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Annotated, Any, ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.host import Host, this_host
from memgauge.counters.registry import MEMORY_ORDER
from memgauge.experiments.counters_verify.bench import (
    CountersVerifyBench,
    Generator,
    Load,
    Stimulus,
    Turns,
)
from memgauge.experiments.counters_verify.events import Openable, openable, wanted
from memgauge.experiments.counters_verify.loads import MOST_THREADS, Place, places, sizes_of, specs
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.native import backing_facts
from memgauge.experiments.shared.traffic_sizes import size_warnings
from memgauge.model.counting.event_names import events_option
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, on_gpu
from memgauge.model.option import choices_option, counts_option, duration_option
from memgauge.model.parameters import MAX_THREADS, CommonParameters
from memgauge.model.records import Point, Sample, Scalar, Warning
from memgauge.model.system import System
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import POLICIES

LONGEST_REGION_S = 2.0

_GPU_EVENT = re.compile(r"cupti:(\d{1,4})/")


class LoadParameters(CommonParameters, frozen=True, kw_only=True):
    """What experiments take that load every node with known traffic."""

    takes_threads: ClassVar[bool] = False

    threads: Annotated[
        tuple[int, ...] | None,
        counts_option(
            "not accepted: each node is loaded by its own cores, or by those that --cpus lists",
            1,
            MAX_THREADS,
            automatic=f"a thread on each core, at most {MOST_THREADS} a node",
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
            RequestError: teams or memory of the host were asked for, or a region without end.
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

    back_ends: Annotated[
        tuple[str, ...] | None,
        choices_option("back ends whose events are verified", MEMORY_ORDER, automatic="all"),
    ] = None

    @property
    def memories(self) -> tuple[MemoryPlacement, ...]:
        """A GPU's, where it was asked for or all events that were named are of that GPU."""
        on_gpus = [_GPU_EVENT.match(event) for event in self.events or ()]
        devices = {int(found[1]) for found in on_gpus if found}
        if self.memory == MemoryPlacement() and len(devices) == 1 and all(on_gpus):
            return (on_gpu(devices.pop()),)
        return super().memories


class CountersVerify(Experiment):
    """The `counters_verify` experiment, behind `memgauge counters verify`."""

    name: ClassVar[str] = "counters_verify"
    parameters: ClassVar[type[LoadParameters]] = CountersVerifyParameters

    stimulus: ClassVar[Stimulus | None] = None
    """For counters that this machine's memory traffic does not reach: see `verify_bench`."""

    def plan(self, parameters: LoadParameters, system: System) -> list[Group]:
        """One group: all loads share the counters, and every round visits all of them."""
        parameters.check()
        found = _places(parameters, system)
        points = [
            self._point(place, load, spec, parameters)
            for place in found
            for load, spec in specs().items()
        ]
        total = sum(sizes_of(place, system, len(found)).total_bytes for place in found)
        return [Group(name="known traffic", points=points, bytes=total)]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: LoadParameters,
        system: System,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Open the counters, then allocate the memory of every place and see how fast it is."""
        del memories  # every node is loaded by itself
        host = this_host()
        found = self.events(parameters, host)
        turns = Turns(found.turns, self.name, host, type(self).stimulus)
        with ExitStack() as stack:
            stack.enter_context(turns.ready(found.refused))
            cells: list[tuple[Point, Load]] = []
            loaded = _places(parameters, system)
            for place in loaded:
                generator = _generator(stack, place, parameters, system, len(loaded))
                cells += self._cells(group, generator, parameters, len(found.turns))
            yield CountersVerifyBench(cells, turns, self.name, parameters.region_s)

    def events(self, parameters: Any, host: Host) -> Openable:
        """What to open; raises CounterRefused where nothing can be."""
        return openable(wanted(parameters.events, parameters.back_ends, host), host)

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Memory that caches may hold in part."""
        del samples, system
        return size_warnings(point)

    def _point(
        self, place: Place, load: str, spec: _core.TrafficSpec, parameters: LoadParameters
    ) -> Point:
        line = spec.line_bytes
        return Point(
            point=f"{self.name}/{load}/{place.name}",
            experiment=self.name,
            quantity="bandwidth",
            requested={"load": load, **place.requested, "pages": parameters.pages},
            actual={"cpus": format_cpu_list(place.cpus)},
            bytes_counted=line,
            bytes_moved=line + (spec.write_allocate_bytes if spec.writes else 0),
            threads=len(place.cpus),
            role="counted",
            work="counted",
        )

    def _cells(
        self, group: Group, generator: Generator, parameters: LoadParameters, turns: int
    ) -> list[tuple[Point, Load]]:
        planned = {point.point: point for point in group.points}
        facts = backing_facts(generator.traffic.backing(), parameters.pages) | generator.facts
        cells = []
        for load, spec in specs().items():
            bytes_ = generator.bytes_for(spec, parameters.region_s)
            point = planned[f"{self.name}/{load}/{generator.place.name}"]
            point = _with(point, {**facts, "issued_bytes": bytes_ * point.threads})
            for turn in range(turns):
                made = Load(load=load, spec=spec, generator=generator, turn=turn, bytes=bytes_)
                cells.append((_in_turn(point, turn), made))
        return cells


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


def _generator(
    stack: ExitStack, place: Place, parameters: LoadParameters, system: System, share: int
) -> Generator:
    sizes = sizes_of(place, system, share)
    team = _core.Team(place.cpus)
    nodes = [place.memory_node] if len(system.nodes) > 1 else []
    traffic = _core.Traffic(
        team, sizes.region_bytes, pages=parameters.pages, memory=_core.Memory(nodes)
    )
    stack.callback(traffic.close)
    return Generator(
        place=place,
        team=team,
        traffic=traffic,
        lead_in_bytes=sizes.lead_in_bytes,
        facts=sizes.facts | sizes.notes,
    )


def _in_turn(point: Point, turn: int) -> Point:
    """A point for each group of counters that cannot be open together."""
    if not turn:
        return point
    name = f"{point.point}/turn{turn + 1}"
    return msgspec.structs.replace(point, point=name)


def _with(point: Point, facts: Mapping[str, Scalar]) -> Point:
    return msgspec.structs.replace(point, actual={**point.actual, **facts})
