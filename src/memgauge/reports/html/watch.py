"""The page of a watch: a frame that a script of its own fills from `now.json` once a period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources

import msgspec

from memgauge.analysis.watch.moments import Figure
from memgauge.analysis.watch.status import Status
from memgauge.analysis.watch.words import alert_words, amount, cost_words, headroom_words
from memgauge.model.text import plain
from memgauge.reports.html.escaped import text
from memgauge.reports.terminal.live import value_of
from memgauge.reports.terminal.watch import Heading, baseline_line

SCRIPT, STYLE = "watch.js", "watch.css"
_DIGITS = 4
"""Significant ones of values in pictures."""


class FigureNow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the page."""

    title: str
    value: str
    ratio: str
    """To the baseline; empty: it has none."""
    history: Sequence[float | None]


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """What the script shows."""

    time: str
    period_s: float
    baseline: str
    cost: str
    traffic: str
    """Beside the measured peak; empty: not counted."""
    alerts: list[str]
    notes: list[str]
    figures: list[FigureNow]


def page(host: str) -> bytes:
    """The frame.

    Args:
        host: Name of the machine.
    """
    title = f"memgauge watch: {text(host)}"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{STYLE}"></head>
<body><h1>{title}</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<p id="lost" class="lost" role="status"></p>
<p id="time"></p><p id="baseline"></p><p id="cost"></p>
<p id="traffic"></p>
<ul id="alerts" aria-live="polite"></ul>
<table><thead><tr><th>Figure</th><th>Now</th><th>Of baseline</th><th>Last minutes</th></tr></thead>
<tbody id="figures"></tbody></table>
<div id="notes"></div>
<script src="{SCRIPT}"></script></body></html>
""".encode()


def asset(name: str) -> bytes:
    """The script or the style.

    Args:
        name: `SCRIPT` or `STYLE`.
    """
    return (resources.files("memgauge.reports") / "assets" / name).read_bytes()


def now(status: Status, heading: Heading, history: Mapping[str, Sequence[float | None]]) -> bytes:
    """The document that the script asks for.

    Args:
        status: As the watch stands.
        heading: Writes times, and holds notes.
        history: Values of each figure by its name, oldest first.
    """
    figures = [_figure(one, status, history) for one in status.figures if not one.is_own]
    figures += [
        FigureNow(title=plain(one.name), value=value_of(one), ratio="", history=())
        for one in status.moment.levels
    ]
    traffic = headroom_words(status)
    made = Now(
        time=f"{heading.when(status.moment.at_ns)}, a sample each {heading.period_s:g} s",
        period_s=heading.period_s,
        baseline=baseline_line(status),
        cost=cost_words(status),
        traffic="" if traffic is None else ": ".join(traffic),
        alerts=[alert_words(one, heading.when, status) for one in status.active],
        notes=[
            *(f"Ended: {alert_words(one, heading.when)}" for one in reversed(status.ended)),
            *heading.notes,
        ],
        figures=figures,
    )
    return msgspec.json.encode(made)


def _figure(
    figure: Figure, status: Status, history: Mapping[str, Sequence[float | None]]
) -> FigureNow:
    value, baseline = status.moment.values.get(figure.name), status.baselines.get(figure.name)
    values = history.get(figure.name, ())
    return FigureNow(
        title=figure.title,
        value=amount(figure, value),
        ratio="" if value is None or baseline is None else f"{value / baseline.value:.2f}",
        history=[None if one is None else _short(one) for one in values] if any(values) else (),
    )


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
