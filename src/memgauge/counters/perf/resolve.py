"""From the text of an event to its places: names that are listed, single PMUs, raw encodings."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec

from memgauge.counters.base import unknown
from memgauge.counters.perf.catalogue import Catalogue, generic_family, one_channel
from memgauge.counters.perf.core_data import CoreEvent, encoded_event
from memgauge.counters.perf.core_events import (
    core_events,
    cores,
    encoded,
    generic,
    kernel_events,
    on_each_cpu,
    standing_of,
    tracepoint,
)
from memgauge.counters.perf.data import KnownEvent, families
from memgauge.counters.perf.declared import declared_bytes
from memgauge.counters.perf.encoding import (
    Requested,
    Term,
    encode,
    expanded,
    parse_event,
    shown,
    shown_words,
)
from memgauge.counters.perf.generic import BY_NAME
from memgauge.counters.perf.open_fields import Filling, filled
from memgauge.counters.perf.partial import fault
from memgauge.counters.perf.places import Place, Resolved
from memgauge.counters.perf.pmu import DEVICES, Pmu, PublishedEvent, tree_of
from memgauge.counters.perf.scale import worth
from memgauge.model.counting.events import Event
from memgauge.model.errors import RequestError, UnknownEvent
from memgauge.model.text import did_you_mean, quoted

_SOURCE = "published by the kernel"
_RAW = "Documentation/ABI/testing/sysfs-bus-event_source-devices-format"
_PER_CPU = ("msr",)
"""PMUs that count on any CPU, and may be bound to a thread."""


def resolve(catalogue: Catalogue, text: str) -> Resolved:
    """The event that a text after `perf:` means.

    Raises:
        UnknownEvent: none; the message names the nearest.
        RequestError: malformed; the message says where.
    """
    if "/" in text:
        return _of_pmu(catalogue, text)
    if text.lower() in BY_NAME:
        return generic(catalogue, BY_NAME[text.lower()])
    known = encoded_event(text.lower())
    if known is not None:
        return _counted_here(catalogue, known)
    system, colon, name = text.partition(":")
    plain = all(part.replace("_", "").isalnum() for part in (system, name))
    if colon and plain:
        found = tracepoint(catalogue, system, name)
        if found is None:
            raise UnknownEvent(
                f"event {quoted(f'perf:{text}')}: no such tracepoint can be read in tracefs; it "
                "may be misspelt, or tracefs not mounted or not readable (as root: mount -t "
                "tracefs nodev /sys/kernel/tracing)"
            )
        return found
    raise unknown(f"perf:{text}", [event.name for event in listed(catalogue)])


def _counted_here(catalogue: Catalogue, known: CoreEvent) -> Resolved:
    found = encoded(catalogue, known)
    if found is None:
        raise UnknownEvent(
            f"event 'perf:{known.name}': no PMU of a core here publishes it, and no encoding of it "
            "is known for this processor; if you know one, give it as perf:PMU/event=...,umask=.../"
        )
    return found


def listed(catalogue: Catalogue) -> list[Event]:
    """All events that have names: of controllers first, then other PMUs, cores and the kernel."""
    known = [one.event for one in catalogue.known]
    others = [one.event for one in published_elsewhere(catalogue)]
    rest = [one.event for one in (*core_events(catalogue), *kernel_events(catalogue))]
    return [*known, *others, *rest]


def published_elsewhere(catalogue: Catalogue) -> list[Resolved]:
    """Events of PMUs that are neither cores nor fully known, as the kernel publishes them."""
    mine = {pmu.name for pmu in cores(catalogue)}
    covered = {(place.pmu, place.words) for one in catalogue.known for place in one.places}
    names: dict[str, None] = {}
    for pmu in catalogue.pmus.values():
        if pmu.name in mine:
            continue
        for event in pmu.events.values():
            names.setdefault(f"{_family_name(pmu.name)}/{event.name}/")
    found = []
    for name in names:
        try:
            one = _raw(catalogue, parse_event(name), name)
        except RequestError:
            continue
        if not any((place.pmu, place.words) in covered for place in one.places):
            found.append(one)
    return found


@cache
def _family_name(pmu: str) -> str:
    return next(
        (one.name for one in families() if one.number(pmu) is not None), generic_family(pmu)
    )


def _of_pmu(catalogue: Catalogue, text: str) -> Resolved:
    requested = parse_event(text)
    name = f"perf:{text}"
    known = next((one for one in catalogue.known if one.event.name == name), None)
    return known or _named(catalogue, requested, name) or _raw(catalogue, requested, text)


def _named(catalogue: Catalogue, requested: Requested, name: str) -> Resolved | None:
    """A known event of a family, on all or on one of its PMUs."""
    body = name.partition("/")[2].removesuffix("/")
    for family in families():
        members = catalogue.members(family)
        pmus = [pmu for pmu in members if requested.pmu in {pmu.name, family.name}]
        numbers = {family.number(pmu.name) or "" for pmu in pmus}
        for known in (one for event in family.events for one in _spellings(event)):
            names = {known.name.replace("{number}", number) for number in numbers}
            if pmus and body in names | {known.listed or known.name}:
                found = catalogue.of_family(family, known, pmus, name)
                if found is not None:
                    return found
    return None


def _spellings(event: KnownEvent) -> Iterator[KnownEvent]:
    """An event, and those of its single channels."""
    yield event
    if event.channels > 1:
        yield from (one_channel(event, channel) for channel in range(event.channels))


def _pmus(catalogue: Catalogue, name: str) -> list[Pmu]:
    """One PMU by its name, or all those of a family."""
    if name in catalogue.pmus:
        return [catalogue.pmus[name]]
    found = [pmu for pmu in catalogue.pmus.values() if _family_name(pmu.name) == name]
    if found:
        return found
    families_here = sorted({_family_name(pmu) for pmu in catalogue.pmus})
    if tree_of(catalogue.host).exists(f"{DEVICES}/{name}"):
        raise RequestError(
            f"event {quoted(f'perf:{name}/')}: the PMU is listed, but its type cannot be read; it "
            "may be going away: try again"
        )
    meant = did_you_mean(name, families_here, most=3, alike=0.7)
    hint = meant or f"it has {', '.join(families_here)}"
    raise UnknownEvent(
        f"event {quoted(f'perf:{name}/')}: this machine has no PMU {name[:60]}; {hint}"
    )


def _raw(catalogue: Catalogue, requested: Requested, text: str) -> Resolved:
    """What a PMU publishes or its fields spell, with what is known of the same encoding."""
    places: list[Place] = []
    name = f"perf:{text}"
    pmus = _pmus(catalogue, requested.pmu)
    left = _left_out(catalogue, requested.pmu, pmus)
    for pmu in pmus:
        texts = {one.name: one.text for one in pmu.events.values()}
        _refuse_unknown(pmu, requested.terms, texts, name)
        if pmu.name in left:
            continue
        published = _published(pmu, requested.terms)
        for filling in filled(catalogue.host, pmu, expanded(requested.terms, texts)):
            places += _raw_places(catalogue, pmu, filling, published, name)
    same = _same(catalogue, places)
    found = _with_meaning(catalogue, name, places, requested, same)
    if same is not None:
        single = requested.pmu in catalogue.pmus
        return found if single else msgspec.structs.replace(found, notes=same.notes)
    notes = [f"{pmu} is left out, {why}" for pmu, why in left.items()]
    event = msgspec.structs.replace(found.event, pitfalls=[*found.event.pitfalls, *notes])
    return msgspec.structs.replace(found, event=event, notes=notes)


def _left_out(catalogue: Catalogue, requested: str, pmus: list[Pmu]) -> dict[str, str]:
    """Why PMUs of a family that was asked for are in no sum, by name; none of a single PMU."""
    if requested in catalogue.pmus:
        return {}
    lost = catalogue.unusable
    left = {name: why for name, why in lost.items() if _family_name(name) == requested}
    every = list(catalogue.pmus.values())
    faults = {pmu.name: fault(pmu, pmus, every, catalogue.online) for pmu in pmus}
    return left | {name: why for name, why in faults.items() if why}


def _refuse_unknown(pmu: Pmu, terms: list[Term], texts: dict[str, str], name: str) -> None:
    """An unknown name alone is a misspelt event rather than a field."""
    for term in terms:
        bare = term.value is None and not term.is_open
        if bare and term.name not in texts and term.name not in pmu.fields:
            raise unknown(name, [f"perf:{pmu.name}/{one}/" for one in texts])


def _published(pmu: Pmu, terms: list[Term]) -> PublishedEvent | None:
    """The published event the terms name; none where other terms change what it counts."""
    return pmu.events.get(terms[0].name) if len(terms) == 1 and terms[0].value is None else None


def _raw_places(
    catalogue: Catalogue, pmu: Pmu, filling: Filling, published: PublishedEvent | None, name: str
) -> list[Place]:
    words = encode(filling.terms, pmu.fields, f"event {quoted(name)} on {pmu.name}")
    value = declared_bytes(pmu, published, worth(published, None))
    core = pmu.name in {one.name for one in cores(catalogue)}
    if core or pmu.name in _PER_CPU:
        return on_each_cpu(catalogue, pmu, pmu.type, words, value)
    part = f" {filling.label}" if filling.label else ""
    return [
        Place(
            pmu=pmu.name,
            type=pmu.type,
            words=words,
            cpu=cpu,
            instance=f"{pmu.name}{part}@cpu{cpu}",
            controller=f"{pmu.name}{part}",
            socket=catalogue.layout.package_of.get(cpu),
            worth=value,
            mask=None if pmu.cpumask is None else tuple(pmu.cpumask),
        )
        for cpu in catalogue.mask_of(pmu)
    ]


def _same(catalogue: Catalogue, places: list[Place]) -> Resolved | None:
    """A known event with the same encoding on the same PMUs."""
    wanted = {(place.pmu, place.words) for place in places}
    if not wanted:
        return None
    return next(
        (
            one
            for one in catalogue.known
            if wanted <= {(place.pmu, place.words) for place in one.places}
        ),
        None,
    )


def _with_meaning(
    catalogue: Catalogue,
    name: str,
    places: list[Place],
    requested: Requested,
    same: Resolved | None,
) -> Resolved:
    if same is not None:
        chosen = [
            place
            for place in same.places
            if any((place.pmu, place.words, place.cpu) == (one.pmu, one.words, one.cpu)
                   for one in places)
        ]  # fmt: skip
        event = msgspec.structs.replace(
            same.event,
            name=name,
            instances=[place.instance for place in chosen],
            encoding=f"{shown(requested.terms)} ({shown_words(chosen[0].words)})",
        )
        return Resolved(event=event, places=chosen)
    value = places[0].worth if places else worth(None, None)
    encoding = shown(requested.terms)
    if places:
        encoding += f" ({shown_words(places[0].words)})"
    event = catalogue.event(name, value, places, encoding=encoding, source=_RAW)
    bindable = bool(places) and all(place.bindable for place in places)
    if bindable:
        standing = standing_of(catalogue, places)
        event = msgspec.structs.replace(
            event,
            domain="core",
            scope="core",
            state=standing.state,
            reason=standing.reason,
            remedy=standing.remedy,
        )
    alone = len(requested.terms) == 1 and requested.terms[0].value is None
    meaning = (
        f"event {requested.terms[0].name} of {requested.pmu}"
        if alone
        else f"raw on {requested.pmu}"
    )
    event = msgspec.structs.replace(
        event,
        meaning=f"{meaning}; {_SOURCE}, without what it means" if alone else meaning,
        source=_SOURCE if alone else _RAW,
        certainty=None,
        automatic=False,
    )
    return Resolved(event=event, places=places)
