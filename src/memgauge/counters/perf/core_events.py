"""Core, software and tracepoint events on this machine: where they are counted and whether."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

import msgspec

from memgauge import _core
from memgauge.counters.perf.access import KERNEL as KERNEL_LEVEL
from memgauge.counters.perf.access import OWN
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.core_data import CoreEncoding, CoreEvent, Note, core_table
from memgauge.counters.perf.encoding import Words, encode, parse_terms, shown_words
from memgauge.counters.perf.generic import (
    CORE,
    KERNEL,
    KERNEL_SIDE,
    SOFTWARE,
    TRACEPOINT,
    TYPE_SHIFT,
    Generic,
    core_pmus,
    core_type,
)
from memgauge.counters.perf.places import Place, Resolved
from memgauge.counters.perf.pmu import Pmu, tree_of
from memgauge.counters.perf.scale import Worth
from memgauge.model.counting.events import Domain, Event, State

_SOURCE = "perf_event_open(2)"
_VM = "in a virtual machine: ask the host for a virtual PMU"
_NO_PMU = "the processor shows no counters"
_UNSUPPORTED = frozenset({errno.ENOENT, errno.EINVAL, errno.EOPNOTSUPP, errno.ENODEV})
TRACING = ("/kernel/tracing", "/kernel/debug/tracing")


class Standing(msgspec.Struct, frozen=True):
    """Whether an event may be opened."""

    state: State
    reason: str | None = None
    remedy: str | None = None


class About(msgspec.Struct, frozen=True):
    """What an event is called and means."""

    name: str
    meaning: str
    domain: Domain
    source: str = _SOURCE
    pitfalls: tuple[str, ...] = ()
    same_as: str | None = None


class _Coded(msgspec.Struct, frozen=True):
    """An event as the PMU of one core type counts it."""

    pmu: Pmu
    text: str
    meaning: str
    source: str
    pitfalls: tuple[str, ...] = ()


def core_events(catalogue: Catalogue) -> list[Resolved]:
    """All events of the cores; without a PMU too, so that the list says why."""
    found = [generic(catalogue, one) for one in CORE]
    known = (encoded(catalogue, one) for one in core_table().event)
    return [*found, *(one for one in known if one is not None)]


def kernel_events(catalogue: Catalogue) -> list[Resolved]:
    """Software events."""
    return [generic(catalogue, one) for one in KERNEL]


def generic(catalogue: Catalogue, one: Generic) -> Resolved:
    """An event the kernel has a name for, on every CPU, by core type."""
    value = Worth(quantity=one.quantity, unit=one.unit, scale=one.scale, source=_SOURCE)
    places = (
        _software_places(catalogue, one, value)
        if one.type == SOFTWARE
        else _core_places(catalogue, one, value)
    )
    notes = _notes(catalogue, one.name)
    about = About(
        f"perf:{one.name}",
        one.meaning,
        one.domain,
        pitfalls=tuple(note.text for note in notes),
        same_as=next((f"perf:{note.same_as}" for note in notes if note.same_as), None),
    )
    return _resolved(catalogue, about, value, places)


def encoded(catalogue: Catalogue, event: CoreEvent) -> Resolved | None:
    """An event that PMUs of cores publish, or that the data encode for this processor.

    Without any PMU of a core it is absent, so that the list says why; None where PMUs are here and
    none is known to count it, or nothing is known of this processor.
    """
    value = Worth(quantity=event.quantity, unit="", scale=event.scale, source=_SOURCE)
    coded = [one for pmu in cores(catalogue) if (one := _coded(catalogue, event, pmu))]
    places = []
    for one in coded:
        words = encode(
            parse_terms(one.text), one.pmu.fields, f"perf:{event.name} on {one.pmu.name}"
        )
        places += on_each_cpu(catalogue, one.pmu, one.pmu.type, words, value)
    reported: Sequence[_Coded | CoreEncoding] = coded
    if not cores(catalogue):
        reported = [one for one in event.encodings if catalogue.is_any_of(one.cpus)]
    if not reported:
        return None
    about = About(
        f"perf:{event.name}",
        "; ".join(dict.fromkeys(one.meaning for one in reported)),
        "core",
        source="; ".join(dict.fromkeys(one.source for one in reported)),
        pitfalls=tuple(dict.fromkeys(said for one in reported for said in one.pitfalls)),
    )
    return _resolved(catalogue, about, value, places)


def _coded(catalogue: Catalogue, event: CoreEvent, pmu: Pmu) -> _Coded | None:
    """As the PMU publishes it, else by the data for this processor; None: neither."""
    published = next((pmu.events[name] for name in event.published if name in pmu.events), None)
    if published is not None:
        return _Coded(pmu, published.text, event.published_meaning, event.published_source)
    for one in event.encodings:
        if pmu.name not in one.pmus or not catalogue.is_any_of(one.cpus):
            continue
        if all(term.name in pmu.fields for term in parse_terms(one.text)):
            return _Coded(pmu, one.text, one.meaning, one.source, tuple(one.pitfalls))
    return None


def _notes(catalogue: Catalogue, name: str) -> list[Note]:
    """What the kernel's name really counts on this processor."""
    notes = (one for one in core_table().note if name in one.events)
    return [one for one in notes if catalogue.is_any_of(one.cpus)]


def tracepoint(catalogue: Catalogue, system: str, name: str) -> Resolved | None:
    """A tracepoint by its number in tracefs; None where there is no such file to be read.

    Args:
        catalogue: What this machine can count, with its online CPUs.
        system: Directory of the tracepoint below `events` in tracefs, such as `sched`.
        name: The tracepoint's name in that directory, such as `sched_switch`.
    """
    tree = tree_of(catalogue.host)
    paths = (f"{root}/events/{system}/{name}/id" for root in TRACING)
    number = next((found for path in paths if (found := tree.integer(path)) is not None), None)
    if number is None:
        return None
    value = Worth(quantity="count", unit="", scale=1.0, source=_SOURCE)
    places = [
        _place("tracepoint", TRACEPOINT, Words(number), cpu, value) for cpu in catalogue.online
    ]
    meaning = f"passes of the kernel's tracepoint {system}:{name}"
    about = About(f"perf:{system}:{name}", meaning, "software")
    return _resolved(catalogue, about, value, places)


def cores(catalogue: Catalogue) -> list[Pmu]:
    """PMUs of the cores, one for each core type."""
    return [catalogue.pmus[name] for name in core_pmus(list(catalogue.pmus))]


def on_each_cpu(
    catalogue: Catalogue, pmu: Pmu, kind: int, words: Words, value: Worth
) -> list[Place]:
    """The places of an event on each online CPU of a PMU: those of its core type, or all.

    Args:
        catalogue: What this machine can count, with its online CPUs.
        pmu: PMU of cores, or one that counts on any CPU, such as `msr`.
        kind: `type` of perf_event_attr; for events that the kernel names, it is not the PMU's.
        words: Configuration for perf_event_attr.
        value: Quantity, unit and scale of one raw count.
    """
    names = [one.name for one in cores(catalogue)]
    mine = core_type(pmu.name, names) if pmu.name in names else None
    cpus = pmu.cpus or pmu.cpumask or catalogue.online
    running = [cpu for cpu in cpus if cpu in set(catalogue.online)]
    return [
        msgspec.structs.replace(
            _place(pmu.name, kind, words, cpu, value),
            socket=catalogue.layout.package_of.get(cpu),
            core_type=mine,
            excludable=pmu.name in names,
        )
        for cpu in running
    ]


def _core_places(catalogue: Catalogue, one: Generic, value: Worth) -> list[Place]:
    pmus = cores(catalogue)
    return [
        place
        for pmu in pmus
        for place in on_each_cpu(catalogue, pmu, one.type, _extended(one, pmu, len(pmus)), value)
    ]


def _extended(one: Generic, pmu: Pmu, pmus: int) -> Words:
    """With the PMU's type, where there are PMUs of several core types."""
    return Words(one.config | (pmu.type << TYPE_SHIFT if pmus > 1 else 0))


def _software_places(catalogue: Catalogue, one: Generic, value: Worth) -> list[Place]:
    return [
        msgspec.structs.replace(
            _place("software", SOFTWARE, Words(one.config), cpu, value),
            excludable=one.name not in KERNEL_SIDE,
        )
        for cpu in catalogue.online
    ]


def _place(pmu: str, kind: int, words: Words, cpu: int, value: Worth) -> Place:
    return Place(
        pmu=pmu,
        type=kind,
        words=words,
        cpu=cpu,
        instance=f"{pmu}@cpu{cpu}",
        worth=value,
        bindable=True,
    )


def _resolved(catalogue: Catalogue, about: About, value: Worth, places: list[Place]) -> Resolved:
    types = {place.core_type for place in places if place.core_type}
    hybrid = "counted for each core type apart: never add them" if len(types) > 1 else None
    standing = standing_of(catalogue, places)
    event = Event(
        name=about.name,
        back_end="perf",
        quantity=value.quantity,
        domain=about.domain,
        scope="core",
        unit=value.unit,
        scale=value.scale,
        scale_source=value.source,
        meaning=about.meaning,
        encoding=_encoding(places),
        instances=[place.instance for place in places],
        source=about.source,
        same_as=about.same_as,
        pitfalls=[*about.pitfalls, *([hybrid] if hybrid else [])],
        state=standing.state,
        reason=standing.reason,
        remedy=standing.remedy,
    )
    return Resolved(event=event, places=places)


def _encoding(places: Sequence[Place]) -> str:
    """Type and words, of each core type where there are several."""
    ways = dict.fromkeys((place.core_type, place.type, place.words) for place in places)
    said = (
        f"{f'{kind} cores: ' if kind else ''}type={number}, {shown_words(words)}"
        for kind, number, words in ways
    )
    return "; ".join(said) or "not encoded here"


def standing_of(catalogue: Catalogue, places: list[Place]) -> Standing:
    """Whether an event that may be bound to a thread can be opened by this process."""
    if not places:
        return Standing("absent", _NO_PMU, _VM)
    if not catalogue.access.own:
        return Standing("refused", catalogue.access.reason(), catalogue.access.remedy(OWN))
    if not catalogue.access.kernel and not places[0].excludable:
        return Standing("refused", catalogue.access.reason(), catalogue.access.remedy(KERNEL_LEVEL))
    refusal = _core.perf_refusal(native(places[0], user_only=not catalogue.access.kernel), pid=0)
    if refusal in _UNSUPPORTED:
        return Standing("absent", f"this processor's PMU has no such event ({_name(refusal)})")
    if refusal:
        return Standing("refused", f"the kernel refuses it: {os.strerror(refusal)}")
    return Standing("ready")


def native(place: Place, *, user_only: bool = False) -> _core.PerfEvent:
    """The event as it is handed to the kernel."""
    leave_out = user_only and place.excludable
    return _core.PerfEvent(
        place.type,
        place.words.config,
        place.words.config1,
        place.words.config2,
        place.words.config3,
        exclude_kernel=leave_out,
        exclude_hv=leave_out and place.type != SOFTWARE,
    )


def _name(number: int) -> str:
    return errno.errorcode.get(number, str(number))
