"""Figures and alerts of a watch in words."""

from __future__ import annotations

from collections.abc import Callable

from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.watch.moments import BY_NAME, Figure
from memgauge.analysis.watch.rules import Alert

MISSING = "-"
When = Callable[[int], str]
"""A time on the run's clock as a user reads it."""


def amount(figure: Figure, value: float | None) -> str:
    """A value with its unit; a dash where it is not known."""
    if value is None:
        return MISSING
    forms = {
        "%": f"{100 * value:.{2 if figure.is_own else 1}f}%",
        "ns": f"{value:.1f} ns",
        "°C": f"{value:.0f} °C",
        "": f"{value:.0f}",
        "/s": f"{value:,.0f}/s",
    }
    return forms.get(figure.unit) or quantity(value, figure.unit)


def quantity(value: float | None, unit: str) -> str:
    """A value of a track with its unit; a dash where it is not known."""
    if value is None:
        return MISSING
    factor, shown = shown_unit(unit, abs(value))
    digits = 2 if shown[:1] in {"G", "M", "k"} else 1
    return f"{value * factor:.{digits}f} {shown}".rstrip()


def alert_words(alert: Alert, when: When) -> str:
    """Such as `latency 1.31 times the baseline since 12:03`.

    Args:
        alert: One that holds or has ended.
        when: Writes times.
    """
    figure = BY_NAME[alert.rule.figure]
    shown = alert.worst if alert.until_ns is not None else alert.latest
    if alert.baseline:
        what = f"{figure.title} {shown / alert.baseline:.2f} times the baseline"
    else:
        what = f"{figure.title} {amount(figure, shown)}"
    if alert.until_ns is None:
        return f"{what} since {when(alert.since_ns)}"
    return f"{what} at worst, from {when(alert.since_ns)} to {when(alert.until_ns)}"
