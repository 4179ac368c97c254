"""A watch as metrics for Prometheus, by its own client library (the extra `metrics`).

Names and units follow the conventions of Prometheus and OpenMetrics: base units, a unit at the end
of the name, shares as `ratio`, totals as counters. Labels are bounded by the rules and by what the
machine has. What is not known has no sample: missing, never zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from memgauge.analysis.watch.moments import BY_NAME, Figure
from memgauge.analysis.watch.rules import RULES
from memgauge.analysis.watch.status import Status
from memgauge.model.errors import RequestError
from memgauge.model.text import plain

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PREFIX = "memgauge_watch"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
TEXT = "text/plain; version=0.0.4; charset=utf-8"
_BASE = {"latency_ns": 1e-9}
"""Factors to base units, of figures in others."""
GAUGES = {
    "latency_ns": ("latency", "seconds"),
    "bandwidth_bytes_per_s": ("burst_read_bandwidth", "bytes_per_second"),
    "steal_share": ("steal", "ratio"),
    "clock_hz": ("clock", "hertz"),
    "temperature_celsius": ("temperature", "celsius"),
}
"""Of gauges: name and unit."""
TOTALS = {
    "memory_pressure_share": ("memory_pressure", "seconds"),
    "memory_stall_share": ("memory_stall", "seconds"),
    "cpu_pressure_share": ("cpu_pressure", "seconds"),
    "page_faults_per_s": ("page_faults", ""),
    "major_faults_per_s": ("major_faults", ""),
    "swapped_in_pages_per_s": ("swapped_in", "pages"),
    "swapped_out_pages_per_s": ("swapped_out", "pages"),
    "reclaimed_pages_per_s": ("reclaimed", "pages"),
    "reclaimed_directly_pages_per_s": ("reclaimed_directly", "pages"),
    "numa_migrated_pages_per_s": ("numa_migrated", "pages"),
    "thp_failures_per_s": ("thp_failures", ""),
    "compaction_stalls_per_s": ("compaction_stalls", ""),
    "oom_kills": ("oom_kills", ""),
    "ecc_corrected_errors": ("ecc_corrected_errors", ""),
    "ecc_uncorrected_errors": ("ecc_uncorrected_errors", ""),
    "own_cpu_share": ("own_cpu", "seconds"),
    "own_bytes_per_s": ("own_read", "bytes"),
}
"""Of counters: name and unit."""


class Exposition(NamedTuple):
    """The same metrics in both formats that scrapers ask for."""

    openmetrics: bytes
    text: bytes


def require() -> None:
    """Whether the client library is there.

    Raises:
        RequestError: it is not installed.
    """
    try:
        import prometheus_client  # noqa: F401
    except ImportError as error:
        raise RequestError(
            "--listen needs the package prometheus-client; install memgauge[metrics], or use "
            "--browser, which serves no metrics"
        ) from error


def exposition(status: Status, version: str, period_s: float) -> Exposition:
    """The metrics of a status.

    Args:
        status: As the watch stands.
        version: Of memgauge.
        period_s: Between two samples.
    """
    from prometheus_client import generate_latest
    from prometheus_client.core import CollectorRegistry
    from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
    from prometheus_client.registry import Collector

    class Once(Collector):
        def collect(self) -> Iterator[Metric]:
            yield from families(status, version, period_s)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Once())
    return Exposition(
        generate_openmetrics(registry),  # type: ignore[no-untyped-call]
        generate_latest(registry),
    )


def families(status: Status, version: str, period_s: float) -> Iterator[Metric]:
    """One family of metrics after the other.

    Args:
        status: As the watch stands.
        version: Of memgauge.
        period_s: Between two samples.
    """
    from prometheus_client.core import (
        CounterMetricFamily,
        GaugeMetricFamily,
        InfoMetricFamily,
    )

    yield InfoMetricFamily(PREFIX, "What watches", value={"version": version})
    yield GaugeMetricFamily(
        f"{PREFIX}_period_seconds", "Time between two samples", value=period_s, unit="seconds"
    )
    for figure in status.figures:
        value = status.moment.values.get(figure.name)
        if figure.name in GAUGES:
            name, unit = GAUGES[figure.name]
            factor = _BASE.get(figure.name, 1.0)
            if value is not None:
                yield GaugeMetricFamily(
                    f"{PREFIX}_{name}_{unit}", _help(figure), value=value * factor, unit=unit
                )
            baseline = status.baselines.get(figure.name)
            if baseline is not None:
                yield GaugeMetricFamily(
                    f"{PREFIX}_{name}_baseline_{unit}",
                    f"{_help(figure)}: baseline of this machine",
                    value=baseline.value * factor,
                    unit=unit,
                )
        total = status.moment.total.get(figure.name)
        if figure.name in TOTALS and total is not None:
            name, unit = TOTALS[figure.name]
            yield CounterMetricFamily(
                "_".join(filter(None, (PREFIX, name, unit))), _help(figure), value=total, unit=unit
            )
    alerts = GaugeMetricFamily(
        f"{PREFIX}_alert", "Whether a rule's alert holds: 1, else 0", labels=["rule"]
    )
    raised = CounterMetricFamily(
        f"{PREFIX}_alerts_raised", "Alerts that a rule has raised", labels=["rule"]
    )
    known = {figure.name for figure in status.figures}
    active = {alert.rule.name for alert in status.active}
    for rule in RULES:
        if rule.figure not in known or (rule.relative and rule.figure not in status.baselines):
            continue
        alerts.add_metric([rule.name], float(rule.name in active))
        raised.add_metric([rule.name], status.raised.get(rule.name, 0))
    yield alerts
    yield raised
    yield from _traffic(status)


def _traffic(status: Status) -> Iterator[Metric]:
    """What counters say, by track; the tracks are those that were opened at the start."""
    from prometheus_client.core import GaugeMetricFamily

    rates = GaugeMetricFamily(
        f"{PREFIX}_counted_bytes_per_second",
        "Rates that counters give: memory traffic by place",
        labels=["track"],
        unit="bytes_per_second",
    )
    levels = GaugeMetricFamily(
        f"{PREFIX}_counted", "Other levels and rates that were asked for", labels=["track", "unit"]
    )
    for level in status.moment.levels:
        if level.value is None:
            continue
        if level.unit == "B/s":
            rates.add_metric([plain(level.name)], level.value)
        else:
            levels.add_metric([plain(level.name), plain(level.unit)], level.value)
    if rates.samples:
        yield rates
    if levels.samples:
        yield levels
    headroom = status.headroom
    if headroom is None:
        return
    for what, share in (("peak", headroom.share_of_peak), ("knee", headroom.share_of_knee)):
        if share is not None:
            yield GaugeMetricFamily(
                f"{PREFIX}_{what}_share_ratio",
                f"Counted traffic over the {what} measured at its share of reads",
                value=share,
                unit="ratio",
            )


def _help(figure: Figure) -> str:
    how = "by the probe of memgauge watch" if figure.is_probe else "by memgauge watch"
    return f"{BY_NAME[figure.name].title}, {how}"
