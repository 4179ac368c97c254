"""Counted misses beside modelled ones: for each access, by core type, labelled or missing."""

from __future__ import annotations

import pytest
from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import start

from memgauge.analysis.counters import core_counts
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.section import Column
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord, Sample
from memgauge.model.run import run_of

ACCESSES = 1000
EVENTS = ("perf:llc-loads", "perf:llc-load-misses")


def counter(event: str, slot: int, core_type: str | None, times: int, unit: str = "") -> Counter:
    return Counter(
        name=f"{event}@{core_type}",
        event=event,
        back_end="perf",
        quantity="cache_misses",
        domain="core",
        scope="thread",
        unit=unit,
        scale=1e-9 if unit == "s" else 1.0,
        scale_source="test",
        instance="thread 1",
        core_type=core_type,
        slot=slot,
        enabled_slot=times,
        running_slot=times + 1,
        route="group",
    )


def figures(
    deltas: list[int],
    *,
    types: tuple[str | None, ...] = (None,),
    running: int = 100,
    unit: str = "",
) -> Figures:
    """Two events of each core type; only the first type ever runs."""
    width = 2 + len(EVENTS)
    of = [
        counter(event, width * at + 2 + way, kind, width * at, unit)
        for at, kind in enumerate(types)
        for way, event in enumerate(EVENTS)
    ]
    made = CounterSet(counters="misses", slots=width * len(types), of=of)
    point = latency_point("misses/p", experiment="misses", accesses=ACCESSES)
    samples = [_sampled(sample_of(point, 5.0, n), deltas, len(types), running) for n in range(12)]
    records: list[AnyRecord] = [start(), made, point, *samples]
    return figures_of(run_of(records))


def _sampled(sample: Sample, deltas: list[int], types: int, running: int) -> Sample:
    before: list[int | None] = [7 for _ in range((2 + len(EVENTS)) * types)]
    ran = [107, 7 + running, *(7 + delta for delta in deltas)]
    idle = [107, 7, *(7 for _ in deltas)]
    after: list[int | None] = [*ran, *(value for _ in range(types - 1) for value in idle)]
    reading = RegionReading(
        counters="misses", before_ns=(0, 1), after_ns=(9, 10), before=before, after=after
    )
    return Sample(point=sample.point, round=sample.round, threads=sample.threads, reading=reading)


def test_counts_are_for_each_access() -> None:
    (found,) = core_counts.core_counts(figures([2000, 500]), "misses")
    assert {event: one.value for event, one in found.per_access.items()} == {
        "perf:llc-loads": 2.0,
        "perf:llc-load-misses": 0.5,
    }
    assert not found.is_estimate


def test_core_types_are_never_added_and_one_that_never_ran_has_no_row() -> None:
    of_both = figures([2000, 500], types=("performance", "efficiency"))
    (found,) = core_counts.core_counts(of_both, "misses")
    assert found.core_type == "performance"
    assert found.per_access["perf:llc-loads"].value == 2.0
    heads = [Column(title="walk")]
    (table,) = core_counts.table([found], "misses", "element", heads, lambda _: ["w"])
    assert [column.title for column in table.columns] == [
        "walk",
        "core type",
        "last-level loads, counted",
        "last-level misses, counted",
    ]
    assert table.rows[0][:2] == ["w", "performance"]


def test_shared_counters_are_scaled_up_and_said_to_be_estimates() -> None:
    (found,) = core_counts.core_counts(figures([2000, 500], running=50), "misses")
    assert found.is_estimate
    assert found.per_access["perf:llc-loads"].value == pytest.approx(4.0)
    (table,) = core_counts.table([found], "misses", "element", [], lambda _: [])
    assert table.note is not None
    assert "estimates" in table.note


def test_times_are_in_ns() -> None:
    (found,) = core_counts.core_counts(figures([2000, 500], unit="s"), "misses")
    assert found.per_access["perf:llc-loads"].value == pytest.approx(2.0)
    (table,) = core_counts.table([found], "misses", "element", [], lambda _: [])
    assert [column.unit for column in table.columns] == ["ns", "ns"]


def test_nothing_counted_is_zero_and_has_no_interval_to_tell() -> None:
    (found,) = core_counts.core_counts(figures([2000, 0]), "misses")
    (table,) = core_counts.table([found], "misses", "element", [], lambda _: [])
    assert table.rows[0][1] == 0.0


def test_a_run_without_readings_has_no_table() -> None:
    assert core_counts.table([], "misses", "element", [], lambda _: []) == []


def test_counters_that_could_not_be_opened_are_said_once() -> None:
    refused = dict.fromkeys(EVENTS, "the processor shows no counters")
    made = CounterSet(counters="misses", slots=0, of=[], refused=refused)
    point = latency_point("misses/p", experiment="misses")
    records: list[AnyRecord] = [start(), made, point, sample_of(point, 5.0)]
    of_run = figures_of(run_of(records))
    known = core_counts.verdict(of_run, "misses")
    assert known is not None
    assert known.text == (
        "No counters of the core were read: perf:llc-loads, perf:llc-load-misses (the processor "
        "shows no counters). Misses are modelled, not counted."
    )
    assert core_counts.verdict(of_run, "pages") is None
    assert core_counts.core_counts(of_run, "misses") == []


def test_what_was_counted_is_named() -> None:
    known = core_counts.verdict(figures([2000, 500]), "misses")
    assert known is not None
    assert "perf:llc-loads, perf:llc-load-misses" in known.text
