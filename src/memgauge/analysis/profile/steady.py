"""Counters that stand still over a whole block of readings, and so go on at one rate.

A file holds such readings in no bytes at all. They are represented by one rate, so that they cost
no time either: the work on a file is bounded by its size, whoever wrote it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import msgspec

from memgauge.model.counting.back_ends import entry_of
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.counting.readings import stretch_of, waits
from memgauge.model.storage.lane_file import FIRST_SLOT, Block


class SlotColumn(msgspec.Struct, frozen=True):
    """The values of one slot; one value stands for all where they are constant or all missing."""

    values: array[int]
    present: list[bool] | None
    is_one: bool = False
    """All values are alike, or none of them could be read."""

    @property
    def is_missing(self) -> bool:
        """Whether none of the values could be read."""
        return self.present is not None and not any(self.present)

    def first(self) -> SlotColumn:
        """The first value alone."""
        present = None if self.present is None else self.present[:1]
        return SlotColumn(self.values[:1], present, is_one=True)

    def then(self, other: SlotColumn) -> SlotColumn:
        """The values of two, one after the other."""
        values = self.values + other.values
        if self.present is None and other.present is None:
            return SlotColumn(values, None)
        there = [one.present or [True] * len(one.values) for one in (self, other)]
        return SlotColumn(values, [*there[0], *there[1]])

    def last(self) -> SlotColumn:
        """The last value alone."""
        present = None if self.present is None else self.present[-1:]
        return SlotColumn(self.values[-1:], present, is_one=True)

    def spread(self, count: int) -> SlotColumn:
        """All values one by one."""
        if not self.is_one:
            return self
        present = None if self.present is None else self.present * count
        return SlotColumn(self.values * count, present)

    def goes_on(self, before: SlotColumn) -> bool:
        """Whether it is constant and stays what the last value before was."""
        return self.is_one and self.values == before.values and self.present == before.present


class Steady(msgspec.Struct, frozen=True):
    """How a counter goes on all the time."""

    rate: float | None
    """In its unit a second, or a gauge's level; None: not known."""
    is_estimate: bool = False


UNKNOWN = Steady(None)


def slot_column(block: Block, slot: int) -> SlotColumn:
    """The column of a slot, decoded only where its values differ."""
    at = FIRST_SLOT + slot
    constant = block.constant(at)
    if constant is not None:
        return SlotColumn(array("q", [constant]), None, is_one=True)
    if block.is_missing(at):
        return SlotColumn(array("q", [0]), [False], is_one=True)
    return SlotColumn(block.values(at), block.present(at))


def steady_of(counter: Counter, columns: Mapping[int, SlotColumn]) -> Steady | None:
    """How a counter goes on; None: what it counted has to be looked at reading by reading."""
    column = columns[counter.slot]
    if not column.is_one:
        return None
    if column.is_missing:
        return UNKNOWN
    if counter.gauge:
        level = column.values[0]
        gone = entry_of(counter.back_end).none_when_ended and not level
        return UNKNOWN if gone else Steady(level * counter.scale)
    return _of_count(counter, columns)


def _of_count(counter: Counter, columns: Mapping[int, SlotColumn]) -> Steady | None:
    """Nothing was counted, if it was in one generation and counted for some of the time."""
    ran = _ran(counter, columns)
    generation = _column(counter.generation_slot, columns)
    duty = _column(counter.duty_slot, columns)
    if ran is None or not all(one is None or one.is_one for one in (generation, duty)):
        return None
    if not ran or (generation is not None and generation.is_missing):
        return UNKNOWN
    full = duty is None or (not duty.is_missing and duty.values[0] == FULL_DUTY)
    return Steady(0.0, is_estimate=not full)


def _ran(counter: Counter, columns: Mapping[int, SlotColumn]) -> bool | None:
    """Whether it was always counting, or never; None: that changed."""
    enabled = _column(counter.enabled_slot, columns)
    running = _column(counter.running_slot, columns)
    if enabled is None or running is None:
        return True
    if enabled.is_missing or running.is_missing:
        return False
    if enabled.is_one and running.is_one:
        return stretch_of(0, 0, waits=waits(counter)) is not None
    return False if running.is_one and not waits(counter) else None


def _column(slot: int | None, columns: Mapping[int, SlotColumn]) -> SlotColumn | None:
    return None if slot is None else columns[slot]
