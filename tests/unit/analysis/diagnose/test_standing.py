"""Since which round a verdict stands: as diagnoses of so many rounds would have judged."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import diagnosed, recorded

from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.figures import diagnosis_of
from memgauge.analysis.diagnose.judgement import Judgement, judge_with, judgement_of
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.diagnose.shares import LEAST_ROUNDS
from memgauge.analysis.diagnose.standing import MOST_LOOKS, standing_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.records import AnyRecord, Sample
from memgauge.model.run import run_of

UNSTEADY_ROUNDS = 8


def first_unsteady() -> list[AnyRecord]:
    """A program that waits, whose control differs from itself in the first rounds."""

    def disturbed(one: AnyRecord) -> AnyRecord:
        if not isinstance(one, Sample) or one.round >= UNSTEADY_ROUNDS:
            return one
        if one.point != "diagnose/program/compute again":
            return one
        thread = one.threads[0]
        later = msgspec.structs.replace(thread, end_ns=[round(thread.end_ns[0] * 1.3)])
        return msgspec.structs.replace(one, threads=[later])

    return [disturbed(one) for one in recorded(latency=0.5)]


def verdicts_after(records: list[AnyRecord], rounds: range) -> list[str]:
    """Of runs that have so many of the rounds, each analysed on its own."""
    found: list[str] = []
    for count in rounds:
        taken = [one for one in records if not isinstance(one, Sample) or one.round < count]
        diagnosis = diagnosis_of(figures_of(run_of(taken)))
        assert diagnosis is not None
        found.append(judgement_of(diagnosis).kind)
    return found


def test_it_stands_since_the_round_from_which_on_shorter_runs_agree() -> None:
    records = first_unsteady()
    standing = standing_of(figures_of(run_of(records)))
    assert standing is not None
    assert standing.since is not None
    assert standing.since > UNSTEADY_ROUNDS
    kinds = verdicts_after(records, range(standing.since - 1, standing.rounds + 1))
    assert kinds == ["cannot tell", *["memory"] * (standing.rounds - standing.since + 1)]


@pytest.mark.parametrize("program", [{}, {"latency": 1.0}, {"bandwidth": 1.0}, {"cached": 1.0}])
def test_a_verdict_without_noise_stands_since_the_least_rounds(program: dict[str, float]) -> None:
    figures = diagnosed(**program)
    standing = standing_of(figures)
    assert standing is not None
    assert (standing.since, standing.rounds) == (LEAST_ROUNDS, 16)
    text = " ".join(one.text for one in analyse(figures).verdicts)
    assert f"the same since round {LEAST_ROUNDS} of 16." in text
    found = diagnosis_figures(figures)
    assert found is not None
    assert (found.verdict_since_round, found.pressure_rounds) == (LEAST_ROUNDS, 16)


def test_a_verdict_of_the_last_round_is_unconfirmed() -> None:
    (one,) = (
        one
        for one in analyse(diagnosed(latency=1.0, rounds=LEAST_ROUNDS)).verdicts
        if "no round after it" in one.text
    )
    assert one.remedy is not None
    assert "--rounds" in one.remedy


@pytest.mark.parametrize("rounds", [0, LEAST_ROUNDS - 1])
def test_what_cannot_be_told_stands_since_no_round(rounds: int) -> None:
    figures = diagnosed(latency=1.0, rounds=rounds)
    standing = standing_of(figures)
    assert standing is None or standing.since is None
    assert "of pressure gave this verdict" not in " ".join(
        one.text for one in analyse(figures).verdicts
    )


def test_of_many_rounds_few_verdicts_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def counted(*arguments: Any) -> Judgement:
        looks.append(arguments)
        return judge_with(*arguments)

    monkeypatch.setattr("memgauge.analysis.diagnose.standing.judge_with", counted)
    figures = diagnosed(latency=1.0, rounds=200)
    found = standing_of(figures)
    assert found is not None
    assert found.since is not None
    assert LEAST_ROUNDS <= found.since < LEAST_ROUNDS + 5
    assert len(looks) <= MOST_LOOKS
