"""Figures that are medians, and points of two speeds by turns, are named in their section."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import start

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.report.sample_notes import sample_notes
from memgauge.model.run import Run, run_of

A = latency_point("latency/A", experiment="latency", accesses=1000)
B = latency_point("latency/B", experiment="latency", accesses=1000)


def made(a: Sequence[float], b: Sequence[float]) -> Run:
    samples = [sample_of(A, ns, at) for at, ns in enumerate(a)]
    samples += [sample_of(B, ns, at) for at, ns in enumerate(b)]
    begin = msgspec.structs.replace(start(), experiments=["latency"])
    return run_of([begin, A, B, *samples])


def noise(count: int, ns: float = 100.0) -> list[float]:
    draw = random.Random(5)
    return [ns * (1 + draw.uniform(-0.01, 0.01)) for _ in range(count)]


def texts(run: Run) -> list[str]:
    return [verdict.text for verdict in sample_notes(figures_of(run), "latency")]


def test_many_samples_of_one_speed_need_no_note() -> None:
    assert texts(made(noise(60), noise(60))) == []


@pytest.mark.parametrize("few", [1, 6, 15])
def test_figures_of_few_samples_are_medians_and_said_to_be(few: int) -> None:
    run = made(noise(few), noise(16))
    (text,) = texts(run)
    assert text.startswith("1 of 2 figures (latency/A) is the median, in at least one regime")
    one, other = json_document(run).sections[0].points
    assert (one.statistic, other.statistic) == ("median", "p90")
    assert one.sustained == one.median
    assert one.sustained is not None
    assert (one.sustained.low is None) == (few < 6)
    assert text in [verdict.text for verdict in analyse_run(run).sections[0].verdicts]


def test_a_point_of_two_speeds_is_named_with_the_share_of_the_slower() -> None:
    by_turns = [ns for _ in range(2) for ns in (*noise(30), *noise(10, 120.0))]
    run = made(by_turns, noise(80))
    (text,) = texts(run)
    assert text.startswith(
        "One point had two speeds by turns, latency/A: 20% apart, the slower one in 25% of its "
        "samples, in 4 stretches."
    )
    found = json_document(run).sections[0].points[0].two_speeds
    assert found is not None
    assert found.high == pytest.approx(120, rel=0.01)
