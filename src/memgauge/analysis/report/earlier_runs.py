"""A run beside earlier runs of its machine: what its headline figures vary by, and whether it fits.

The spread is the standard deviation of a figure over all known runs, this one included, over their
mean: the common pace of the machine is part of it. A new run beside five or more earlier ones is
judged by the procedure of `between_runs`; the headline figures are too few for a pace, so each is
tested by Student's t with the spread of the earlier runs, and Benjamini and Hochberg's procedure
leaves what stands.

What would invalidate it: earlier runs that were made beside other programs; runs all made within
minutes, which do not show what days vary by.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from memgauge.analysis.section import BetweenRuns, Headline, Verdict
from memgauge.analysis.statistics.between_runs import Difference, judge
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import LARGEST_HEADLINE, EarlierRun
from memgauge.model.units import format_count

LEAST_RUNS = 3
"""Of which a spread is stated: two degrees of freedom."""
LEAST_JUDGED = 5
"""Earlier runs from which on a new one is judged."""
SIGNS = {"GB/s": 1, "ns": -1}
"""Units of figures that are judged: more of the one is faster, less of the other. Steps of a sweep
and shares of a constant are not."""


def headline_value(headline: Headline) -> float | None:
    """Its number, where it is one above zero."""
    cell = headline.value
    value = cell.value if isinstance(cell, Estimate) else cell
    usable = isinstance(value, (int, float)) and 0 < value <= LARGEST_HEADLINE
    return float(value) if usable else None  # type: ignore[arg-type]


def between_runs(headline: Headline, earlier: Sequence[EarlierRun]) -> BetweenRuns | None:
    """What a figure varies by; None where fewer than three runs have it."""
    mine = headline_value(headline)
    known = _known(headline, earlier)
    if mine is None or len(known) + 1 < LEAST_RUNS:
        return None
    values = [*known, mine]
    return BetweenRuns(runs=len(values), deviation=stdev(values) / fmean(values))


def _known(headline: Headline, earlier: Sequence[EarlierRun]) -> list[float]:
    """The figure of each earlier run that has it."""
    return [run.figures[headline.key] for run in earlier if headline.key in run.figures]


def earlier_verdicts(
    earlier: Sequence[EarlierRun], headlines: Sequence[Headline]
) -> Iterator[Verdict]:
    """Whether the run is unlike its earlier ones; nothing where fewer than five are known."""
    judged = [one for one in headlines if one.unit in SIGNS and headline_value(one) is not None]
    runs = [run for run in earlier if all(_known(one, [run]) for one in judged)]
    if not judged or len(runs) < LEAST_JUDGED:
        return
    before = [[_speed(one, _known(one, [run])[0]) for one in judged] for run in runs]
    now = [_speed(one, headline_value(one) or math.nan) for one in judged]
    differences = judge(before, [now]).figures
    unlike = [(one, found) for one, found in zip(judged, differences, strict=True) if found.stands]
    yield from (_unlike(one, found, len(runs)) for one, found in unlike)
    if not unlike:
        names = " and ".join(one.label[0].lower() + one.label[1:] for one in judged)
        count = format_count(len(runs), "earlier run")
        text = f"The run cannot be told from {count} of this machine by {names}."
        yield Verdict(level="good", text=text)


def _speed(headline: Headline, value: float) -> float:
    return SIGNS[headline.unit or ""] * math.log(value)


def _unlike(headline: Headline, found: Difference, runs: int) -> Verdict:
    sign = SIGNS[headline.unit or ""]
    ends = sorted(
        math.expm1(sign * log)
        for log in (found.value - found.half_width, found.value + found.half_width)
    )
    change = math.expm1(sign * found.value)
    word = "higher" if change > 0 else "lower"
    slower = found.value < 0
    return Verdict(
        level="problem" if slower else "note",
        text=f"{headline.label} is {100 * abs(change):.1f}% {word} than in {runs} earlier runs of "
        f"this machine ({100 * ends[0]:+.1f}% to {100 * ends[1]:+.1f}%), which is more than these "
        "vary by.",
        remedy="measure again; if it stays so, look for what has changed on the machine since",
    )
