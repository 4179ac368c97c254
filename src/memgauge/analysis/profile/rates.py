"""What each track counted between every two readings of a lane that follow each other.

Differences of raw counts, scaled afterwards, over the time that really lay between the middles of
the two readings. A value that is missing leaves a gap, and so does a counter that stands below what
it was though it does not wrap, or that began anew, for its device or daemon was set back. What a
shared counter counted is scaled by its enabled over its running time and is an estimate, as is what
its keeper has scaled. A gauge is taken as the mean of its levels at both readings. All of it one
block at a time, in constant memory. What stands still over a block is represented by one rate: a
file holds such readings in no bytes, so they must cost no time either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import add, mul, sub

import msgspec

from memgauge.analysis.profile.steady import SlotColumn, slot_column, steady_of
from memgauge.analysis.profile.tracks import Track
from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.counting.readings import stretch_of, waits
from memgauge.model.errors import RunFileError
from memgauge.model.storage.lane_file import BEGIN, END, Block, LaneBlocks

Amounts = Sequence[float | None]
"""In the counter's unit (a gauge's: unit times seconds) between readings; None: not known."""


class Stretch(msgspec.Struct, frozen=True):
    """Readings that follow each other; the first is the last one of the stretch before."""

    times_ns: list[int]
    """Middle of each reading, rising."""
    amounts: dict[str, Amounts]
    """By name of track; one fewer than times. Of tracks that are not steady."""
    steady: dict[str, float | None]
    """Of the other tracks, whose counters stand still: the rate at which each goes on all the time,
    in its unit; None: not known."""
    estimated: dict[str, int]
    """How many of a track's amounts are estimates."""
    went_back: dict[str, int]
    """How often a counter of the track stood below what it was, or began anew."""


class _Part(msgspec.Struct, frozen=True):
    """Readings that follow each other, by slot."""

    times_ns: list[int]
    columns: dict[int, SlotColumn]


def stretches(reader: LaneBlocks, tracks: Sequence[Track]) -> Iterator[Stretch]:
    """The stretches of a lane; what cannot be used is said in `reader.notes`."""
    slots = _slots(tracks)
    before: _Part | None = None
    for times_ns, block in ordered_blocks(reader):
        try:
            own = _Part(times_ns, {slot: slot_column(block, slot) for slot in slots})
        except RunFileError as error:
            reader.note(f"a block was left out: {error}")
            continue
        for part in (own,) if before is None else _joined(before, own):
            if len(part.times_ns) > 1:
                yield _stretch(part, tracks)
        before = _Part(times_ns[-1:], {slot: one.last() for slot, one in own.columns.items()})


def ordered_blocks(reader: LaneBlocks) -> Iterator[tuple[list[int], Block]]:
    """Blocks whose readings follow each other in time, with the middle of each reading."""
    last_ns: int | None = None
    for block in reader.blocks():
        try:
            begins, ends = block.values(BEGIN), block.values(END)
        except RunFileError as error:
            reader.note(f"a block was left out: {error}")
            continue
        times = [(begin + end) >> 1 for begin, end in zip(begins, ends, strict=True)]
        ahead = times if last_ns is None else [last_ns, *times]
        if min(map(sub, ahead[1:], ahead), default=1) < 1:
            reader.note("a block was left out: its stamps run backwards")
            continue
        last_ns = times[-1]
        yield times, block


def _slots(tracks: Sequence[Track]) -> set[int]:
    return {slot for track in tracks for counter in track.counters for slot in counter.slots}


def _joined(last: _Part, own: _Part) -> tuple[_Part, ...]:
    """The last reading of the block before and those of this one.

    Where a counter moved between the blocks and stands still in this one, in two parts, so that it
    stands still in the second.
    """
    if any(one.is_one and not one.goes_on(last.columns[slot]) for slot, one in own.columns.items()):
        first = _Part(own.times_ns[:1], {slot: one.first() for slot, one in own.columns.items()})
        return (_together(last, first), own)
    return (_together(last, own),)


def _together(one: _Part, other: _Part) -> _Part:
    readings = len(other.times_ns)
    columns = {
        slot: column
        if column.goes_on(one.columns[slot])
        else one.columns[slot].then(column.spread(readings))
        for slot, column in other.columns.items()
    }
    return _Part([*one.times_ns, *other.times_ns], columns)


def _stretch(part: _Part, tracks: Sequence[Track]) -> Stretch:
    seconds = [gap * 1e-9 for gap in map(sub, part.times_ns[1:], part.times_ns)]
    counting = _Counting(part.columns, seconds)
    made = Stretch(part.times_ns, amounts={}, steady={}, estimated={}, went_back={})
    for track in tracks:
        counting.take(track, made)
    return made


class _Counting:
    """What the tracks of a lane counted in one stretch."""

    def __init__(self, columns: Mapping[int, SlotColumn], seconds: Sequence[float]) -> None:
        self._columns = columns
        self._seconds = seconds
        self._factors: dict[tuple[int, int], list[float | None] | None] = {}

    def take(self, track: Track, made: Stretch) -> None:
        found = [(counter, steady_of(counter, self._columns)) for counter in track.counters]
        rates = [steady.rate for _, steady in found if steady is not None]
        rate = None if None in rates else sum(filter(None, rates))
        estimated = any(steady is not None and steady.is_estimate for _, steady in found)
        made.estimated[track.name] = len(self._seconds) if estimated else 0
        moving = [counter for counter, steady in found if steady is None]
        if not moving or rate is None:
            made.steady[track.name] = rate
            return
        parts = [self._part(counter, track.name, made) for counter in moving]
        if rate:
            parts.append(list(map(rate.__mul__, self._seconds)))
        made.amounts[track.name] = parts[0] if len(parts) == 1 else _sum(parts)

    def _part(self, counter: Counter, name: str, made: Stretch) -> Amounts:
        """Of one counter, which is looked at reading by reading."""
        part, back = _counted(counter, self._spread(counter.slot), self._seconds)
        factors = self._factors_of(counter)
        if factors is not None:
            part = [_product(one, factor) for one, factor in zip(part, factors, strict=True)]
            more = sum(1 for factor in factors if factor is not None and factor > 1)
            made.estimated[name] = max(made.estimated[name], more)
        if counter.generation_slot is not None:
            part, renewed = _in_one_generation(part, self._spread(counter.generation_slot))
            back += renewed
        if counter.duty_slot is not None:
            more = _extrapolated(part, self._spread(counter.duty_slot))
            made.estimated[name] = max(made.estimated[name], more)
        made.went_back[name] = made.went_back.get(name, 0) + back
        return part

    def _spread(self, slot: int) -> SlotColumn:
        return self._columns[slot].spread(len(self._seconds) + 1)

    def _factors_of(self, counter: Counter) -> list[float | None] | None:
        """Enabled over running time between readings; None: the counter always ran."""
        if counter.enabled_slot is None or counter.running_slot is None:
            return None
        key = (counter.enabled_slot, counter.running_slot)
        if key not in self._factors:
            enabled, running = map(self._spread, key)
            self._factors[key] = _ratios(enabled, running, waits=waits(counter))
        return self._factors[key]


def _counted(counter: Counter, column: SlotColumn, seconds: Sequence[float]) -> tuple[Amounts, int]:
    """Amounts, and how often the counter went back."""
    values = column.values
    if counter.gauge:
        half = counter.scale / 2
        levels = map(half.__mul__, map(add, values[1:], values))
        amounts = _with_gaps(list(map(mul, levels, seconds)), column.present)
        none_when_ended = entry_of(counter.back_end).none_when_ended
        return _of_living(amounts, values) if none_when_ended else amounts, 0
    steps = list(map(sub, values[1:], values))
    if column.present is None and min(steps) >= 0:
        return list(map(counter.scale.__mul__, steps)), 0
    there = _with_gaps(steps, column.present)
    known = [None if step is None else _unwrapped(step, counter.wraps_at) for step in there]
    back = known.count(None) - there.count(None)
    return [None if step is None else step * counter.scale for step in known], back


def _of_living(amounts: Amounts, levels: Sequence[int]) -> Amounts:
    """Processes, threads and memory of a tree are none only when it has ended."""
    return amounts if all(levels) else _with_gaps(amounts, list(map(bool, levels)))


def _unwrapped(step: float, wraps_at: int | None) -> float | None:
    """Across a wrap. One that would have to be longer than half its range was a restart."""
    if step >= 0:
        return step
    if wraps_at is None or step + wraps_at > wraps_at // 2 or step + wraps_at < 0:
        return None
    return step + wraps_at


def _with_gaps(amounts: Amounts, present: Sequence[bool] | None) -> Amounts:
    if present is None or all(present):
        return amounts
    return [
        amount if before and after else None
        for amount, before, after in zip(amounts, present, present[1:], strict=False)
    ]


def _in_one_generation(amounts: Amounts, generation: SlotColumn) -> tuple[Amounts, int]:
    """Without those over which the counter began anew, and how many these are."""
    kept = [
        amount if early == late else None
        for amount, (early, late) in zip(amounts, pairwise(generation.values), strict=True)
    ]
    return _with_gaps(kept, generation.present), kept.count(None) - list(amounts).count(None)


def _extrapolated(amounts: Amounts, duty: SlotColumn) -> int:
    """How many amounts their keeper had scaled up, or may have."""
    there = duty.present or [True] * len(duty.values)
    late = zip(amounts, duty.values[1:], there[1:], strict=True)
    return sum(1 for one, of, known in late if one is not None and (of != FULL_DUTY or not known))


def _ratios(enabled: SlotColumn, running: SlotColumn, *, waits: bool) -> list[float | None] | None:
    whole = list(map(sub, enabled.values[1:], enabled.values))
    parts = list(map(sub, running.values[1:], running.values))
    least = 0 if waits else 1
    all_there = enabled.present is None and running.present is None
    if whole == parts and all_there and min(parts) >= least:
        return None
    ratios: Amounts = [
        stretch_of(enabled_ns, running_ns, waits=waits)
        for enabled_ns, running_ns in zip(whole, parts, strict=True)
    ]
    return list(_with_gaps(_with_gaps(ratios, enabled.present), running.present))


def _product(amount: float | None, factor: float | None) -> float | None:
    return None if amount is None or factor is None else amount * factor


def _sum(parts: Sequence[Amounts]) -> Amounts:
    """Of all counters of a track: where one is not known, the sum is not."""
    try:
        return list(map(sum, zip(*parts, strict=True)))
    except TypeError:
        return [
            None if None in amounts else sum(amount for amount in amounts if amount is not None)
            for amounts in zip(*parts, strict=True)
        ]
