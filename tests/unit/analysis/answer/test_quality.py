"""The grade of a run, and what it does to verdicts."""

import pytest
from tests.unit.analysis.runs import environment, records, validation

from memgauge.analysis.answer.quality import ROUNDS, quality_of
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Quality
from memgauge.model.records import AnyRecord, Environment, RunEnd, Sample
from memgauge.model.run import Run, run_of


def graded(*changed: AnyRecord) -> Quality:
    """Of the whole run, in which each of these stands for the record of its kind."""
    return quality_of(figures_of(run_with(*changed)))


def run_with(*changed: AnyRecord) -> Run:
    by_type = {type(record): record for record in changed}
    return run_of([by_type.get(type(record), record) for record in records()])


def taken(share: float) -> Environment:
    """Ten seconds in which other programs used this share of two processors."""
    return environment(others_s=20.0 * share)


def test_a_quiet_run_of_many_rounds_is_good_and_says_by_what() -> None:
    found = graded(taken(0.01))
    assert found.grade == "good"
    assert found.reasons
    assert "60 rounds" in " ".join(found.reasons) or "points within 1%" in " ".join(found.reasons)


@pytest.mark.parametrize(
    ("share", "grade"), [(0.01, "good"), (0.05, "fair"), (0.19, "fair"), (0.5, "poor")]
)
def test_what_other_programs_used_is_graded(share: float, grade: str) -> None:
    found = graded(taken(share))
    assert found.grade == grade
    if grade != "good":
        assert found.reasons[0] == f"other programs used {share:.1%} of the processors' time"


def test_a_run_of_few_rounds_is_poor() -> None:
    few = [r for r in records() if not isinstance(r, Sample) or r.round < ROUNDS[1] - 1]
    assert quality_of(figures_of(run_of(few))).grade == "poor"


def test_corrupt_arrays_and_an_early_end_are_reasons() -> None:
    assert graded(validation(passed=False)).grade == "poor"
    ended = graded(RunEnd(status="interrupted", elapsed_s=1.0, rounds=60), taken(0.0))
    assert ended.grade == "fair"
    assert "the run did not end as planned" in ended.reasons


def test_nothing_measured_is_a_grade_of_its_own() -> None:
    found = quality_of(figures_of(run_of([r for r in records() if not isinstance(r, Sample)])))
    assert found == Quality(grade="nothing measured", reasons=["the run holds no samples"])


def test_no_verdict_is_good_where_the_quality_is_poor() -> None:
    def levels(share: float) -> set[str]:
        report = analyse_run(run_with(taken(share)))
        sections = [verdict for section in report.sections for verdict in section.verdicts]
        return {verdict.level for verdict in (*report.verdicts, *sections)}

    assert "good" in levels(0.0)
    assert "good" not in levels(0.86)
