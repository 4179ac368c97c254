"""`memgauge figures`: each picture is a file, and a run without any says so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.unit.analysis.runs import records

from memgauge.__main__ import main
from memgauge.model.records import RunEnd, RunStart
from memgauge.model.storage.run_writer import RunWriter

if TYPE_CHECKING:
    import pytest


def test_a_run_without_pictures_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    with RunWriter(run) as writer:
        writer.write([one for one in records() if isinstance(one, RunStart | RunEnd)])
    assert main(["figures", str(run)]) == 2
    assert f"memgauge: {run}: holds too few figures to draw" in capsys.readouterr().err
    assert not (run / "figures").exists()


def test_each_picture_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    with RunWriter(run) as writer:
        writer.write(list(records()))
    assert main(["figures", str(run), "--format", "json"]) == 0
    named = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert named
    assert sorted(named) == sorted((run / "figures").iterdir())
