"""Bandwidths of both groups in each sampling pass of a split, while all threads were steady.

The sum of a pass adds its two groups over the same time; sums, and each group's bandwidth, never
combine different passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec

from memgauge.analysis.figures.regimes import Regimes
from memgauge.analysis.figures.speeds import had_page_fault, is_whole_run, was_interrupted
from memgauge.analysis.figures.windows import (
    Window,
    durations_in,
    iterations,
    steady_window,
    value_in,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.records import Point, Sample
from memgauge.model.run import Run

MOST_ITERATIONS = 4096
"""Of a group, of which its spread is taken, spread evenly over the passes."""
LEAST_ITERATIONS = 20
"""Below it no spread is reported."""

Groups = dict[str, Point]
"""The points that one pass samples, by the group of threads that works on each."""


class PassResult(msgspec.Struct, frozen=True, kw_only=True):
    """One sampling pass of one split."""

    samples: dict[str, Sample]
    """By group."""
    window: Window
    bandwidth: dict[str, float]
    """GB/s, by group."""

    @property
    def total(self) -> float:
        """GB/s of both groups together."""
        return sum(self.bandwidth.values())

    @property
    def weight(self) -> int:
        """Rounds that the pass stands for."""
        return next(iter(self.samples.values())).stands_for


class Passes(msgspec.Struct, frozen=True):
    """Clean passes of a split in one regime, in order of time, and how many were set aside."""

    clean: list[PassResult]
    set_aside: int
    iteration_bytes: dict[str, int]
    """Of one thread, by group."""


def leader_of(groups: Groups) -> Point:
    """The point that is sampled; the other is measured with it."""
    first = next(iter(groups.values()))
    return next((point for point in groups.values() if point.measured_with is None), first)


def passes_of(run: Run, groups: Groups, regimes: Regimes, regime: str) -> Passes:
    """All passes of a split in one regime; a pass in which a group lacks a value is set aside.

    Args:
        run: Run that holds the samples of the points.
        groups: Points that each sampling pass of the split measures together, by name of group.
        regimes: Regimes of the team; the ping-pongs of the leading point are looked up in them.
        regime: Name of the regime whose passes are wanted, as in `Regime.name`.
    """
    found, set_aside = [], 0
    leader = leader_of(groups)
    others = {name: _by_time(run, point) for name, point in groups.items() if point is not leader}
    own = next(name for name, point in groups.items() if point is leader)
    keeps_all = is_whole_run(leader)
    for key, sample in _by_time(run, leader).items():
        seen = regimes.of(sample.pingpong_ns)
        if seen is not None and seen.name != regime:
            continue
        together = {own: sample} | {n: s[key] for n, s in others.items() if key in s}
        is_kept = keeps_all or _is_clean(groups, together)
        one_pass = _pass_result(groups, together) if is_kept else None
        if seen is None or one_pass is None:
            set_aside += 1
        else:
            found.append(one_pass)
    return Passes(found, set_aside, {name: p.bytes_counted for name, p in groups.items()})


def _by_time(run: Run, point: Point) -> dict[tuple[int, int], Sample]:
    legs = run.legs[point.point]
    samples = run.samples_of(point.point)
    return {(leg, sample.round): sample for leg, sample in zip(legs, samples, strict=True)}


def _is_clean(groups: Groups, samples: dict[str, Sample]) -> bool:
    return not any(
        was_interrupted(groups[name], s) or had_page_fault(s) for name, s in samples.items()
    )


def _pass_result(groups: Groups, samples: dict[str, Sample]) -> PassResult | None:
    window = steady_window(list(samples.values()))
    if window is None or len(samples) < len(groups):
        return None
    values = {name: value_in(groups[name], s, window) for name, s in samples.items()}
    known = {name: value for name, value in sorted(values.items()) if value is not None}
    if len(known) < len(groups):
        return None
    return PassResult(samples=samples, window=window, bandwidth=known)


def total(one: PassResult) -> float:
    """GB/s of both groups together."""
    return one.total


def bandwidth_of(group: str) -> Callable[[PassResult], float]:
    """GB/s of one group."""
    return lambda one: one.bandwidth[group]


def quantile_over(
    passes: Sequence[PassResult], of: Callable[[PassResult], float], quantile: float
) -> Estimate | None:
    """The quantile of a bandwidth over passes with its interval; None without passes.

    Args:
        passes: Clean passes of one regime.
        of: What is taken of each, in GB/s.
        quantile: Which quantile, above 0 and below 1.
    """
    return sustained([of(one) for one in passes], quantile, [one.weight for one in passes])


def spread_of(passes: Sequence[PassResult], group: str) -> Estimate | None:
    """Bandwidth of single iterations of a group's threads over their median: 5%, 1 and 95%.

    `low` and `high` are the quantiles, not an interval. None below twenty iterations.
    """
    took = sorted(_durations(passes, group))
    if len(took) < LEAST_ITERATIONS:
        return None
    middle = took[len(took) // 2]
    slow, fast = took[len(took) * 95 // 100], took[len(took) * 5 // 100]
    return Estimate(1.0, middle / slow, middle / fast) if fast else None


def _durations(passes: Sequence[PassResult], group: str) -> Iterator[int]:
    """Durations in ns of iterations wholly inside the counted time.

    A selection if there are many passes.
    """
    with_group = [one_pass for one_pass in passes if group in one_pass.samples]
    share = MOST_ITERATIONS // max(1, len(with_group))
    for one_pass in with_group:
        durations = [
            took
            for thread in one_pass.samples[group].threads
            for took in durations_in(thread, one_pass.window)
        ]
        step = max(1, -(-len(durations) // max(share, 1)))
        yield from islice(durations, None, None, step)


class Shares(msgspec.Struct, frozen=True):
    """Time of passes: what lies outside of the time that counts."""

    outside: float
    """Of the time of all iterations: before or after all threads were at work."""
    warm_up: float
    """Iterations left out as warm-up, for each that counts."""


def shares_of(passes: Sequence[PassResult]) -> Shares | None:
    """Over all these passes; None without any."""
    known = [one for one_pass in passes if (one := iterations(list(one_pass.samples.values())))]
    all_ns, inside = sum(one.all_ns for one in known), sum(one.inside for one in known)
    if not all_ns or not inside:
        return None
    return Shares(
        outside=sum(one.outside_ns for one in known) / all_ns,
        warm_up=sum(one.warm_up for one in known) / inside,
    )


def typical(passes: Sequence[PassResult]) -> PassResult | None:
    """The pass whose sum is the median of all; None without passes."""
    ordered = sorted(passes, key=lambda one_pass: one_pass.total)
    return ordered[len(ordered) // 2] if ordered else None
