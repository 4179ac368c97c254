"""Runs of `verify` on simulated machines, by formula, with faults put in on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import msgspec
from tests.unit.analysis.runs import start, system

from memgauge.model.counting.events import Counter, Quantity
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import Run, run_of
from memgauge.model.system import Cpu, Node, System

GIB = 1 << 30
REGION_NS = 50_000_000
LOAD_BYTES = 1 << 30
SMALLER = 0.6
"""Of the bytes of every other round."""
WRAP = 1 << 25
"""Lines at which a counter wraps visibly."""
LOADS = ("read", "write-temporal", "write-non-temporal")


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with the counters of one event."""

    factor: float = 1.0
    silent: frozenset[str] = frozenset()
    counts_other_way: bool = False
    leaves_out: frozenset[int] = frozenset()
    """Sockets that have no instance at all."""
    swapped: bool = False
    """Sockets take each other's traffic."""
    other_way_only: bool = False
    """Reads are counted as writes, and writes as reads."""
    twins: frozenset[str] = frozenset()
    """Instances of one socket that count what the first of them counts."""
    wraps_at: int | None = None
    """Counts of a region are known modulo this, in bytes."""
    limit: int | None = None
    """Bytes of a region beyond which nothing is counted."""
    stops_in_round: int | None = None
    stops: frozenset[str] | None = None
    """Instances that stop; None: all."""
    socket_factors: tuple[float, ...] = ()
    """By socket, beside `factor`."""
    everywhere: bool = False
    """Each socket counts the traffic of all."""
    goes_back: bool = False
    """A wrap shows as a value that decreases."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """A simulated machine."""

    sockets: int = 2
    controllers: int = 4
    """Of a socket."""
    idle_gb_per_s: float = 0.05
    """Traffic of others: mean, and"""
    noise: float = 0.3
    """its spread from round to round, as a share."""
    allocate_share: float = 1.0
    """Of lines written by ordinary stores that are read first."""
    cached_share: float = 0.03
    overhead: float = 0.005
    running_share: float = 1.0


GOOD = Fault()


def simulated(
    seed: int,
    machine: Machine | None = None,
    faults: dict[Quantity, Fault] | None = None,
    rounds: int = 12,
    quantities: Sequence[Quantity] = ("read_bytes", "write_bytes"),
) -> Run:
    return run_of(records(seed, machine or Machine(), faults or {}, rounds, quantities))


def event_of(quantity: Quantity) -> str:
    return f"perf:uncore_imc/{quantity}/"


def machine_system(machine: Machine) -> System:
    cpus = [Cpu(cpu=n, core=n, socket=n, node=n, sibling=0) for n in range(machine.sockets)]
    nodes = [
        Node(
            node=n,
            cpus=[n],
            bytes=16 * GIB,
            distances={m: 10 + 11 * (m != n) for m in range(machine.sockets)},
        )
        for n in range(machine.sockets)
    ]
    return system(cpus=cpus, allowed_cpus=[cpu.cpu for cpu in cpus], nodes=nodes)


def counters_of(
    machine: Machine, faults: dict[Quantity, Fault], quantities: Sequence[Quantity]
) -> list[Counter]:
    found: list[Counter] = []
    for quantity in quantities:
        fault = faults.get(quantity, GOOD)
        for socket in range(machine.sockets):
            if socket in fault.leaves_out:
                continue
            for controller in range(machine.controllers):
                instance = f"uncore_imc_{controller}@cpu{socket}"
                found.append(
                    Counter(
                        name=f"{event_of(quantity)}@{instance}",
                        event=event_of(quantity),
                        back_end="perf",
                        quantity=quantity,
                        domain="memory",
                        scope="controller",
                        unit="B",
                        scale=64.0,
                        scale_source="simulated",
                        instance=instance,
                        socket=socket,
                        slot=2 + len(found),
                        enabled_slot=0,
                        running_slot=1,
                        route="group",
                    )
                )
    return found


def records(
    seed: int,
    machine: Machine,
    faults: dict[Quantity, Fault],
    rounds: int,
    quantities: Sequence[Quantity],
) -> Iterator[AnyRecord]:
    rng = random.Random(seed)
    yield msgspec.structs.replace(
        start(machine_system(machine)), experiments=["counters_verify"], parameters={}
    )
    counters = counters_of(machine, faults, quantities)
    yield CounterSet(counters="counters_verify", slots=2 + len(counters), of=counters)
    points = [
        (load, cpu, memory)
        for memory in range(machine.sockets)
        for cpu in range(machine.sockets)
        for load in LOADS
    ]
    yield from (_point(*point) for point in points)
    clock = _Clock(counters, machine, faults, rng)
    for round_ in range(rounds):
        for load, cpu, memory in points:
            yield clock.sample(load, cpu, memory, round_)
    yield RunEnd(status="complete", elapsed_s=4.0, rounds=rounds)


def _name(load: str, cpu: int, memory: int) -> str:
    place = f"node{memory}" if cpu == memory else f"node{cpu}-node{memory}"
    return f"counters_verify/{load}/{place}"


def _point(load: str, cpu: int, memory: int) -> Point:
    return Point(
        point=_name(load, cpu, memory),
        experiment="counters_verify",
        quantity="bandwidth",
        requested={"load": load, "cpu_node": cpu, "memory_node": memory, "pages": "auto"},
        actual={"cpus": str(cpu)},
        bytes_counted=64,
        bytes_moved=64,
        role="counted",
        work="counted",
    )


class _Clock:
    """Counters that only grow, and a clock."""

    def __init__(
        self,
        counters: Sequence[Counter],
        machine: Machine,
        faults: dict[Quantity, Fault],
        rng: random.Random,
    ) -> None:
        self._counters = counters
        self._machine = machine
        self._faults = faults
        self._rng = rng
        self._now_ns = 1000
        self._round = 0
        self._raw = [10_000 * n for n in range(2 + len(counters))]

    def sample(self, load: str, cpu: int, memory: int, round_: int) -> Sample:
        self._round = round_
        idle = self._region(0, 0, memory)
        amount = LOAD_BYTES if round_ % 2 == 0 else int(LOAD_BYTES * SMALLER)
        reads = amount if load == "read" else 0
        writes = amount - reads
        begin = self._now_ns + 10
        kept = 1 - self._machine.cached_share * self._rng.random()
        beside = 1 + self._machine.overhead * self._rng.random()
        allocated = self._machine.allocate_share * (load == "write-temporal")
        reading = self._region(
            reads * kept * beside + allocated * writes, writes * beside + 0.002 * reads, memory
        )
        thread = ThreadSample(
            cpu=cpu,
            begin_ns=[begin],
            end_ns=[begin + REGION_NS - 20],
            read_bytes=reads,
            write_bytes=writes,
        )
        return Sample(
            point=_name(load, cpu, memory),
            round=round_,
            threads=[thread],
            reading=reading,
            idle=idle,
        )

    def _region(self, reads: float, writes: float, memory: int) -> RegionReading:
        before_ns, before = self._now_ns, list(self._raw)
        self._now_ns += REGION_NS
        self._raw[0] += REGION_NS
        self._raw[1] += round(REGION_NS * self._machine.running_share)
        counts = {
            counter.name: self._count(counter, reads, writes, memory) for counter in self._counters
        }
        for index, counter in enumerate(self._counters):
            fault = self._faults.get(counter.quantity, GOOD)
            first = min(fault.twins, default="")
            is_twin = counter.instance in fault.twins
            source = f"{counter.event}@{first}" if is_twin else counter.name
            self._raw[2 + index] += counts[source]
            if fault.goes_back and self._raw[2 + index] > WRAP:
                self._raw[2 + index] -= WRAP
        return RegionReading(
            counters="counters_verify",
            before_ns=(before_ns, before_ns),
            after_ns=(self._now_ns, self._now_ns),
            before=list(before),
            after=list(self._raw),
        )

    def _count(self, counter: Counter, reads: float, writes: float, memory: int) -> int:
        machine, fault = self._machine, self._faults.get(counter.quantity, GOOD)
        if counter.instance in fault.silent or self._has_stopped(counter, fault):
            return 0
        others = machine.idle_gb_per_s * REGION_NS / 2 / (machine.sockets * machine.controllers)
        mine = max(0.0, others * self._rng.gauss(1, machine.noise))
        socket = 1 - (counter.socket or 0) if fault.swapped else counter.socket
        if socket == memory or fault.everywhere:
            due = {"read_bytes": reads, "write_bytes": writes, "traffic_bytes": reads + writes}
            moved = due[counter.quantity]
            if fault.counts_other_way:
                moved = reads + writes
            if fault.other_way_only:
                moved = writes if counter.quantity == "read_bytes" else reads
            mine += moved / machine.controllers * self._rng.gauss(1, 0.002)
        if fault.socket_factors:
            mine *= fault.socket_factors[counter.socket or 0]
        if fault.wraps_at is not None:
            mine %= fault.wraps_at / machine.controllers
        if fault.limit is not None:
            mine = min(mine, fault.limit / machine.controllers)
        return round(mine * fault.factor * machine.running_share / 64)

    def _has_stopped(self, counter: Counter, fault: Fault) -> bool:
        if fault.stops_in_round is None or self._round < fault.stops_in_round:
            return False
        return fault.stops is None or counter.instance in fault.stops


Injected = Callable[[], dict[Quantity, Fault]]
