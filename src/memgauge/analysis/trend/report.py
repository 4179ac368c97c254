"""Runs over time as a report: what every renderer takes."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.section import AnswerLine, Headline, Report, Section
from memgauge.analysis.trend.changes import LEAST_RUNS
from memgauge.analysis.trend.charts import charts
from memgauge.analysis.trend.fleet import Trend
from memgauge.analysis.trend.names import change_text, named
from memgauge.analysis.trend.tables import (
    changes_table,
    kinds_line,
    machines_table,
    outliers_table,
)
from memgauge.analysis.trend.verdicts import verdicts
from memgauge.model.units import format_count, format_long

TITLE = "Memory over time"
_DAY_S = 86_400.0
_QUESTION = "Which figures changed, when, by how much, and which machines stand out?"


def report_of(trend: Trend) -> Report:
    """One section with the changes, the machines that stand out and their pictures."""
    return Report(
        run_id="",
        started_at="",
        title=TITLE,
        machine=kinds_line(trend),
        complete=True,
        status=status_line(trend),
        verdicts=[],
        sections=[
            Section(
                name="trend",
                title="Changes",
                question=_QUESTION,
                verdicts=verdicts(trend),
                tables=[
                    *([changes_table(trend)] if trend.changes else []),
                    *([outliers_table(trend)] if trend.outliers else []),
                ],
                charts=charts(trend),
                opening=list(_opening(trend)),
            )
        ],
        system=machines_table(trend),
        headlines=_headlines(trend),
    )


def status_line(trend: Trend) -> str:
    """How many runs over which time."""
    first = min(one.runs[0].started_at for one in trend.histories)
    machines = format_count(len(trend.histories), "machine")
    span = (trend.newest - first).total_seconds()
    days = f"{first:%Y-%m-%d}"
    if span >= _DAY_S:
        days += f" to {trend.newest:%Y-%m-%d} ({format_long(span)})"
    runs = format_count(trend.runs, "run")
    return f"{runs} of {machines}, {days}; {trend.tests} series tested"


def _headlines(trend: Trend) -> list[Headline]:
    if not trend.tests:
        return []
    slower = sum(one.change.is_slower for one in trend.changes)
    found = [
        Headline(label="Runs", value=trend.runs),
        Headline(label="Changes to slower", value=slower),
        Headline(label="Changes to faster", value=len(trend.changes) - slower),
    ]
    if any(kind.judged.tests for kind in trend.kinds):
        standing = len({one.node for one in trend.outliers if one.is_worse})
        found.append(Headline(label="Machines slower than their kind", value=standing))
    return found


def _opening(trend: Trend) -> Iterator[AnswerLine]:
    yield AnswerLine(label="Changed", figures=[], detail=_changed(trend))
    if len(trend.histories) > 1:
        yield AnswerLine(label="Stand out", figures=[], detail=_standing(trend))


def _changed(trend: Trend) -> str:
    if not trend.tests:
        most = max((one.runs for one in trend.too_few), default=0)
        return f"cannot be told: too few runs: {most} of the {LEAST_RUNS} that are needed"
    if not trend.changes:
        return f"no figure, by more than chance ({trend.tests} series tested)"
    several = len(trend.histories) > 1
    more = len(trend.changes) - 1
    others = f"; and {format_count(more, 'more change')}" if more else ""
    return f"{change_text(trend.changes[0], with_machine=several)}{others}"


def _standing(trend: Trend) -> str:
    if trend.outliers:
        return named(list(dict.fromkeys(one.node for one in trend.outliers)))
    if any(kind.judged.tests for kind in trend.kinds):
        return "no machine, by more than chance"
    return "cannot be told: too few machines of one kind"
