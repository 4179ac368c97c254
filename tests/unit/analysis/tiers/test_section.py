import random
from collections.abc import Sequence
from functools import partial

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.runs import FAR_NS, NEAR_NS, start
from tests.unit.analysis.tiers.runs import (
    BYTES,
    Speeds,
    alike,
    cores,
    even,
    points,
    tiers_run,
    visit,
    worker,
)

from memgauge.analysis.comparison.charts import charts
from memgauge.analysis.comparison.figures import of_reference, of_run
from memgauge.analysis.comparison.ratios import compare_two
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.tiers.figures import Contest, contests
from memgauge.analysis.tiers.section import analyse
from memgauge.analysis.tiers.verdicts import verdicts
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of
from memgauge.references.library import load


def section(run: Run) -> Section:
    return analyse(figures_of(run))


def contest(run: Run) -> Contest:
    (found,) = contests(figures_of(run))
    return found


def said(run: Run) -> str:
    return " ".join(verdict.text for verdict in section(run).verdicts)


def shared(total: float, threads: int) -> Speeds:
    """One memory that all threads share: any split of them reaches the same."""
    return lambda k: (total / threads + 0 * k, total / threads)


def saturating(k: int) -> tuple[float, float]:
    """DRAM shared evenly; the second memory full with two threads."""
    return 4.0, 2.0 if k <= 2 else 4.0 / k


@pytest.fixture(scope="module")
def level() -> Run:
    return tiers_run(8, shared(40, 8))


def test_groups_and_their_sum_are_told_for_every_split(level: Run) -> None:
    found = rows(section(level).tables[0])
    assert [row["in B"] for row in found] == list(range(9))
    for k, row in enumerate(found):
        assert value(row["sum"]) == pytest.approx(40, rel=0.005)
        if k < 8:
            assert value(row["A"]) == pytest.approx(40 - 5 * k, rel=0.005)
            assert value(row["each of A"]) == pytest.approx(5, rel=0.005)
        if k:
            assert value(row["B"]) == pytest.approx(5 * k, rel=0.005)
            assert value(row["each of B"]) == pytest.approx(5, rel=0.005)
            assert value(row["of A alone"]) == pytest.approx(1, abs=0.005)
    assert (found[0]["B"], found[8]["A"], found[8]["A loses"]) == (None, None, None)
    assert [row["A loses"] for row in found[1:8]] == pytest.approx(
        [k / 8 for k in range(1, 8)], abs=0.005
    )


def test_one_memory_split_among_threads_stays_level_and_gains_nothing(level: Run) -> None:
    text = said(level)
    assert "stays level over all splits" in text
    assert "no split beats A alone by more than 1.0%" in text
    assert "as many of all 8 threads as its work needs" in text


def test_the_sum_is_of_the_groups_of_one_visit() -> None:
    """Where one group is fast when the other is slow the sum is certain, and neither group is."""
    rng = random.Random(1)
    planned = {k: points(k, threads=2) for k in range(3)}
    records: list[AnyRecord] = [start(cores(2))]
    records += [point for groups in planned.values() for point in groups.values()]
    for round_ in range(40):
        for k, groups in planned.items():
            share = rng.uniform(0.3, 0.7) if k == 1 else 0.5
            pace = {"a": 20 * share, "b": 20 * (1 - share)}
            took = {group: [round(BYTES / pace[group])] * 100 for group in pace}
            records += visit(groups, partial(alike, took), round_)
    split = next(s for s in contest(run_of(records)).splits if s.k == 1)
    assert split.a is not None
    assert split.total.value == pytest.approx(20, rel=1e-3)
    assert split.total.precision < 0.001
    assert split.a.precision > 0.02


def test_a_second_memory_that_adds_bandwidth_is_used() -> None:
    run = tiers_run(8, lambda k: (min(4.0, 24 / max(1, 8 - k)), 3.0))
    made = json_document(run).tiers[0]
    totals = {k: min(24, 4 * (8 - k)) + 3 * k for k in range(9)}
    assert made.beats_a_alone == [k for k, total in totals.items() if total > 24.2]
    assert made.costs_least == 2
    assert "Give 2 of 8 threads to B (node:2): together they beat A alone by 25." in said(run)


def test_a_memory_that_is_soon_full_costs_from_the_first_thread_on() -> None:
    text = said(tiers_run(8, saturating))
    assert "Keep all 8 threads on A (dram) for the largest sum: with 1 in B" in text
    assert "no split reaches A alone: the best, 1 in B, lies 6." in text


def test_what_a_loses_is_of_all_threads_alone() -> None:
    """Seven threads draw as much as eight: the eighth may go, the next may not."""
    run = tiers_run(8, lambda k: (min(5.0, 35 / max(1, 8 - k)), 1.0))
    text = said(run)
    assert (
        "A loses less than 5% of what all 8 threads reach on its memory (A alone) with up" in text
    )
    assert "to 1 in B:" in text
    assert "; with 2 it loses 14." in text
    made = json_document(run).tiers[0]
    assert (made.loses_little_up_to, made.loses_more_from) == (1, 2)


def test_two_splits_ask_for_more_threads_and_not_for_more_time() -> None:
    made = section(tiers_run(1, saturating)).verdicts
    requested = {v.remedy for v in made if "two splits are too few" in v.text}
    assert requested == {"give two --threads or more, and leave --split out"}


def test_too_few_visits_tell_nothing() -> None:
    run = tiers_run(4, saturating, rounds=4)
    text = said(run)
    assert "Which split is best cannot be determined: too few passes for intervals" in text
    assert json_document(run).tiers[0].sum == "not known"


def test_too_much_noise_tells_nothing() -> None:
    assert "cannot be determined" in said(tiers_run(4, shared(20, 4), rounds=12, noise=0.3))


def test_no_visit_that_counts_is_said() -> None:
    records: list[AnyRecord] = [start(cores(2)), *points(1, threads=2).values()]
    assert "No two splits of the threads have a usable sample" in said(run_of(records))


def test_a_group_whose_point_was_not_declared_makes_no_split() -> None:
    """A run that was killed while it declared its points."""
    groups = points(1, threads=2)
    records: list[AnyRecord] = [start(cores(2)), groups["a"]]
    records += visit({"a": groups["a"]}, lambda *_: [1000] * 20)
    assert contests(figures_of(run_of(records))) == []


def test_threads_that_fluctuate_are_told_from_those_that_do_not() -> None:
    run = tiers_run(4, even(4, 4), b_factors=(1, 1, 1, 1, 1, 1, 1, 2))
    found = rows(section(run).tables[0])
    assert found[2]["A's iterations vary by"] == pytest.approx(0, abs=0.02)
    assert found[2]["B's iterations vary by"] == pytest.approx(0.5, abs=0.02)
    assert "The speed of threads in B fluctuates" in said(run)
    assert "50% to 10" in said(run)
    assert "fluctuates" not in said(tiers_run(4, even(4, 4)))


def test_latency_beside_both_groups_is_told() -> None:
    run = tiers_run(4, even(4, 2), latency=lambda k, group: (100 if group == "a" else 300) - 5 * k)
    found = rows(section(run).tables[0])
    assert value(found[0]["latency, A's memory"]) == pytest.approx(100, rel=0.01)
    assert value(found[4]["latency, B's memory"]) == pytest.approx(280, rel=0.01)
    expected = "that B reads (node:2) takes between 280 ns, with 4 threads in B, and 300 ns, with 0"
    assert expected in said(run)
    assert {chart.name for chart in section(run).charts} >= {"tiers-latency-copy-4t"}


def fixed(rounds: int = 3, iterations: int = 60) -> Run:
    """So many iterations of each thread; those of B take three times as long."""
    planned = [points(k, threads=4, fixed_iterations=iterations) for k in range(5)]
    records: list[AnyRecord] = [start(cores(4))]
    records += [point for groups in planned for point in groups.values()]
    for round_ in range(rounds):
        for groups in planned:

            def durations(group: str, _: int) -> Sequence[int]:
                slow = 3 if group == "b" else 1
                return [5000 * slow] * 3 + [1000 * slow] * (iterations - 3)

            records += visit(groups, durations, round_, switches=2)
    return run_of(records)


def test_fixed_iterations_count_while_all_were_at_work_and_steady() -> None:
    run = fixed()
    found = rows(section(run).tables[0])
    a, b = BYTES / 1000, BYTES / 3000
    assert [row["sum"] and value(row["sum"]) for row in found] == pytest.approx(
        [4 * a, 3 * a + b, 2 * a + 2 * b, a + 3 * b, 4 * b]
    )
    assert found[0]["outside"] == 0
    text = said(run)
    assert "With 60 iterations per thread, 60% of the time lay outside" in text
    assert "left out in addition, while threads warmed up" in text
    assert found[1]["set aside"] == 0


def test_two_distances_give_a_curve_each() -> None:
    run = tiers_run(
        2,
        shared(20, 2),
        rounds=60,
        pingpong=lambda rng: rng.gauss(FAR_NS if rng.random() < 0.4 else NEAR_NS, 0.5),
    )
    found = contests(figures_of(run))
    assert [one.regime.partition(" (")[0] for one in found] == [
        "same complex",
        "across complexes",
    ]
    assert all(split.passes + split.set_aside >= 12 for one in found for split in one.splits)


def test_what_translating_addresses_costs_is_told() -> None:
    slow = {"copy": 4.0, "copy-translated": 1.0}
    runs = {
        what: tiers_run(2, even(4, speed), work=[(what, None)], rounds=20)
        for what, speed in slow.items()
    }
    one, other = (contest(run) for run in runs.values())
    text = " ".join(verdict.text for verdict in verdicts([one, other]))
    assert "both threads reach 25." in text
    assert "this difference comes from the code, not from the memory" in text
    assert "translated anew" not in " ".join(verdict.text for verdict in verdicts([one]))


def test_several_kinds_of_work_make_maps() -> None:
    work = [("copy", None), ("100r", 1.0), ("50r/d0-200", 0.5)]
    run = tiers_run(4, saturating, rounds=8, work=work, latency=lambda k, _: 100.0 + k)
    names = [chart.name for chart in section(run).charts if chart.kind == "heatmap"]
    assert names == [f"tiers-map-{of}-4t" for of in ("sum", "loss", "latency-a", "latency-b")]
    found = next(c for c in section(run).charts if c.name == "tiers-map-sum-4t")
    assert [one.name for one in found.series] == [
        "copy",
        "all reads",
        "50% reads, pauses 0 and 200 ns",
    ]
    assert found.series[0].x == [1, 2, 3, 4]


def test_charts_have_the_shape_they_say(level: Run) -> None:
    bandwidth, over_time = section(level).charts
    assert [one.name for one in bandwidth.series] == ["A: dram", "B: node:2", "sum"]
    assert [len(one.x) for one in bandwidth.series] == [8, 8, 9]
    assert bandwidth.rules[0].value == pytest.approx(40, rel=0.005)
    assert [one.name for one in over_time.series] == ["threads of A", "threads of B"]


def test_samples_switched_out_are_set_aside_with_their_partner() -> None:
    groups = points(1, threads=2)
    records: list[AnyRecord] = [start(cores(2)), *groups.values()]
    for round_ in range(4):
        pair = visit(groups, lambda *_: [1000] * 50, round_)
        if round_ == 2:
            late = worker(1, [*[1000] * 25, 9000, *[1000] * 20], switches=1)
            pair[1] = msgspec.structs.replace(pair[1], threads=[late])
        records += pair
    (found,) = contests(figures_of(run_of(records)))
    assert (found.splits[0].passes, found.splits[0].set_aside) == (3, 1)


def test_the_report_and_the_document_of_a_run_hold_it(level: Run) -> None:
    assert "tiers" in [section.name for section in analyse_run(level).sections]
    made = json_document(level).tiers
    assert [(one.work, one.threads, one.memory_a, one.memory_b) for one in made] == [
        ("copy", 8, "dram", "node:2")
    ]
    assert [split.b_threads for split in made[0].splits] == list(range(9))
    assert made[0].splits[0].b is None
    assert made[0].a_alone is not None


def test_figures_of_two_runs_and_of_published_tables_pair_up() -> None:
    run = of_run(figures_of(tiers_run(16, saturating, rounds=12)), "run")
    names = {one.name for one in run.comparables}
    sums = {f"tiers/copy/16t/k{k}/sum" for k in range(1, 16)}
    assert sums <= names
    assert "tiers/copy/16t/k0/sum" not in names, "it is the bandwidth of A"
    pair = compare_two(of_reference(load("nvdimm-nvm-nvm")), run)
    assert len(pair.rows) == 45
    assert {one.name for one in pair.unpaired} == {
        "tiers/copy/16t/k0/a",
        "tiers/copy/16t/k16/b",
    }
    drawn = charts("B", pair, [pair.rows])
    assert [chart.name for chart in drawn] == [
        *(f"compare-B-tiers-copy-16t-{group}" for group in ("a", "b", "sum")),
        "compare-B-ratio-1-splits",
    ]
    assert drawn[0].series[0].x == list(range(1, 16))
