"""Levels that change are found where they change, and noise has no levels."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.analysis.statistics.test_noise import autoregressive

from memgauge.analysis.statistics.change_points import (
    Signal,
    cuts_of,
    noise_of,
    penalty_of,
    pieces_of,
)

LEAST = 4
Noise = Callable[[random.Random, int], list[float]]


def white(rng: random.Random, length: int) -> list[float]:
    return [rng.gauss(0, 1) for _ in range(length)]


def heavy(rng: random.Random, length: int) -> list[float]:
    """Student's t with 3 degrees of freedom."""
    return [rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3) for _ in range(length)]


def drifting(rng: random.Random, length: int) -> list[float]:
    """Each value remembers half of the one before."""
    return list(accumulate(white(rng, length), lambda before, new: 0.5 * before + new))


def spiky(rng: random.Random, length: int) -> list[float]:
    """Now and then a spike, no two beside each other."""
    phase = rng.randrange(9)
    return [20.0 * (at % 9 == phase and rng.random() < 0.3) for at in range(length)]


def uneven(rng: random.Random, length: int) -> list[float]:
    """Whole ticks, as the kernel counts time."""
    return [float(rng.choice([0, 1, 1, 1, 2])) for _ in range(length)]


NOISES: list[Noise] = [white, heavy, drifting, spiky, uneven]


@pytest.mark.parametrize("noise", NOISES)
@given(seed=st.integers(0, 2**32), tracks=st.integers(1, 8), length=st.integers(0, 600))
@settings(max_examples=40, derandomize=True)  # chance makes phases once in a long while
def test_noise_has_no_phases(noise: Noise, seed: int, tracks: int, length: int) -> None:
    rng = random.Random(seed)
    signals = [
        Signal([100 * (2 + 0.1 * x) for x in noise(rng, length)], 1.0) for _ in range(tracks)
    ]
    assert pieces_of(signals, length, LEAST) == [(0, length)]


@pytest.mark.parametrize("tracks", [1, 5])
@pytest.mark.parametrize("noise", [white, heavy, drifting, uneven])
@given(st.data())
@settings(max_examples=30, derandomize=True)
def test_levels_are_found_where_they_change(tracks: int, noise: Noise, data: st.DataObject) -> None:
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    lengths = data.draw(st.lists(st.integers(24, 150), min_size=2, max_size=7))
    levels = [rng.choice([100.0, 600.0, 1500.0]) for _ in lengths]
    levels = [level + 2000 * (at % 2) for at, level in enumerate(levels)]
    clear = [level for level, length in zip(levels, lengths, strict=True) for _ in range(length)]
    first = [level + 20 * x for level, x in zip(clear, noise(rng, len(clear)), strict=True)]
    others = [[300 + 20 * x for x in noise(rng, len(clear))] for _ in range(tracks - 1)]
    found = pieces_of([Signal(values, 10.0) for values in [first, *others]], len(clear), LEAST)
    expected = list(pairwise([0, *accumulate(lengths)]))
    assert [piece[0] for piece in found] == pytest.approx([one[0] for one in expected], abs=1)


def test_a_change_in_one_of_many_tracks_is_enough() -> None:
    rng = random.Random(4)
    signals = [Signal([50 + x for x in white(rng, 400)], 1.0) for _ in range(12)]
    signals.append(Signal([10.0 if at < 130 else 90.0 for at in range(400)], 1.0))
    assert pieces_of(signals, 400, LEAST) == [(0, 130), (130, 400)]


def test_one_spike_is_no_phase_and_a_short_level_is_one() -> None:
    spike = [5.0] * 100 + [900.0] + [5.0] * 100
    assert pieces_of([Signal(spike, 1.0)], 201, LEAST) == [(0, 201)]
    level = [5.0] * 100 + [900.0] * 4 + [5.0] * 100
    assert pieces_of([Signal(level, 1.0)], 204, LEAST) == [(0, 100), (100, 104), (104, 204)]


@pytest.mark.parametrize(("change", "pieces"), [(0.05, 1), (0.2, 2)])
def test_a_change_that_no_reader_cares_for_is_none(change: float, pieces: int) -> None:
    values = [100.0] * 200 + [100.0 * (1 + change)] * 200
    assert len(pieces_of([Signal(values, 1.0)], 400, LEAST)) == pieces


def test_below_the_floor_nothing_changes() -> None:
    values = [0.0] * 50 + [9.0] * 50
    assert len(pieces_of([Signal(values, 10.0)], 100, LEAST)) == 1
    assert len(pieces_of([Signal(values, 1.0)], 100, LEAST)) == 2


def test_a_gap_is_no_change() -> None:
    values: list[float | None] = [7.0] * 50 + [None] * 60 + [7.0] * 50
    assert pieces_of([Signal(values, 0.1)], 160, LEAST) == [(0, 160)]
    assert pieces_of([Signal([None] * 160, 0.1)], 160, LEAST) == [(0, 160)]
    assert pieces_of([], 160, LEAST) == [(0, 160)]


def test_cuts_explain_more_than_any_other_single_cut() -> None:
    """Brute force over all places as the oracle."""
    rng = random.Random(8)
    values = [x + (6 if at >= 77 else 0) for at, x in enumerate(white(rng, 150))]

    def error(part: Sequence[float]) -> float:
        mean = math.fsum(part) / len(part)
        return math.fsum((x - mean) ** 2 for x in part)

    best = min(range(LEAST, 150 - LEAST), key=lambda at: error(values[:at]) + error(values[at:]))
    assert pieces_of([Signal(values, 0.1)], 150, LEAST) == [(0, best), (best, 150)]


@pytest.mark.parametrize("length", [200, 500, 2000])
def test_noise_is_that_of_the_numbers_between_changes(length: int) -> None:
    rng = random.Random(length)
    values = [3 * x + 100 * (at * 5 // length) for at, x in enumerate(white(rng, length))]
    assert noise_of(Signal(values, 0.0)) == pytest.approx(3, rel=0.35)
    assert noise_of(Signal(values, 30.0)) == 10.0


def test_more_tracks_and_places_must_explain_more() -> None:
    assert penalty_of(1, 100) < penalty_of(5, 100) < penalty_of(5, 1000)


@pytest.mark.parametrize("correlation", [0.8, 0.95])
def test_what_neighbours_share_makes_no_phases(correlation: float) -> None:
    """Ten tracks of an hour with noise of 10%: without its correlation 11 and 71 false phases."""
    rng = random.Random(17)
    for _ in range(2):
        values = [autoregressive(rng, 2000, correlation) for _ in range(10)]
        signals = [Signal([100 * (1 + 0.1 * x) for x in one], 1.0) for one in values]
        assert pieces_of(signals, 2000, LEAST) == [(0, 2000)]


@pytest.mark.parametrize(("correlation", "slack"), [(0.0, 2), (0.8, 15)])
def test_a_step_of_a_fifth_is_found_beside_noise(correlation: float, slack: int) -> None:
    rng = random.Random(18)
    for _ in range(3):
        values = [autoregressive(rng, 1000, correlation) for _ in range(10)]
        values = [[100 * (1 + 0.05 * x) for x in one] for one in values]
        values[3] = [value * (1.2 if at >= 600 else 1) for at, value in enumerate(values[3])]
        found = pieces_of([Signal(one, 1.0) for one in values], 1000, LEAST)
        assert [piece[0] for piece in found] == pytest.approx([0, 600], abs=slack)


def test_a_cut_lies_within_its_interval() -> None:
    """Noise as large as the step: the place is known to a few values only."""
    rng = random.Random(19)
    held = widths = 0
    for _ in range(60):
        values = [x + 3 * (at >= 100) for at, x in enumerate(white(rng, 200))]
        (cut,) = cuts_of([Signal([10 + value for value in values], 0.1)], 200, LEAST)
        assert cut.low <= cut.place <= cut.high
        held += cut.low <= 100 <= cut.high
        widths += cut.high - cut.low
    assert held >= 57
    assert 1 <= widths / 60 <= 4


def test_a_sharp_cut_is_known_exactly() -> None:
    values = [1.0] * 50 + [100.0] * 50
    (cut,) = cuts_of([Signal(values, 0.1)], 100, LEAST)
    assert (cut.low, cut.place, cut.high) == (50, 50, 50)


@pytest.mark.parametrize("seed", range(20))
def test_a_program_that_waits_is_a_phase_however_unevenly_the_others_run(seed: int) -> None:
    """Beside busy programs, one has one processor or half of one, for several places each."""
    rng = random.Random(seed)
    values: list[float] = []
    for busy in (True, False, True, False, True):
        while busy and len(values) % 25 < 24:
            share = rng.choice([0.5, 1.0])
            stays = min(rng.randrange(1, 8), 24 - len(values) % 25)
            values += [share + rng.gauss(0, 0.015) for _ in range(stays)]
        values += [0.001 * rng.random() for _ in range(1 if busy else 25)]
    cuts = [cut.place for cut in cuts_of([Signal(values, 0.1)], len(values), LEAST)]
    for known in (25, 50, 75, 100):
        assert min(abs(cut - known) for cut in cuts) <= 1, cuts


def test_a_track_that_keeps_still_beside_a_little_noise_has_no_phases() -> None:
    rng = random.Random(1)
    values = [0.0] * 100 + [0.02 * rng.random() for _ in range(100)] + [0.0] * 100
    assert not cuts_of([Signal(values, 0.1)], len(values), LEAST)
