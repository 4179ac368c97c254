"""The survey of a node runs this package, whatever lies in the directory that it starts in."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from memgauge.cluster.survey_child import SurveyChild


@pytest.mark.parametrize("module", ["click", "msgspec", "rich", "json", "memgauge"])
def test_no_code_of_the_working_directory_runs(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"{module}.py").write_text("print('code of the directory ran')\n", encoding="ascii")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ":.")
    log = tmp_path / "logs" / "n1.log"
    child = SurveyChild(["--version"], log)
    until = time.monotonic() + 60
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert child.poll() == 0
    assert log.read_text(encoding="utf-8").startswith("memgauge ")
    assert "code of the directory" not in log.read_text(encoding="utf-8")
