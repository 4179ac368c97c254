"""What a finished run prints where, and its exit code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.analysis.runs import records

from memgauge.commands.shared.measure import present
from memgauge.model.errors import ExitCode
from memgauge.model.records import ArrayCheck, Validation
from memgauge.model.run import run_of
from memgauge.results import Result

if TYPE_CHECKING:
    import pytest


def result(*, passed: bool) -> Result:
    check = ArrayCheck(
        array="c",
        average_relative_error=0.0 if passed else 0.5,
        epsilon=1e-13,
        elements=100,
        failed_elements=0 if passed else 1,
        first_failed=0 if passed else 42,
        passed=passed,
    )
    validation = Validation(experiment="stream", subject="double, 1 thread", checks=[check])
    *body, end = records()
    return Result(run_of([*body, validation, end]), Path("somewhere"))


def test_a_sound_run_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert present(result(passed=True), as_json=False) == ExitCode.DONE
    out, err = capsys.readouterr()
    assert "GB/s" in out
    assert "corruption" not in out + err


def test_failed_validation_is_said_loudly_and_has_its_own_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert present(result(passed=False), as_json=False) == ExitCode.VALIDATION_FAILED
    out, err = capsys.readouterr()
    assert "memory corruption" in err
    assert "corruption" in out


def test_json_is_alone_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    present(result(passed=False), as_json=True)
    out, err = capsys.readouterr()
    assert out.startswith("{")
    assert out.count("\n") == 1
    assert "memory corruption" in err
