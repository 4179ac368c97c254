"""What a headline figure varies by between runs, and whether a run is like its earlier ones."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev
from typing import Literal

import msgspec
import pytest
from tests.unit.analysis.runs import records, start, whole_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.earlier_runs import between_runs, earlier_verdicts
from memgauge.analysis.report.headlines import headline_figures, headlines
from memgauge.analysis.section import BetweenRuns, Headline
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.student import half_width
from memgauge.model.records import AnyRecord, EarlierRun, RunEnd, RunStart
from memgauge.model.run import Run, run_of

KEY = "bandwidth, p90"
LATENCY = "memory latency, p90"


def earlier(*values: float, key: str = KEY) -> list[EarlierRun]:
    return [
        EarlierRun(run_id=f"r{at}", started_at="2026-01-02T03:04:05+00:00", figures={key: value})
        for at, value in enumerate(values)
    ]


def bandwidth(value: float | None, key: str | None = KEY) -> Headline:
    cell = None if value is None else Estimate(value, value * 0.99, value * 1.01)
    return Headline(label="Bandwidth", value=cell, unit="GB/s", key=key)


def latency(value: float) -> Headline:
    cell = Estimate(value, value, value)
    return Headline(label="Memory latency", value=cell, unit="ns", key=LATENCY)


def said(runs: list[EarlierRun], *now: Headline) -> list[tuple[str, str]]:
    return [(one.level, one.text) for one in earlier_verdicts(runs, now)]


def test_the_spread_is_that_of_all_runs_over_their_mean() -> None:
    found = between_runs(bandwidth(31.0), earlier(30.0, 33.0, 32.0))
    values = [30.0, 33.0, 32.0, 31.0]
    assert found == BetweenRuns(runs=4, deviation=stdev(values) / fmean(values))
    assert found.words == "varies by 4.1% between 4 runs"


def test_fewer_than_three_runs_tell_nothing() -> None:
    assert between_runs(bandwidth(31.0), earlier(30.0)) is None
    assert between_runs(bandwidth(31.0), []) is None
    assert between_runs(bandwidth(31.0), earlier(30.0, 32.0)) is not None


@pytest.mark.parametrize(
    "now", [bandwidth(None), bandwidth(31.0, key=None), bandwidth(31.0, key="another")]
)
def test_another_figure_or_none_has_no_spread(now: Headline) -> None:
    assert between_runs(now, earlier(30.0, 33.0, 32.0)) is None


def test_runs_that_agree_exactly_are_the_same() -> None:
    found = between_runs(bandwidth(30.0), earlier(30.0, 30.0))
    assert found is not None
    assert found.words == "the same in 3 runs"


def test_fewer_than_five_earlier_runs_judge_nothing() -> None:
    assert said(earlier(30.0, 31.0, 30.5, 30.2), bandwidth(10.0)) == []
    assert said([], bandwidth(10.0)) == []


def test_a_run_like_the_earlier_ones_is_said_to_be() -> None:
    runs = earlier(30.0, 31.0, 30.5, 30.2, 30.7)
    (found,) = said(runs, bandwidth(30.4))
    assert found == (
        "good",
        "The run cannot be told from 5 earlier runs of this machine by bandwidth.",
    )


def test_a_slower_run_is_a_problem_and_a_faster_one_a_note() -> None:
    values = [30.0, 31.0, 30.5, 30.2, 30.7]
    ((level, text),) = said(earlier(*values), bandwidth(20.0))
    logs = [math.log(value) for value in values]
    middle = math.log(20.0) - fmean(logs)
    reach = half_width(4) * stdev(logs) * math.sqrt(1 + 1 / 5)
    low, high = (100 * math.expm1(middle + sign * reach) for sign in (-1, 1))
    assert level == "problem"
    assert text == (
        f"Bandwidth is {-100 * math.expm1(middle):.1f}% lower than in 5 earlier runs of this "
        f"machine ({low:+.1f}% to {high:+.1f}%), which is more than these vary by."
    )
    ((level, text),) = said(earlier(*values), bandwidth(40.0))
    assert level == "note"
    assert "% higher than in 5 earlier runs" in text


def test_more_latency_is_slower() -> None:
    runs = earlier(100.0, 101.0, 99.5, 100.3, 100.2, key=LATENCY)
    ((level, text),) = said(runs, latency(130.0))
    assert level == "problem"
    assert text.startswith("Memory latency is 29.")
    assert "% higher than" in text


def test_steps_of_a_sweep_are_not_judged() -> None:
    level = Headline(label="Last-level cache found", value=8.0, unit="B", key=KEY)
    assert said(earlier(6.0, 6.0, 6.0, 6.0, 6.0), level) == []


def test_only_earlier_runs_with_every_judged_figure_count() -> None:
    runs = earlier(30.0, 31.0, 30.5, 30.2, 30.7)
    assert said(runs, bandwidth(20.0), latency(130.0)) == []


@pytest.mark.parametrize("count", [5, 10, 50])
def test_an_equal_run_is_rarely_said_to_differ(count: int) -> None:
    rng = random.Random(count)
    pairs, wrong = 400, 0
    for _ in range(pairs):
        runs = [
            EarlierRun(
                run_id=f"r{at}",
                started_at="",
                figures={KEY: 30 * rng.gauss(1, 0.01), LATENCY: 100 * rng.gauss(1, 0.01)},
            )
            for at in range(count)
        ]
        now = bandwidth(30 * rng.gauss(1, 0.01)), latency(100 * rng.gauss(1, 0.01))
        wrong += said(runs, *now)[0][0] != "good"
    # 5% are expected; more than 36 of 400 have a probability below one in a thousand.
    assert wrong <= 36


def with_earlier(runs: list[EarlierRun]) -> Run:
    begun = msgspec.structs.replace(start(), earlier=runs)
    first, *rest = records()
    assert isinstance(first, RunStart)
    return run_of([begun, *rest])


def test_a_report_and_its_document_state_the_spread() -> None:
    figures = figures_of(whole_run())
    mine = headline_figures(figures)
    runs = [
        EarlierRun(
            run_id=f"r{at}",
            started_at="2026-01-01T00:00:00+00:00",
            figures={key: value * factor for key, value in mine.items()},
        )
        for at, factor in enumerate((0.99, 1.01, 1.0, 1.02, 0.98))
    ]
    run = with_earlier(runs)
    found = {one.label: one for one in headlines(figures_of(run))}
    assert all(one.between is not None for one in found.values())
    document = json_document(run)
    spreads = [one.between_runs for one in document.headlines]
    assert {one.runs for one in spreads if one is not None} == {6}
    assert [one.label for one in document.headlines] == list(found)
    assert any(v.text.startswith("The run cannot be told from 5") for v in document.verdicts)


def test_a_run_that_knows_no_other_states_none() -> None:
    document = json_document(whole_run())
    assert document.headlines
    assert all(one.between_runs is None for one in document.headlines)
    assert not any("earlier run" in verdict.text for verdict in document.verdicts)


@pytest.mark.parametrize("status", ["interrupted", "failed", None])
def test_a_run_that_did_not_end_as_it_should_is_not_kept(
    status: Literal["interrupted", "failed"] | None,
) -> None:
    made: list[AnyRecord] = [one for one in records() if not isinstance(one, RunEnd)]
    if status is not None:
        made.append(RunEnd(status=status, elapsed_s=1.0, rounds=1))
    assert headline_figures(figures_of(run_of(made))) == {}
