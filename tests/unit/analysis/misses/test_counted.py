"""Counted misses of walks: rates and AMAT beside the model, and what they cannot say."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.misses.test_section import COST, LEVELS, level_point, walk_point
from tests.unit.analysis.records import sample_of
from tests.unit.analysis.runs import KIB, MIB, cache, start

from memgauge.analysis.counters.core_counts import L3_ACCESSES, L3_MISSES, core_counts
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.misses.counted import Counted, counts_of, rates_table, rates_verdicts
from memgauge.analysis.misses.figures import cases_of, levels_of
from memgauge.analysis.misses.section import analyse
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import AnyRecord
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render

STUDY = (
    "perf:cycles",
    "perf:instructions",
    "perf:cache-references",
    "perf:cache-misses",
    "perf:llc-loads",
    "perf:llc-load-misses",
)
PATTERNS = {"sequential": 4, "stride": 64, "random": 64}
ACCESSES = 1000

Counts = dict[str, float]
"""For each element, by event."""


def counter(event: str, slot: int, cpu: int | None = None) -> Counter:
    return Counter(
        name=f"{event}@cpu{cpu}",
        event=event,
        back_end="perf",
        quantity="cache_misses",
        domain="core",
        scope="l3" if cpu is not None else "thread",
        unit="",
        scale=1.0,
        scale_source="test",
        instance=f"amd_l3@cpu{cpu}" if cpu is not None else "thread 1",
        cpu=cpu,
        slot=slot,
        route="group",
    )


def figures(counted: Counts, *, l3_of: dict[int, Counts] | None = None) -> Figures:
    """Walks over memory with these counts of the thread, and of the L3s of some CPUs."""
    draw = random.Random(5)
    counters = [counter(event, slot) for slot, event in enumerate(counted)]
    deltas = list(counted.values())
    for cpu, mine in (l3_of or {}).items():
        for event, value in mine.items():
            counters.append(counter(event, len(counters), cpu))
            deltas.append(value)
    caches = [
        cache(1, 32 * KIB, [0, 1, 2, 3], "data"),
        cache(2, MIB, [0, 1, 2, 3]),
        cache(3, 32 * MIB, [0, 1]),
        cache(3, 32 * MIB, [2, 3]),
    ]
    begun = start()
    begun = msgspec.structs.replace(
        begun,
        experiments=["misses"],
        system=msgspec.structs.replace(begun.system, caches=caches),
    )
    levels = [(level_point(name, LEVELS[name][1]), LEVELS[name][0]) for name in LEVELS]
    walks = [
        (walk_point(pattern, "DRAM", stride, 128 * MIB), COST[pattern])
        for pattern, stride in PATTERNS.items()
    ]
    points = [
        (msgspec.structs.replace(point, accesses=ACCESSES), value)
        for point, value in (*levels, *walks)
    ]
    records: list[AnyRecord] = [begun]
    records.append(CounterSet(counters="misses", slots=len(counters), of=counters))
    records += [point for point, _ in points]
    walked = {point.point for point, _ in walks}
    for round_ in range(40):
        for point, value in points:
            sample = sample_of(point, value * draw.gauss(1, 0.002), round_)
            if point.point in walked:
                after = [round(delta * ACCESSES) for delta in deltas]
                reading = RegionReading(
                    counters="misses",
                    before_ns=(0, 1),
                    after_ns=(9, 10),
                    before=[0] * len(after),
                    after=[*after],
                )
                sample = msgspec.structs.replace(sample, reading=reading)
            records.append(sample)
    return figures_of(run_of(records))


def counted_in(of_run: Figures) -> dict[str, Counted]:
    levels = levels_of(of_run)
    found = counts_of(of_run, cases_of(of_run, levels), levels)
    return {one.case.pattern: one for one in found}


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def study(loads: float, misses: float) -> Counts:
    return dict(zip(STUDY, (100.0, 250.0, 4.0, 3.0, loads, misses), strict=True))


def test_rates_are_those_of_perf_stat() -> None:
    found = counted_in(figures(study(2.0, 1.5)))["random"]
    assert value(found.miss_rate) == pytest.approx(0.75)
    assert value(found.reference_rate) == pytest.approx(0.75)
    assert value(found.instructions_per_cycle) == pytest.approx(2.5)


@given(st.floats(0.02, 2.0), st.floats(0.0, 1.0))
def test_amat_by_counts_is_each_load_times_the_latency_of_what_answers_it(
    loads: float, share: float
) -> None:
    """The closed form, whose loads that do not reach L3 lie between L1 and L2."""
    missed = round(loads * share * ACCESSES) / ACCESSES
    loads = round(loads * ACCESSES) / ACCESSES
    found = counted_in(figures(study(loads, missed)))["random"]
    near, l2, l3, memory = (LEVELS[name][0] for name in LEVELS)
    fixed = missed * memory + (loads - missed) * l3
    low, high = (fixed + (2 - loads) * before for before in (near, l2))
    assert found.amat is not None
    assert found.amat.low <= low * 1.01
    assert found.amat.high >= high * 0.99
    assert low * 0.99 <= found.amat.value <= high * 1.01


def test_amat_by_counts_is_that_of_the_model_where_counts_are_the_model_s() -> None:
    found = counted_in(figures(study(2.0, 2.0)))["random"]
    assert found.case.amat is not None
    assert value(found.amat) == pytest.approx(found.case.amat.value, rel=0.01)
    assert value(found.miss_rate) == pytest.approx(found.case.rates[-1])


def test_prefetches_that_are_counted_give_no_amat_but_a_rate_and_a_reason() -> None:
    of_run = figures(study(3.0, 1.5))
    found = counted_in(of_run)["random"]
    assert found.amat is None
    assert value(found.miss_rate) == pytest.approx(0.5)
    assert "prefetches are counted too" in found.why_no_amat
    said = " ".join(one.text for one in analyse(of_run).verdicts)
    assert "No AMAT by counted misses" in said


L3 = {L3_ACCESSES: 2.0, L3_MISSES: 1.0}


def test_amd_s_l3_stands_in_where_the_core_counts_no_last_level() -> None:
    of_core = dict.fromkeys(STUDY[:4], 1.0)
    far = {L3_ACCESSES: 50.0, L3_MISSES: 50.0}
    of_run = figures(of_core, l3_of={0: L3, 2: far})
    found = counted_in(of_run)["random"]
    assert found.by == L3_ACCESSES
    assert value(found.miss_rate) == pytest.approx(0.5)
    assert value(found.reached) == pytest.approx(2.0), "of the L3 of CPU 0 only"
    (table,) = rates_table([*counted_in(of_run).values()])
    assert "of all cores that share it" in (table.note or "")


def test_an_l3_of_other_cores_is_not_counted() -> None:
    of_run = figures({"perf:cycles": 5.0}, l3_of={2: L3})
    for one in core_counts(of_run, "misses"):
        assert set(one.per_access) == {"perf:cycles"}


def test_the_thread_s_own_counts_come_before_those_of_all_cores() -> None:
    found = counted_in(figures(study(1.0, 0.25), l3_of={0: L3}))["random"]
    assert found.by == "perf:llc-loads"
    assert value(found.miss_rate) == pytest.approx(0.25)


def test_without_counters_there_is_no_table_and_no_verdict() -> None:
    of_run = figures({})
    assert counted_in(of_run) == {}
    assert (rates_table([]), rates_verdicts([])) == ([], [])
    assert not any("counted" in table.name for table in analyse(of_run).tables)


@pytest.mark.parametrize(
    ("misses", "words"),
    [(1.9, "within 10 points of the modelled ones in all 3"), (0.6, "differ from the modelled")],
)
def test_whether_counts_are_the_model_s_is_told(misses: float, words: str) -> None:
    said = [one.text for one in analyse(figures(study(2.0, misses))).verdicts]
    assert any(words in text for text in said)


def test_a_document_holds_measured_modelled_and_counted_apart() -> None:
    walks = {one.pattern: one for one in json_document(figures(study(2.0, 1.5)).run).misses}
    assert set(walks) == set(PATTERNS)
    found = walks["random"]
    assert found.miss_rates_modelled == {"L1": 1.0, "L2": 1.0, "L3": 1.0}
    assert found.amat_modelled_ns is not None
    (counted,) = found.counted
    assert counted.last_level_by == "perf:llc-loads"
    assert counted.last_level_miss_rate is not None
    assert counted.last_level_miss_rate.value == pytest.approx(0.75)
    assert counted.per_element["perf:cycles"].value == pytest.approx(100)
    assert counted.amat_ns is not None
    assert counted.amat_ns.value != found.amat_modelled_ns.value
    assert json_document(figures({}).run).misses[0].counted == []


def test_the_tables_fit_a_narrow_terminal() -> None:
    text = render(analyse_run(figures(study(2.0, 1.5)).run), 80)
    assert max(map(len, text.splitlines())) <= 80
    for title in ("Miss rates, counted and modelled", "Counted misses, for each element"):
        assert title in text
