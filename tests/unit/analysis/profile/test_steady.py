"""A counter that stands still counts the same, whether its file says so in no bytes or in many."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import MS, Made, gpu_power, of_process, profile, ran, reads
from tests.unit.model.storage.lanes import Sample, column, header, raw_block, write_lane

from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.windows import Rule, Window, Windows
from memgauge.model.counting.events import FULL_DUTY
from memgauge.model.run import Run

ENABLED, RUNNING, DUTY, GENERATION = 3, 4, 5, 6
COUNTERS = [
    reads(0),
    of_process(1, "used_bytes", "B"),
    reads(2, name="shared@x", event="shared", socket=1, enabled_slot=ENABLED, running_slot=RUNNING),
    reads(2, name="scaled@x", event="scaled", socket=2, duty_slot=DUTY),
    reads(2, name="reborn@x", event="reborn", socket=3, generation_slot=GENERATION),
    gpu_power(1),
]
SLOTS = 7
STILL = st.tuples(*[st.sampled_from([None, 0, 5, FULL_DUTY])] * SLOTS)
PIECE = st.tuples(st.integers(1, 6), STILL, st.booleans())
"""Readings in a row, what they read, and whether some of it moves."""


@st.composite
def lanes(draw: st.DrawFn) -> list[list[Sample]]:
    """Blocks in which most slots stand still."""
    at = 0
    blocks: list[list[Sample]] = []
    for count, values, moves in draw(st.lists(PIECE, min_size=1, max_size=8)):
        block: list[Sample] = []
        for nth in range(count):
            at += draw(st.sampled_from([MS, 10 * MS, 400 * MS, 3000 * MS]))
            step = nth if moves else 0
            read = [
                None if one is None else one + step * (slot % 2) for slot, one in enumerate(values)
            ]
            block.append([at, at, *read])
        blocks.append(block)
    return blocks


def in_bytes(values: Sequence[int | None]) -> bytes:
    """A column whose differences take a byte at least, also where all are none."""
    made = column(values)
    width, *head = struct.unpack("<BBq", made[:10])
    if width or len(values) == 1:
        return made
    return struct.pack("<BBq", 1, *head) + made[10:] + bytes(len(values) - 1)


def block_in_bytes(samples: Sequence[Sample]) -> bytes:
    return raw_block(len(samples), b"".join(map(in_bytes, zip(*samples, strict=True))))


def analysed(run: Run) -> Timeline | None:
    timeline, notes = timeline_of(run)
    assert notes == []
    return timeline


@given(lanes(), st.sampled_from([None, 0.5, 2.0]))
def test_what_stands_still_is_told_as_if_it_were_read_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[list[Sample]], ended_s: float | None
) -> None:
    directory = tmp_path_factory.getbasetemp()
    samples = [sample for block in blocks for sample in block]
    run = profile(directory, Made(COUNTERS, samples, MS, slots=SLOTS), process=ran(ended_s))
    found = []
    for encode in (None, block_in_bytes):
        path = directory / "fast.lane"
        if encode is None:
            path.write_bytes(header(SLOTS + 2))
            for block in blocks:
                write_lane(directory / "one.lane", block, SLOTS)
                one = (directory / "one.lane").read_bytes()[len(header(SLOTS + 2)) :]
                path.write_bytes(path.read_bytes() + one)
        else:
            path.write_bytes(header(SLOTS + 2) + b"".join(map(encode, blocks)))
        found.append(analysed(run))
    still, moving = found
    if still is None or moving is None:
        assert still is moving
        return
    assert (still.begin_ns, still.end_ns, still.bins) == (
        moving.begin_ns,
        moving.end_ns,
        moving.bins,
    )
    for mine, other in zip(still.tracks, moving.tracks, strict=True):
        assert mine.track == other.track
        assert mine.sums == pytest.approx(other.sums, rel=1e-9, abs=1e-9)
        assert mine.covered_s == pytest.approx(other.covered_s, rel=1e-9, abs=1e-9)
        assert (mine.estimates, mine.went_back) == (other.estimates, other.went_back)


@given(
    st.lists(
        st.tuples(st.integers(1, 400), st.sampled_from([0.0, 3.0, 50.0, None]), st.booleans()),
        min_size=1,
        max_size=10,
    ),
    st.sampled_from([Rule(step=1.0), Rule(step=1.0, most_per_s=2.0), Rule(step=1.0, least_s=0.02)]),
)
def test_windows_of_nothing_hold_what_readings_of_nothing_do(
    pieces: list[tuple[int, float | None, bool]], rule: Rule
) -> None:
    """Each piece: readings of 10 ms, what the first of them counted, whether the rest is known."""
    found: list[list[Window]] = []
    for at_once in (False, True):
        windows = Windows(rule)
        reported: list[Window] = []
        at = 0
        for count, first, known in pieces:
            reported += windows.take([at, at + 10 * MS], [first], [0.01])
            at += 10 * MS
            times = [at + nth * 10 * MS for nth in range(count + 1)]
            if at_once:
                elapsed_s = [nth * 0.01 for nth in range(count + 1)]
                reported += windows.take_steady(0.0 if known else None, times, elapsed_s)
            else:
                reported += windows.take(times, [0.0 if known else None] * count, [0.01] * count)
            at = times[-1]
        reported += windows.rest()
        found.append(reported)
    for reported in found:
        assert all(early.end_ns <= late.begin_ns for early, late in pairwise(reported))
        assert all(rule.can_be(window) for window in reported)
        held = {rule.holds(window) for window in reported}
        assert len(held) < 2, "short windows are told only where no window holds"
    if rule.most_per_s is None:  # else what there cannot be is left out, here or there
        one_by_one, at_once_ = (sum(window.amount for window in reported) for reported in found)
        assert at_once_ == pytest.approx(one_by_one)


def test_no_work_is_done_for_readings_of_one_rate() -> None:
    """A million readings over which nothing was counted are one window."""
    times = range(0, 1_000_001 * MS, MS)
    elapsed_s = [at * 1e-9 for at in times]
    windows = Windows(Rule(step=1.0))
    assert list(windows.take_steady(0.0, times, elapsed_s)) == []
    (only,) = windows.rest()
    assert (only.begin_ns, only.end_ns, only.amount) == (0, times[-1], 0.0)


def test_counters_alone_tell_when_they_stand_still(tmp_path: Path) -> None:
    """The page says zero, and not nothing."""
    samples: list[Sample] = [[at * 10 * MS, at * 10 * MS, 7] for at in range(500)]
    timeline = analysed(profile(tmp_path, Made([reads(0)], samples)))
    assert timeline is not None
    (traced,) = timeline.tracks
    assert set(timeline.values(traced)) == {0.0}
    assert traced.known_s == pytest.approx(4.99)
