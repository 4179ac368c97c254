"""Sides of several runs: what they have in common, rows, paces and what is said."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.comparison.test_ratios import comparable, source

from memgauge.analysis.comparison.document import comparison_document
from memgauge.analysis.comparison.figures import (
    BEST,
    MEDIAN,
    SUSTAINED,
    Source,
    of_reference,
    without_interval,
)
from memgauge.analysis.comparison.partners import NOT_IN_EVERY_RUN, NOT_IN_EVERY_RUN_THERE
from memgauge.analysis.comparison.ratios import compare, compare_two
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.comparison.sides import side_of
from memgauge.analysis.schema import comparison_schema
from memgauge.analysis.section import Report
from memgauge.references.library import load
from memgauge.reports.terminal.report import render

FIGURES = 20


def run(name: str, values: Sequence[float], **changes: object) -> Source:
    """Alternately bandwidths and latencies."""
    made = [
        comparable(
            f"stream/f{at}",
            without_interval(value),
            unit="ns" if at % 2 else "GB/s",
            direction="lower" if at % 2 else "higher",
        )
        for at, value in enumerate(values)
    ]
    return source(made, name=name, run_id=name, **changes)


def runs(seed: int, count: int, speeds: Sequence[float] = ()) -> list[Source]:
    """Runs with a pace of 1% and noise of half a percent, the first figures at other speeds."""
    rng = random.Random(seed)
    made = []
    for at in range(count):
        pace = rng.gauss(0, 0.01)
        factors = [*speeds, *([1.0] * (FIGURES - len(speeds)))]
        logs = [math.log(factor) + pace + rng.gauss(0, 0.005) for factor in factors]
        signs = [-1 if figure % 2 else 1 for figure in range(FIGURES)]
        values = [10 * math.exp(s * log) for s, log in zip(signs, logs, strict=True)]
        made.append(run(f"{seed}-{at}", values))
    return made


def said(report: Report) -> str:
    verdicts = [*report.verdicts, *(v for section in report.sections for v in section.verdicts)]
    return "\n".join(f"{verdict.level}: {verdict.text}" for verdict in verdicts)


def test_one_run_is_itself() -> None:
    (one,) = runs(1, 1)
    assert side_of([one]) is one


def test_a_side_is_the_geometric_mean_of_what_all_runs_have() -> None:
    one, other = run("a", [2.0, 3.0, 4.0]), run("b", [8.0, 3.0])
    side = side_of([one, other])
    assert [found.estimate.value for found in side.comparables] == pytest.approx([4.0, 3.0])
    assert side.comparables[0].of_runs == (2.0, 8.0)
    assert [found.name for found in side.not_in_every_run] == ["stream/f2"]
    left = compare_two(side, side_of([one, one])).unpaired
    assert [(found.name, found.source, found.why) for found in left] == [
        ("stream/f2", "baseline", NOT_IN_EVERY_RUN),
        ("stream/f2", "other", NOT_IN_EVERY_RUN_THERE),
    ]
    text = said(report_of(compare([side, side_of([one, one])])))
    assert "Not in every run of A: 1 figure: stream/f2." in text
    assert "Only in B" not in text


def test_runs_in_other_regimes_are_partners_only_of_their_own() -> None:
    near = {"regime": "near", "pingpong_ns": 40.0}
    far = {"regime": "far", "pingpong_ns": 200.0}
    first = source([comparable("f", without_interval(9.0), **near)], name="a")
    second = source([comparable("f", without_interval(5.0), **far)], name="b")
    alone = source(
        [comparable("f", without_interval(9.1), regime="one regime", pingpong_ns=41.0)], name="c"
    )
    assert not side_of([first, second]).comparables
    assert len(side_of([first, second]).not_in_every_run) == 2
    assert side_of([first, alone]).comparables[0].of_runs == (9.0, 9.1)
    assert not side_of([first, alone]).not_in_every_run


def test_what_differs_within_a_side_is_not_a_fact_of_it() -> None:
    one = run("a", [1.0], traits={"kernel": "6.1", "threads": "2"}, settings={"budget": "60 s"})
    other = run("b", [1.0], traits={"kernel": "6.2", "threads": "2"}, settings={"budget": "60 s"})
    side = side_of([one, other])
    assert side.traits == {"threads": "2"}
    report = report_of(compare([side, side_of(runs(3, 2))]))
    assert "The runs of A were not made alike: kernel: 6.1 against 6.2" in said(report)
    assert "drift" not in said(report)


def test_faster_is_more_bandwidth_and_less_latency() -> None:
    pair = compare_two(side_of(runs(5, 5)), side_of(runs(25, 5, [1.1, 1.1, 0.9, 0.9])))
    outcomes = [(row.outcome, row.stands) for row in pair.rows]
    assert outcomes[:4] == [("faster", True)] * 2 + [("slower", True)] * 2
    assert not any(stands for _, stands in outcomes[4:])
    assert pair.rows[0].widened.value > 1 > pair.rows[1].widened.value
    for row in pair.rows:
        assert row.apart is not None
        assert row.apart.low < row.apart.value < row.apart.high
        assert row.widened.high / row.widened.low > row.apart.high / row.apart.low
        assert row.widened.value == pytest.approx(row.other.value / row.baseline.value)


def test_swapping_the_sides_turns_every_ratio_over() -> None:
    one, other = side_of(runs(7, 3)), side_of(runs(8, 3, [0.9, 1.1]))
    turned = {"faster": "slower", "slower": "faster", "same": "same"}
    for row, back in zip(compare_two(one, other).rows, compare_two(other, one).rows, strict=True):
        assert back.widened.low == pytest.approx(1 / row.widened.high)
        assert back.p_value == pytest.approx(row.p_value)
        assert back.outcome == turned[row.outcome]


def test_a_slower_machine_is_slow_in_its_pace_and_fails_the_gate() -> None:
    slow = runs(9, 5, [0.8] * FIGURES)
    pair = compare_two(side_of(runs(10, 5)), side_of(slow))
    assert pair.paces is not None
    assert pair.paces.differs
    assert pair.paces.ratio.value == pytest.approx(0.8, abs=0.03)
    assert {row.outcome for row in pair.rows if row.stands} == set()
    assert len(pair.slower_than(0.05)) == FIGURES
    assert pair.slower_than(0.3) == []
    report = report_of(compare([side_of(runs(10, 5)), side_of(slow)]))
    assert "problem: Common pace: B is 2" in said(report)


def test_equal_sides_pass_every_gate() -> None:
    pair = compare_two(side_of(runs(11, 3)), side_of(runs(12, 3)))
    assert pair.slower_than(0.01) == []


def test_what_is_slower_by_the_shared_test_only_fails_the_gate() -> None:
    pair = compare_two(side_of(runs(13, 3)), side_of(runs(14, 3, [0.85])))
    assert [row.name for row in pair.slower_than(0.05)] == ["stream/f0"]


def test_few_figures_are_judged_alone() -> None:
    few = [[10.0, 5.0], [10.1, 5.1], [9.9, 5.0]]
    slow = [[8.0, 5.1], [8.1, 5.0], [8.2, 5.05]]
    pair = compare_two(
        side_of([run(f"a{at}", one) for at, one in enumerate(few)]),
        side_of([run(f"b{at}", one) for at, one in enumerate(slow)]),
    )
    assert pair.paces is None
    assert [row.outcome for row in pair.rows] == ["slower", "same"]


def test_a_new_run_is_judged_by_earlier_ones() -> None:
    pair = compare_two(side_of(runs(15, 6)), runs(16, 1, [0.85])[0])
    assert [row.name for row in pair.rows if row.stands] == ["stream/f0"]
    report = report_of(compare([side_of(runs(15, 3)), runs(16, 1)[0]]))
    assert "So few runs (3 of A, 1 of B)" in said(report)


def test_two_runs_beside_one_are_not_judged() -> None:
    pair = compare_two(side_of(runs(17, 2)), runs(18, 1)[0])
    assert {row.outcome for row in pair.rows} == {"not known"}
    assert pair.judged == []


def test_other_statistics_and_published_figures_are_not_judged() -> None:
    earlier = side_of(runs(19, 3))
    best = msgspec.structs.replace(
        runs(20, 1)[0],
        comparables=[
            msgspec.structs.replace(one, statistic=BEST) for one in runs(20, 1)[0].comparables
        ],
    )
    assert {row.outcome for row in compare_two(earlier, best).rows} == {"not known"}
    published = msgspec.structs.replace(runs(21, 1)[0], published=True)
    assert {row.outcome for row in compare_two(earlier, published).rows} == {"not known"}


def test_a_side_of_which_one_run_has_a_median_is_of_medians() -> None:
    figures = [(10.0, 9.0), (10.2, 9.2), (9.3, None)]
    sources = [
        source(
            [
                comparable(
                    "stream/f",
                    without_interval(value),
                    statistic=MEDIAN if median is None else SUSTAINED,
                    median=None if median is None else without_interval(median),
                )
            ],
            name=str(at),
        )
        for at, (value, median) in enumerate(figures)
    ]
    for order in (sources, sources[::-1]):
        (found,) = side_of(order).comparables
        assert found.statistic == MEDIAN
        assert sorted(found.of_runs) == [9.0, 9.2, 9.3]
    percentiles = side_of(sources[:2])
    (row,) = compare_two(percentiles, side_of(sources[1:])).rows
    assert row.statistic == MEDIAN
    assert row.baseline.value == pytest.approx(math.sqrt(9.0 * 9.2))
    assert percentiles.comparables[0].of_runs == (10.0, 10.2)


def test_zero_and_infinite_figures_are_not_judged() -> None:
    zero = [run(f"z{at}", [0.0, *([1.0] * 9)]) for at in range(2)]
    vast = [run(f"v{at}", [1e308, *([1.0] * 8), math.inf]) for at in range(2)]
    rows = compare_two(side_of(zero), side_of(vast)).rows
    assert (rows[0].outcome, rows[-1].outcome) == ("not known", "not known")
    assert {row.outcome for row in rows[1:-1]} == {"same"}


def test_document_and_report_name_every_run() -> None:
    made = compare([side_of(runs(22, 3)), side_of(runs(23, 2)), of_reference(load("nvdimm-dram"))])
    document = json.loads(msgspec.json.encode(comparison_document(made)))
    jsonschema.Draft202012Validator(comparison_schema()).validate(document)
    assert [one["run_id"] for one in document["sources"][1]["runs"]] == ["23-0", "23-1"]
    assert len(document["pairs"][0]["paces"]["baseline"]) == 3
    assert document["pairs"][1]["paces"] is None
    lines = render(report_of(made)).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split()[:2] == ["A", "22-0"] for line in lines)
