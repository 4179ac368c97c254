"""When the figures of one machine changed, and by how much: its pace, then each figure apart.

What varies between runs is partly common to all figures of a run, its *pace* (as in
`statistics.between_runs`): the median over the figures of their distance from their level. It is a
series of its own, in which steps are sought as in every other one, and it is removed from the
figures. A figure that changes would spoil the pace, so both are found again from the levels that
the figures were seen to have, at most four times. Too few figures have no pace, and each is looked
at as it is.

Logs are used throughout, of speeds: faster is more, also for a latency.

What would invalidate it: a change of most figures by the same share, which is the pace's; see
`kept_level`. Runs that are not independent beyond what neighbours show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from memgauge.analysis.statistics.between_runs import LEAST_FIGURES, MOST_REPEATS
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.steps import (
    OF_MEDIAN,
    Piece,
    Step,
    difference,
    known_in,
    levelled_by,
    noise_of_pieces,
    pieces_between,
    steps_of,
)
from memgauge.analysis.statistics.student import half_width
from memgauge.analysis.trend.history import Era, History, Key, Track

LEAST_PLACES = 4
"""Runs that a level must last."""
LEAST_RUNS = 2 * LEAST_PLACES
"""Of an era, or of a figure in it: fewer tell no change from chance."""
FLOOR = 0.01
"""Of a log: changes below 1% do not matter, and no figure is taken to vary by less than a third."""
LEAST_SHARE = 0.8
"""Of the runs, those that must have figures enough for a pace; else no figure is freed of one."""

LARGEST_LOG = 700.0
"""Whose exponential is a number."""

PACE: Key = ("pace", "")
"""In the place of a figure: what all figures of a run have in common."""

Values = list[float | None]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A figure, or the pace, at another level from some run on."""

    machine: str
    key: Key
    first: int
    """Index of the first run at the new level, in the history."""
    low: int
    high: int
    """The first run at the new level is between these, with 95% confidence."""
    runs_before: int
    runs_after: int
    """Runs whose levels are compared, up to the change before and the change after."""
    apart: Estimate
    """Speed after over speed before, apart from the pace; of the pace its own."""
    total: Estimate
    """The same with the pace: what a user sees."""
    p_value: float
    """That a figure without any change has such a step, in as many places."""
    kept_level: bool = False
    """Whether only the pace moved: the figure seems to change apart from it, and not with it."""

    @property
    def is_slower(self) -> bool:
        """Whether the new level is worse."""
        return self.apart.value < 1


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Where a figure is at the end of an era, from the runs since it last changed."""

    key: Key
    value: Estimate
    """In the figure's unit."""
    runs: int


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """One era of one machine."""

    era: Era
    changes: list[Change]
    """All that were found, likely or not."""
    levels: list[Level]
    tests: int
    """Series that were looked at, the pace among them; 0: too few runs."""
    pace: Values
    """Log of each run's pace; None: not known, or the era has no pace."""
    without_pace: int
    """Runs that are left out because they have too few figures to know their pace."""


class _Series(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in one track of an era."""

    key: Key
    logs: Values
    apart: Values
    """Without the pace."""
    steps: list[Step]


def judge_era(history: History, era: Era) -> Tested:
    """Seek changes in the figures of one era.

    Args:
        history: Of the machine.
        era: One of its eras.
    """
    logs = {
        key: found
        for key, track in history.tracks.items()
        if _known(found := _logs(track, era)) >= LEAST_RUNS
    }
    nothing: Values = [None] * len(era)
    if not logs:
        return Tested(era=era, changes=[], levels=[], tests=0, pace=nothing, without_pace=0)
    figures = [sum(of_key[at] is not None for of_key in logs.values()) for at in range(len(era))]
    measured, full = sum(map(bool, figures)), sum(one >= LEAST_FIGURES for one in figures)
    has_pace = full >= max(LEAST_RUNS, LEAST_SHARE * measured)
    pace, series = _apart(logs, len(era)) if has_pace else (nothing, _alone(logs))
    of_pace = _Series(
        key=PACE,
        logs=pace,
        apart=pace,
        steps=steps_of(pace, FLOOR, LEAST_PLACES),
    )
    changes = [
        _change(history.machine, era, one, step, of_pace)
        for one in ([of_pace] if has_pace else []) + series
        for step in one.steps
    ]
    return Tested(
        era=era,
        changes=changes,
        levels=[
            level
            for one in series
            if (level := _level(one, history.tracks[one.key], of_pace)) is not None
        ],
        tests=len(series) + has_pace,
        pace=pace,
        without_pace=measured - full if has_pace else 0,
    )


def _logs(track: Track, era: Era) -> Values:
    sign = -1 if track.direction == "lower" else 1
    inside = track.values[era.begin : era.end]
    return [None if value is None else sign * math.log(value) for value in inside]


def _known(values: Sequence[float | None]) -> int:
    return sum(value is not None for value in values)


def _alone(logs: Mapping[Key, Values]) -> list[_Series]:
    return [
        _Series(key=key, logs=of_key, apart=of_key, steps=steps_of(of_key, FLOOR, LEAST_PLACES))
        for key, of_key in logs.items()
    ]


def _apart(logs: Mapping[Key, Values], length: int) -> tuple[Values, list[_Series]]:
    """The pace, and the figures without it."""
    steps: dict[Key, list[Step]] = {key: [] for key in logs}
    pace: Values = []
    for _ in range(MOST_REPEATS):
        before = pace
        # Of figures that kept their level, if they are enough; else the others from their levels.
        kept = [key for key in logs if not steps[key]]
        levelled = [
            levelled_by(
                _less(logs[key], before) if before else logs[key],
                pieces_between(steps[key], length),
            )
            for key in (kept if len(kept) >= LEAST_FIGURES else logs)
        ]
        # What is left of a figure beside its level, with the pace put back.
        pace = [_middle(at, levelled, before) for at in range(length)]
        apart = {key: _less(of_key, pace) for key, of_key in logs.items()}
        known, steps = steps, {k: steps_of(one, FLOOR, LEAST_PLACES) for k, one in apart.items()}
        if _places(known) == _places(steps):
            break
    series = [_Series(key=key, logs=logs[key], apart=apart[key], steps=steps[key]) for key in logs]
    return pace, series


def _places(steps: Mapping[Key, Sequence[Step]]) -> list[list[int]]:
    return [[step.place for step in of_key] for of_key in steps.values()]


def _middle(at: int, levelled: Sequence[Values], pace: Values) -> float | None:
    """The median over the figures of a run; None where it has too few."""
    found = [value for one in levelled if (value := one[at]) is not None]
    if len(found) < LEAST_FIGURES:
        return None
    return median(found) + ((pace[at] if pace else None) or 0.0)


def _less(values: Values, pace: Values) -> Values:
    """Values without the pace; without it they are not known."""
    return [
        None if value is None or common is None else value - common
        for value, common in zip(values, pace, strict=True)
    ]


def _change(machine: str, era: Era, one: _Series, step: Step, pace: _Series) -> Change:
    total, reach = step.size, step.half_width
    if one.key != PACE:
        shift, shift_reach = _between(pace, step)
        total, reach = total + shift, math.hypot(reach, shift_reach)
    crossed = one.key != PACE and any(
        step.low <= other.high and other.low <= step.high for other in pace.steps
    )
    return Change(
        machine=machine,
        key=one.key,
        first=era.begin + step.place,
        low=era.begin + step.low,
        high=era.begin + step.high,
        runs_before=step.before.end - step.before.begin,
        runs_after=step.after.end - step.after.begin,
        apart=ratio_of(step.size, step.half_width),
        total=ratio_of(total, reach),
        p_value=step.p_value,
        kept_level=crossed and math.copysign(total, total * step.size) <= reach,
    )


def _between(pace: _Series, step: Step) -> tuple[float, float]:
    """What the pace adds to a step between the same pieces, and its half width."""
    length = len(pace.apart)
    if _known(pace.apart) < LEAST_RUNS:
        return 0.0, 0.0
    pieces = pieces_between(pace.steps, length)
    noise = noise_of_pieces(pace.apart, pieces, FLOOR)
    size, error = difference(pace.apart, step.before, step.after, noise.deviation)
    if math.isinf(error):
        return 0.0, 0.0
    return size, error * half_width(noise.freedom)


def _level(one: _Series, track: Track, pace: _Series) -> Level | None:
    """None where none of the last runs has the figure."""
    begin = max((step.place for step in (*one.steps, *pace.steps)), default=0)
    last = Piece(begin, len(one.logs))
    known = known_in(one.logs, last)
    if not known:
        return None
    pieces = [Piece(0, begin), last] if begin else [last]
    noise = noise_of_pieces(one.logs, pieces, FLOOR)
    reach = OF_MEDIAN * noise.deviation / math.sqrt(len(known)) * half_width(noise.freedom)
    middle = median(known)
    sign = -1 if track.direction == "lower" else 1
    low, high = sorted((sign * (middle - reach), sign * (middle + reach)))
    value = Estimate(_exp(sign * middle), _exp(low), _exp(high))
    return Level(key=one.key, value=value, runs=len(known))


def ratio_of(log: float, reach: float) -> Estimate:
    """The ratio whose log is known to `reach`."""
    return Estimate(_exp(log), _exp(log - reach), _exp(log + reach))


def _exp(log: float) -> float:
    return math.exp(log) if log < LARGEST_LOG else math.inf
