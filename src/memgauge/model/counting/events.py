"""What can be counted: events, the counters they become once opened, and verdicts on them.

An *event* is something a back end can count, such as `perf:uncore_imc/cas_count_read/`. Opened, it
becomes one *counter* for each place that counts it: a controller, a socket, a device, a process.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec

from memgauge.model.memory import GPU

Slot = Annotated[int, msgspec.Meta(ge=0, le=1 << 20)]

LEAST_SCALE, MOST_SCALE = 1e-100, 1e100
"""Limit on scales: low enough that no sum of scaled counts and no rate overflows a float."""
Scale = Annotated[float, msgspec.Meta(ge=LEAST_SCALE, le=MOST_SCALE)]
"""Units for one raw count."""

Quantity = Literal[
    "read_bytes",
    "write_bytes",
    "traffic_bytes",
    "received_bytes",
    "sent_bytes",
    "used_bytes",
    "bandwidth",
    "energy",
    "power",
    "frequency",
    "temperature",
    "utilisation",
    "time",
    "run_delay",
    "cycles",
    "instructions",
    "flops",
    "cache_loads",
    "cache_misses",
    "tlb_loads",
    "tlb_misses",
    "page_walks",
    "page_faults",
    "context_switches",
    "migrations",
    "count",
]
"""What is counted. traffic_bytes: reads and writes together, where they cannot be distinguished.
read_bytes and write_bytes are always those of memory. bandwidth: bytes a second of memory as
hardware itself samples them, a level that is no count. run_delay: time for which threads could have
run and waited for a processor. flops: floating-point operations, of a vector one for each element
and of a fused multiply-add two."""

MEMORY_TRAFFIC: frozenset[Quantity] = frozenset({"read_bytes", "write_bytes", "traffic_bytes"})
MAIN_MEMORY = (None, "dram", "beyond L3")
"""The kinds of traffic (`Event.traffic`) that loads and stores of ordinary memory cause."""
_SPLIT: frozenset[Quantity] = frozenset({"read_bytes", "write_bytes"})

Domain = Literal["memory", "core", "process", "energy", "gpu", "network", "software"]
"""The component of the machine: what a track of a timeline belongs to."""

Scope = Literal["controller", "socket", "l3", "core", "device", "process", "thread", "machine"]
"""What one counter of the event covers. l3: everything beyond one last-level cache."""

State = Literal["ready", "refused", "absent"]
"""ready: can be opened now. refused: exists, but a privilege or daemon is missing. absent: this
machine does not have it."""

Basis = Literal["measured", "modelled", "simulated"]

FULL_DUTY = 1 << 20
"""Value of `Counter.duty_slot` for a counter that never shared its hardware."""

Certainty = Literal["confirmed", "derived", "unconfirmed", "conflict", "none"]
"""How certain the scale is. confirmed: stated by vendor or kernel, or fixed by published
measurements. derived: follows from facts that its source names. unconfirmed: used by tools or
assumed from similar events, stated by neither vendor nor kernel. conflict: sources contradict each
other. none: no source gives a size, so that only counts are known."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a back end can count here, whether or not it may be opened now."""

    name: str
    """Name for requests: back end, colon, text. Numbered controllers share one name."""
    back_end: str
    quantity: Quantity
    domain: Domain
    scope: Scope
    unit: str
    """Unit of a raw count times `scale`: `B`, `J`, `W`, `s`, `Hz`, or empty for plain counts."""
    scale: Scale
    """Units for one raw count."""
    gauge: bool = False
    """Whether the value is a level at an instant.

    Otherwise it only grows, and differences count.
    """
    meaning: str
    """One sentence: what one count is, and what it unexpectedly includes."""
    encoding: str
    """The request to the kernel or daemon, in its own notation."""
    instances: list[str]
    """Places where it is counted, such as `uncore_imc_0@cpu0`."""
    source: str
    """Where meaning and scale are documented."""
    scale_source: str = ""
    """Source of `scale` if known in detail: the kernel's `.scale` file, or a document."""
    certainty: Certainty | None = None
    """How certain `scale` is; None if there is no doubt."""
    traffic: str | None = None
    """The memory or link whose traffic is counted, such as `dram`; None if not distinguished."""
    way: str | None = None
    """Which of several methods of counting the same traffic.

    Only events of one method may be added.
    """
    automatic: bool = True
    """Whether `auto` may choose it."""
    same_as: str | None = None
    """Name of an event with the same encoding on this processor."""
    pitfalls: list[str] = []
    """Known defects."""
    state: State
    reason: str | None = None
    """Why it cannot be opened, if so."""
    remedy: str | None = None


class BackEndState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a back end works here."""

    name: str
    summary: str
    state: State
    reason: str | None = None
    remedy: str | None = None
    events: list[Event] = []
    notes: list[str] = []
    """What is there but malformed, and what therefore cannot be counted."""


class Counter(msgspec.Struct, frozen=True, kw_only=True):
    """An event opened in one place. Its raw values stand in a slot of each reading."""

    name: str
    """Unique in its set: the event's name, `@`, the instance."""
    event: str
    back_end: str
    quantity: Quantity
    domain: Domain
    scope: Scope
    unit: str
    scale: Scale
    """Units for one raw count."""
    scale_source: str
    """Source of the scale: the kernel's `.scale` file, a named document, a calibration."""
    gauge: bool = False
    basis: Basis = "measured"
    instance: str
    """The place, such as `uncore_imc_0@cpu0`, `mlx5_0/1`, `pid 4711`."""
    controller: str | None = None
    socket: int | None = None
    node: int | None = None
    cpu: int | None = None
    traffic: str | None = None
    """As for its event: the memory or link whose traffic is counted,"""
    way: str | None = None
    """and the events that add up to the whole of it. None if this event alone does."""
    core_type: str | None = None
    """On hybrid CPUs: counts of different core types are never added."""
    slot: Slot
    enabled_slot: Slot | None = None
    """Slot with the ns for which the counter was enabled, and"""
    running_slot: Slot | None = None
    """slot with the ns for which it counted. Where they differ, the value is an estimate."""
    duty_slot: Slot | None = None
    """Slot with the share of time, in parts of `FULL_DUTY`, for which the counter counted since its
    daemon began. Below `FULL_DUTY`, the value is an estimate that the daemon already scaled up."""
    generation_slot: Slot | None = None
    """Slot with a number that changes when the counter restarts, as with its daemon. Differences
    are taken within one generation only."""
    wraps_at: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The raw value after which it wraps to zero; None for 64 bits."""
    route: str
    """How it is read: `group`, `single descriptor`, `kept-open file`, `daemon`, `library`."""
    encoding: str | None = None
    """The request to the kernel or daemon, as of its event; None in records of older versions."""
    calibration: Scale | None = None
    """Factor found by `counters verify` that is contained in `scale`; None if none is."""
    verdict: EventVerdict | None = None
    """Verdict on this event on this machine and kernel; None if never verified."""

    @property
    def documented_scale(self) -> float:
        """Units for one raw count without the calibration."""
        return self.scale if self.calibration is None else self.scale / self.calibration

    @property
    def slots(self) -> list[int]:
        """All slots of a reading that the counter uses."""
        beside = (self.enabled_slot, self.running_slot, self.duty_slot, self.generation_slot)
        return [self.slot, *(slot for slot in beside if slot is not None)]


VerdictWord = Literal["verified", "mis-scaled", "partial", "faulty", "dead", "noisy", "absent"]

Fault = Literal[
    "both directions",
    "swapped directions",
    "swapped sockets",
    "listed twice",
    "all sockets everywhere",
    "wraps",
    "stops",
    "one socket",
]
"""What is wrong, where it has a name. both directions: counts reads and writes. swapped directions:
reads and writes are exchanged. swapped sockets: each socket counts another's traffic. listed twice:
two counters count the same traffic. all sockets everywhere: the counters of each socket count the
traffic of the whole machine. wraps: the share that is counted depends on the bytes moved. stops: it
counts up to some moment or amount only. one socket: right on some sockets and wrong on others."""


class EventVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of `counters verify` on one event, with its evidence.

    verified: counts known traffic within its interval. mis-scaled: proportional, by a wrong factor.
    partial: some sockets or controllers miss traffic that must reach them. faulty: counts in a way
    that no factor corrects, see `fault`. dead: zero under load.
    noisy: too much traffic of other programs for a verdict. absent: could not be opened or read.
    """

    event: str
    verdict: VerdictWord
    evidence: str
    """The finding with the figures it rests on."""
    ratio: float | None = None
    """Counted over known bytes, idle traffic subtracted,"""
    ratio_low: float | None = None
    ratio_high: float | None = None
    factor: float | None = None
    """For a mis-scaled event: the nearest known wrong factor, by which to divide."""
    fault: Fault | None = None
    """The name of what is wrong, if it has one."""
    missing: list[str] = []
    """For a partial event: the instances that count nothing."""
    encoding: str | None = None
    """The encoding that the verdict is on, and"""
    scale: Scale | None = None
    """the units for one raw count that it was made at. Both None if an older version kept it."""
    machine: str
    kernel: str
    gpu: str | None = None
    """For an event of a GPU: the GPU under load, by the driver's name and UUID,"""
    instance: str | None = None
    """the places where the event counted: another GPU of the same number has no verdict,"""
    driver: str | None = None
    """and the version of the kernel's driver, if known."""
    made_at: str
    """ISO 8601, UTC."""

    def holds_at(self, instances: Collection[str]) -> bool:
        """Whether the verdict applies to one of these places.

        GPU numbers may have changed since.
        """
        return self.instance is None or self.instance in instances


Countable = TypeVar("Countable", Event, Counter)


def gpu_traffic(gpu: int | str) -> str:
    """Name of a GPU's memory traffic: `gpu0` for device 0, given as a number or as `cuda:0`."""
    return f"gpu{str(gpu).removeprefix(f'{GPU}:')}"


def added_up(candidates: Sequence[Countable]) -> list[Countable]:
    """The events that may be added up: one method per kind of traffic, and nothing counted twice.

    The first method that distinguishes reads from writes is used, without events that count both
    together; otherwise the first method. A direction that it lacks is taken from the first that has
    it.
    """
    traffics = dict.fromkeys(one.traffic for one in candidates)
    return [
        one
        for traffic in traffics
        for one in _one_way([each for each in candidates if each.traffic == traffic])
    ]


def _one_way(candidates: Sequence[Countable]) -> list[Countable]:
    ways: dict[str, list[Countable]] = {}
    for one in candidates:
        ways.setdefault(_way(one), []).append(one)
    for way in ways.values():
        if {one.quantity for one in way} >= _SPLIT:
            return [one for one in way if one.quantity in _SPLIT]
    first, *_ = ways
    chosen = ways.pop(first)
    for other in ways.values():
        known = {one.quantity for one in chosen}
        lacking = _SPLIT - known if "traffic_bytes" not in known else frozenset()
        chosen.extend(one for one in other if one.quantity in lacking)
    return chosen


def _way(one: Event | Counter) -> str:
    return one.way or (one.name if isinstance(one, Event) else one.event)
