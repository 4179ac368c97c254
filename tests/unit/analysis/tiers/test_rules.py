import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from tests.unit.analysis.published import alone

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.tiers import rules
from memgauge.analysis.tiers.rules import Tolerated, tolerated, winners

shape_of = partial(rules.shape_of, guess=True)
noise_of = partial(rules.noise_of, guess=True)
best_splits = partial(rules.best_splits, guess=True)


def bare(values: Sequence[float], first: int = 0) -> list[tuple[int, Estimate]]:
    """Without intervals, as published."""
    return [(k, alone(value)) for k, value in enumerate(values, start=first)]


def known(values: Sequence[float], share: float = 0.002) -> list[tuple[int, Estimate]]:
    """With intervals of plus and minus a share."""
    return [
        (k, Estimate(value, value * (1 - share), value * (1 + share)))
        for k, value in enumerate(values)
    ]


def curve(rng: random.Random, shape: Callable[[int], float], sigma: float) -> list[float]:
    return [60 * shape(k) * rng.gauss(1, sigma) for k in range(17)]


def level(_: int) -> float:
    return 1.0


def falling(k: int) -> float:
    return 1.0 - 0.02 * max(0, k - 8)


def risen(k: int) -> float:
    """Rises to a half more at eight threads, and falls from there."""
    return 1.0 + 0.0625 * k if k <= 8 else 1.5 - 0.03 * (k - 8)


@pytest.mark.parametrize("with_intervals", [False, True])
@pytest.mark.parametrize("sigma", [0.001, 0.005, 0.01])
def test_a_level_sum_with_noise_seldom_falls(sigma: float, with_intervals: bool) -> None:
    rng = random.Random(1)
    curves = [curve(rng, level, sigma) for _ in range(400)]
    kinds = Counter(
        shape_of(known(one, 1.96 * sigma) if with_intervals else bare(one)).kind for one in curves
    )
    assert kinds["falls"] <= 0.05 * len(curves)
    assert kinds["level"] >= 0.8 * len(curves)


@pytest.mark.parametrize(("shape", "first"), [(falling, 9), (risen, 10)])
@pytest.mark.parametrize("sigma", [0.0, 0.001, 0.003])
def test_a_fall_is_found_where_it_begins(
    shape: Callable[[int], float], first: int, sigma: float
) -> None:
    rng = random.Random(2)
    starts = Counter(
        found.start
        for _ in range(200)
        if (found := shape_of(bare(curve(rng, shape, sigma))).fall) is not None
    )
    assert starts.total() == 200
    assert starts[first] >= 0.9 * 200
    assert set(starts) <= {first - 1, first, first + 1}


def test_more_noise_finds_a_fall_later_and_not_earlier() -> None:
    rng = random.Random(3)
    starts = [
        found.start
        for _ in range(200)
        if (found := shape_of(bare(curve(rng, falling, 0.02))).fall) is not None
    ]
    assert sum(start < 8 for start in starts) < 0.1 * len(starts)


def test_what_falls_from_the_first_thread_on_says_so_and_how_deep() -> None:
    fall = shape_of(known([64.0, 48.0, 36.0, 32.0])).fall
    assert fall is not None
    assert (fall.start, fall.level, fall.at_start) == (1, 64.0, 0.25)
    assert (fall.deepest, fall.deepest_at) == (0.5, 3)


def test_a_dip_that_recovers_is_no_fall() -> None:
    assert shape_of(known([60, 60, 50, 60, 60, 60])).kind == "holds"
    assert shape_of(known([60, 62, 65, 70, 72, 72])).kind == "holds"


def test_less_than_one_per_cent_matters_to_nobody() -> None:
    assert shape_of(known([60.0] * 4 + [59.5] * 4, 0.0001)).kind == "level"
    assert shape_of(known([60.0] * 4 + [59.3] * 4, 0.0001)).kind == "falls"


def test_too_few_or_too_noisy_sums_tell_nothing() -> None:
    assert shape_of([]).kind == "not known"
    assert shape_of(known([60, 30])).kind == "not known"
    assert shape_of(bare([60, 50, 40, 30])).kind == "not known"
    assert shape_of(known([60, 59, 61, 60], 0.2)).kind == "not known"
    mixed = [*known([60, 59]), *bare([58, 57, 40], first=2)]
    assert shape_of(mixed).kind == "not known", "most have no interval"
    assert noise_of(mixed) is None


def test_a_sum_without_an_interval_makes_no_fall_alone() -> None:
    assert shape_of([*known([60, 60, 60, 60]), (4, alone(40))]).kind == "holds"
    first = shape_of([*known([60, 60, 60]), (3, alone(40)), (4, Estimate(40, 39.9, 40.1))]).fall
    assert first is not None
    assert first.start == 3


def test_noise_of_measured_sums_is_never_guessed() -> None:
    sums = bare([60.0, 59.9, 60.1, 60.0, 30.0, 29.0])
    assert shape_of(sums).kind == "falls"
    assert rules.shape_of(sums, guess=False).kind == "not known"
    assert rules.best_splits(sums, guess=False) is None


def test_noise_is_that_of_the_intervals_else_of_second_differences() -> None:
    reported = noise_of(known([50, 60, 70], 0.0196))
    assert reported is not None
    assert reported.share == pytest.approx(0.01, rel=1e-4)
    assert not reported.guessed
    straight = noise_of(bare([60 - k for k in range(8)]))
    assert straight is not None
    assert straight.share == pytest.approx(0, abs=1e-12)
    assert straight.guessed
    rng = random.Random(4)
    guesses = [noise_of(bare(curve(rng, falling, 0.01))) for _ in range(300)]
    assert sum(one.share for one in guesses if one) / 300 == pytest.approx(0.01, rel=0.15)


def test_splits_need_not_be_even() -> None:
    sums = [(k, alone(70.0 - k)) for k in (0, 1, 2, 4, 8, 12, 15)]
    noise = noise_of(sums)
    assert noise is not None
    assert noise.share == pytest.approx(0, abs=1e-12)


def test_the_best_split_and_those_like_it() -> None:
    assert best_splits(known([50, 60.0, 59.95, 58], 0.002)) == (1, [2])
    assert best_splits(bare([50, 60, 59, 58, 57])) == (1, [])
    assert best_splits([]) is None


def test_a_sum_beats_another_beyond_chance_and_by_more_than_one_per_cent() -> None:
    gains = [
        (1, Estimate(1.005, 1.004, 1.006)),  # nobody's gain
        (2, Estimate(1.03, 0.99, 1.07)),  # not certain
        (3, Estimate(1.03, 1.02, 1.04)),
        (4, Estimate(0.9, 0.89, 0.91)),
        (5, Estimate(1.2, 0.0, math.inf)),  # no interval
    ]
    assert winners(gains) == [3]


def test_many_splits_are_taken_together() -> None:
    """One of twenty that just clears its own interval is what chance gives."""
    flat = [(k, Estimate(1.0, 0.97, 1.03)) for k in range(2, 21)]
    assert winners([(1, Estimate(1.032, 1.001, 1.064)), *flat]) == []


@pytest.mark.parametrize(
    ("losses", "found"),
    [
        ([0.01, 0.03, 0.08, 0.02], Tolerated(2, 3)),
        ([0.2, 0.3], Tolerated(None, 1)),
        ([0.01, 0.02], Tolerated(2, None)),
        ([], Tolerated(None, None)),
    ],
)
def test_how_many_threads_cost_a_less_than_five_per_cent(
    losses: list[float], found: Tolerated
) -> None:
    exact = [(k, Estimate(one, one - 0.001, one + 0.001)) for k, one in enumerate(losses, 1)]
    assert tolerated(exact) == found
    unknown = [(k, Estimate(one, -math.inf, math.inf)) for k, one in enumerate(losses, 1)]
    assert tolerated(unknown) == found


def test_a_loss_that_may_be_either_is_neither() -> None:
    assert tolerated([(1, Estimate(0.05, 0.03, 0.07))]) == Tolerated(None, None)
