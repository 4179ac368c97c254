"""Curves of a run as records for other runs."""

from __future__ import annotations

import pytest
from tests.unit.analysis.loaded.runs import Traffic, loaded_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.loaded.measured import measured_curves
from memgauge.model.records import MeasuredCurve

MIX = Traffic(read_share=0.5, store="temporal", peak_gb_per_s=30.0)


def curves(*traffic: Traffic) -> list[MeasuredCurve]:
    return measured_curves(figures_of(loaded_run(list(traffic))))


def test_the_largest_team_that_streams_gives_the_curve_of_a_mix() -> None:
    found = curves(
        Traffic(generators=3, peak_gb_per_s=20.0),
        Traffic(),
        Traffic(order="random", peak_gb_per_s=10.0),
    )
    assert [one.load for one in found] == ["all reads, 7 generators"]
    (curve,) = found
    assert curve.read_share == 1.0
    expected = [Traffic().at(delay) for delay in sorted(Traffic().delays, reverse=True)]
    assert [one.gb_per_s for one in curve.points] == pytest.approx(
        [gb_per_s for gb_per_s, _ in expected], rel=0.005
    )
    assert [one.latency_ns for one in curve.points] == pytest.approx(
        [ns for _, ns in expected], rel=0.005
    )
    assert curve.knee_gb_per_s is not None


def test_reads_before_ordinary_stores_are_moved_and_are_reads() -> None:
    """Of a byte read and one written, memory moves three, two of which it reads."""
    (curve,) = curves(MIX)
    assert curve.read_share == pytest.approx(2 / 3)
    assert max(one.gb_per_s for one in curve.points) == pytest.approx(MIX.at(0)[0] * 1.5, rel=0.005)
    (past,) = curves(Traffic(read_share=0.5, store="non-temporal"))
    assert past.read_share == pytest.approx(0.5)


def test_a_run_without_load_has_none() -> None:
    assert curves(Traffic(delays=(0, 10))) == []
