"""What machines, figures, times and changes are called in sentences, tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memgauge.analysis.cluster.keys import label_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.trend.changes import PACE, Change
from memgauge.analysis.trend.fleet import StandingChange
from memgauge.analysis.trend.history import Key
from memgauge.model.text import few

MOST_NAMED = 6
"""Machines or figures named in one sentence."""
MOST_BESIDE = 3
"""Conditions that changed too, in one sentence; the table holds all."""


def figure_label(key: Key) -> str:
    """A short name: `triad tuned 2t`, `all figures together`."""
    return "all figures together (pace)" if key == PACE else label_of(key)


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return few(names, MOST_NAMED)


def time_text(after: datetime, until: datetime) -> str:
    """Between which runs something happened: days, or minutes where it was within one day."""
    if after.date() == until.date():
        return f"between {after:%Y-%m-%d %H:%M} and {until:%H:%M}"
    return f"between {after:%Y-%m-%d} and {until:%Y-%m-%d}"


def ratio_text(ratio: Estimate) -> str:
    """`8.1% slower (7.0% to 9.2%)`, of a ratio of speeds."""
    word = "slower" if ratio.value < 1 else "faster"
    sign = -1 if ratio.value < 1 else 1
    ends = sorted(sign * (end - 1) for end in (ratio.low, ratio.high))
    return f"{abs(ratio.value - 1):.1%} {word} ({ends[0]:.1%} to {ends[1]:.1%})"


def change_text(one: StandingChange, *, with_machine: bool) -> str:
    """One change in a sentence without its end.

    Args:
        one: The change.
        with_machine: Whether the machine is named, as where there are several.
    """
    change = one.change
    where = f"{change.machine}: " if with_machine else ""
    return (
        f"{where}{figure_label(change.key)} {ratio_text(change.apart)} since a change "
        f"{time_text(one.after, one.until)}{_total_text(change)}"
    )


def _total_text(change: Change) -> str:
    """What the pace adds, where that is more than a rounding."""
    total, apart = change.total, change.apart
    if change.key == PACE or apart.low <= total.value <= apart.high:
        return ""
    return f"; {ratio_text(total)} with the pace of all figures"


def beside_text(beside: Sequence[str]) -> str:
    """What else changed in that time."""
    if not beside:
        return "nothing else that was recorded changed in this time"
    return f"in this time changed {few(beside, MOST_BESIDE)}"
