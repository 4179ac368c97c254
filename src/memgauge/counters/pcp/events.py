"""Metrics of Performance Co-Pilot as events: what they count, what a count is worth, and where.

Metrics of its perfevent agent are named after PMU and event, with every character that a metric
may not have replaced (pmdaperfevent(1)). The agent serves raw counts, no scale applied, so that
what the `perf` back end knows of the same PMU holds here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

import msgspec

from memgauge import _core
from memgauge.counters.host import Host
from memgauge.counters.pcp.units import fraction_bits, unit_of
from memgauge.counters.perf.data import Family, KnownEvent, Processor, families
from memgauge.counters.perf.pmu import Pmu, packages, pmu_names, read_pmu
from memgauge.counters.perf.processor import processor_of
from memgauge.counters.perf.scale import Worth, certainty_of, worth
from memgauge.counters.perf.sockets import Layout, sockets_of
from memgauge.model.counting.events import Event, State

AGENT = "perfevent"
COUNTERS = f"{AGENT}.hwcounters"
VALUE, DUTY = ".value", ".dutycycle"
SOURCE = "pmdaperfevent(1)"
EXTRAPOLATED = (
    "where counters share the hardware, the agent has scaled the value up: it is then an estimate"
)
_CPU = re.compile(r"cpu([0-9]{1,9})")


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """The PMU's event behind a metric of the agent."""

    pmu: str
    event: str
    family: Family | None
    known: KnownEvent | None
    worth: Worth


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as an event."""

    event: Event
    metric: _core.PcpMetric
    instances: list[str]
    """Names of those meant, as the daemon has them; one empty: it has a value of its own."""
    hardware: Hardware | None


class Namer:
    """Makes events of the metrics of one daemon.

    Args:
        is_local: whether the daemon is this machine's, whose sysfs then tells scales and sockets.
    """

    def __init__(self, host: Host, *, is_local: bool) -> None:
        self._host = host
        self._is_local = is_local
        self._read: dict[str, Pmu] = {}

    @cached_property
    def _pmus(self) -> dict[str, str]:
        """Names of PMUs as the agent writes them."""
        names = pmu_names(self._host) if self._is_local else []
        return {normalized(name): name for name in names}

    @cached_property
    def layout(self) -> Layout:
        """Sockets; none known of another machine."""
        return Layout(packages(self._host) if self._is_local else {})

    @cached_property
    def _processor(self) -> Processor | None:
        return processor_of(self._host) if self._is_local else None

    def found(self, metric: _core.PcpMetric, instance: str | None = None) -> Found:
        """The event of a metric, on all instances or on one."""
        hardware = self._hardware(metric.name)
        wanted = [one for one in metric.instances if instance in {None, one.name}]
        names = [one.name for one in wanted if one.available] or [one.name for one in wanted]
        text = metric.name if instance is None else f"{metric.name}[{instance}]"
        state, reason, remedy = _state(metric, [one.available for one in wanted], hardware)
        event = Event(
            name=f"pcp:{text}",
            back_end="pcp",
            quantity="count",
            domain="software",
            scope="device",
            unit="",
            scale=1.0,
            gauge=not metric.counts,
            meaning="",
            encoding=f"pmFetch of {text}",
            instances=[place(name, hardware) for name in names],
            source=SOURCE,
            state=state,
            reason=reason,
            remedy=remedy,
        )
        named = _plain(event, metric) if hardware is None else _counted(event, hardware)
        scale = named.scale / (1 << (fraction_bits(metric) or 0))
        event = msgspec.structs.replace(named, scale=scale)
        return Found(event=event, metric=metric, instances=names, hardware=hardware)

    def sockets(self, hardware: Sequence[Hardware]) -> dict[str, int | None]:
        """The socket of each PMU whose platform tells it otherwise than by the instance's CPU."""
        reported: dict[str, int | None] = {}
        for family in families():
            requested = {one.pmu for one in hardware if one.family is family}
            if requested and family.socket != "cpumask":
                reported.update(dict.fromkeys(requested))
                reported.update(self._sockets_of(family))
        return reported

    def _sockets_of(self, family: Family) -> dict[str, int | None]:
        """Of all PMUs of a family that sysfs shows: some rules go by the order of all of them."""
        matching = [name for name in self._pmus.values() if family.number(name) is not None]
        pmus = [pmu for name in matching if family.has(pmu := self._pmu(name), self._processor)]
        names = [pmu.name for pmu in pmus]
        numbers = [family.number(name) or "" for name in names]
        found = sockets_of(pmus, numbers, family.socket, self.layout, family.dies_per_socket)
        return dict(zip(names, found, strict=True))

    def _pmu(self, name: str) -> Pmu:
        if name not in self._read:
            read = read_pmu(self._host, name) if name in self._pmus.values() else None
            self._read[name] = read or Pmu(name=name, type=0)
        return self._read[name]

    def _hardware(self, metric: str) -> Hardware | None:
        if not metric.startswith(f"{COUNTERS}.") or not metric.endswith(VALUE):
            return None
        body = metric.removeprefix(f"{COUNTERS}.").removesuffix(VALUE)
        splits = list(_splits(body))
        members = [
            (pmu, event, family, number)
            for pmu, event in splits
            for family in families()
            if (number := family.number(self._pmus.get(pmu, pmu))) is not None
            and family.has(self._pmu(self._pmus.get(pmu, pmu)), self._processor)
        ]
        for pmu, event, family, number in members:
            known = _known(family, event, number)
            if known is not None:
                return self._of(pmu, event, family, known)
        if members:
            return self._of(*members[0][:3], None)
        here = [split for split in splits if split[0] in self._pmus]
        return self._of(*(here or splits)[0], None, None) if splits else None

    def _of(
        self, pmu: str, event: str, family: Family | None, known: KnownEvent | None
    ) -> Hardware:
        name = self._pmus.get(pmu, pmu)
        events = self._pmu(name).events.items()
        published = next((one for name, one in events if normalized(name) == event), None)
        return Hardware(
            pmu=name, event=event, family=family, known=known, worth=worth(published, known)
        )


def normalized(name: str) -> str:
    """As the agent writes the name of a PMU or event."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)


def place(instance: str, hardware: Hardware | None) -> str:
    """Where an instance counts, as the `perf` back end calls the same place."""
    if hardware is None:
        return instance or "machine"
    return f"{hardware.pmu}@{instance}"


def cpu_of(instance: str) -> int | None:
    """The CPU that an instance of the agent is read on."""
    match = _CPU.fullmatch(instance)
    return int(match[1]) if match else None


def _splits(body: str) -> Iterator[tuple[str, str]]:
    """PMU and event: either may have dots."""
    parts = body.split(".")
    for at in range(1, len(parts)):
        yield ".".join(parts[:at]), ".".join(parts[at:])


def _known(family: Family, event: str, number: str) -> KnownEvent | None:
    for known in family.events:
        for channel in range(known.channels):
            name = known.name.replace("{number}", number).replace("{channel}", str(channel))
            if fnmatchcase(event, normalized(name) if "*" not in name else name):
                return known
    return None


def _state(
    metric: _core.PcpMetric, available: Sequence[bool], hardware: Hardware | None
) -> tuple[State, str | None, str | None]:
    if any(available):
        return "ready", None, None
    reason = f"pmcd serves no value of it: {metric.no_value or 'the instance has none'}"
    if hardware is None:
        return "refused", reason, "see that its agent runs: pminfo -f pmcd.agent.status"
    line = f"{normalized(hardware.pmu)}.{hardware.event}"
    return (
        "refused",
        reason,
        f"add the line {line} below [dynamic] in perfevent.conf and restart pmcd",
    )


def _counted(event: Event, hardware: Hardware) -> Event:
    """What the agent counts of a PMU."""
    family, known, value = hardware.family, hardware.known, hardware.worth
    what = f"event {hardware.event} of PMU {hardware.pmu}"
    pitfalls = [*(known.pitfalls if known else []), *(family.pitfalls if family else [])]
    note = [value.note] if value.note else []
    return msgspec.structs.replace(
        event,
        quantity=value.quantity,
        domain=family.domain if family else "software",
        scope=family.scope if family else "device",
        unit=value.unit,
        scale=value.scale,
        scale_source=value.source,
        meaning=f"{known.meaning}; {family.title}" if known and family else what,
        source=f"{SOURCE}; {family.source}" if family else SOURCE,
        certainty=certainty_of(value, known) if known else None,
        traffic=family.traffic if known and family else None,
        way=family.way if known and family else None,
        automatic=known.automatic if known else True,
        pitfalls=[*pitfalls, *note, EXTRAPOLATED],
    )


def _plain(event: Event, metric: _core.PcpMetric) -> Event:
    """Any other metric."""
    unit = unit_of(metric)
    if unit.unit == "s":
        event = msgspec.structs.replace(event, quantity="time")
    if unit.unit == "B" and not metric.counts:
        event = msgspec.structs.replace(event, quantity="used_bytes")
    return msgspec.structs.replace(
        event,
        scope="machine" if [one.name for one in metric.instances] == [""] else "device",
        unit=unit.unit,
        scale=unit.scale,
        scale_source="the metric's descriptor (pmLookupDesc)",
        meaning=f"metric {metric.name} of Performance Co-Pilot",
        source=f"pminfo -tT {metric.name}",
        pitfalls=[unit.note] if unit.note else [],
    )
