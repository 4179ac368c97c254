"""`survey --plan` prints what a survey would do, and does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration import command
from tests.unit.system.trees import guest, plant

import memgauge

pytestmark = pytest.mark.native


def test_a_plan_is_printed_and_nothing_is_measured(tmp_path: Path) -> None:
    done = command.memgauge("survey", "--plan", "--budget", "60s", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Nothing was measured." in done.stdout
    assert "stream: " in done.stdout
    assert not list(tmp_path.iterdir())


def test_a_plan_is_of_the_machine_that_was_copied(tmp_path: Path) -> None:
    plant(tmp_path / "copy", guest())
    words = ("survey", "--plan", "--only", "stream,latency", "--machine-tree", "copy")
    done = command.memgauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Predicted for Cloud Example, 4 CPUs, 1 memory node, ")
    text = memgauge.survey_plan(only="stream,latency", machine_tree=tmp_path / "copy")
    assert text == done.stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--machine-tree", "."), "--machine-tree: only --plan uses another machine's tree"),
        (("--plan", "--repeat", "2"), "--plan: prints a plan of one new survey"),
        (("--plan", "--json"), "--plan: prints a plan of one new survey"),
    ],
)
def test_what_makes_no_sense_is_refused(
    words: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    done = command.memgauge("survey", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
