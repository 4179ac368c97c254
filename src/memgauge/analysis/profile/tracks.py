"""Which counters of a lane make one track of a timeline, and what the track is called.

Counters are added only where their sum means something: the controllers of one socket, the
processes of one tree. Zones of energy lie within each other, clocks and temperatures have no sum,
and counts of different core types, back ends and families of events are never added.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Sequence

import msgspec

from memgauge.model.counting.calibration import calibration_marks
from memgauge.model.counting.events import MEMORY_TRAFFIC, Basis, Counter, Domain, Quantity
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.text import plain

_LABELS: dict[str, str] = {
    "read_bytes": "memory read",
    "write_bytes": "memory write",
    "traffic_bytes": "memory traffic",
    "received_bytes": "received",
    "sent_bytes": "sent",
    "bandwidth": "memory bandwidth, sampled",
    "energy": "power",
    "power": "power",
    "frequency": "clock",
    "temperature": "temperature",
    "utilisation": "busy share",
    "time": "CPU use",
    "run_delay": "waiting for a processor",
    "cycles": "cycles",
    "instructions": "instructions",
    "flops": "floating-point operations",
    "cache_loads": "cache loads",
    "cache_misses": "cache misses",
    "tlb_loads": "TLB loads",
    "tlb_misses": "TLB misses",
    "page_walks": "page walks",
    "page_faults": "page faults",
    "context_switches": "context switches",
    "migrations": "migrations",
}
_OF_TREE = {
    "user_time": "CPU use, user",
    "system_time": "CPU use, kernel",
    "minor_faults": "page faults, minor",
    "major_faults": "page faults, major",
    "voluntary_switches": "context switches, voluntary",
    "involuntary_switches": "context switches, involuntary",
    "threads": "threads",
    "processes": "processes",
    "storage_read_bytes": "storage read",
    "storage_write_bytes": "storage write",
}
"""Figures of a process tree, by the text of their event."""
_USED = {"process": "resident memory", "gpu": "GPU memory used"}
_SUMMED = frozenset({"memory", "process", "core", "software"})
"""Domains whose counters are added over places; of the others each place is a track."""
_NO_SUM = frozenset({"frequency", "temperature", "utilisation", "energy", "power"})
_ORDER: tuple[Domain, ...] = (
    "memory",
    "gpu",
    "energy",
    "network",
    "process",
    "core",
    "software",
)


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity of one component over time."""

    name: str
    """Unique in the run: `memory read, socket 0`."""
    panel: str
    """Tracks of one panel share a picture: reads and writes of one socket."""
    quantity: Quantity
    domain: Domain
    unit: str
    """Of its values: `B/s`, `W`, `1/s`, `cores`, or a gauge's own."""
    gauge: bool
    basis: Basis
    family: str
    """Back end and event without their numbers."""
    place: str
    """`socket 0`, `eth0`; empty: the whole machine or process tree."""
    counters: list[Counter]
    double: bool = False
    """Whether another track reports the same and is shown instead (`duplicate_tracks`)."""


def tracks_of(counters: CounterSet) -> list[Track]:
    """The tracks of a set, memory first; their names are not yet unique over several sets."""
    groups: dict[tuple[object, ...], list[Counter]] = {}
    for counter in counters.of:
        groups.setdefault(_key(counter), []).append(counter)
    made = [_track(group) for group in groups.values()]
    return sorted(made, key=lambda track: _ORDER.index(track.domain))


def distinct(tracks: Sequence[Track]) -> list[Track]:
    """The tracks with unique names."""
    for by_name in (False, True):
        often = Tally(track.name for track in tracks)
        tracks = [
            _told_apart(track, track.counters[0].name if by_name else track.family)
            if often[track.name] > 1
            else track
            for track in tracks
        ]
    seen: dict[str, int] = {}
    return [_numbered(track, seen) for track in tracks]


def _told_apart(track: Track, by: str) -> Track:
    further = f" ({plain(by)})"
    return msgspec.structs.replace(track, name=track.name + further, panel=track.panel + further)


def _numbered(track: Track, seen: dict[str, int]) -> Track:
    seen[track.name] = number = seen.get(track.name, 0) + 1
    if number == 1:
        return track
    return msgspec.structs.replace(track, name=f"{track.name} {number}")


def _key(counter: Counter) -> tuple[object, ...]:
    return (
        *(counter.back_end, family_of(counter), counter.quantity, counter.domain, counter.scope),
        *(_place(counter), counter.core_type, counter.gauge, counter.unit, counter.basis),
    )


def family_of(counter: Counter) -> str:
    """Back end and unit of the machine without their numbers; of what is no memory the event too.

    Counters of one quantity in one family never count the same twice; those of different families
    may, such as a controller's own events and its free-running ones.
    """
    text = counter.event.partition("/")[0] if counter.quantity in MEMORY_TRAFFIC else counter.event
    return re.sub(r"[0-9]+", "", text)


def _place(counter: Counter) -> str:
    if counter.quantity not in _NO_SUM and counter.domain in _SUMMED:
        if counter.domain != "memory":
            return ""
        if counter.socket is not None:
            return f"socket {counter.socket}"
        return f"node {counter.node}" if counter.node is not None else ""
    return plain(counter.instance)


def _track(group: list[Counter]) -> Track:
    first = group[0]
    place = ", ".join(filter(None, (_place(first), plain(first.core_type or ""))))
    label = f"{_label(first)}{', modelled' if first.basis != 'measured' else ''}"
    return Track(
        name=", ".join(filter(None, (label, place, calibration_marks(group)))),
        panel=", ".join(filter(None, (_panel(first), place))),
        quantity=first.quantity,
        domain=first.domain,
        unit=_unit(first),
        gauge=first.gauge,
        basis=first.basis,
        family=family_of(first),
        place=place,
        counters=group,
    )


def _label(counter: Counter) -> str:
    text = counter.event.partition(":")[2]
    if counter.domain == "process" and text in _OF_TREE:
        return _OF_TREE[text]
    if counter.quantity == "count":
        return plain(text)
    if counter.quantity == "used_bytes":
        return _USED.get(counter.domain, "memory used")
    label = _LABELS[counter.quantity]
    return f"GPU {label}" if counter.domain == "gpu" else label


def _panel(counter: Counter) -> str:
    if counter.quantity in MEMORY_TRAFFIC:
        whose = "GPU memory traffic" if counter.domain == "gpu" else "memory traffic"
        return whose + (", modelled" if counter.basis != "measured" else "")
    if counter.quantity in {"received_bytes", "sent_bytes"}:
        return "PCIe" if counter.domain == "gpu" else "network"
    return _label(counter).partition(",")[0].removesuffix(" read").removesuffix(" write")


def _unit(counter: Counter) -> str:
    if counter.gauge:
        return counter.unit
    if counter.unit == "s":
        return {"time": "cores", "run_delay": "threads"}.get(counter.quantity, "s/s")
    rates = {"J": "W", "": "1/s"}
    return rates.get(counter.unit, f"{plain(counter.unit)}/s")
