"""Which parts of an event count nothing of traffic that must reach them: sockets, controllers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.counters_verify.figures import EventSeries, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.counting.events import Counter

SILENT = 0.1
"""Of what its best neighbour counts; below it a part counts nothing. Channels are interleaved, so
that controllers of one socket get comparable shares of each node's traffic."""


MOST = 5.0
"""Counted over known bytes, above which the best one is wrong, and no measure of the others."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What of an event is silent."""

    silent: list[str]
    """Counters, or a socket that has none."""
    is_short: bool
    """Whether traffic surely is missed: all of a socket is silent, or a silent place is where
    another event counts, or the others count as much too little as silent ones would make them.
    Else no memory may be behind them."""
    whole_places: bool
    """Whether all of a socket is silent."""
    rest: Estimate | None
    """Counted over known bytes of the loads that are counted, where whole sockets are silent."""
    elsewhere: bool = False
    """Whether traffic of a socket is counted on another one."""
    notes: list[str] = []


class _Silence(msgspec.Struct, frozen=True, kw_only=True):
    """What is silent at one socket."""

    names: list[str]
    is_elsewhere: bool = False
    """All of it is, and its traffic is counted on another socket's."""
    is_missed: bool = False
    """What is counted there lacks about their share."""


def parts_of(
    event: EventSeries, loads: Sequence[Series], peers: Sequence[EventSeries] = ()
) -> Parts:
    """Compare the loads of different memory, and the instances of each place.

    Args:
        event: The event that is judged, with everything it counted.
        loads: Those of the event's series whose traffic it is named for.
        peers: Other events, which may count where this one is silent.
    """
    ratios = {id(load): load.ratio(event.names) for load in loads}
    most = max((ratio.low for ratio in ratios.values() if ratio), default=0.0)
    unseen = [load for load in loads if _is_silent(ratios[id(load)], most)]
    seen = [load for load in loads if load not in unseen]
    found = list(_silences(event, seen))
    elsewhere = any(one.is_elsewhere for one in found)
    names = [name for load in unseen for name in _names_there(event, load)]
    instances = [name for one in found for name in one.names]
    missed = any(one.is_missed for one in found) or _count_there(event, peers, instances)
    return Parts(
        silent=list(dict.fromkeys([*names, *instances])),
        is_short=bool(unseen) or elsewhere or missed,
        whole_places=bool(unseen) or elsewhere,
        rest=next((ratios[id(load)] for load in seen), None),
        elsewhere=elsewhere,
        notes=["their socket's traffic is counted on another socket's"] if elsewhere else [],
    )


def _is_silent(ratio: Estimate | None, most: float) -> bool:
    """Clearly less than a tenth of what the best one surely counts."""
    return ratio is not None and most > 0 and ratio.high < SILENT * min(most, MOST)


def _names_there(event: EventSeries, load: Series) -> list[str]:
    """Instances that a load's traffic must reach; the socket or node where there is none."""
    if load.where.gpu:
        return [load.where.gpu]
    socket = load.where.socket
    mine = [counter.name for counter in event.counters if _is_at(counter, load)]
    if mine:
        return mine
    return [f"node {load.where.memory_node}" if socket is None else f"socket {socket}"]


def _is_at(counter: Counter, load: Series) -> bool:
    if counter.node is not None:
        return counter.node == load.where.memory_node
    return counter.socket is not None and counter.socket == load.where.socket


def _silences(event: EventSeries, loads: Sequence[Series]) -> Iterator[_Silence]:
    """Instances that count nothing of any load of their socket."""
    by_socket: dict[int | None, list[Counter]] = {}
    for counter in event.counters:
        by_socket.setdefault(counter.socket, []).append(counter)
    for socket, counters in by_socket.items():
        near = [load for load in loads if socket is None or load.where.socket in (socket, None)]
        if near:
            yield _silence(event, near, [counter.name for counter in counters])


def _silence(event: EventSeries, near: Sequence[Series], names: Sequence[str]) -> _Silence:
    peaks = {name: _peak(near, name) for name in names}
    whole = max((r.value for load in near if (r := load.ratio(event.names))), default=0.0)
    most = max((peak.low for peak in peaks.values() if peak), default=0.0)
    if len(names) < len(event.counters) and _is_elsewhere(near, names):
        return _Silence(names=list(names), is_elsewhere=True)
    silent = [name for name, peak in peaks.items() if _is_silent(peak, most)]
    share = 1 - len(silent) / len(names)
    nearer = whole > 0 and abs(math.log(whole / share)) < abs(math.log(whole))
    return _Silence(names=silent, is_missed=bool(silent) and nearer and whole < 1)


def _is_elsewhere(near: Sequence[Series], names: Sequence[str]) -> bool:
    """Whether loads are surely counted, but surely not on their own socket."""
    all_counted = _peak(near, None)
    own = [load.ratio(names) for load in near]
    if all_counted is None or all_counted.low < all_counted.value / 2 or None in own:
        return False
    return all(_is_silent(ratio, all_counted.value) for ratio in own)


def _count_there(event: EventSeries, peers: Sequence[EventSeries], names: Sequence[str]) -> bool:
    """Whether another event counts where this one does not: there is memory behind it."""
    silent = {counter.instance for counter in event.counters if counter.name in names}
    for peer in peers:
        most = _peak(peer.of, None)
        for counter in peer.counters:
            peak = _peak(peer.of, counter.name) if counter.instance in silent else None
            if peak is not None and most is not None:
                share = SILENT * most.value / len(peer.counters)
                if peak.low > share:
                    return True
    return False


def _peak(loads: Sequence[Series], name: str | None) -> Estimate | None:
    """The most that a counter, or all together, count of any of the loads."""
    ratios = [load.ratio(load.names if name is None else [name]) for load in loads]
    return max((r for r in ratios if r is not None), key=lambda r: r.value, default=None)
