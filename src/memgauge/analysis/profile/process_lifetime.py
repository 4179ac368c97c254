"""Limits a program's own counters to the time in which it ran.

Before its first instruction its process is a copy of memgauge's, and after its end there is none:
levels read then are not the program's, and are missing. What its own counters counted between a
reading before it began and one after was counted while it ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

import msgspec

from memgauge.analysis.profile.rates import Amounts, Stretch
from memgauge.analysis.profile.tracks import Track
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.run import Run


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """When the program ran, on the run's clock; None: it ran before or after all readings."""

    begin_ns: int | None = None
    started_ns: int | None = None
    """From when on its process is surely its own."""
    end_ns: int | None = None


def life_of(run: Run) -> Life:
    """Of the one program of a run; of several nothing is cut."""
    if len(run.processes) != 1:
        return Life()
    (process,) = run.processes
    if process.attached:
        return Life(end_ns=process.end_ns)
    started_ns = process.begin_ns if process.started_ns is None else process.started_ns
    return Life(begin_ns=process.begin_ns, started_ns=started_ns, end_ns=process.end_ns)


def is_own(track: Track) -> bool:
    """Whether it covers only the program's processes; a control group may contain others."""
    return all(
        counter.scope in {"process", "thread"}
        and not entry_of(counter.back_end).has_other_processes
        for counter in track.counters
    )


def within(life: Life, stretch: Stretch, tracks: Sequence[Track]) -> Stretch | None:
    """The part of a stretch in which the program ran, of its own tracks; None: no part of it.

    Args:
        life: Begin and end of the program.
        stretch: Readings of one lane, on the same clock.
        tracks: Tracks of the lane that cover only the program's processes, see `is_own`.
    """
    times = [_clamped(at, life) for at in stretch.times_ns]
    steps = [at for at in range(len(times) - 1) if times[at] < times[at + 1]]
    if not steps:
        return None
    first, last = steps[0], steps[-1] + 1
    amounts: dict[str, Amounts] = {}
    steady = dict(stretch.steady)
    whole = _is_whole(stretch.times_ns, life)
    for track in tracks:
        level = steady.get(track.name) if track.gauge and not whole else None
        if level is not None:
            del steady[track.name]
            part = _levels(level, stretch.times_ns)
        elif track.name in steady:
            continue
        else:
            part = stretch.amounts[track.name]
        part = _inside(part, stretch.times_ns, life) if track.gauge else part
        amounts[track.name] = part[first:last]
    return msgspec.structs.replace(
        stretch, times_ns=times[first : last + 1], amounts=amounts, steady=steady
    )


def _is_whole(times_ns: Sequence[int], life: Life) -> bool:
    """Whether the program ran at all the readings."""
    started = life.started_ns is None or times_ns[0] >= life.started_ns
    return started and (life.end_ns is None or times_ns[-1] <= life.end_ns)


def _levels(level: float, times_ns: Sequence[int]) -> Amounts:
    return [level * (step * 1e-9) for step in map(sub, times_ns[1:], times_ns)]


def _clamped(at_ns: int, life: Life) -> int:
    if life.end_ns is not None:
        at_ns = min(at_ns, life.end_ns)
    return at_ns if life.begin_ns is None else max(at_ns, life.begin_ns)


def _inside(amounts: Amounts, times_ns: Sequence[int], life: Life) -> Amounts:
    """Only those of levels that were both read while the program ran."""
    return [
        amount
        if (life.started_ns is None or times_ns[at] >= life.started_ns)
        and (life.end_ns is None or times_ns[at + 1] <= life.end_ns)
        else None
        for at, amount in enumerate(amounts)
    ]
