"""The bandwidth and the cache that a program needs, of programs whose needs are known."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from benchmarks.diagnose.simulated import MACHINES
from benchmarks.diagnose.simulated_needs import (
    PROGRAMS,
    Truth,
    needs,
    passes,
    requested,
    true_bandwidth,
    true_cache,
)
from tests.unit.analysis.diagnose.programs import NEAR, RING_BYTES, STEPPED, diagnosed

from memgauge.analysis.diagnose.deciding import decided
from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.figures import Diagnosis, diagnosis_of
from memgauge.analysis.diagnose.needs import Need, bandwidth_need_of, cache_need_of
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.section import Series

ALONE_GB_PER_S = 10.0


def found(**program: object) -> Diagnosis:
    diagnosis = diagnosis_of(diagnosed(**{"noise": 0.001, "steps": STEPPED, **program}))  # type: ignore[arg-type]
    assert diagnosis is not None
    return diagnosis


def left(name: str, stretch: Mapping[str, tuple[float, float, float]] = STEPPED) -> float:
    return ALONE_GB_PER_S / stretch[name][1]


def is_between(need: Need, low: float | None, high: float | None) -> bool:
    return is_near(need.low, low) and is_near(need.high, high) and not need.why


def is_near(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return found == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("program", "low", "high"),
    [
        ({"uses": 0.8}, left("write 50%"), left("write 25%")),
        ({"uses": 0.6}, left("write 75%"), left("write 50%")),
        ({"uses": 0.95}, left("write 25%"), None),
        ({}, None, left("write", NEAR)),
        ({"bandwidth": 1.0}, left("write 25%"), None),
    ],
)
def test_the_bandwidth_needed_lies_between_two_doses(
    program: dict[str, float], low: float | None, high: float | None
) -> None:
    assert is_between(bandwidth_need_of(found(**program)), low, high)


def test_without_part_doses_one_end_is_known() -> None:
    full = left("write", NEAR)
    assert is_between(bandwidth_need_of(found(bandwidth=1.0, steps=None)), full, None)
    assert is_between(bandwidth_need_of(found(steps=None)), None, full)


def kept_bytes(name: str) -> float:
    """By times of a load: 20 ns of a hit, 100 ns of memory, both stretched."""
    latency, _, cached = {**NEAR, **STEPPED}[name]
    return RING_BYTES * (100 * latency - 20 * cached) / (100 * latency - 20)


def test_the_cache_needed_lies_between_two_doses() -> None:
    # What slows down by no more than 5% at a quarter of the cache taken, and by 12% at half.
    need = cache_need_of(found(cached=0.06))
    assert is_between(need, kept_bytes("cache"), kept_bytes("cache 25%"))


def test_what_fits_what_is_left_needs_less_cache() -> None:
    assert is_between(cache_need_of(found()), None, kept_bytes("cache 75%"))


def test_a_ring_that_keeps_all_shows_no_upper_bound() -> None:
    steps = {"cache 25%": (1.0, 1.0, 1.0), "cache 75%": (1.05, 1.05, 4.6)}
    need = cache_need_of(found(cached=0.06, steps=steps))
    assert is_between(need, kept_bytes("cache"), None)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ({"cached": 1.0}, "writes evict its data from the shared cache too"),
        ({"unsteady": 1.2}, "what limits the program cannot be told"),
        ({"rounds": 7}, "what limits the program cannot be told"),
        ({"noise": 0.2, "rounds": 8}, "what limits the program cannot be told"),
    ],
)
def test_where_bandwidth_cannot_be_told_it_says_why(program: dict[str, float], why: str) -> None:
    assert bandwidth_need_of(found(**program)) == Need(why=why)


def test_doses_that_contradict_each_other_tell_nothing() -> None:
    # The stronger dose leaves more than the weaker one, and only it slows the program down.
    stretch = {**NEAR, "write": (1.5, 1.2, 2.6)}
    steps = {"write 50%": (1.0, 1.6, 1.0)}
    need = bandwidth_need_of(found(latency=0.3, stretch=stretch, steps=steps))
    assert need == Need(why="the doses contradict each other")


def test_what_is_known_is_said_and_handed_on() -> None:
    figures = diagnosed(uses=0.8, noise=0.001, steps=STEPPED)
    section = analyse(figures)
    text = " ".join(verdict.text for verdict in section.verdicts)
    assert "it needs between 6.2 and 8.7 GB/s at one CPU, of 10.0 without pressure." in text
    document = diagnosis_figures(figures)
    assert document is not None
    assert document.bandwidth_need.low == pytest.approx(6.25, rel=0.02)
    step = next(one for one in document.treatments if one.name == "write 50%")
    assert (step.step_of, step.part) == ("write", 0.5)
    assert step.latency_added_ns is not None
    assert step.latency_added_ns.value == pytest.approx(18, abs=0.2)
    row = next(row for row in section.tables[0].rows if row[0] == "half of writes past the caches")
    assert len(row) == len(section.tables[0].columns)


def test_the_pictures_show_doses_alone_and_the_fit_with_its_band() -> None:
    charts = {chart.name: chart for chart in analyse(diagnosed(latency=0.5, steps=STEPPED)).charts}
    latency, cache = charts["diagnose-latency"], charts["diagnose-cache"]
    by_name: dict[str, Series] = {series.name: series for series in latency.series}
    writes = by_name["writes past the caches"]
    assert not writes.joined
    assert writes.x == pytest.approx([6, 18, 33, 50], abs=1.5)
    fit = next(series for series in latency.series if series.low and series.joined)
    assert (fit.x[0], fit.y[0]) == (0, 1)
    assert fit.x[-1] == pytest.approx(50, abs=1)
    assert fit.y[-1] == pytest.approx(1.25, abs=0.01)
    assert [len(series.x) for series in cache.series] == [3]
    assert cache.x.unit == "MiB"
    bandwidth = charts["diagnose-bandwidth"]
    measured = [series.name for series in latency.series if not series.joined]
    assert [series.name for series in bandwidth.series if not series.joined] == measured
    assert bandwidth.series[-1].y[-1] == pytest.approx(1)


def test_a_dose_that_is_decided_ends_and_its_baseline_with_the_last() -> None:
    def ended(**program: object) -> set[str]:
        run = diagnosed(**{"rounds": 12, "steps": STEPPED, **program}).run  # type: ignore[arg-type]
        return {one.rpartition("/")[2] for one in decided(run.points_of("diagnose"), run.samples)}

    every = {"compute", "compute again", "write", "cache", "read", *STEPPED}
    assert ended(bandwidth=1.0, noise=0.002) == every
    # Slower by 5% under one dose: whether by more stays open.
    assert ended(uses=1.05 / 1.15, noise=0.02, rounds=16).isdisjoint({"compute", "write 25%"})


@pytest.mark.parametrize("truth", PROGRAMS, ids=lambda truth: truth.name)
def test_no_statement_is_wrong_where_there_is_little_noise(truth: Truth) -> None:
    machine = MACHINES[0]
    treatments = requested(3)
    made = passes(machine, truth, treatments, 16, random.Random(1))
    for need, true in zip(
        needs(treatments, made),
        (true_bandwidth(machine, truth), true_cache(machine, truth)),
        strict=True,
    ):
        assert (need.low or 0.0) <= true <= (need.high or 1e9)
