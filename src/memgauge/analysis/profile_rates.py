"""What each track counted between every two readings of a lane that follow each other.

Differences of raw counts, scaled afterwards, over the time that really lay between the middles of
the two readings. A value that is missing leaves a gap, and so does a counter that stands below what
it was though it does not wrap, or that began anew, for its device or daemon was set back. What a
shared counter counted is scaled by its enabled over its running time and is an estimate, as is what
its keeper has scaled. A gauge is taken as the mean of
its levels at both readings. All of it one block at a time, in constant memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import add, mul, sub

import msgspec

from memgauge.analysis.profile_tracks import Track
from memgauge.model.counters import FULL_DUTY, Counter
from memgauge.model.errors import RunFileError
from memgauge.model.readings import stretch_of, waits
from memgauge.model.timeline import BEGIN, END, FIRST_SLOT, Block, LaneReader

Amounts = Sequence[float | None]
"""In the counter's unit (a gauge's: unit times seconds) between readings; None: not known."""


class Stretch(msgspec.Struct, frozen=True):
    """Readings that follow each other; the first is the last one of the stretch before."""

    times_ns: list[int]
    """Middle of each reading, rising."""
    amounts: dict[str, Amounts]
    """By name of track; one fewer than times."""
    estimated: Mapping[str, int]
    """How many of a track's amounts are estimates."""
    went_back: Mapping[str, int]
    """How often a counter of the track stood below what it was, or began anew."""


class _Column(msgspec.Struct, frozen=True):
    values: array[int]
    present: list[bool] | None


def stretches(reader: LaneReader, tracks: Sequence[Track]) -> Iterator[Stretch]:
    """The stretches of a lane; what cannot be used is said in `reader.notes`."""
    before: dict[int, _Column] = {}
    last_ns: int | None = None
    for times_ns, block in ordered_blocks(reader):
        slots = _slots(tracks)
        try:
            own = {slot: _column(block, slot) for slot in slots}
        except RunFileError as error:
            reader.notes.append(f"a block was left out: {error}")
            continue
        columns = {slot: _joined(before.get(slot), own[slot]) for slot in slots}
        times = times_ns if last_ns is None else [last_ns, *times_ns]
        before = {slot: _last(column) for slot, column in own.items()}
        last_ns = times_ns[-1]
        if len(times) > 1:
            yield _stretch(times, columns, tracks)


def ordered_blocks(reader: LaneReader) -> Iterator[tuple[list[int], Block]]:
    """Blocks whose readings follow each other in time, with the middle of each reading."""
    last_ns: int | None = None
    for block in reader.blocks():
        try:
            begins, ends = block.values(BEGIN), block.values(END)
        except RunFileError as error:
            reader.notes.append(f"a block was left out: {error}")
            continue
        times = [(begin + end) >> 1 for begin, end in zip(begins, ends, strict=True)]
        ahead = times if last_ns is None else [last_ns, *times]
        if min(map(sub, ahead[1:], ahead), default=1) < 1:
            reader.notes.append("a block was left out: its stamps run backwards")
            continue
        last_ns = times[-1]
        yield times, block


def _slots(tracks: Sequence[Track]) -> set[int]:
    return {slot for track in tracks for counter in track.counters for slot in counter.slots}


def _column(block: Block, slot: int) -> _Column:
    return _Column(block.values(FIRST_SLOT + slot), block.present(FIRST_SLOT + slot))


def _last(column: _Column) -> _Column:
    return _Column(column.values[-1:], column.present[-1:] if column.present else None)


def _joined(before: _Column | None, own: _Column) -> _Column:
    if before is None:
        return own
    if before.present is None and own.present is None:
        return _Column(before.values + own.values, None)
    there = [before.present or [True] * len(before.values), own.present or [True] * len(own.values)]
    return _Column(before.values + own.values, [*there[0], *there[1]])


def _stretch(times: list[int], columns: Mapping[int, _Column], tracks: Sequence[Track]) -> Stretch:
    amounts: dict[str, Amounts] = {}
    estimated: dict[str, int] = {}
    went_back: dict[str, int] = {}
    seconds = [gap * 1e-9 for gap in map(sub, times[1:], times)]
    stretched: dict[tuple[int, int], list[float | None] | None] = {}
    for track in tracks:
        parts: list[Amounts] = []
        for counter in track.counters:
            part, back = _counted(counter, columns[counter.slot], seconds)
            factors = _factors(counter, columns, stretched)
            if factors is not None:
                part = [_product(one, factor) for one, factor in zip(part, factors, strict=True)]
                more = sum(1 for factor in factors if factor is not None and factor > 1)
                estimated[track.name] = max(estimated.get(track.name, 0), more)
            if counter.generation_slot is not None:
                part, renewed = _in_one_generation(part, columns[counter.generation_slot])
                back += renewed
            if counter.duty_slot is not None:
                more = _extrapolated(part, columns[counter.duty_slot])
                estimated[track.name] = max(estimated.get(track.name, 0), more)
            went_back[track.name] = went_back.get(track.name, 0) + back
            parts.append(part)
        amounts[track.name] = parts[0] if len(parts) == 1 else _sum(parts)
    return Stretch(times, amounts, estimated, went_back)


def _counted(counter: Counter, column: _Column, seconds: Sequence[float]) -> tuple[Amounts, int]:
    """Amounts, and how often the counter went back."""
    values = column.values
    if counter.gauge:
        half = counter.scale / 2
        levels = map(half.__mul__, map(add, values[1:], values))
        amounts = _with_gaps(list(map(mul, levels, seconds)), column.present)
        return _of_living(amounts, values) if counter.back_end == "proc" else amounts, 0
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


def _in_one_generation(amounts: Amounts, generation: _Column) -> tuple[Amounts, int]:
    """Without those over which the counter began anew, and how many these are."""
    kept = [
        amount if early == late else None
        for amount, (early, late) in zip(amounts, pairwise(generation.values), strict=True)
    ]
    return _with_gaps(kept, generation.present), kept.count(None) - list(amounts).count(None)


def _extrapolated(amounts: Amounts, duty: _Column) -> int:
    """How many amounts their keeper had scaled up, or may have."""
    there = duty.present or [True] * len(duty.values)
    late = zip(amounts, duty.values[1:], there[1:], strict=True)
    return sum(1 for one, of, known in late if one is not None and (of != FULL_DUTY or not known))


def _factors(
    counter: Counter,
    columns: Mapping[int, _Column],
    known: dict[tuple[int, int], list[float | None] | None],
) -> list[float | None] | None:
    """Enabled over running time between readings; None: the counter always ran."""
    if counter.enabled_slot is None or counter.running_slot is None:
        return None
    key = (counter.enabled_slot, counter.running_slot)
    if key not in known:
        known[key] = _ratios(columns[key[0]], columns[key[1]], waits=waits(counter))
    return known[key]


def _ratios(enabled: _Column, running: _Column, *, waits: bool) -> list[float | None] | None:
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
