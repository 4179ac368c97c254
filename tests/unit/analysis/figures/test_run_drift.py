"""The machine's common pace over a run, on made-up runs whose pace is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from memgauge.analysis.figures.run_drift import BLOCKS, run_to_run_drift
from memgauge.model.records import Point, Sample, ThreadSample

ROUNDS = 400


def made(
    pace: Callable[[int], float],
    points: int = 10,
    noise: float = 0.01,
    rounds: int = ROUNDS,
    beside_others: int = 0,
) -> float | None:
    """Run-to-run drift of a run in which every point's speed follows `pace` of the round.

    The first few are of one thread that others run beside, and go at half the speed at times.
    """
    draw = random.Random(7)
    named = {
        str(n): Point(
            point=str(n),
            experiment="fake",
            quantity="bandwidth" if n % 2 else "latency",
            requested={},
            actual={},
            bytes_counted=1000,
            accesses=1000,
        )
        for n in range(points)
    }
    samples = {
        name: [
            Sample(
                point=name,
                round=round_,
                threads=[ThreadSample(cpu=0, begin_ns=[0], end_ns=[max(1, elapsed * slower)])],
                pingpong_ns=27.0 if index < beside_others else None,
            )
            for round_ in range(rounds)
            for elapsed in [int(1e6 / pace(round_) / (1 + draw.uniform(0, noise)))]
            for slower in [2 if index < beside_others and round_ * BLOCKS // rounds % 2 else 1]
        ]
        for index, name in enumerate(named)
    }
    return run_to_run_drift(named, samples, rounds)


def test_a_steady_machine_hardly_wanders() -> None:
    found = made(lambda _: 1.0)
    assert found is not None
    assert found < 0.003


@pytest.mark.parametrize("step", [0.02, 0.05, 0.1])
def test_a_pace_that_steps_half_way_is_covered(step: float) -> None:
    found = made(lambda round_: 1.0 if round_ < ROUNDS / 2 else 1.0 - step)
    assert found is not None
    assert step / 2 < found < 2 * step


def alternating(size: float) -> Callable[[int], float]:
    return lambda round_: 1 - size * (round_ * BLOCKS // ROUNDS % 2)


def test_more_drift_is_never_found_less() -> None:
    found = [made(alternating(size)) for size in (0, 0.02, 0.1)]
    assert all(a is not None and b is not None and a < b for a, b in pairwise(found))


def test_points_noise_is_not_the_machines_pace() -> None:
    found = made(lambda _: 1.0, points=60, noise=0.3)
    assert found is not None
    assert found < 0.05


def test_a_thread_that_others_run_beside_does_not_tell_the_machines_pace() -> None:
    found = made(lambda _: 1.0, points=20, beside_others=15)
    assert found is not None
    assert found < 0.003
    assert made(lambda _: 1.0, points=10, beside_others=6) is None


def test_too_few_points_or_rounds_tell_nothing() -> None:
    assert made(lambda _: 1.0, points=4) is None
    assert made(lambda _: 1.0, rounds=50) is None
    assert run_to_run_drift({}, {}, 0) is None
