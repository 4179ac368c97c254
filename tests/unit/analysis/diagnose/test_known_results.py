"""Results of diagnoses of known programs: kept, counted, and summed up."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from benchmarks.diagnose.known import missing
from benchmarks.diagnose.known_results import (
    Conditions,
    KnownResult,
    keep,
    kept,
    result_of,
    rounds_s,
    summarise,
)
from tests.unit.analysis.diagnose.programs import diagnosed

from memgauge.analysis.document_figure import Figure
from memgauge.model.run import Run

HOW = Conditions(budget="60s", only="interference", work=0.3, has_neighbour=False)


def result(program: str, verdict: str, low: float, true: float | None) -> KnownResult:
    return KnownResult(
        program=program,
        conditions=HOW,
        verdict=verdict,
        why="",
        share=Figure(value=low + 0.1, low=low, high=low + 0.2),
        true_share=true,
        run_s=0.5,
        rounds=16,
        since_round=None if verdict == "cannot tell" else 9,
        until_then_s=None if verdict == "cannot tell" else 40.0,
        elapsed_s=70.0,
    )


def marked(latency: float) -> Run:
    """Of a program of which all is the region of its work."""
    run = diagnosed(latency=latency).run
    samples = {
        name: [
            msgspec.structs.replace(
                one,
                regions_s={"work": [(one.threads[0].end_ns[0] - one.threads[0].begin_ns[0]) / 1e9]},
            )
            if "/program/" in name
            else one
            for one in of
        ]
        for name, of in run.samples.items()
    }
    return msgspec.structs.replace(run, samples=samples)


def test_results_are_read_back_without_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    assert kept(path) == []
    assert result_of("chase", diagnosed(latency=1.0).run, HOW, None) is None, "it marks nothing"
    one = result_of("chase", marked(latency=1.0), HOW, None)
    assert one is not None
    assert (one.verdict, one.rounds, one.since_round) == ("memory", 16, 8)
    keep(path, one)
    with path.open("ab") as file:
        file.write(msgspec.json.encode(one)[:40])
    assert kept(path) == [one]


def test_programs_with_fewest_diagnoses_come_first() -> None:
    done = [result("a", "memory", 0.4, None)] * 2
    todo = missing(["a", "b"], 3, done)
    assert sorted(todo) == ["a", "b", "b", "b"]
    assert todo[:2] == ["b", "b"]


def test_a_program_has_its_verdicts_and_intervals_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of = [
        result("mixture", "memory", 0.4, 0.5),
        result("mixture", "memory", 0.6, 0.5),
        result("mixture", "bandwidth", 0.4, 0.5),
        result("mixture", "cannot tell", 0.4, 0.5),
    ]
    summarise(of, {"mixture": {"memory"}, "never run": {"cache"}})
    titles, _, *rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in capsys.readouterr().out.splitlines()
    )
    assert len(rows) == 1
    cells = dict(zip(titles, rows[0], strict=True))
    assert [cells[one] for one in ("right", "cannot tell", "wrong")] == ["2", "1", "1"]
    assert cells["intervals that hold it"] == "2 of 3"
    assert cells["the same since"] == "9 (9 to 9)"


def test_the_time_of_the_first_rounds_ends_with_their_last_sample() -> None:
    run = diagnosed(latency=1.0).run
    ends_ns = [
        one.threads[0].end_ns[-1] for of in run.samples.values() for one in of if one.round < 3
    ]
    assert rounds_s(run, 3) == pytest.approx((max(ends_ns) - 1000) * 1e-9)
    assert rounds_s(run, 0) == 0.0
