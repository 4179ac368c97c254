"""What `auto` counts memory traffic by: the best of several methods and back ends, and why.

First decides what `counters verify` found on this machine and kernel, then how certain the scale
is, then the order of the tables and of back ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

import msgspec

from memgauge.counters.base import BackEnd
from memgauge.counters.host import Host
from memgauge.counters.registry import load
from memgauge.counters.verdicts import KeptVerdicts, kept_here
from memgauge.model.counting.back_ends import GPU_MEMORY_ORDER, MEMORY_ORDER
from memgauge.model.counting.calibration import (
    Calibration,
    calibrated_text,
    calibration_of,
    verdict_on,
)
from memgauge.model.counting.events import (
    MAIN_MEMORY,
    MEMORY_TRAFFIC,
    Event,
    EventVerdict,
    added_up,
    gpu_traffic,
)
from memgauge.model.errors import CounterRefused
from memgauge.model.memory import MemoryPlacement

NONE_KNOWN = "the machine shows no counter of memory traffic, as most virtual ones do not"
NOTHING_KEPT = KeptVerdicts(of={})


class Rank(IntEnum):
    """What is known of a method by verification, best first."""

    VERIFIED = 0
    UNVERIFIED = 1
    """Never verified, or without a decision."""
    CALIBRATED = 2
    """Mis-scaled, and corrected by a factor that is applied."""
    WRONG = 3
    """Mis-scaled without a factor that is applied, partial, or faulty."""
    DEAD = 4


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Events that `auto` means."""

    events: list[Event]
    rank: Rank
    """The worst of those that count main memory."""
    reasons: list[str] = []
    """How it stands with what was chosen, and why other methods were not; a line each."""


class _Way(msgspec.Struct, frozen=True, kw_only=True):
    """A method of counting one kind of traffic."""

    name: str
    traffic: str | None
    events: list[Event]
    rank: Rank
    doubts: bool
    """Whether sources contradict each other on its scale."""
    standing: str

    @property
    def order(self) -> tuple[Rank, bool]:
        """Smaller is better; the tables decide between equals."""
        return self.rank, self.doubts


def memory_choice(host: Host, placement: MemoryPlacement | None = None) -> Choice:
    """The events of memory traffic that `auto` means.

    Of the back ends that can open some, the first by `MEMORY_ORDER`, unless a later one has a
    method that ranks better. Those of a GPU's memory where `placement` is one's.

    Raises:
        CounterRefused: none can be opened; the message says what would change it.
    """
    gpu = str(placement) if placement is not None and placement.is_gpu else None
    traffic = None if gpu is None else gpu_traffic(gpu)
    known = kept_here(host)
    found: list[Choice] = []
    refusals = []
    for name in MEMORY_ORDER if gpu is None else GPU_MEMORY_ORDER:
        if found and not _may_rank_above(name, min(one.rank for one in found), known):
            continue
        back_end = load(name, host)
        mine = _traffic_of(back_end, traffic)
        chosen = chosen_of([e for e in mine if e.state == "ready"], known, host.calibration)
        if chosen.events:
            found.append(chosen)
        else:
            refusals.append(why_none(back_end, mine))
    if not found:
        what = "of memory traffic" if gpu is None else "of the GPU's memory"
        raise CounterRefused(f"no counter {what} can be opened; {'; '.join(refusals)}")
    best = min(found, key=lambda one: one.rank)
    passed = [
        f"{best.events[0].back_end} before {one.events[0].back_end}: there {one.reasons[0]}"
        for one in found[: found.index(best)]
    ]
    return msgspec.structs.replace(best, reasons=[*best.reasons, *passed])


def route_events(route: str, host: Host, placement: MemoryPlacement | None = None) -> list[Event]:
    """The events of memory traffic of one back end, as `memory_choice` would choose them in it.

    Args:
        route: Name of the back end.
        host: Machine whose counters are looked for.
        placement: GPU memory whose traffic is meant; for host memory or None, that of the host.

    Raises:
        CounterRefused: it can open none; the message says what would change that.
    """
    gpu = str(placement) if placement is not None and placement.is_gpu else None
    whose, others = (
        ("of the host", MEMORY_ORDER) if gpu is None else (f"of {gpu}", GPU_MEMORY_ORDER)
    )
    if route not in others:
        raise CounterRefused(f"{route}: no route to the memory {whose}; choose {', '.join(others)}")
    back_end = load(route, host)
    mine = _traffic_of(back_end, None if gpu is None else gpu_traffic(gpu))
    ready = [event for event in mine if event.state == "ready"]
    chosen = chosen_of(ready, kept_here(host), host.calibration).events
    if not chosen:
        why = why_none(back_end, mine)
        raise CounterRefused(f"no counter of memory traffic can be opened by this route; {why}")
    return chosen


def _traffic_of(back_end: BackEnd, traffic: str | None) -> list[Event]:
    """What a back end lists of memory traffic, of one memory or of any."""
    listed = back_end.events() if back_end.probe().state != "absent" else []
    return [
        event
        for event in listed
        if event.quantity in MEMORY_TRAFFIC and (traffic is None or event.traffic == traffic)
    ]


def _may_rank_above(back_end: str, rank: Rank, known: KeptVerdicts) -> bool:
    """Whether a back end can have a method above this rank, so that it is worth a probe.

    Above unverified ones rank verified ones only, of which something was then kept.
    """
    if rank > Rank.UNVERIFIED:
        return True
    return rank > Rank.VERIFIED and any(
        event.startswith(f"{back_end}:") and verdict.verdict == "verified"
        for event, verdict in known.of.items()
    )


def preferred(events: Sequence[Event]) -> list[Event]:
    """Without those that would count the same traffic twice, or that `auto` may not choose.

    As `chosen_of`, without verdicts.
    """
    return chosen_of(events, NOTHING_KEPT, "none").events


def chosen_of(events: Sequence[Event], known: KeptVerdicts, calibration: Calibration) -> Choice:
    """The best method of each kind of traffic, of one back end's events.

    A method ranks as the worst of its events. One ranked below others is used only where these
    do not count both directions of the traffic.

    Args:
        events: In the order of the tables, which decides between equals.
        known: Verdicts that were kept of this machine and kernel.
        calibration: Which factors will be applied.
    """
    automatic = [event for event in events if event.automatic]
    chosen: list[Event] = []
    reasons: list[str] = []
    ranks: dict[str | None, Rank] = {}
    for traffic in dict.fromkeys(event.traffic for event in automatic):
        mine = [event for event in automatic if event.traffic == traffic]
        ways = list(_ways(mine, known, calibration))
        taken = added_up(_best(ways))
        chosen += taken
        used = [way for way in ways if any(event in taken for event in way.events)]
        ranks[traffic] = max(way.rank for way in used)
        reasons += _reasons(ways, used)
    main = [rank for traffic, rank in ranks.items() if traffic in MAIN_MEMORY]
    rank = max(main or ranks.values(), default=Rank.UNVERIFIED)
    return Choice(events=chosen, rank=rank, reasons=reasons)


def _ways(events: Sequence[Event], known: KeptVerdicts, calibration: Calibration) -> Iterator[_Way]:
    grouped: dict[str, list[Event]] = {}
    for event in events:
        grouped.setdefault(event.way or event.name, []).append(event)
    for name, mine in grouped.items():
        standings = [_standing(event, known, calibration) for event in mine]
        rank, words = max(standings, key=lambda one: one[0])
        yield _Way(
            name=name if mine[0].way else mine[0].name,
            traffic=mine[0].traffic,
            events=mine,
            rank=rank,
            doubts=any(event.certainty == "conflict" for event in mine),
            standing=words,
        )


def _standing(event: Event, known: KeptVerdicts, calibration: Calibration) -> tuple[Rank, str]:
    verdict, why_not = verdict_on(known.of, event, event.instances)
    if verdict is None:
        return Rank.UNVERIFIED, f"unverified ({why_not})" if why_not else "unverified"
    factor = calibration_of(verdict, calibration)
    when = f"on {verdict.made_at[:10]}"
    if factor is not None:
        return Rank.CALIBRATED, f"found {verdict.verdict} {when}, {calibrated_text(factor)}"
    if verdict.verdict == "absent":
        return Rank.UNVERIFIED, f"unverified (could not be opened {when})"
    return _rank(verdict), f"found {verdict.fault or verdict.verdict} {when}"


def _rank(verdict: EventVerdict) -> Rank:
    return {
        "verified": Rank.VERIFIED,
        "noisy": Rank.UNVERIFIED,
        "absent": Rank.UNVERIFIED,
        "dead": Rank.DEAD,
    }.get(verdict.verdict, Rank.WRONG)


def _best(ways: Sequence[_Way]) -> list[Event]:
    """Events of the best methods that together count both directions; else of all."""
    taken: list[Event] = []
    for order in sorted({way.order for way in ways}):
        taken += [event for way in ways if way.order == order for event in way.events]
        if _counts_both(taken):
            break
    return taken


def _counts_both(events: Sequence[Event]) -> bool:
    """Whether reads and writes are counted, together or apart."""
    counted = {event.quantity for event in events}
    return "traffic_bytes" in counted or {"read_bytes", "write_bytes"} <= counted


def _reasons(ways: Sequence[_Way], used: Sequence[_Way]) -> Iterator[str]:
    """How it stands with the methods used, and with those before them in the tables."""
    traffic = ways[0].traffic or "memory traffic"
    names = " and ".join(way.name for way in used)
    worst = max(used, key=lambda way: way.order)
    yield f"{traffic} is counted by {names}, {worst.standing}{_doubtful(worst)}"
    for way in ways[: max(ways.index(one) for one in used)]:
        if way not in used and way.order > worst.order:
            yield f"not by {way.name}, {way.standing}{_doubtful(way)}"


def _doubtful(way: _Way) -> str:
    return "; sources contradict each other on its scale" if way.doubts else ""


def why_none(back_end: BackEnd, events: Sequence[Event] = ()) -> str:
    """Why a back end counts no memory traffic here, and in brackets what would change it."""
    why = next((event for event in events if event.reason), None) or back_end.probe()
    remedy = f" ({why.remedy})" if why.remedy else ""
    return f"{back_end.name}: {why.reason or NONE_KNOWN}{remedy}"
