"""Passes of a diagnosis: their times, how far the cores were from each other, and their pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

import msgspec

from memgauge.analysis.diagnose.traffic import mean_ns
from memgauge.analysis.figures.regimes import Regimes, find_regimes, regime_kind
from memgauge.model.points.diagnose import PROGRAM, DiagnoseRequested
from memgauge.model.records import Point, Sample

MORE = "more"
MOVED = "moved"
"""A pass in which the cores were at two distances, or at one that no regime has;"""
ONE_CORE = "one core"
"""one in which they were one core, with two threads: pressure reached more than memory. Neither is
in any figure."""
NEARLY_ALL = 0.85
"""Share of a pass, by looks at the distance of the cores, in which they were in its regime."""

NEAR_ROUNDS = 2
"""Rounds by which a pass and that of its baseline lie apart at most."""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """One pass: the program under one treatment, and the references there."""

    round: int
    regime: str
    """Empty: not known, or there is one."""
    program: float
    """Time of one run in seconds, or what was printed: of a rate, its inverse."""
    references: dict[str, float] = {}
    """Time of each reference in ns: of a load, or of a GB."""


def passes_of(
    points: Iterable[Point], taken: Mapping[str, Sequence[Sample]]
) -> dict[str, list[Pass]]:
    """Passes by treatment, in order of rounds.

    Args:
        points: Of one diagnosis.
        taken: Samples by name of the point.
    """
    subjects: dict[str, dict[str, str]] = {}
    rates = set()
    work: dict[str, float] = {}
    for point in points:
        requested = DiagnoseRequested.of(point.requested)
        work[point.point] = point.accesses or point.bytes_counted * 1e-9 or 1.0
        subjects.setdefault(requested.treatment, {})[requested.subject] = point.point
        if requested.metric_better == MORE:
            rates.add(point.point)
    samples = {
        name: {sample.round: sample for sample in taken.get(name, [])}
        for of in subjects.values()
        for name in of.values()
    }
    taken_samples = [sample for of in samples.values() for sample in of.values()]
    borders_ns = [
        one.one_core_below_ns for one in taken_samples if one.one_core_below_ns is not None
    ]
    one_core_below_ns = median(borders_ns) if borders_ns else 0.0
    regimes = find_regimes(
        ns for one in taken_samples for ns in _distances_ns(one) if ns >= one_core_below_ns
    )
    found: dict[str, list[Pass]] = {}
    for treatment, of in subjects.items():
        if PROGRAM not in of:
            continue
        found[treatment] = [
            Pass(
                round=round_,
                regime=_regime(regimes, sample, one_core_below_ns),
                program=_time(sample, is_rate=of[PROGRAM] in rates),
                references={
                    subject: mean_ns(samples[name][round_]) / work[name]
                    for subject, name in of.items()
                    if subject != PROGRAM and round_ in samples[name]
                },
            )
            for round_, sample in sorted(samples[of[PROGRAM]].items())
        ]
    return found


def _regime(regimes: Regimes, sample: Sample, one_core_below_ns: float) -> str:
    distances_ns = _distances_ns(sample)
    if not distances_ns:
        return ""
    seen: list[str] = []
    for ns in distances_ns:
        found = regimes.of(ns)
        if ns < one_core_below_ns:
            seen.append(ONE_CORE)
        else:
            seen.append(MOVED if found is None else regime_kind(found.name))
    most, count = Counter(seen).most_common(1)[0]
    return most if count >= NEARLY_ALL * len(seen) else MOVED


def _distances_ns(sample: Sample) -> list[float]:
    if sample.pingpongs_ns:
        return sample.pingpongs_ns
    return [] if sample.pingpong_ns is None else [sample.pingpong_ns]


def _time(sample: Sample, *, is_rate: bool) -> float:
    if sample.printed:
        return fmean(1 / one if is_rate else one for one in sample.printed)
    return mean_ns(sample) * 1e-9


class _Pairs(NamedTuple):
    """Pairs of the first passes with the first baselines; of two, the greater is better."""

    paired: int = 0
    minus_rounds_apart: int = 0
    last: tuple[_Pairs, Pass, Pass] | None = None

    def with_pair(self, one: Pass, base: Pass) -> _Pairs:
        apart = abs(one.round - base.round)
        return _Pairs(self.paired + 1, self.minus_rounds_apart - apart, (self, one, base))


def matched(passes: Sequence[Pass], baselines: Sequence[Pass]) -> list[tuple[Pass, Pass]]:
    """Pairs of passes in near rounds, each used once: where cores move, few share a round.

    They are as many as there can be, and of these the nearest to each other, in order of rounds.

    Args:
        passes: Of one treatment in one regime, in order of rounds.
        baselines: Of its baseline in the same regime, likewise.
    """
    at_best = {0: _Pairs()}  # by how many baselines are used or passed over
    first = 0
    for one in passes:
        while first < len(baselines) and baselines[first].round < one.round - NEAR_ROUNDS:
            first += 1
        before, at_best = at_best, {}
        for used, found in before.items():
            _keep_better(at_best, max(used, first), found)
            for place in range(max(used, first), len(baselines)):
                base = baselines[place]
                if base.round > one.round + NEAR_ROUNDS:
                    break
                _keep_better(at_best, place + 1, found.with_pair(one, base))
    best = max(at_best.values(), key=lambda one: one[:2])
    pairs = []
    while best.last is not None:
        best, one, base = best.last
        pairs.append((one, base))
    return pairs[::-1]


def _keep_better(at_best: dict[int, _Pairs], used: int, found: _Pairs) -> None:
    if used not in at_best or found[:2] > at_best[used][:2]:
        at_best[used] = found
