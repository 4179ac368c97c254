"""Errors become exit codes and one line."""

import pytest

from memgauge.commands import main
from memgauge.commands.root import root
from memgauge.model.errors import ExitCode


def test_too_little_memory_is_one_line_that_names_the_limits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(**_: object) -> int:
        raise MemoryError

    monkeypatch.setattr(root, "main", full)
    assert main.run(["system"]) == ExitCode.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("memgauge: out of memory: ")
    assert "ulimit -v" in line
