"""What a nightly job fails for: key figures, or the pace, that are slower since a recent change."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import timedelta

import msgspec

from memgauge.analysis.comparison.answer import is_key
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.trend.changes import PACE, ratio_of
from memgauge.analysis.trend.fleet import StandingChange, Trend, recent
from memgauge.analysis.trend.history import Key


class Slower(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a machine that is slower than before its recent changes."""

    machine: str
    key: Key
    speed: Estimate
    """Now over before, with the pace, over all its recent changes together."""
    changes: list[StandingChange]
    """Oldest first."""


def gated(trend: Trend, *, keys_only: bool) -> Callable[[Key], bool]:
    """Which figures a gate looks at; the pace always.

    Args:
        trend: Whose figures.
        keys_only: Only those that `compare --fail-if-slower` gates, if one of them was tested.
    """
    tested = {level.key for eras in trend.tested.values() for era in eras for level in era.levels}
    if keys_only and any(is_key(name) for name, _ in tested):
        return lambda key: key == PACE or is_key(key[0])
    return lambda _: True


def slower_than(
    trend: Trend, share: float, within: timedelta, is_gated: Callable[[Key], bool]
) -> list[Slower]:
    """Figures that are slower by more than `share`, over the whole interval, since recently.

    A figure that became slower and recovered within the time is not among them.

    Args:
        trend: All changes.
        share: Such as 0.05.
        within: Time before the newest run.
        is_gated: Selects figures.
    """
    by_figure: dict[tuple[str, Key], list[StandingChange]] = {}
    for one in recent(trend, within):
        if is_gated(one.change.key):
            by_figure.setdefault((one.change.machine, one.change.key), []).append(one)
    found = [
        Slower(
            machine=machine,
            key=key,
            speed=_together(changes),
            changes=sorted(changes, key=lambda one: one.change.first),
        )
        for (machine, key), changes in by_figure.items()
    ]
    return [one for one in found if one.speed.high < 1 - share]


def _together(changes: Sequence[StandingChange]) -> Estimate:
    """The product of the ratios; the half widths of their logs are added as independent ones."""
    totals = [one.change.total for one in changes]
    log = sum(math.log(one.value) for one in totals)
    reaches = [math.log(one.value / one.low) if one.low > 0 else math.inf for one in totals]
    return ratio_of(log, math.hypot(*reaches))
