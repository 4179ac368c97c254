"""Faults with names: what an event counts wrongly in a way that its mere ratio does not show.

Each function looks for one fault in what was counted of known traffic, and returns its evidence, or
None. Bounds are such that noise of honest counters is hardly ever taken for a fault: the tests
simulate both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from memgauge.analysis.counters_verify.figures import EventSeries, RoundCount, Series
from memgauge.analysis.counters_verify.messages import ratio_text
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import LEAST_ROUNDS, paired
from memgauge.model.counting.events import Counter, Fault

TOLERANCE = 0.15
"""What a good counter may differ by: lines that a cache of the fourth part of the buffer keeps are
not read again, and prefetch beyond the buffer, page walks and directory updates are counted too."""
WIDE = 0.25
"""Half of an interval over its value, above which factors cannot be distinguished from noise."""
NOTHING = 0.1
"""Below this share of the load an event counts nothing of it."""
OTHER_WAY = 0.5
"""Of its share in its own direction: above it an event counts the other direction too."""
LARGE = 0.8
"""Of the most bytes of a load: regions with more are large ones, others are small ones."""
SAME_COUNT = 0.003
"""Relative: two counters of the same traffic are read microseconds apart."""
SAME_REGIONS = 0.75
"""Of idle regions: in so many two counters of the same traffic count the same. Idle traffic is
irregular, so that two honest channels seldom do."""
SAME_AMOUNT = 0.05
"""Relative: what is counted of more and of fewer bytes, where a counter has a limit."""
FAR = 4.0
"""Between two shares of the known bytes: beyond it they differ, however wide the smaller one is."""
STOPPED_ROUNDS = 2
"""Rounds of work before, and of nothing after, by which a counter has stopped."""


class NamedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that was recognised."""

    fault: Fault
    evidence: str
    factor: float | None = None
    """By which the event is off as a whole, where it is."""
    names: list[str] = []
    """Counters concerned."""


def agrees(ratio: Estimate, factor: float) -> bool:
    """Whether the interval reaches into what a counter off by `factor` may show."""
    return ratio.low <= factor * (1 + TOLERANCE) and ratio.high >= factor * (1 - TOLERANCE)


def is_narrow(ratio: Estimate) -> bool:
    """Whether it is precise enough to tell one factor from another."""
    return ratio.value > 0 and (ratio.high - ratio.low) / 2 <= WIDE * ratio.value


def pooled(
    loads: Sequence[Series],
    names: Sequence[str],
    counts: Callable[[Series, RoundCount], bool] = lambda _, __: True,
) -> Estimate | None:
    """Counted over known bytes of all loads of a round together.

    Args:
        loads: Loads that are taken together.
        names: Counters that are added up.
        counts: Which regions are used; a round is, if those of all of its loads are.
    """
    rounds: dict[int, list[tuple[float, int]]] = {}
    for load in loads:
        for count in load.rounds:
            beyond = count.beyond_idle(names)
            if beyond is not None and load.known(count) and counts(load, count):
                rounds.setdefault(count.round, []).append((beyond, load.known(count)))
    whole = [pairs for pairs in rounds.values() if len(pairs) == len(loads)]
    return paired([sum(b for b, _ in pairs) / sum(k for _, k in pairs) for pairs in whole])


def stopped(event: EventSeries, loads: Sequence[Series]) -> NamedFault | None:
    """Counters that count up to some round, and from then on nothing, idle or loaded."""
    names = [name for name in event.names if _stops(name, event, loads)]
    if not names:
        return None
    every = "" if len(names) == len(event.names) else f" on {', '.join(map(event.shown, names))}"
    last = max(_last_round(name, loads) for name in names)
    rounds = max(count.round for load in loads for count in load.rounds)
    evidence = (
        f"counted{every} up to round {last + 1} of {rounds + 1}, and then nothing: it stopped"
    )
    return NamedFault(fault="stops", evidence=evidence, names=names)


def _stops(name: str, event: EventSeries, loads: Sequence[Series]) -> bool:
    works, rests = _last_round(name, loads), 0
    before: list[float] = []
    mean: list[float] = []
    for load in loads:
        for count in load.rounds:
            if count.round <= works:
                before.append(count.loaded.get(name, 0.0))
                mean.append(sum(count.loaded.values()) / max(1, len(event.names)))
    rests = len({c.round for load in loads for c in load.rounds if c.round > works})
    worked = len({c.round for load in loads for c in load.rounds if c.loaded.get(name)})
    return (
        works >= 0
        and worked >= STOPPED_ROUNDS
        and rests >= STOPPED_ROUNDS
        and sum(before) >= NOTHING * sum(mean)
    )


def _last_round(name: str, loads: Sequence[Series]) -> int:
    """The last in which it counted anything, loaded or idle; -1: none."""
    return max(
        (
            count.round
            for load in loads
            for count in load.rounds
            if count.loaded.get(name) or count.idle.get(name)
        ),
        default=-1,
    )


def went_back(loads: Sequence[Series]) -> NamedFault | None:
    """Raw values that decreased more than once: a counter that wraps, unknown to its reader."""
    regions = sum(len(load.rounds) for load in loads)
    times = sum(bool(count.went_back) for load in loads for count in load.rounds)
    if times < STOPPED_ROUNDS:
        return None
    evidence = f"decreased in {times} of {regions} regions: it wraps, and nothing shows at what"
    return NamedFault(fault="wraps", evidence=evidence)


def depends_on_bytes(event: EventSeries, loads: Sequence[Series]) -> NamedFault | None:
    """A share that differs between regions of more and of fewer bytes: a wrap, or a limit."""
    most = {id(load): max((load.known(c) for c in load.rounds), default=0) for load in loads}

    def is_large(load: Series, count: RoundCount) -> bool:
        return load.known(count) > LARGE * most[id(load)]

    large = pooled(loads, event.names, is_large)
    small = pooled(loads, event.names, lambda load, count: not is_large(load, count))
    if large is None or small is None or not _differ(large, small):
        return None
    sizes = [_mean_known(loads, is_large), _mean_known(loads, lambda a, b: not is_large(a, b))]
    shares = (
        f"counted {ratio_text(small)} of {sizes[1] * 1e-9:.3g} GB and {ratio_text(large)} of "
        f"{sizes[0] * 1e-9:.3g} GB a region"
    )
    counted = [large.value * sizes[0], small.value * sizes[1]]
    if abs(counted[0] - counted[1]) < SAME_AMOUNT * counted[1]:
        at = counted[1] * 1e-9
        return NamedFault(
            fault="stops", evidence=f"{shares}: it stops at about {at:.3g} GB of a region"
        )
    return NamedFault(
        fault="wraps", evidence=f"{shares}: the share depends on the bytes moved, as if it wraps"
    )


def _differ(one: Estimate, other: Estimate) -> bool:
    """Whether the intervals are apart, and by more than honest counters may differ."""
    low, high = sorted((one, other), key=lambda ratio: ratio.value)
    return high.low > 0 and low.high < (1 - TOLERANCE) * high.low


def _mean_known(loads: Sequence[Series], counts: Callable[[Series, RoundCount], bool]) -> float:
    """Bytes of a region, of one load."""
    known = [load.known(c) for load in loads for c in load.rounds if counts(load, c)]
    return sum(known) / max(1, len(known))


def swapped_directions(own: Estimate, other: Estimate | None, *, counts: str) -> NamedFault | None:
    """Nothing of what it is named for, and the other direction instead.

    Args:
        own: Counted over known bytes of its own direction.
        other: The same of the other direction.
        counts: What is counted instead, `reads` or `writes`.
    """
    if other is None or own.high >= NOTHING * max(other.low, 0) or other.low < NOTHING:
        return None
    evidence = (
        f"counted {ratio_text(own)} of what it is named for, and {ratio_text(other)} of {counts}: "
        "its directions are swapped"
    )
    return NamedFault(fault="swapped directions", evidence=evidence)


def listed_twice(
    event: EventSeries, loads: Sequence[Series], overall: Estimate
) -> NamedFault | None:
    """Counters of a socket that always count the same, so that the sum counts traffic twice.

    Args:
        event: Event with its counters.
        loads: Loads whose traffic it is named for.
        overall: Counted over known bytes of these, by all of its counters.
    """
    if agrees(overall, 1.0):
        return None
    classes = _same(event, loads)
    if all(len(names) == 1 for names in classes):
        return None
    once = pooled(loads, [names[0] for names in classes])
    if once is None or not agrees(once, 1.0) or not is_narrow(once):
        return None
    twins = [names for names in classes if len(names) > 1]
    shown = "; ".join(" and ".join(map(event.shown, names)) for names in twins[:2])
    more = f" and {len(twins) - 2} more such groups" if len(twins) > 2 else ""
    sizes = {len(names) for names in classes}
    evidence = (
        f"{shown}{more} count the same even while idle: traffic that is listed twice; each counted "
        f"once gives {ratio_text(once)}"
    )
    return NamedFault(
        fault="listed twice",
        evidence=evidence,
        factor=float(sizes.pop()) if len(sizes) == 1 else None,
        names=[name for names in twins for name in names],
    )


def _same(event: EventSeries, loads: Sequence[Series]) -> list[list[str]]:
    """Counters, those together that count the same."""
    classes: list[list[Counter]] = []
    for counter in event.counters:
        for known in classes:
            if known[0].socket == counter.socket and _count_the_same(known[0], counter, loads):
                known.append(counter)
                break
        else:
            classes.append([counter])
    return [[counter.name for counter in known] for known in classes]


def _count_the_same(one: Counter, other: Counter, loads: Sequence[Series]) -> bool:
    pairs = [
        (count.idle.get(one.name, 0.0), count.idle.get(other.name, 0.0))
        for load in loads
        for count in load.rounds
    ]
    told = [(a, b) for a, b in pairs if a > 0 or b > 0]
    alike = sum(abs(a - b) <= SAME_COUNT * max(a, b) for a, b in told)
    if len(told) < LEAST_ROUNDS or alike < SAME_REGIONS * len(told):
        return False
    loaded = [
        (count.loaded.get(one.name, 0.0), count.loaded.get(other.name, 0.0))
        for load in loads
        for count in load.rounds
    ]
    return all(abs(a - b) <= SAME_COUNT * max(a, b) for a, b in loaded)


def everywhere(event: EventSeries, loads: Sequence[Series]) -> NamedFault | None:
    """Counters of every socket that each count the traffic of all sockets."""
    sockets = {counter.socket for counter in event.counters}
    homes = {load.where.socket for load in loads}
    if None in sockets | homes or len(sockets) < 2 or len(homes) < 2:
        return None
    for load in loads:
        for socket in sockets:
            mine = [counter.name for counter in event.counters if counter.socket == socket]
            ratio = load.ratio(mine)
            if ratio is None or not agrees(ratio, 1.0) or not is_narrow(ratio):
                return None
    return NamedFault(
        fault="all sockets everywhere",
        evidence=f"each of {len(sockets)} sockets counts the traffic of all of them: sums of the "
        "machine are that much too large, and figures of a socket are those of the machine",
        factor=float(len(sockets)),
    )


def one_socket(event: EventSeries, loads: Sequence[Series]) -> NamedFault | None:
    """A share that differs between the memories of nodes: right on some, wrong on others."""
    known = [(load, ratio) for load in loads if (ratio := load.ratio(event.names)) is not None]
    if len(known) < 2:
        return None
    high = max((ratio for _, ratio in known), key=lambda ratio: ratio.low)
    low = min((ratio for _, ratio in known), key=lambda ratio: ratio.high)
    beyond_noise = is_narrow(high) and high.low > FAR * max(low.high, 0)
    if not beyond_noise:
        known = [(load, ratio) for load, ratio in known if is_narrow(ratio)]
        if len(known) < 2:
            return None
        high = max((ratio for _, ratio in known), key=lambda ratio: ratio.low)
        low = min((ratio for _, ratio in known), key=lambda ratio: ratio.high)
        if high.low * (1 - TOLERANCE) <= low.high * (1 + TOLERANCE):
            return None
    off = [(load, ratio) for load, ratio in known if not agrees(ratio, 1.0)]
    good = [(load, ratio) for load, ratio in known if agrees(ratio, 1.0)]
    words = [f"{ratio_text(ratio)} of {_memory(load)}" for load, ratio in [*off, *good]]
    evidence = f"counted {', '.join(words)}: the fault is not the same on every socket"
    return NamedFault(fault="one socket", evidence=evidence)


def _memory(load: Series) -> str:
    where = load.where
    return f"node {where.memory_node}" if where.socket is None else f"socket {where.socket}"
