"""The kernel's perf events: memory controllers, energy, cores, software and tracepoints.

Source: perf_event_open(2); Documentation/admin-guide/perf of Linux.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import ClassVar

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, ThreadEvent
from memgauge.counters.host import Host
from memgauge.counters.perf.access import MACHINE as MACHINE_LEVEL
from memgauge.counters.perf.access import OWN
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.core_events import native
from memgauge.counters.perf.data import families
from memgauge.counters.perf.generic import SOFTWARE
from memgauge.counters.perf.opening import MovedAway, Options, Session, Wanted, counters_of
from memgauge.counters.perf.places import Place, Resolved
from memgauge.counters.perf.processor import lost_without_model
from memgauge.counters.perf.resolve import listed, resolve
from memgauge.counters.perf.targets import bound, threads_of
from memgauge.model.counting.events import MEMORY_TRAFFIC, Event
from memgauge.model.counting.partial import once

_DUMMY = 9
"""PERF_COUNT_SW_DUMMY: counts nothing, and is the cheapest to ask for."""
_NO_CONTROLLER = "no PMU of a memory controller is shown: no memory traffic"
_LOAD_DRIVER = (
    "virtual machines have none; on bare metal load the driver of its PMU (such as intel_uncore, "
    "amd_uncore, arm_dmc620_pmu) and see that firmware does not hide it"
)
_UNSIZED_REMEDY = (
    "read and write a known number of bytes, with nothing else running, and compare the counts of "
    "its events ('memgauge counters' lists those that have names) with it"
)
_DECLARED_REMEDY = (
    "run 'memgauge counters verify', and name the events that are verified with --counters: 'auto' "
    "does not choose them"
)
_DOUBTS = {
    "derived": "follows from its source but was confirmed by none",
    "unconfirmed": "is used by tools, or assumed, but stated by neither vendor nor kernel",
    "conflict": "is one on which sources contradict each other",
}


class PerfBackEnd(BackEnd):
    """perf_event_open, without a library."""

    name: ClassVar[str] = "perf"
    summary: ClassVar[str] = "the kernel's perf events: memory controllers, energy, cores, software"

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._catalogue = Catalogue(self.host)

    def probe(self) -> Probe:
        """Whether this process may count anything."""
        access = self._catalogue.access
        if access.paranoid is None:
            return Probe(
                state="absent",
                reason="the kernel shows no perf_event_paranoid: it has no perf events",
                remedy="use a kernel built with CONFIG_PERF_EVENTS",
            )
        unsized = self._catalogue.unsized
        shows_traffic = bool(unsized) or any(one.event.traffic for one in self._catalogue.known)
        if not access.own:
            level = MACHINE_LEVEL if shows_traffic else OWN
            return Probe(state="refused", reason=access.reason(), remedy=access.remedy(level))
        event = _core.PerfEvent(SOFTWARE, _DUMMY, exclude_kernel=True)
        answer = _answered(_core.perf_refusal(event, pid=0))
        if answer.state == "ready" and not shows_traffic and self._catalogue.declared:
            return Probe(
                state="ready", reason=_declared(self._catalogue.declared), remedy=_DECLARED_REMEDY
            )
        if answer.state == "ready" and not shows_traffic:
            return Probe(state="ready", reason=self._no_controller(), remedy=_LOAD_DRIVER)
        if answer.state == "ready" and unsized and not self._counts_bytes():
            return Probe(state="ready", reason=_unsized(unsized), remedy=_UNSIZED_REMEDY)
        return answer

    def _counts_bytes(self) -> bool:
        """Whether the bytes of any memory traffic are counted here."""
        return any(one.event.quantity in MEMORY_TRAFFIC for one in self._catalogue.known)

    def _no_controller(self) -> str:
        """Why no memory traffic is counted: PMUs that cannot be used differ from none at all."""
        unusable = self._catalogue.unusable
        memory = [one for one in families() if one.domain == "memory"]
        ours = [n for n in unusable if any(one.number(n) is not None for one in memory)]
        if not ours:
            return _NO_CONTROLLER
        return (
            f"none of {len(ours)} PMUs of memory controllers can be used: {ours[0]} is left out, "
            f"{unusable[ours[0]]}: no memory traffic"
        )

    def events(self) -> list[Event]:
        """Events of memory controllers first, the best way to count each traffic before others."""
        return listed(self._catalogue)

    def notes(self) -> list[str]:
        """Malformed PMUs, and sums of memory traffic that lack some."""
        catalogue = self._catalogue
        known = [note for one in catalogue.known for note in one.notes]
        masks = {pmu.name: pmu.without_cpus for pmu in catalogue.pmus.values() if pmu.without_cpus}
        unusable = [
            f"{name} is left out, {why}"
            for name, why in (catalogue.unusable | masks).items()
            if not any(f"{name} is left out" in note for note in known)
        ]
        malformed = [note for pmu in catalogue.pmus.values() for note in pmu.notes]
        return list(dict.fromkeys([*lost_without_model(catalogue), *known, *unusable, *malformed]))

    def find(self, text: str) -> list[Event]:
        """Names that are listed, single PMUs, raw encodings and tracepoints."""
        return [resolve(self._catalogue, text).event]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """As `BackEnd.open`; a PMU that moved to another CPU is looked for once more."""
        try:
            return self._open(events, target)
        except MovedAway:
            before = self._catalogue
            self._catalogue = Catalogue(self.host)
            opened = self._open(events, target, leave_out=True)
            if _masks(before) != _masks(self._catalogue):
                opened.notes.append("a PMU had moved to another CPU: its cpumask was read again")
            return opened

    def _open(self, events: Sequence[Event], target: Target, *, leave_out: bool = False) -> Opened:
        found = [self._resolved(event) for event in events]
        threads = threads_of(self.host, target)
        wanted = [
            Wanted(one.event, place)
            for one in found
            for place in bound(self._countable(one), threads)
        ]
        access = self._catalogue.access
        user_only = bool(threads) and not access.kernel
        session = Session(
            access,
            Options(
                inherit=target.inherit,
                user_only=user_only,
                needed=len(wanted),
                leave_out=leave_out,
            ),
        )
        session.open(wanted)
        notes = [*self._notes(found), *session.notes]
        if user_only and any(item.place.excludable for item in wanted):
            notes.append(f"only what ran in user space is counted: {access.reason()}")
        return Opened(
            sources=[piece.source for piece in session.pieces],
            counters=counters_of(session.pieces),
            notes=notes,
            partial=once(one.partial for one in found if one.partial is not None),
        )

    def by_thread(self, events: Sequence[Event]) -> list[ThreadEvent]:
        """As `BackEnd.by_thread`: without those that each type of core counts in its own way."""
        user_only = not self._catalogue.access.kernel
        found = []
        for event in events:
            places = [place for place in self._resolved(event).places if place.bindable]
            if places and len({(place.type, place.words) for place in places}) == 1:
                found.append(ThreadEvent(event, native(places[0], user_only=user_only)))
        return found

    def _resolved(self, event: Event) -> Resolved:
        return resolve(self._catalogue, event.name.removeprefix(f"{self.name}:"))

    def _countable(self, one: Resolved) -> list[Place]:
        """Its places.

        Raises:
            CounterRefused: it has none here.
        """
        if not one.places:
            why = one.event.reason or "it is counted nowhere here"
            remedy = f"; {one.event.remedy}" if one.event.remedy else ""
            # As the PMU may have moved since its cpumask was read, it is looked for once more.
            raise MovedAway(f"{one.event.name}: cannot be opened: {why}{remedy}")
        return one.places

    def _notes(self, found: Sequence[Resolved]) -> list[str]:
        """What was left out, what is doubtful, and that this is another machine's tree."""
        notes = [note for one in found for note in one.notes]
        notes += [
            f"{one.event.name}: its scale {_DOUBTS[one.event.certainty]}: run "
            "'memgauge counters verify'"
            for one in found
            if one.event.certainty in _DOUBTS
        ]
        if self.host.is_substituted:
            notes.append(f"PMUs are those of {self.host.sysfs}, not of this machine")
            notes += lost_without_model(self._catalogue)
        return list(dict.fromkeys(notes))


def _unsized(pmus: Sequence[str]) -> str:
    """That there are controllers, and that their counts are no bytes yet."""
    more = f" and {len(pmus) - 1} more" if len(pmus) > 1 else ""
    are = (
        "are PMUs of memory controllers that are"
        if more
        else "is a memory controller's PMU that is"
    )
    return f"{pmus[0]}{more} {are} not sized in the tables: verify {'them' if more else 'it'}"


def _declared(pmus: Sequence[str]) -> str:
    """That bytes are declared, of what no table describes."""
    more = f" and {len(pmus) - 1} more" if len(pmus) > 1 else ""
    return f"{pmus[0]}{more}: not in the tables; the kernel declares its bytes: verify them"


def _answered(refusal: int) -> Probe:
    """What the kernel's answer to the smallest request means."""
    if not refusal:
        return Probe(state="ready")
    if refusal == errno.ENOSYS:
        return Probe(state="absent", reason="the kernel was built without perf events")
    if refusal == errno.EPERM:
        return Probe(
            state="refused",
            reason="perf_event_open is refused (EPERM): a seccomp filter, as containers have",
            remedy="docker: --security-opt seccomp=unconfined",
        )
    return Probe(state="refused", reason=f"perf_event_open fails: {os.strerror(refusal)}")


def _masks(catalogue: Catalogue) -> dict[str, list[int] | None]:
    return {pmu.name: pmu.cpumask for pmu in catalogue.pmus.values()}
