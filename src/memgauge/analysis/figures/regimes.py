"""Regimes: the distance between the threads' cores while a sample was taken.

A hypervisor moves virtual CPUs between core complexes, and what two threads reach then differs by
up to two times. A core-to-core ping-pong beside each sample tells which it was. The logs of all
ping-pongs of a team are split in two where the variance within the classes is least (Fisher 1958,
exact for one dimension), and the split counts only when the classes are well apart.

Invalid where a host moves threads within a sample; the ping-pong was then taken before the move.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import median

import msgspec

from memgauge.model.points.shared import AnyActual
from memgauge.model.records import Point, Sample

LEAST_RATIO = 1.8
"""Medians of two regimes differ by at least this factor."""
LEAST_GAP = 1.25
"""The slowest tenth of the near class and the fastest tenth of the far one are this far apart."""
LEAST_SHARE = 0.02
LEAST_SAMPLES = 3
"""A class smaller than these is no regime: its samples are stray."""

TeamKey = tuple[int, str]


class Regime(msgspec.Struct, frozen=True):
    """One of the distances at which a team's threads were observed."""

    name: str
    """`same complex (27 ns)`, `across complexes (175 ns)`, `one regime`, or empty: not known."""
    pingpong_ns: float | None
    """Median of its ping-pongs."""
    below_ns: float = math.inf
    """Samples with a ping-pong from `from_ns` to below this belong here."""
    from_ns: float = 0.0


UNTOLD = Regime("", None)
"""The regime of samples that carry no ping-pong, such as those of one thread."""


class Regimes(msgspec.Struct, frozen=True):
    """The regimes of one team, near ones first."""

    regimes: list[Regime]

    def of(self, pingpong_ns: float | None) -> Regime | None:
        """The regime of a sample; None for a stray one, which belongs to none."""
        if self.regimes == [UNTOLD]:
            return UNTOLD
        if pingpong_ns is None:
            return None
        matches = (r for r in self.regimes if r.from_ns <= pingpong_ns < r.below_ns)
        return next(matches, None)


def find_regimes(pingpongs_ns: Iterable[float | None]) -> Regimes:
    """Regimes of a team from all its ping-pongs, in any order."""
    known = sorted(value for value in pingpongs_ns if value is not None and value > 0)
    if not known:
        return Regimes([UNTOLD])
    near, far = _without_strays(known)
    if not far:
        return Regimes([Regime("one regime", median(near), *_limits(near, None, None))])
    border = math.sqrt(near[-1] * far[0])
    names = (f"same complex ({median(near):.0f} ns)", f"across complexes ({median(far):.0f} ns)")
    return Regimes(
        [
            Regime(names[0], median(near), *_limits(near, None, border)),
            Regime(names[1], median(far), *_limits(far, border, None)),
        ]
    )


def regime_kind(regime: str) -> str:
    """Name of a regime without its ping-pong, which differs a little from team to team."""
    return regime.partition(" (")[0]


def team_of(point: Point) -> TeamKey:
    """What identifies the point's team: its size and CPUs."""
    return point.threads, AnyActual.of(point.actual).cpus


def regimes_of_teams(
    points: Iterable[Point], samples: dict[str, list[Sample]]
) -> dict[TeamKey, Regimes]:
    """Regimes of every team of a run, each from all samples of all its points."""
    pingpongs: dict[TeamKey, list[float | None]] = {}
    for point in points:
        seen = pingpongs.setdefault(team_of(point), [])
        seen.extend(sample.pingpong_ns for sample in samples.get(point.point, []))
    return {team: find_regimes(values) for team, values in pingpongs.items()}


def _without_strays(ordered: list[float]) -> tuple[list[float], list[float]]:
    """Near and far class; far is empty for one regime. Classes too small to be one are left out."""
    least = max(LEAST_SAMPLES, LEAST_SHARE * len(ordered))
    while True:
        near, far = _split(ordered)
        if not _well_apart(near, far):
            return ordered, []
        if len(near) >= least and len(far) >= least:
            return near, far
        if len(near) < least and len(far) < least:
            return ordered, []
        ordered = far if len(near) < least else near


def _split(ordered: Sequence[float]) -> tuple[list[float], list[float]]:
    """The split of ordered values with the least variance of their logs within both classes."""
    logs = [math.log(value) for value in ordered]
    sums = [0.0, *accumulate(logs)]
    total, count = sums[-1], len(logs)
    if count < 2:
        return list(ordered), []

    def between(cut: int) -> float:
        return sums[cut] ** 2 / cut + (total - sums[cut]) ** 2 / (count - cut)

    cut = max(range(1, count), key=between)
    return list(ordered[:cut]), list(ordered[cut:])


def _well_apart(near: Sequence[float], far: Sequence[float]) -> bool:
    if not near or not far or median(far) < LEAST_RATIO * median(near):
        return False
    return far[len(far) // 10] > LEAST_GAP * near[(len(near) - 1) * 9 // 10]


def _limits(
    members: Sequence[float], lower: float | None, upper: float | None
) -> tuple[float, float]:
    """(below_ns, from_ns): the border to the other class, else what is still like its members."""
    return (
        members[-1] * LEAST_GAP if upper is None else upper,
        members[0] / LEAST_GAP if lower is None else lower,
    )
