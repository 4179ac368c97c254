"""What a diagnosis says, shows, and hands on as data."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.diagnose.programs import diagnosed

from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.figures import NEAR_ROUNDS, Pass, matched
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import report_of
from memgauge.model.run import run_of


def said(figures: Figures) -> str:
    return " ".join(verdict.text for verdict in analyse(figures).verdicts)


def test_the_answer_fits_a_screen_and_begins_with_the_verdict() -> None:
    answer = report_of(diagnosed(latency=0.5, variants={"huge": 0.8})).answer
    assert answer is not None
    assert answer.sentences[0].startswith("It waits for memory")
    labels = [line.label for line in answer.lines]
    assert labels[:3] == ["Slowdown", "Behaves like", "Time with"]
    assert answer.charts == ["diagnose-latency", "diagnose-bandwidth"]


def test_variants_are_told_in_order_of_their_gain() -> None:
    figures = diagnosed(variants={"a": 0.9, "b": 0.7, "c": 1.3, "d": 1.0})
    text = said(figures)
    assert text.index("b (what b changes): takes") < text.index("a (what a changes): takes")
    assert "less time" in text.split("c (what c changes): takes")[0]
    assert "more time" in text.split("c (what c changes): takes")[1]
    assert "No gain above 2% was found of: d." in text


def test_shares_are_said_of_what_slows_down_only() -> None:
    assert "slows down like a program" in said(diagnosed(latency=0.5))
    assert "slows down like a program" not in said(diagnosed())


def test_data_are_finite_and_read_back() -> None:
    found = diagnosis_figures(diagnosed(latency=1.0, variants={"huge": 0.9}))
    assert found is not None
    assert found.command == "a.out -n 3"
    read = msgspec.json.decode(msgspec.json.encode(found), type=type(found))
    assert read == found
    assert found.verdict == "memory"
    write = next(one for one in found.treatments if one.name == "write")
    assert write.slowdown is not None
    assert write.slowdown.value == pytest.approx(1.5, abs=0.05)
    assert found.traffic is None


def test_a_run_that_was_killed_at_once_has_a_section() -> None:
    assert analyse(diagnosed(rounds=0)).tables == []
    found = diagnosis_figures(diagnosed(rounds=0))
    assert found is not None
    assert (found.verdict, found.time) == ("cannot tell", None)


def test_a_pass_is_paired_once_and_with_a_near_round_only() -> None:
    def at(*rounds: int) -> list[Pass]:
        return [Pass(round=round_, regime="", program=1.0) for round_ in rounds]

    def paired(passes: list[Pass], baselines: list[Pass]) -> list[tuple[int, int]]:
        return [(one.round, base.round) for one, base in matched(passes, baselines)]

    assert paired(at(0, 1, 2), at(0, 1, 2)) == [(0, 0), (1, 1), (2, 2)]
    assert paired(at(0, 1), at(1 + NEAR_ROUNDS + 1)) == []
    assert paired(at(5, 6), at(5)) == [(5, 5)]
    assert paired(at(0, 10), at(8, 9)) == [(10, 8)]


def test_points_that_say_nothing_of_themselves_are_no_diagnosis() -> None:
    known = diagnosed(rounds=1).run
    bare = [
        msgspec.structs.replace(one, requested={}, measured_with=None)
        for one in known.points.values()
    ]
    figures = figures_of(run_of([known.start, *bare]))
    assert diagnosis_figures(figures) is None
    assert analyse(figures).verdicts == []
