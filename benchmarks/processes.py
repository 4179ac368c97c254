"""Made-up machines: how the speed of a point changes over a run, with the truth about each.

Sixteen processes that published benchmarks and our own runs show: independent noise, heavy tails,
a clock of coarse steps, autocorrelation, slow and fast phases, drift and a slow sine. Each is a
path over continuous time, in rounds, that can be sampled at any moments; its truth is the quantile
of the whole stretch, the one that sampling without a gap would give.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist

STEPS = 24
"""Of an autoregressive path in each round."""
NOISE = 0.01
"""Standard deviation of the log of a value within a phase."""
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Path:
    """One stretch of a process."""

    sample: Callable[[float], float]
    """The value at a moment from 0 to the stretch's length."""
    quantile: Callable[[float], float]
    """Of the whole stretch."""


Process = Callable[[random.Random, int], Path]
"""Makes a stretch of so many rounds."""


def _inverse(below: Callable[[float], float], low: float, high: float, share: float) -> float:
    """Where a rising function reaches a share, by halving."""
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < share else (low, middle)
    return (low + high) / 2


def independent(deviation: float) -> Process:
    """Lognormal, every moment for itself."""

    def made(rng: random.Random, _rounds: int) -> Path:
        return Path(
            lambda _: 100 * math.exp(deviation * rng.gauss(0, 1)),
            lambda share: 100 * math.exp(deviation * _NORMAL.inv_cdf(share)),
        )

    return made


def pareto(rng: random.Random, _rounds: int) -> Path:
    """Slow outliers whose variance is infinite."""
    return Path(
        lambda _: 100 / (1 + 0.01 * (1 - rng.random()) ** (-1 / 1.5)),
        lambda share: 100 / (1 + 0.01 * share ** (-1 / 1.5)),
    )


def student_2(rng: random.Random, _rounds: int) -> Path:
    """Student's t with two degrees of freedom: heavy on both sides."""

    def quantile(share: float) -> float:
        return 100 + (2 * share - 1) * math.sqrt(2 / (4 * share * (1 - share)))

    return Path(lambda _: 100 + rng.gauss(0, 1) / math.sqrt(rng.expovariate(1)), quantile)


def quantised(rng: random.Random, _rounds: int) -> Path:
    """Normal noise through a clock of steps nearly as wide."""
    return Path(
        lambda _: 100 + 0.5 * round(0.6 * rng.gauss(0, 1) / 0.5),
        lambda share: 100 + 0.5 * round(0.6 * _NORMAL.inv_cdf(share) / 0.5),
    )


def autoregressive(phi: float, deviation: float = 2.0) -> Process:
    """Normal, with a correlation of `phi` from round to round."""

    def made(rng: random.Random, rounds: int) -> Path:
        step = phi ** (1 / STEPS)
        innovation = deviation * math.sqrt(1 - step * step)
        value, values = rng.gauss(0, deviation), []
        for _ in range(rounds * STEPS):
            values.append(100 + value)
            value = step * value + rng.gauss(0, innovation)
        ordered = sorted(values)
        return Path(
            lambda at: values[min(len(values) - 1, int(at * STEPS))],
            lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))],
        )

    return made


def phases(share: float, length: float, shift: float) -> Process:
    """Two speeds by turns: a share of the time, in phases of a mean length, at another speed.

    Args:
        share: Of the time, in the other state, over a very long run.
        length: Mean rounds of its phases, which are exponentially distributed.
        shift: Log of its speed over the usual one.
    """

    def made(rng: random.Random, rounds: int) -> Path:
        inside = rng.random() < share
        ends, states, at = [0.0], [], 0.0
        while at < rounds:
            mean = length if inside else length * (1 - share) / share
            at = min(float(rounds), at + rng.expovariate(1 / mean))
            states.append(inside)
            ends.append(at)
            inside = not inside
        seen = sum(
            end - begin for begin, end, state in zip(ends, ends[1:], states, strict=False) if state
        )
        part = seen / rounds

        def sample(moment: float) -> float:
            state = states[min(len(states) - 1, bisect_right(ends, moment) - 1)]
            return 100 * math.exp(shift * state + NOISE * rng.gauss(0, 1))

        def below(log: float) -> float:
            slow = _NORMAL.cdf(log / NOISE)
            return part * _NORMAL.cdf((log - shift) / NOISE) + (1 - part) * slow

        return Path(sample, lambda q: 100 * math.exp(_inverse(below, -0.3, 0.3, q)))

    return made


def moving(level: Callable[[float, float], float], noise: float = 0.5) -> Process:
    """A level that moves, with normal noise.

    Args:
        level: The level, by moment from 0 to 1 and a number from 0 to 1 that is drawn for the run.
        noise: Standard deviation beside it.
    """

    def made(rng: random.Random, rounds: int) -> Path:
        drawn = rng.random()
        levels = [level((at + 0.5) / 300, drawn) for at in range(300)]

        def below(value: float) -> float:
            return sum(_NORMAL.cdf((value - each) / noise) for each in levels) / len(levels)

        return Path(
            lambda moment: level(moment / rounds, drawn) + rng.gauss(0, noise),
            lambda q: _inverse(below, min(levels) - 9 * noise, max(levels) + 9 * noise, q),
        )

    return made


def sine(rng: random.Random, rounds: int) -> Path:
    """Three percent up and down with a period of 300 rounds."""
    return moving(lambda at, drawn: 100 + 3 * math.sin(2 * math.pi * (at * rounds / 300 + drawn)))(
        rng, rounds
    )


def in_step(share: float) -> Process:
    """Slower by a tenth for the same share of each round: a disturbance with a round's period."""

    def made(rng: random.Random, _rounds: int) -> Path:
        begin = rng.random()

        def below(log: float) -> float:
            usual = _NORMAL.cdf(log / NOISE)
            return share * _NORMAL.cdf((log - math.log(0.9)) / NOISE) + (1 - share) * usual

        def sample(moment: float) -> float:
            slow = (moment + begin) % 1 < share
            return 100 * math.exp(math.log(0.9) * slow + NOISE * rng.gauss(0, 1))

        return Path(sample, lambda q: 100 * math.exp(_inverse(below, -0.3, 0.3, q)))

    return made


def random_walk(rng: random.Random, rounds: int) -> Path:
    """A level that wanders without a home, as temperature and neighbours let it."""
    walk = list(accumulate(rng.gauss(0, 0.05) for _ in range(rounds * STEPS)))
    ordered = sorted(walk)

    def below(value: float) -> float:
        each = max(1, len(ordered) // 300)
        some = ordered[::each]
        return sum(_NORMAL.cdf((value - 100 - one) / 0.5) for one in some) / len(some)

    return Path(
        lambda at: 100 + walk[min(len(walk) - 1, int(at * STEPS))] + rng.gauss(0, 0.5),
        lambda q: _inverse(below, 95 + ordered[0], 105 + ordered[-1], q),
    )


SLOW, FAST = math.log(0.9), math.log(1.1)

SIXTEEN: dict[str, Process] = {
    "independent, 1%": independent(0.01),
    "independent, 5%": independent(0.05),
    "Pareto, slow side": pareto,
    "Student's t, 2 df": student_2,
    "quantised clock": quantised,
    "AR 0.5, 2%": autoregressive(0.5),
    "AR 0.9, 2%": autoregressive(0.9),
    "AR 0.98, 2%": autoregressive(0.98),
    "10% slow phases of 20": phases(0.1, 20, SLOW),
    "10% slow phases of 100": phases(0.1, 100, SLOW),
    "50% slow phases of 100": phases(0.5, 100, SLOW),
    "8% fast phases of 20": phases(0.08, 20, FAST),
    "15% fast phases of 20": phases(0.15, 20, FAST),
    "2% drift": moving(lambda at, _: 100 + 2 * (at - 0.5)),
    "5% drift": moving(lambda at, _: 100 + 5 * (at - 0.5)),
    "sine of 3%": sine,
}
"""Those on which thirteen methods were compared before this one was chosen."""

MORE: dict[str, Process] = {
    "in step with rounds, 5% slow": in_step(0.05),
    "in step with rounds, 30% slow": in_step(0.3),
    "in step with rounds, 70% slow": in_step(0.7),
    "in step with rounds, 92% slow": in_step(0.92),
    "random walk": random_walk,
    "step of 10% at a third": moving(lambda at, _: 100.0 if at < 1 / 3 else 90.0),
    "a fast twentieth at the end": moving(lambda at, _: 110.0 if at > 0.95 else 100.0),
}
"""Others: a disturbance with the period of rounds, and changes that happen once."""

PROCESSES = SIXTEEN | MORE


def moments(rng: random.Random, rounds: int) -> Sequence[float]:
    """One random moment of each round."""
    return [round_ + rng.random() for round_ in range(rounds)]
