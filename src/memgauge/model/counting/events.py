"""What can be counted: events, the counters they become once opened, and what is thought of them.

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
"""So far from the limits of a float that no sum of scaled counts, and no rate, reaches them."""
Scale = Annotated[float, msgspec.Meta(ge=LEAST_SCALE, le=MOST_SCALE)]
"""Units for one raw count."""

Quantity = Literal[
    "read_bytes",
    "write_bytes",
    "traffic_bytes",
    "received_bytes",
    "sent_bytes",
    "used_bytes",
    "energy",
    "power",
    "frequency",
    "temperature",
    "utilisation",
    "time",
    "cycles",
    "instructions",
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
read_bytes and write_bytes are always those of memory."""

MEMORY_TRAFFIC: frozenset[Quantity] = frozenset({"read_bytes", "write_bytes", "traffic_bytes"})
_SPLIT: frozenset[Quantity] = frozenset({"read_bytes", "write_bytes"})

Domain = Literal["memory", "core", "process", "energy", "gpu", "network", "software"]
"""The component of the machine: what a track of a timeline belongs to."""

Scope = Literal["controller", "socket", "l3", "core", "device", "process", "thread", "machine"]
"""What one counter of the event sees. l3: everything beyond one last-level cache."""

State = Literal["ready", "refused", "absent"]
"""ready: can be opened now. refused: is there, but a privilege or daemon is missing. absent: this
machine has no such thing."""

Basis = Literal["measured", "modelled", "simulated"]

FULL_DUTY = 1 << 20
"""What `Counter.duty_slot` holds of a counter that never shared its hardware."""

Certainty = Literal["confirmed", "derived", "unconfirmed", "conflict"]
"""Of what one count is worth. confirmed: the source says so. derived: follows from it. unconfirmed:
a guess by kin. conflict: sources contradict each other."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One thing a back end can count here, whether or not it may be opened now."""

    name: str
    """As it is asked for: back end, colon, text. Names of numbered controllers stand for all."""
    back_end: str
    quantity: Quantity
    domain: Domain
    scope: Scope
    unit: str
    """Of a raw count times `scale`: `B`, `J`, `W`, `s`, `Hz`, or empty for plain counts."""
    scale: Scale
    """Units for one raw count."""
    gauge: bool = False
    """Whether the value is a level at an instant; else it only grows, and differences count."""
    meaning: str
    """One sentence: what one count is, and what it includes that one might not expect."""
    encoding: str
    """What is handed to the kernel or daemon, in its own notation."""
    instances: list[str]
    """Where it is counted, such as `uncore_imc_0@cpu0`."""
    source: str
    """Where meaning and scale are documented."""
    scale_source: str = ""
    """Where `scale` is from, where known in detail: the kernel's `.scale` file, a document."""
    certainty: Certainty | None = None
    """How sure `scale` is; None: nothing is doubtful about it."""
    traffic: str | None = None
    """The memory or link whose traffic is counted, such as `dram`; None: not distinguished."""
    way: str | None = None
    """Which of several ways to count the same traffic this is: only events of one way add up."""
    automatic: bool = True
    """Whether `auto` may choose it."""
    same_as: str | None = None
    """The name of an event that is counted by the same encoding on this processor."""
    pitfalls: list[str] = []
    """What is known to go wrong with it."""
    state: State
    reason: str | None = None
    """Why it cannot be opened, where it cannot."""
    remedy: str | None = None


class BackEndState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a back end works here."""

    name: str
    summary: str
    state: State
    reason: str | None = None
    remedy: str | None = None
    events: list[Event] = []


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
    """Where the scale is from: the kernel's `.scale` file, a named document, a calibration."""
    gauge: bool = False
    basis: Basis = "measured"
    instance: str
    """The place, such as `uncore_imc_0@cpu0`, `mlx5_0/1`, `pid 4711`."""
    controller: str | None = None
    socket: int | None = None
    node: int | None = None
    cpu: int | None = None
    traffic: str | None = None
    """As its event's: the memory or link whose traffic is counted,"""
    way: str | None = None
    """and what adds up to the whole of it. None: the event does so alone."""
    core_type: str | None = None
    """On hybrid CPUs: counts of different core types are never added."""
    slot: Slot
    enabled_slot: Slot | None = None
    """Slot of the ns for which the counter was enabled, and"""
    running_slot: Slot | None = None
    """of those for which it really counted. Where they differ the value is an estimate."""
    duty_slot: Slot | None = None
    """Slot of the share of time, in parts of `FULL_DUTY`, for which the counter really counted
    since its keeper began. Below, the value is an estimate, already scaled up by its keeper."""
    generation_slot: Slot | None = None
    """Slot of a number that changes when the counter begins anew, as when its daemon is restarted.
    Differences are taken within a generation only."""
    wraps_at: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """The raw value after which it starts at zero; None: 64 bits."""
    route: str
    """How it is read: `group`, `single descriptor`, `kept-open file`, `daemon`, `library`."""
    verdict: EventVerdict | None = None
    """What verification said of this event on this machine and kernel; None: never verified."""

    @property
    def slots(self) -> list[int]:
        """All that it needs of a reading."""
        beside = (self.enabled_slot, self.running_slot, self.duty_slot, self.generation_slot)
        return [self.slot, *(slot for slot in beside if slot is not None)]


VerdictWord = Literal["verified", "mis-scaled", "partial", "dead", "noisy", "absent"]


class EventVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What `counters verify` found out about one event, with its evidence.

    verified: counts known traffic within its interval. mis-scaled: proportional, by a wrong factor.
    partial: some sockets or controllers count nothing of traffic that must reach them. dead: zero
    under load. noisy: too much traffic of others to tell. absent: could not be opened or
    read.
    """

    event: str
    verdict: VerdictWord
    evidence: str
    """In words, with the figures it rests on."""
    ratio: float | None = None
    """Counted over known bytes, idle traffic subtracted,"""
    ratio_low: float | None = None
    ratio_high: float | None = None
    factor: float | None = None
    """Of a mis-scaled event: the known signature it was snapped to; divide by it."""
    missing: list[str] = []
    """Of a partial one: the instances that count nothing."""
    machine: str
    kernel: str
    gpu: str | None = None
    """Of an event of a GPU: which one was loaded, by its driver's name and UUID,"""
    instance: str | None = None
    """where the event counted then: another GPU of the same number has no verdict by it,"""
    driver: str | None = None
    """and the version of the kernel's driver, where that was known."""
    made_at: str
    """ISO 8601, UTC."""

    def holds_at(self, instances: Collection[str]) -> bool:
        """Whether it is on one of these places: another GPU may have had the same number then."""
        return self.instance is None or self.instance in instances


Countable = TypeVar("Countable", Event, Counter)


def gpu_traffic(gpu: int | str) -> str:
    """What traffic of a GPU's memory is called: `gpu0` of device 0, by number or as `cuda:0`."""
    return f"gpu{str(gpu).removeprefix(f'{GPU}:')}"


def added_up(candidates: Sequence[Countable]) -> list[Countable]:
    """Those that may be added up: of each traffic one way to count it, and nothing twice.

    It is the first way that tells reads from writes, without what counts both together; else the
    first way, and for a direction that it lacks the first that counts this one.
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
