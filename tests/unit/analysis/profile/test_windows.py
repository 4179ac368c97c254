"""Least and most say what the program did, not how its counter moves."""

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    S,
    cpu_time,
    energy,
    of_process,
    profile,
    reads,
)
from tests.unit.model.storage.lanes import Sample

from memgauge.analysis.profile.tables import tracks_table
from memgauge.analysis.profile.timeline import Traced, timeline_of
from memgauge.model.counting.events import Counter

TICK_NS = 10 * MS


def uneven(rng: random.Random, interval_ns: int, until_ns: int) -> list[int]:
    """Stamps as a busy machine gives them: late ones, and then short intervals."""
    regular = range(interval_ns, until_ns, interval_ns)
    late = [at + rng.choice([0, 0, 0, rng.randrange(interval_ns)]) for at in regular]
    return [0, *late, until_ns]


def quantised(stamps: list[int], per_s: float, step: int, phase: float) -> list[Sample]:
    """A counter of constant rate that moves in steps."""
    raw = [int((at * 1e-9 * per_s + phase * step) // step) * step for at in stamps]
    return [[at, at, value] for at, value in zip(stamps, raw, strict=True)]


def traced(directory: Path, samples: list[Sample], counter: Counter) -> Traced:
    interval_ns = max(MS, (samples[1][0] or 0) - (samples[0][0] or 0))
    timeline, notes = timeline_of(profile(directory, Made([counter], samples, interval_ns)))
    assert timeline is not None
    assert notes == []
    return timeline.tracks[0]


def extremes(one: Traced) -> tuple[float, float]:
    low = [value for value in one.low if value is not None]
    high = [value for value in one.high if value is not None]
    return min(low), max(high)


@given(st.integers(), st.floats(0.02, 2.0), st.sampled_from([MS, 10 * MS, 20 * MS]))
def test_the_most_of_a_constant_rate_in_ticks_is_the_rate(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cores: float, interval_ns: int
) -> None:
    """User time comes in ticks of 10 ms: within a tenth, or what a tick is in a second."""
    rng = random.Random(seed)
    stamps = uneven(rng, interval_ns, 4 * S)
    samples = quantised(stamps, cores * S, TICK_NS, rng.random())
    low, high = extremes(traced(tmp_path_factory.getbasetemp(), samples, cpu_time(0)))
    # A window also ends up to an interval late at both ends.
    most_s = max(b - a for a, b in itertools.pairwise(stamps)) * 1e-9
    within = max(0.01, (0.1 + most_s / 0.05) * cores)
    assert cores - within <= low <= high <= cores + within


@given(st.integers(), st.floats(0.5, 300.0))
def test_the_most_of_rare_events_is_told_by_ten_or_by_the_second(
    tmp_path_factory: pytest.TempPathFactory, seed: int, per_s: float
) -> None:
    rng = random.Random(seed)
    samples = quantised(uneven(rng, 10 * MS, 5 * S), per_s, 1, rng.random())
    migrations = of_process(0, "migrations")
    _, high = extremes(traced(tmp_path_factory.getbasetemp(), samples, migrations))
    assert high <= per_s * 1.5 + 1.01


@given(st.integers())
def test_processor_time_is_never_more_than_the_processors_can_do(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Whatever jumps there are; the system of these runs has its CPUs in the record."""
    rng = random.Random(seed)
    stamps = uneven(rng, 20 * MS, 3 * S)
    samples: list[Sample] = []
    raw = 0
    for at in stamps:
        samples.append([at, at, raw])
        raw += rng.choice([0, 0, TICK_NS, 5 * TICK_NS, 40 * TICK_NS])
    run = profile(tmp_path_factory.getbasetemp(), Made([cpu_time(0)], samples, 20 * MS))
    timeline, _ = timeline_of(run)
    assert timeline is not None
    cpus = len(run.start.system.cpus)
    assert all(high <= cpus * (1 + 1e-9) for high in timeline.tracks[0].high if high is not None)
    assert timeline.tracks[0].total(0, timeline.bins) == pytest.approx((samples[-1][2] or 0) * 1e-9)


def test_one_event_in_a_short_interval_is_no_rate(tmp_path: Path) -> None:
    """As once printed: 808 migrations a second, by one in 1.2 ms."""
    stamps = [0, *(at * 10 * MS + (9 * MS if at == 50 else 0) for at in range(1, 301))]
    samples: list[Sample] = [[at, at, 1 if at > 509 * MS else 0] for at in stamps]
    low, high = extremes(traced(tmp_path, samples, of_process(0, "migrations")))
    assert low == 0
    assert 0 < high <= 1


def test_a_burst_of_many_events_stays_visible(tmp_path: Path) -> None:
    samples: list[Sample] = [
        [at * 10 * MS, at * 10 * MS, 0 if at < 200 else 400 * (min(at, 205) - 199)]
        for at in range(401)
    ]
    low, high = extremes(traced(tmp_path, samples, of_process(0, "page_faults")))
    assert low == 0
    assert high == pytest.approx(40_000.0)


def test_a_busy_counter_is_told_by_the_interval(tmp_path: Path) -> None:
    samples: list[Sample] = [[0, 0, 0], [MS, MS, 100], [2 * MS, 2 * MS, 400]]
    assert extremes(traced(tmp_path, samples, reads(0))) == (100 * 64e3, 300 * 64e3)


def test_energy_is_told_over_ten_of_its_refreshes(tmp_path: Path) -> None:
    """RAPL moves each ms: at 1 kHz an interval holds none, one or two."""
    raw = 0
    samples: list[Sample] = []
    for at in range(1000):
        raw += (0, 20_000)[at % 2]
        samples.append([at * MS, at * MS, raw])
    low, high = extremes(traced(tmp_path, samples, energy(0)))
    assert low == pytest.approx(10.0, rel=0.11)
    assert high == pytest.approx(10.0, rel=0.11)


def test_what_is_too_short_for_a_window_is_told_as_it_is(tmp_path: Path) -> None:
    samples: list[Sample] = [[0, 0, 0], [10 * MS, 10 * MS, 1], [20 * MS, 20 * MS, 2]]
    assert extremes(traced(tmp_path, samples, reads(0))) == (6400.0, 6400.0)


def test_windows_end_at_gaps(tmp_path: Path) -> None:
    samples: list[Sample] = [
        [at * 100 * MS, at * 100 * MS, None if 20 <= at < 30 else at] for at in range(51)
    ]
    one = traced(tmp_path, samples, of_process(0, "migrations"))
    assert one.high[25] is None
    assert one.even[25] is None
    assert extremes(one) == pytest.approx((10.0, 10.0))


def test_the_note_says_the_window(tmp_path: Path) -> None:
    samples: list[Sample] = [[0, 0, 0], [10 * MS, 10 * MS, 100]]
    timeline, _ = timeline_of(profile(tmp_path, Made([reads(0)], samples)))
    assert timeline is not None
    note = tracks_table(timeline).note
    assert note is not None
    assert "ten 10 ms ticks" in note
    assert "a second" in note
