"""PMUs of this machine matched with what is known of them: the events that controllers count."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

import msgspec

from memgauge.counters.host import Host
from memgauge.counters.perf.access import MACHINE, Access, access
from memgauge.counters.perf.data import (
    Encoding,
    Family,
    KnownEvent,
    Processor,
    families,
    is_any_of,
)
from memgauge.counters.perf.declared import declares_bytes
from memgauge.counters.perf.encoding import (
    Term,
    Words,
    encode,
    expanded,
    parse_terms,
    shown,
    shown_words,
)
from memgauge.counters.perf.open_fields import filled
from memgauge.counters.perf.partial import doubts, fault, left_out, offline
from memgauge.counters.perf.places import Place, Resolved
from memgauge.counters.perf.pmu import (
    Pmu,
    PublishedEvent,
    online_cpus,
    packages,
    pmu_names,
    read_pmu,
    why_unusable,
)
from memgauge.counters.perf.processor import processor_of
from memgauge.counters.perf.scale import Worth, certainty_of, worth
from memgauge.counters.perf.sockets import ADDRESSED, Layout, nth_socket, sockets_of
from memgauge.model.counting.events import MEMORY_TRAFFIC, Event
from memgauge.model.counting.partial import PartialSum
from memgauge.model.errors import RequestError
from memgauge.model.text import few

_STATE = "its cpumask names no CPU"
_MOST_NAMED = 3


class Coded(msgspec.Struct, frozen=True, kw_only=True):
    """A known event as one PMU counts it."""

    pmu: Pmu
    label: str
    """What tells it apart on its PMU: a channel, a chip; empty where nothing has to."""
    terms: list[Term]
    published: PublishedEvent | None
    socket: int | None = None
    """Where the terms themselves tell it."""


class Catalogue:
    """What can be counted by PMUs here, read once."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @cached_property
    def pmus(self) -> dict[str, Pmu]:
        """All that could be read, by name."""
        return {name: pmu for name, pmu in self._read.items() if pmu is not None}

    @cached_property
    def unusable(self) -> dict[str, str]:
        """Why nothing can be made of the others that are listed, as clauses, by name."""
        none = (name for name, pmu in self._read.items() if pmu is None)
        return {name: why_unusable(self.host, name) for name in none}

    @cached_property
    def _read(self) -> dict[str, Pmu | None]:
        return {name: read_pmu(self.host, name) for name in pmu_names(self.host)}

    @cached_property
    def layout(self) -> Layout:
        """Sockets."""
        return Layout(packages(self.host))

    @cached_property
    def online(self) -> list[int]:
        """CPUs that run."""
        return online_cpus(self.host)

    @cached_property
    def access(self) -> Access:
        """What this process may count."""
        return access(self.host)

    @cached_property
    def processor(self) -> Processor | None:
        """Vendor, family and model of x86; None where they are not known."""
        return processor_of(self.host)

    def is_any_of(self, cpus: Sequence[str]) -> bool:
        """Whether the processor is one of those that `cpus.toml` names so."""
        return is_any_of(self.processor, cpus)

    @cached_property
    def known(self) -> list[Resolved]:
        """Events of the families that are here, best ways to count memory traffic first."""
        return [
            made
            for family in families()
            for event in family.events
            if (made := self.of_family(family, event, self.members(family))) is not None
        ]

    @cached_property
    def unsized(self) -> list[str]:
        """PMUs of memory controllers of which the tables give no bytes."""
        sized = {
            place.pmu
            for one in self.known
            for place in one.places
            if one.event.quantity in MEMORY_TRAFFIC
        }
        mine = [one for one in families() if one.traffic == "dram"]
        return [
            name
            for name in self.pmus
            if name not in sized and any(one.number(name) is not None for one in mine)
        ]

    @cached_property
    def declared(self) -> list[str]:
        """PMUs that no table knows, whose bytes of memory the kernel declares."""
        return [name for name, pmu in self.pmus.items() if declares_bytes(pmu)]

    def members(self, family: Family) -> list[Pmu]:
        """The PMUs of a family, in natural order."""
        names = [name for name, pmu in self.pmus.items() if family.has(pmu, self.processor)]
        if family.socket in ADDRESSED:
            names.sort(key=lambda name: int(family.number(name) or "0", 16))
        return [self.pmus[name] for name in names]

    def of_family(
        self, family: Family, known: KnownEvent, pmus: Sequence[Pmu], name: str | None = None
    ) -> Resolved | None:
        """A known event on some PMUs of its family; None where none of them counts it.

        Args:
            family: Family that declares the event.
            known: The event, or the part of it that counts one channel.
            pmus: PMUs of the family to count on.
            name: Full name that the event was asked for by; None gives it the family's name.
        """
        left: dict[str, str] = {}
        coded: list[Coded] = []
        for pmu in pmus:
            try:
                found = list(self._coded(family, known, pmu))
            except RequestError as error:
                left[pmu.name] = str(error)
                continue
            coded += found
            if not found:
                event_name = known.name.replace("{number}", family.number(pmu.name) or "")
                left[pmu.name] = f"it publishes no {event_name} and no encoding of it is known"
        if not coded:
            return None
        places = self._counted(family, known, coded, left)
        counted = {place.pmu for place in places}
        event = self._known_event(
            family,
            known,
            [one for one in coded if one.pmu.name in counted] or coded,
            places,
            name or f"perf:{family.name}/{known.listed or known.name}/",
        )
        partial = self._partial(family, pmus, places, left)
        notes = self._notes(family, pmus, places, left, partial)
        notes += _oddities(coded, known)
        if left and not places:
            first, why = next(iter(left.items()))
            event = msgspec.structs.replace(event, reason=f"{first}: {why}")
        event = msgspec.structs.replace(event, pitfalls=[*event.pitfalls, *notes])
        return Resolved(event=event, places=places, notes=notes, partial=partial)

    def _counted(
        self, family: Family, known: KnownEvent, coded: Sequence[Coded], left: dict[str, str]
    ) -> list[Place]:
        """The places of sound PMUs; why others are left out is added to `left`."""
        sockets = self._sockets(family)
        members, every = self.members(family), list(self.pmus.values())
        places: list[Place] = []
        for one in coded:
            why = fault(one.pmu, members, every, self.online)
            if why:
                left[one.pmu.name] = why
                continue
            socket = sockets[one.pmu.name] if one.socket is None else one.socket
            try:
                places += self._places(family, known, one, socket)
            except RequestError as error:
                left[one.pmu.name] = str(error)
        return places

    def _notes(
        self,
        family: Family,
        pmus: Sequence[Pmu],
        places: Sequence[Place],
        left: dict[str, str],
        partial: PartialSum | None,
    ) -> list[str]:
        """What is left out of the sum over these PMUs, and what may be."""
        members = self.members(family)
        counted = {place.pmu for place in places}
        notes = [f"{name}: in part left out, {left[name]}" for name in left if name in counted]
        missing = {name: why for name, why in left.items() if name not in counted}
        lost = [name for name in self.unusable if family.number(name) is not None]
        alone = [f"{name} is left out, {why}" for name, why in missing.items()]
        if len(pmus) < len(members):
            return [*notes, *alone]
        listed = [*(pmu.name for pmu in members), *lost]
        summed = [pmu for pmu in members if pmu.name in counted]
        if len(listed) == 1:
            notes += alone
        elif partial is not None:
            notes.append(partial.text)
        notes += offline(summed, self.online)
        return [*notes, *doubts(family, listed, summed, places, self.layout)]

    def _partial(
        self, family: Family, pmus: Sequence[Pmu], places: Sequence[Place], left: dict[str, str]
    ) -> PartialSum | None:
        """What the sum over a family's PMUs lacks; None of some of them, or of a single one."""
        members = self.members(family)
        lost = [name for name in self.unusable if family.number(name) is not None]
        total = len(members) + len(lost)
        if len(pmus) < len(members) or total < 2:
            return None
        counted = {place.pmu for place in places}
        missing = {name: why for name, why in left.items() if name not in counted}
        missing |= {name: self.unusable[name] for name in lost}
        return left_out(missing, len(counted), total)

    def _sockets(self, family: Family) -> dict[str, int | None]:
        """Of each PMU of the family, where the rule is not about the CPU it is opened on."""
        everyone = self.members(family)
        numbers = [family.number(pmu.name) or "" for pmu in everyone]
        found = sockets_of(everyone, numbers, family.socket, self.layout, family.dies_per_socket)
        return dict(zip((pmu.name for pmu in everyone), found, strict=True))

    def _known_event(
        self,
        family: Family,
        known: KnownEvent,
        coded: Sequence[Coded],
        places: Sequence[Place],
        name: str,
    ) -> Event:
        """With all that the data say of it."""
        value = worth(coded[0].published, known)
        return msgspec.structs.replace(
            self.event(
                name, value, places, encoding=_encoding(coded, places), source=family.source
            ),
            domain=family.domain,
            scope=family.scope,
            meaning=f"{known.meaning}; {family.title}",
            certainty=certainty_of(value, known),
            traffic=family.traffic,
            way=family.way,
            automatic=known.automatic,
            pitfalls=[*known.pitfalls, *family.pitfalls],
        )

    def event(
        self, name: str, value: Worth, places: Sequence[Place], *, encoding: str, source: str
    ) -> Event:
        """An event counted on CPUs, with whether it may be opened.

        Args:
            name: Full name, with `perf:`.
            value: Quantity, unit and scale of one raw count.
            places: Where it is counted; without any, the event is refused.
            encoding: Terms and words in the kernel's notation, as shown to users.
            source: Document or kernel interface that describes the event.
        """
        allowed = self.access.machine
        reason = None if allowed else self.access.reason()
        remedy = None if allowed else self.access.remedy(MACHINE)
        if not places:
            reason, remedy = _STATE, "give the fields left open, or bring a CPU of it online"
        return Event(
            name=name,
            back_end="perf",
            quantity=value.quantity,
            domain="energy" if value.quantity == "energy" else "memory",
            scope="device",
            unit=value.unit,
            scale=value.scale,
            scale_source=value.source,
            meaning="",
            encoding=encoding,
            instances=[place.instance for place in places],
            source=source,
            pitfalls=[value.note] if value.note else [],
            state="ready" if allowed and places else "refused",
            reason=reason,
            remedy=remedy,
        )

    def mask_of(self, pmu: Pmu) -> list[int]:
        """CPUs on which a controller's PMU is opened: without a mask, the first that runs."""
        return self.online[:1] if pmu.cpumask is None else pmu.cpumask

    def _coded(self, family: Family, known: KnownEvent, pmu: Pmu) -> Iterator[Coded]:
        number = family.number(pmu.name) or ""
        for channel in range(known.channels):
            name = known.name.replace("{number}", number).replace("{channel}", str(channel))
            for published, terms in self._terms(known, pmu, name, number, channel):
                label = str(channel) if known.channels > 1 else ""
                label = published.name if published is not None and "*" in name else label
                for filling in filled(self.host, pmu, terms):
                    chip = filling.label
                    yield Coded(
                        pmu=pmu,
                        label=" ".join(part for part in (label, chip) if part),
                        terms=filling.terms,
                        published=published,
                        socket=nth_socket(self.layout, filling.socket_index),
                    )

    def _terms(
        self, known: KnownEvent, pmu: Pmu, name: str, number: str, channel: int
    ) -> Iterator[tuple[PublishedEvent | None, list[Term]]]:
        """As the PMU publishes it; else as the data encode it."""
        texts = {one.name: one.text for one in pmu.events.values()}
        if "*" in name:
            for one in pmu.events.values():
                if fnmatchcase(one.name, name):
                    yield one, parse_terms(one.text)
            return
        requested = parse_terms(name)
        if requested[0].name in texts and requested[0].value is None:
            yield pmu.events[requested[0].name], expanded(requested, texts)
            return
        encoding = self._encoding_for(known.encodings, pmu)
        if encoding is not None:
            terms = parse_terms(encoding.text.replace("{number}", number))
            yield None, [_shifted(term, channel * known.channel_step) for term in terms]

    def _encoding_for(self, encodings: Sequence[Encoding], pmu: Pmu) -> Encoding | None:
        return next((one for one in encodings if self._holds(one, pmu)), None)

    def _holds(self, encoding: Encoding, pmu: Pmu) -> bool:
        formats = {name: _format(pmu, name) for name in encoding.fields}
        if formats != encoding.fields:
            return False
        if not encoding.cpus:
            # A PMU that publishes others but not this one lacks it.
            if pmu.events and not encoding.fields:
                return False
            return all(term.name in pmu.fields for term in parse_terms(encoding.text))
        return self.is_any_of(encoding.cpus)

    def _places(
        self, family: Family, known: KnownEvent, one: Coded, socket: int | None
    ) -> list[Place]:
        words = encode(one.terms, one.pmu.fields, f"perf:{one.pmu.name}/{shown(one.terms)}/")
        by_cpu = family.socket == "cpumask"
        part = f" {one.label}" if one.label else ""
        return [
            Place(
                pmu=one.pmu.name,
                type=one.pmu.type,
                words=words,
                cpu=cpu,
                instance=f"{one.pmu.name}{part}@cpu{cpu}",
                controller=f"{one.pmu.name}{part}" if family.scope == "controller" else None,
                socket=self.layout.package_of.get(cpu) if by_cpu else socket,
                worth=worth(one.published, known),
                grouped=family.groups,
                mask=None if one.pmu.cpumask is None else tuple(one.pmu.cpumask),
            )
            for cpu in self.mask_of(one.pmu)
        ]


def _format(pmu: Pmu, name: str) -> str:
    """A field's format in the kernel's notation."""
    field = pmu.fields.get(name)
    if field is None:
        return ""
    ranges = (
        str(bits.first) if bits.width == 1 else f"{bits.first}-{bits.last}" for bits in field.ranges
    )
    return f"{field.word}:{','.join(ranges)}"


def _shifted(term: Term, by: int) -> Term:
    if term.name != "event" or term.value is None or not by:
        return term
    return Term(term.name, term.value + by)


def one_channel(known: KnownEvent, channel: int) -> KnownEvent:
    """The event of one channel, of those that count channels by events of their own."""
    shift = channel * known.channel_step
    encodings = [
        msgspec.structs.replace(
            one, text=shown([_shifted(term, shift) for term in parse_terms(one.text)])
        )
        for one in known.encodings
    ]
    name = known.name.replace("{channel}", str(channel))
    return msgspec.structs.replace(known, name=name, listed=None, channels=1, encodings=encodings)


def _encoding(coded: Sequence[Coded], places: Sequence[Place]) -> str:
    """Terms and words of the first place; of more than one, how many there are."""
    text = shown(coded[0].terms)
    words: list[Words] = list(dict.fromkeys(place.words for place in places))
    said = shown_words(words[0]) if words else "not encoded"
    more = f", and {len(words) - 1} more" if len(words) > 1 else ""
    return f"{text} ({said}{more})"


def _oddities(coded: Sequence[Coded], known: KnownEvent) -> list[str]:
    """What PMUs publish of an event that cannot be used or disagrees, with their names."""
    notes: list[str] = []
    scales: dict[str, dict[str, None]] = {}
    publishing = any(one.published is not None for one in coded)
    for one in coded:
        name = known.name if one.published is None else one.published.name
        notes += [note for note in one.pmu.notes if f"event {name} " in note]
        if publishing and one.published is None:
            notes.append(
                f"{one.pmu.name}: publishes no usable {name}, as others of its kind do: the "
                "documented encoding is used"
            )
        if note := worth(one.published, known).note:
            scales.setdefault(note, {})[one.pmu.name] = None
    notes += [f"{few(list(names), _MOST_NAMED)}: {note}" for note, names in scales.items()]
    return list(dict.fromkeys(notes))


def generic_family(pmu: str) -> str:
    """What stands for all PMUs that differ from this one in their last number only."""
    return re.sub(r"_\d+$", "", pmu)
