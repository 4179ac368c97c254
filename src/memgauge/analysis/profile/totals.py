"""What was counted in a stretch of a profile, counter by counter, as `perf stat` adds it up.

A mark between two readings takes its share of what was counted between them. Stretches that are
shorter than the interval of sampling have no such figure, only bounds: at least what was counted
between the readings inside, at most what was counted between those around.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Literal, TypeVar

import msgspec

from memgauge.analysis.profile.duplicate_tracks import event_of
from memgauge.analysis.profile.phases import Roles
from memgauge.analysis.profile.timeline import Timeline, Traced
from memgauge.analysis.profile.units import shown_unit
from memgauge.model.counting.events import MEMORY_TRAFFIC
from memgauge.model.text import plain

Place = TypeVar("Place", int, float)
Spans = Sequence[tuple[int, int]]
"""Begin and end of each stretch in ns, marks of the timeline."""
Group = Literal[
    "time", "system", "instructions", "flops", "caches", "branches", "TLB", "memory", "others"
]

ALL_TRAFFIC = "memory traffic"
"""Name of the figure of reads and writes together."""
MOST_UNKNOWN = 0.02
"""Of the time: a total over less is not known."""

OF_CORES: dict[str, tuple[Group, str | None, str]] = {
    "perf:cycles": ("instructions", None, ""),
    "perf:ref-cycles": ("instructions", None, ""),
    "perf:instructions": ("instructions", "perf:cycles", "per cycle"),
    **dict.fromkeys(("perf:flops", "perf:flops-1"), ("flops", "perf:cycles", "per cycle")),
    "perf:branches": ("branches", None, ""),
    "perf:branch-misses": ("branches", "perf:branches", "of branches"),
    "perf:cache-references": ("caches", None, ""),
    "perf:cache-misses": ("caches", "perf:cache-references", "of references"),
    "perf:l1d-loads": ("caches", None, ""),
    "perf:l1d-load-misses": ("caches", "perf:l1d-loads", "of loads"),
    "perf:llc-loads": ("caches", None, ""),
    "perf:llc-load-misses": ("caches", "perf:llc-loads", "of loads"),
    "perf:dtlb-loads": ("TLB", None, ""),
    "perf:dtlb-load-misses": ("TLB", "perf:dtlb-loads", "of loads"),
    "perf:page-walks": ("TLB", "perf:dtlb-loads", "of loads"),
}
"""Of events of the cores: group, event that it is a share of, and the share in words."""
_TIMES = frozenset({"time", "run_delay"})
_RATES = {"time": "cores", "run_delay": "threads"}


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted in a stretch."""

    total: float | None = None
    """None: not known, or the stretch is too short for sampling, and only the bounds are."""
    least: float | None = None
    most: float | None = None
    """Bounds where the stretch is too short."""

    @property
    def is_range(self) -> bool:
        """Whether only bounds are known."""
        return self.total is None and self.least is not None


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of a stretch."""

    name: str
    group: Group
    unit: str
    """Of total, least and most: `s`, `B`, `J`, or empty for plain counts."""
    counted: Counted
    per_s: float | None = None
    """Total over the time that the stretch lasts; of CPU time the cores that were used."""
    rate_unit: str = "1/s"
    ratio: float | None = None
    """To another figure of the stretch, such as instructions for each cycle."""
    ratio_of: str = ""
    """What the ratio is: `per cycle`, `of branches`."""
    is_estimate: bool = False
    """Whether a counter shared its hardware and was scaled up."""


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    group: Group
    unit: str
    rate_unit: str
    tracks: list[Traced]


def merged(spans: Iterable[tuple[Place, Place]]) -> list[tuple[Place, Place]]:
    """What any of the spans covers: what several cover at once is in it once."""
    made: list[tuple[Place, Place]] = []
    for begin, end in sorted(spans):
        if made and begin <= made[-1][1]:
            made[-1] = (made[-1][0], max(made[-1][1], end))
        else:
            made.append((begin, end))
    return made


def seconds_in(spans: Spans) -> float:
    """How long they last together."""
    return sum(end - begin for begin, end in spans) * 1e-9


def counted(timeline: Timeline, tracks: Sequence[Traced], spans: Spans) -> float | None:
    """Summed over tracks and spans; None where too much of the time is not known.

    Args:
        timeline: Timeline that the tracks belong to.
        tracks: Tracks of one unit to add up; empty gives None.
        spans: Begin and end of each span in ns, both marks of the timeline; spans may overlap.
    """
    if not tracks:
        return None
    wanted_s = seconds_in(spans)
    found = 0.0
    for traced in tracks:
        parts = [timeline.between(traced, begin, end) for begin, end in spans]
        covered_s = math.fsum(part[1] for part in parts if part)
        if covered_s < (1 - MOST_UNKNOWN) * wanted_s:
            return None
        found += math.fsum(part[0] for part in parts if part)
    return found


def bounded(timeline: Timeline, tracks: Sequence[Traced], spans: Spans) -> Counted:
    """As `counted`, but bounds where the usual span is shorter than the interval of a track.

    What lies between the same two readings is in the upper bound of several spans once. Gauges have
    no readings that bracket an amount.

    Args:
        timeline: Timeline that the tracks belong to.
        tracks: Tracks of one unit to add up; empty gives nothing.
        spans: Begin and end of each span in ns, both marks of the timeline; spans may overlap.
    """
    total = counted(timeline, tracks, spans)
    if total is None or any(traced.track.gauge for traced in tracks):
        return Counted(total=total)
    if not isshort_number(tracks, spans):
        return Counted(total=total)
    least, most = bounds(timeline, tracks, spans)
    # What begins or ends at a reading is known as well as any other count.
    if most - least <= MOST_UNKNOWN * most:
        return Counted(total=total)
    return Counted(least=least, most=most)


def bounds(timeline: Timeline, tracks: Sequence[Traced], spans: Spans) -> tuple[float, float]:
    """What was counted at least and at most, by the readings inside spans and those around them.

    They hold where all of the spans lie between readings: where `counted` knows no sum, they are
    none either.

    Args:
        timeline: Timeline that the tracks belong to.
        tracks: Tracks of one unit to add up; no gauges.
        spans: Begin and end of each span in ns, both marks of the timeline; spans may overlap.
    """
    least = most = 0.0
    for traced in tracks:
        around = [timeline.around(traced, begin, end) for begin, end in spans]
        least += math.fsum(max(0.0, one.inner[1] - one.inner[0]) for one in around)
        # Sums only rise, so that what was counted is a stretch of them.
        most += math.fsum(end - begin for begin, end in merged(one.outer for one in around))
    return least, most


def isshort_number(tracks: Sequence[Traced], spans: Spans) -> bool:
    """Whether the usual span is shorter than the interval at which a track is sampled."""
    usual_ns = median(end - begin for begin, end in spans) if spans else 0
    return any(usual_ns < traced.interval_ns for traced in tracks)


def totals_of(timeline: Timeline, roles: Roles, spans: Spans) -> list[Total]:
    """The figures of a stretch, in the same order for each stretch of a timeline.

    Args:
        timeline: Timeline of the run.
        roles: Its tracks by what they stand for.
        spans: The stretch, without overlaps; see `merged`.
    """
    lasts_s = seconds_in(spans)
    items = _items(timeline, roles)
    made = [_total(timeline, item, spans, lasts_s) for item in items]
    by_event = {
        (event_of(item.tracks[0].track), item.tracks[0].track.place): total
        for item, total in zip(items, made, strict=True)
    }
    traffic = next((total for total in made if total.name == ALL_TRAFFIC), None)
    return [
        _related(total, item, by_event, traffic) for item, total in zip(items, made, strict=True)
    ]


def _total(timeline: Timeline, item: _Item, spans: Spans, lasts_s: float) -> Total:
    found = bounded(timeline, item.tracks, spans)
    has_rate = found.total is not None and lasts_s > 0
    return Total(
        name=item.name,
        group=item.group,
        unit=item.unit,
        counted=found,
        per_s=found.total / lasts_s if has_rate and found.total is not None else None,
        rate_unit=item.rate_unit,
        is_estimate=any(traced.estimates for traced in item.tracks),
    )


def _related(
    total: Total, item: _Item, by_event: dict[tuple[str, str], Total], traffic: Total | None
) -> Total:
    """With its ratio to the figure of the same cores that it is a share of.

    Of floating-point operations to the bytes of memory traffic, where these were counted: what the
    roofline model calls operational intensity (Williams, Waterman and Patterson, CACM 52, 2009).
    """
    track = item.tracks[0].track
    _, whole, words = OF_CORES.get(event_of(track), (None, None, ""))
    of = by_event.get((whole, track.place)) if whole else None
    if item.group == "flops" and traffic is not None and traffic.counted.total:
        of, words = traffic, "per byte of memory traffic"
    if of is None or not of.counted.total or total.counted.total is None:
        return total
    ratio = total.counted.total / of.counted.total
    return msgspec.structs.replace(total, ratio=ratio, ratio_of=words)


def _items(timeline: Timeline, roles: Roles) -> list[_Item]:
    """Figures that stand for several tracks, and each other track that counts something."""
    sums: list[tuple[str, Group, str, str, list[Traced]]] = [
        ("CPU time", "time", "s", "cores", roles.cpu),
        ("waiting for a processor", "time", "s", "threads", roles.waiting),
        ("memory read", "memory", "B", "B/s", roles.reads),
        ("memory written", "memory", "B", "B/s", roles.writes),
        (ALL_TRAFFIC, "memory", "B", "B/s", all_traffic(roles)),
        ("energy", "others", "J", "W", roles.power),
        ("GPU energy", "others", "J", "W", roles.gpu_power),
        ("network", "others", "B", "B/s", roles.network),
    ]
    made = [
        _Item(name=name, group=group, unit=unit, rate_unit=rate, tracks=tracks)
        for name, group, unit, rate, tracks in sums
        if tracks
    ]
    taken = {id(traced) for item in made for traced in item.tracks}
    others = [
        traced
        for traced in timeline.tracks
        if not traced.track.gauge and id(traced) not in taken and not _is_part(traced)
    ]
    made += [_own(traced) for traced in others]
    order = {group: at for at, group in enumerate(GROUPS)}
    return sorted(made, key=lambda item: order[item.group])


GROUPS: dict[Group, str] = {
    "time": "time",
    "system": "the kernel's work",
    "instructions": "instructions",
    "flops": "floating-point operations",
    "branches": "branches",
    "caches": "caches",
    "TLB": "TLB",
    "memory": "memory traffic",
    "others": "energy, network and others",
}
"""In the order of a report, with their titles."""


def all_traffic(roles: Roles) -> list[Traced]:
    """Tracks of reads and writes together; empty where one direction alone is counted."""
    return [*roles.reads, *roles.writes] if roles.reads and roles.writes else roles.traffic


def _is_part(traced: Traced) -> bool:
    """Of memory traffic and energy, what the sums leave out would count the same again."""
    track = traced.track
    return track.domain != "gpu" and (
        track.quantity in MEMORY_TRAFFIC
        or track.quantity in {"energy", "received_bytes", "sent_bytes"}
    )


def _own(traced: Traced) -> _Item:
    track = traced.track
    counter = track.counters[0]
    group, *_ = OF_CORES.get(event_of(track), (_group(traced), None, ""))
    rate = _RATES.get(track.quantity, f"{counter.unit}/s" if counter.unit else "1/s")
    name = plain(track.name).replace("CPU use,", "CPU time,")
    return _Item(name=name, group=group, unit=plain(counter.unit), rate_unit=rate, tracks=[traced])


def _group(traced: Traced) -> Group:
    track = traced.track
    if track.quantity in _TIMES:
        return "time"
    if track.quantity in {"page_faults", "context_switches", "migrations"}:
        return "system"
    if track.quantity == "flops":
        return "flops"
    if track.quantity in {"cycles", "instructions"}:
        return "instructions"
    if track.quantity in {"cache_loads", "cache_misses"}:
        return "caches"
    return "TLB" if track.quantity in {"tlb_loads", "tlb_misses", "page_walks"} else "others"


def shown_counted(found: Counted, unit: str) -> tuple[float | int | str | None, str]:
    """A total as a cell, and its unit; bounds as `0.5 to 2.1`."""
    largest = max(
        (abs(v) for v in (found.total, found.least, found.most) if v is not None), default=0.0
    )
    factor, shown = shown_unit(unit, largest) if unit == "B" else (1.0, unit)
    if found.is_range and found.least is not None and found.most is not None:
        return f"{short_number(found.least * factor)} to {short_number(found.most * factor)}", shown
    if found.total is None:
        return None, shown
    return (found.total * factor, shown) if unit else (round(found.total), shown)


def short_number(value: float) -> str:
    """Three figures; thousands in full."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def shown_rate(total: Total) -> str | None:
    """A rate with its unit."""
    if total.per_s is None:
        return None
    factor, unit = shown_unit(total.rate_unit, abs(total.per_s))
    value = total.per_s * factor
    return f"{value:.2f} {unit}" if value >= 0.005 or not value else f"{value:.2g} {unit}"


def shown_ratio(total: Total) -> str | None:
    """What it is of another figure, in words."""
    if total.ratio is None:
        return None
    if total.ratio_of.startswith("per "):
        return f"{total.ratio:.2f} {total.ratio_of}"
    return f"{total.ratio:.2%} {total.ratio_of}"


def ratio_unit(words: str) -> str | None:
    """Unit of a ratio that is told in words: percent, but of `per cycle` and its like none."""
    return None if words.startswith("per ") else "%"


def ranges_note(intervals_ns: Iterable[int]) -> str:
    """What ranges in a table mean."""
    rates = sorted({f"{1e9 / interval_ns:g} Hz" for interval_ns in intervals_ns})
    return (
        f"Too short for sampling at {' or '.join(rates)}: a range reaches from what was counted at "
        "least to what was counted at most, by the readings around."
    )
