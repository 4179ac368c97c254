"""Figures and alerts of a watch in words."""

from __future__ import annotations

from collections.abc import Callable

from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.watch.moments import BY_NAME, Figure
from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.status import Status

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


def alert_words(alert: Alert, when: When, status: Status | None = None) -> str:
    """Such as `latency 1.31 times the baseline since 12:03, steal 14.0%`.

    Args:
        alert: One that holds or has ended.
        when: Writes times.
        status: As the watch stands: beside slow memory, the processor time that is stolen now.
    """
    figure = BY_NAME[alert.rule.figure]
    shown = alert.worst if alert.until_ns is not None else alert.latest
    if alert.baseline:
        what = f"{figure.title} {shown / alert.baseline:.2f} times the baseline"
    else:
        what = f"{figure.title} {amount(figure, shown)}"
    if alert.until_ns is not None:
        return f"{what} at worst, from {when(alert.since_ns)} to {when(alert.until_ns)}"
    steal = BY_NAME["steal_share"]
    stolen = None if status is None else status.moment.values.get(steal.name)
    beside = f", {steal.title} {amount(steal, stolen)}" if alert.baseline and stolen else ""
    return f"{what} since {when(alert.since_ns)}{beside}"


def cost_words(status: Status) -> str:
    """What watching itself takes, as measured.

    Its traffic is a share of what one CPU reads in the burst: a larger share than that of all that
    memory can give.

    Args:
        status: As the watch stands.
    """
    values = status.moment.values
    cost = BY_NAME["own_cpu_share"]
    took = f"watching takes {amount(cost, values.get(cost.name))} of one CPU"
    traffic = values.get("own_bytes_per_s")
    if traffic is None:
        return took
    burst = BY_NAME["bandwidth_bytes_per_s"].name
    baseline = status.baselines.get(burst)
    can_read = values.get(burst) if baseline is None else baseline.value
    if not can_read:
        return f"{took}, {quantity(traffic, 'B/s')} of reads"
    return f"{took}, {amount(cost, traffic / can_read)} of its bandwidth"


def headroom_words(status: Status) -> tuple[str, str] | None:
    """Counted traffic beside the measured peak and the knee, with its name in front.

    Args:
        status: As the watch stands; None is returned where traffic is not counted.
    """
    found = status.headroom
    if found is None:
        return None
    parts = [_gb_per_s(found.total_bytes_per_s)]
    if found.share_of_peak is not None:
        parts.append(f"{100 * found.share_of_peak:.0f}% of measured peak")
    if found.knee_bytes_per_s is not None:
        away = found.knee_bytes_per_s - found.total_bytes_per_s
        side = "below" if away >= 0 else "beyond"
        parts.append(f"{_gb_per_s(abs(away))} {side} knee")
    name = "traffic, unverified" if status.unverified else "memory traffic"
    return name, ", ".join(parts)


def _gb_per_s(bytes_per_s: float) -> str:
    return f"{bytes_per_s * 1e-9:.3g} GB/s"
