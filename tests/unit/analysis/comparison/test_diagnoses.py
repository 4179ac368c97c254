"""Diagnoses side by side: which program is less sensitive to memory."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import NEAR, diagnosed
from tests.unit.analysis.diagnose.test_translation import HUGE, paged, use
from tests.unit.analysis.runs import records

from memgauge.analysis.comparison.diagnoses import (
    DIFFERS,
    LATENCY_SHARE,
    TRANSLATION_SHARE,
    WRITE_SLOWDOWN,
    DiagnosisPair,
)
from memgauge.analysis.comparison.document import ComparisonDocument, comparison_document
from memgauge.analysis.comparison.figures import Source, of_run
from memgauge.analysis.comparison.ratios import Comparison, compare, only
from memgauge.analysis.comparison.refusals import refuse_nothing
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.comparison.sides import side_of
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.model.errors import RequestError
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render

STRONG = {**NEAR, "write": (1.9, 3.0, 3.0)}


def source(figures: Figures, name: str) -> Source:
    return msgspec.structs.replace(of_run(figures, name), run_id=name)


def compared(**other: Any) -> Comparison:
    """What waits for half of its time, and another program."""
    baseline = diagnosed(latency=0.5, variants={"huge": 0.8})
    return compare([source(baseline, "old"), source(diagnosed(**other), "new")])


def pair_of(made: Comparison) -> DiagnosisPair:
    (pair,) = made.pairs
    assert pair.rows == []
    assert pair.diagnosis is not None
    return pair.diagnosis


def text_of(made: Comparison, *, whole: bool = True) -> str:
    return " ".join(render(report_of(made), whole=whole).split())


def test_a_smaller_share_is_less_sensitive_between_two_runs() -> None:
    made = compared(latency=0.2, variants={"huge": 0.95})
    pair = pair_of(made)
    rows = {row.name: row for row in pair.rows}
    share, variant = rows[LATENCY_SHARE], rows["diagnose/variant/huge"]
    assert pair.deciding is share
    assert share.difference is not None
    assert share.difference.low < -0.3 < share.difference.high
    assert variant.difference is not None
    assert variant.difference.value == pytest.approx(0.15, abs=0.01)
    assert (share.outcome, share.stands, variant.outcome) == (DIFFERS, False, DIFFERS)
    assert "B is less sensitive to memory than A, between these two runs" in text_of(made)
    reverse = compare([*reversed(made.sources)])
    assert "B is more sensitive to memory than A, between these two runs" in text_of(reverse)


def test_equal_programs_are_as_sensitive_as_can_be_told() -> None:
    made = compared(latency=0.5, variants={"huge": 0.8}, rounds=24)
    assert {row.outcome for row in pair_of(made).rows} == {"same"}
    assert "B is as sensitive to memory as A, as far as can be told" in text_of(made)


def test_the_answer_fits_a_screen() -> None:
    made = compared(latency=0.2, variants={"huge": 0.95})
    lines = render(report_of(made), whole=False).splitlines()
    assert lines[0] == "Comparison of diagnoses: A is old; B is new"
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80
    assert "Limited by A memory, B memory" in text_of(made, whole=False)


def test_pressure_of_unequal_strength_leaves_shares_comparable() -> None:
    made = compared(latency=0.5, stretch=STRONG)
    pair = pair_of(made)
    outcomes = {row.name: row.outcome for row in pair.rows}
    assert pair.has_equal_doses is False
    assert (outcomes[LATENCY_SHARE], outcomes[WRITE_SLOWDOWN]) == ("same", DIFFERS)
    assert "Pressure was not equally strong: under writes the latency reference took 149%" in (
        text_of(made)
    )
    assert "B is as sensitive to memory as A" in text_of(made)


def test_without_shares_the_time_under_writes_decides_if_pressure_was_alike() -> None:
    cached = {"cached": 0.8, "variants": {"huge": 0.8}}
    pair = pair_of(compared(**cached))
    assert next(row for row in pair.rows if row.name == LATENCY_SHARE).outcome == "not known"
    assert pair.deciding is not None
    assert pair.deciding.name == WRITE_SLOWDOWN
    unlike = compared(**cached, stretch=STRONG)
    assert pair_of(unlike).deciding is None
    assert "Whether B is less sensitive to memory than A cannot be told." in text_of(unlike)


def test_too_few_rounds_tell_nothing() -> None:
    made = compared(latency=0.2, rounds=4)
    pair = pair_of(made)
    assert {row.outcome for row in pair.rows} == {"not known"}
    assert (pair.deciding, pair.has_equal_doses) == (None, None)
    assert "Whether B is less sensitive to memory than A cannot be told." in text_of(made)


def side(name: str, latencies: tuple[float, ...]) -> Source:
    return side_of(
        [source(diagnosed(latency=one), f"{name}{at}") for at, one in enumerate(latencies)]
    )


@pytest.mark.parametrize(
    ("other", "outcome", "stands"),
    [((0.18, 0.2, 0.22), "less", True), ((0.47, 0.5, 0.53), "same", False)],
)
def test_several_runs_a_side_are_judged_by_what_varies_between_them(
    other: tuple[float, ...], outcome: str, *, stands: bool
) -> None:
    made = compare([side("a", (0.46, 0.5, 0.54)), side("b", other)])
    row = pair_of(made).deciding
    assert row is not None
    assert (row.outcome, row.stands) == (outcome, stands)
    assert row.baseline is not None
    assert row.baseline.value == pytest.approx(0.5, abs=0.02)
    text = text_of(made)
    assert "between these two runs" not in text
    assert "One run a side decides nothing" not in text


def test_a_figure_that_a_run_lacks_is_not_known() -> None:
    made = compare([side("a", (0.5, 0.5)), side("b", (0.5, 0.0, 0.5))])
    assert len(pair_of(made).rows) == 5
    few = source(diagnosed(latency=0.5, rounds=4), "few")
    made = compare([side("a", (0.5, 0.5, 0.5)), side_of([few, few])])
    assert {row.outcome for row in pair_of(made).rows} == {"not known"}


def test_the_document_holds_both_and_is_read_back() -> None:
    document = comparison_document(compared(latency=0.2, variants={"huge": 0.95}))
    assert msgspec.json.decode(msgspec.json.encode(document), type=ComparisonDocument) == document
    (pair,) = document.pairs
    assert pair.diagnosis is not None
    assert pair.diagnosis.deciding == LATENCY_SHARE
    (old,) = pair.diagnosis.baseline
    assert (old.program, old.verdict, old.metric) == ("a.out -n 3", "memory", "elapsed time")
    assert document.sources[0].figures == len(pair.diagnosis.rows) == 6


def test_figures_are_chosen_by_name() -> None:
    made = compared(latency=0.2, variants={"huge": 0.95})
    kept = compare([only(one, "diagnose/share/*") for one in made.sources])
    assert [row.name for row in pair_of(kept).rows] == [LATENCY_SHARE, "diagnose/share/bandwidth"]
    none = [only(one, "stream/*") for one in made.sources]
    with pytest.raises(RequestError, match="holds no figure that matches"):
        refuse_nothing(none, compare(none), "stream/*")


def test_a_diagnosis_and_a_run_of_something_else_have_nothing_to_compare() -> None:
    sources = [source(diagnosed(), "one"), of_run(figures_of(run_of(records())), "two")]
    with pytest.raises(RequestError, match=r"is in 'one' \(diagnose\) and in another source"):
        refuse_nothing(sources, compare(sources), None)


def test_a_diagnosis_against_itself_is_called_that() -> None:
    one = source(diagnosed(latency=0.5), "one")
    text = text_of(compare([one, one]), whole=False)
    assert "B is the same run as A." in text
    assert "sensitive" not in text


@pytest.mark.parametrize("rate", [None, 400.0])
def test_a_rate_is_compared_as_a_time_is(rate: float | None) -> None:
    given: dict[str, Any] = {"rate": rate, "process_cpus": "0"} if rate else {}
    made = compare(
        [
            source(diagnosed(latency=0.5, **given), "old"),
            source(diagnosed(latency=0.2, **given), "new"),
        ]
    )
    pair = pair_of(made)
    assert pair.deciding is not None
    assert pair.deciding.outcome == DIFFERS
    assert pair.baseline[0].metric == (
        "1 over what the metric command prints" if rate else "elapsed time"
    )


def test_shares_of_translation_are_compared_where_both_are_known() -> None:
    before = source(paged(latency=0.5), "old")
    less = source(paged(latency=0.5, usual=use(0.8, 0.05, 65_000), time=0.85), "new")
    made = compare([before, less])
    share = {row.name: row for row in pair_of(made).rows}[TRANSLATION_SHARE]
    assert share.difference is not None
    assert share.difference.value == pytest.approx((0.1 - 0.04) / 0.85 - 0.21)
    text = text_of(made)
    assert "time in address translation" in text.lower()
    assert "Address translation: at least 21% of its processor time." in text
    (one,) = comparison_document(made).pairs
    assert one.diagnosis is not None
    assert [run.translation for run in one.diagnosis.baseline] == ["translation"]
    # A program that is on huge pages has no such share.
    spared = paged(usual=HUGE, other=use(0.95, 0.05, 9), pages="base", usual_share=1, other_share=0)
    names = [row.name for row in pair_of(compare([before, source(spared, "new")])).rows]
    assert TRANSLATION_SHARE not in names
