"""The figures of a replayed profile: what was asked, what was moved, and how long loads took.

One replay is one observation: the latency of a step in it is all time of the probe's walks over all
their loads, and its ratio is to the latency without load just before and after. A figure is the
median of these over the replays, with an interval between two ordered values. The mean over the
profile weights each step by the time it lasts there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.speeds import (
    elapsed_ns,
    had_page_fault,
    moved_bytes,
    sample_value,
    was_switched_out,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import sustained
from memgauge.analysis.statistics.tails import LoadTimes, load_times
from memgauge.model.points.loaded import ReplayActual, ReplayRequested
from memgauge.model.record_kinds.replayed import Replayed, ReplayStep
from memgauge.model.records import Point, Sample

OFF = 0.1
"""Share of the asked rate by which a step may miss it,"""
LEAST_GB_PER_S = 0.1
"""or so much, without a word."""
SHARE_OFF = 0.02
"""By which the share of reads may differ."""

ByRound = Mapping[int, float]


class StepFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the profile, or the memory without load."""

    number: int
    """From 1; 0: without load."""
    step: ReplayStep | None
    latency: Estimate | None
    """ns; None: no usable pass."""
    slowdown: Estimate | None
    """Times the latency without load of the same replay."""
    gb_per_s: Estimate | None
    """That memory moved, write-allocate included."""
    read_share: float | None
    """Of that."""
    times: LoadTimes | None
    """Of loads timed one by one."""
    actual: ReplayActual
    replays: int
    """In which it has a usable pass."""
    passes: int
    set_aside: int
    """Passes in which a thread was switched out, or a page had to be fetched."""
    names: tuple[str, str]
    """Of the points of latency and traffic."""

    @property
    def misses(self) -> bool:
        """Whether what was moved is not what was asked."""
        if self.step is None or self.gb_per_s is None:
            return False
        asked, got = self.step.gb_per_s, self.gb_per_s.value
        return abs(got - asked) > max(OFF * asked, LEAST_GB_PER_S)

    @property
    def falls_short(self) -> bool:
        """Whether less was moved than asked: its latency is then a lower bound."""
        if not self.misses or self.step is None or self.gb_per_s is None:
            return False
        return self.gb_per_s.value < self.step.gb_per_s

    @property
    def misses_share(self) -> bool:
        """Whether the share of reads was another than asked, where enough is moved to matter."""
        if self.step is None or self.read_share is None or self.step.gb_per_s < LEAST_GB_PER_S:
            return False
        asked = self.step.read_share
        return asked is not None and abs(self.read_share - asked) > SHARE_OFF


class ReplayFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A replayed profile."""

    replayed: Replayed
    elsewhere: bool
    """Whether it was profiled on another machine."""
    unloaded: StepFigures
    steps: list[StepFigures]
    """In order of time."""
    latency: Estimate | None
    """Time-weighted mean over the profile, ns; None: no replay is whole."""
    slowdown: Estimate | None
    """Times the latency without load of the same replay."""
    replays: int
    whole_replays: int
    """In which every step and the memory without load have a usable pass."""

    @property
    def worst(self) -> StepFigures | None:
        """The step with the longest latency."""
        known = [one for one in self.steps if one.latency is not None]
        return max(known, key=lambda one: one.latency.value if one.latency else 0.0, default=None)

    @property
    def is_lower_bound(self) -> bool:
        """Whether a step got less traffic than the profile has there."""
        return any(one.falls_short for one in self.steps)


class _Pair(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    latency: Point
    traffic: Point


class _Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What one level gave in each round."""

    pair: _Pair
    latency_ns: ByRound
    gb_per_s: ByRound
    written_share: float | None
    samples: Sequence[Sample]
    passes: int


Known = tuple[ReplayStep, _Measured]
"""A step as requested and as measured."""


@once
def replay_figures(figures: Figures) -> ReplayFigures | None:
    """The replay of a run; None where it replays nothing."""
    run = figures.run
    if not run.replays:
        return None
    replayed = run.replays[0]
    levels = {pair.number: _measured(figures, pair) for pair in _pairs(figures)}
    if 0 not in levels:
        return None
    weights = _weights(figures, levels[0].pair.latency)
    unloaded = levels[0].latency_ns
    common = (unloaded, weights)
    known = [
        (replayed.steps[number - 1], level)
        for number, level in sorted(levels.items())
        if 0 < number <= len(replayed.steps)
    ]
    whole = _whole_rounds(known, unloaded) if len(known) == len(replayed.steps) else []
    means = {round_: _mean(known, round_) for round_ in whole}
    return ReplayFigures(
        replayed=replayed,
        elsewhere=replayed.machine_id != run.start.system.machine_id,
        unloaded=_figures(figures, 0, None, levels[0], common),
        steps=[_figures(figures, level.pair.number, step, level, common) for step, level in known],
        latency=_median(means, weights),
        slowdown=_median({at: mean / unloaded[at] for at, mean in means.items()}, weights),
        replays=len(weights),
        whole_replays=len(whole),
    )


def _pairs(figures: Figures) -> list[_Pair]:
    """Latency and traffic of each level, by what they requested."""
    sides: dict[str, dict[int, Point]] = {"latency": {}, "bandwidth": {}}
    for point in figures.run.points_of("loaded"):
        number = ReplayRequested.of(point.requested).step
        if number is not None and number >= 0:
            sides[point.quantity].setdefault(number, point)
    return [
        _Pair(number=number, latency=point, traffic=sides["bandwidth"][number])
        for number, point in sides["latency"].items()
        if number in sides["bandwidth"]
    ]


def _measured(figures: Figures, pair: _Pair) -> _Measured:
    samples = figures.run.samples_of(pair.latency.point)
    clean = [one for one in samples if _is_clean(pair.latency, one)]
    traffic = [
        one for one in figures.run.samples_of(pair.traffic.point) if _is_clean(pair.traffic, one)
    ]
    counted = pair.traffic.bytes_counted
    factor = pair.traffic.bytes_moved / counted if counted else 1.0
    written = math.fsum(moved_bytes(one)[1] for one in traffic)
    moved = factor * math.fsum(sum(moved_bytes(one)) for one in traffic)
    accesses = pair.latency.accesses
    return _Measured(
        pair=pair,
        latency_ns=_ratio_by_round(clean, _took_ns, lambda one: accesses * _iterations(one)),
        gb_per_s=_ratio_by_round(traffic, lambda one: factor * sum(moved_bytes(one)), _took_ns),
        written_share=written / moved if moved else None,
        samples=clean,
        passes=len(samples),
    )


def _is_clean(point: Point, sample: Sample) -> bool:
    if was_switched_out(sample) or had_page_fault(sample):
        return False
    return sample_value(point, sample) is not None


def _took_ns(sample: Sample) -> float:
    return elapsed_ns(sample) or 0


def _iterations(sample: Sample) -> int:
    return len(sample.threads[0].begin_ns)


def _ratio_by_round(
    samples: Sequence[Sample], above: Callable[[Sample], float], below: Callable[[Sample], float]
) -> dict[int, float]:
    """Sum over sum of the samples of each round; rounds without a positive one are left out."""
    sums: dict[int, tuple[float, float]] = {}
    for one in samples:
        over, under = sums.get(one.round, (0.0, 0.0))
        sums[one.round] = (over + above(one), under + below(one))
    return {at: over / under for at, (over, under) in sums.items() if over > 0 and under > 0}


def _weights(figures: Figures, leader: Point) -> dict[int, float]:
    """Rounds that each replay stands for."""
    return {one.round: float(one.stands_for) for one in figures.run.samples_of(leader.point)}


def _whole_rounds(known: Sequence[Known], unloaded: ByRound) -> list[int]:
    """Rounds in which every step and the memory without load were measured."""
    return [at for at in unloaded if all(at in level.latency_ns for _, level in known)]


def _mean(known: Sequence[Known], round_: int) -> float:
    """Latency of a round over the profile, each step weighted by its time."""
    lasted_s = math.fsum(step.duration_s for step, _ in known)
    return math.fsum(step.duration_s * level.latency_ns[round_] for step, level in known) / lasted_s


def _figures(
    figures: Figures,
    number: int,
    step: ReplayStep | None,
    level: _Measured,
    common: tuple[ByRound, ByRound],
) -> StepFigures:
    """Of one level; `common` is the latency without load and the weight of each round."""
    unloaded, weights = common
    slowdowns = {
        at: taken / unloaded[at] for at, taken in level.latency_ns.items() if at in unloaded
    }
    histograms = [one.load_ns for one in level.samples]
    return StepFigures(
        number=number,
        step=step,
        latency=_median(level.latency_ns, weights),
        slowdown=None if step is None else _median(slowdowns, weights),
        gb_per_s=_median(level.gb_per_s, weights),
        read_share=None if level.written_share is None else max(0.0, 1 - level.written_share),
        times=load_times(histograms, figures.run.start.clock) if histograms else None,
        actual=ReplayActual.of(level.pair.latency.actual),
        replays=len(level.latency_ns),
        passes=level.passes,
        set_aside=level.passes - len(level.samples),
        names=(level.pair.latency.point, level.pair.traffic.point),
    )


def _median(values: ByRound, weights: ByRound) -> Estimate | None:
    return sustained([*values.values()], 0.5, [weights.get(at, 1.0) for at in values])
