"""Rows of two sides of which at least one was measured in several runs.

See `memgauge.analysis.statistics.between_runs` for the procedure. A figure's verdict is about what
is left apart from the common pace of the runs; its ratio, and what `--fail-if-slower` judges, holds
both, with both uncertainties.
"""

import math
from collections.abc import Sequence

import msgspec

from memgauge.analysis.comparison.figures import Comparable, Direction, Source
from memgauge.analysis.statistics.between_runs import Difference, Judged, can_be_judged, judge
from memgauge.analysis.statistics.estimate import Estimate

Partners = tuple[Comparable, Comparable]
_LARGEST_LOG = 700.0
"""Whose exponential is a number."""


class Paces(msgspec.Struct, frozen=True, kw_only=True):
    """What all figures of a run have in common, of each run."""

    baseline: list[float]
    """Of each run the share by which it is faster than the mean of all runs."""
    other: list[float]
    ratio: Estimate
    """Speed of the other side over the baseline's, with its interval (Welch)."""
    p_value: float
    differs: bool


class RowOfRuns(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs say of one figure."""

    total: Estimate
    """Other over baseline, with pace."""
    apart: Estimate
    """The same apart from pace."""
    p_value: float
    """Of `apart`."""
    stands: bool


def rows_of_runs(
    baseline: Source, other: Source, partners: Sequence[Partners]
) -> tuple[list[RowOfRuns | None], Paces | None]:
    """A row for each pair of partners, in their order, None where nothing can be judged; the paces.

    Args:
        baseline: One side.
        other: The other one.
        partners: Figures of both, the baseline's first.
    """
    sides = len(baseline.each_run), len(other.each_run)
    known = [
        at
        for at, (a, b) in enumerate(partners)
        if a.statistic == b.statistic and _usable(a) and _usable(b)
    ]
    published = baseline.published or other.published
    rows: list[RowOfRuns | None] = [None] * len(partners)
    paces: Paces | None = None
    if published or not known or not can_be_judged(*sides):
        return rows, None
    # Amounts have no part in the pace of a machine, and are judged by themselves.
    amounts = [at for at in known if partners[at][0].direction == "neither"]
    speeds = [at for at in known if at not in amounts]
    for places, has_pace in ((speeds, True), (amounts, False)):
        if not places:
            continue
        logs = [[_speeds(one) for one in partners[at]] for at in places]
        judged = judge(
            list(zip(*(of_figure[0] for of_figure in logs), strict=True)),
            list(zip(*(of_figure[1] for of_figure in logs), strict=True)),
            has_pace=has_pace,
        )
        for at, found in zip(places, judged.figures, strict=True):
            rows[at] = _row(found, judged.pace, partners[at][0].direction)
        paces = _paces(judged) if has_pace else paces
    return rows, paces


def values_of(one: Comparable) -> tuple[float, ...]:
    """The figure of each run."""
    return one.of_runs or (one.estimate.value,)


def _usable(one: Comparable) -> bool:
    return all(math.isfinite(value) and value > 0 for value in values_of(one))


def _speeds(one: Comparable) -> list[float]:
    sign = -1 if one.direction == "lower" else 1
    return [sign * math.log(value) for value in values_of(one)]


def _row(found: Difference, pace: Difference | None, direction: Direction) -> RowOfRuns:
    value, reach = found.value, found.half_width
    if pace is not None:
        value, reach = value + pace.value, math.hypot(reach, pace.half_width)
    return RowOfRuns(
        total=_ratio(value, reach, direction),
        apart=_ratio(found.value, found.half_width, direction),
        p_value=found.p_value,
        stands=found.stands,
    )


def _ratio(log_speed: float, reach: float, direction: Direction = "higher") -> Estimate:
    middle = -log_speed if direction == "lower" else log_speed
    return Estimate(_exp(middle), _exp(middle - reach), _exp(middle + reach))


def _exp(log: float) -> float:
    return math.exp(log) if log < _LARGEST_LOG else math.inf


def _paces(judged: Judged) -> Paces | None:
    if judged.pace is None:
        return None
    return Paces(
        baseline=[_exp(one) - 1 for one in judged.baseline_paces],
        other=[_exp(one) - 1 for one in judged.other_paces],
        ratio=_ratio(judged.pace.value, judged.pace.half_width),
        p_value=judged.pace.p_value,
        differs=judged.pace.stands,
    )
