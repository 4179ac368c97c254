"""Which file a command means, and that the working directory is not searched for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memgauge.model.errors import CommandNotFound
from memgauge.system.programs.program import Program, candidates, find_program


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n") -> Path:
    path.write_text(text, encoding="ascii")
    path.chmod(0o755)
    return path


def test_a_command_is_sought_in_the_path_as_execvp_does() -> None:
    assert candidates("ls", "/a:/b/c") == ["/a/ls", "/b/c/ls"]
    assert candidates("./ls", "/a") == ["./ls"]
    assert candidates("a/b", "/a") == ["a/b"]


@pytest.mark.parametrize("path", ["", ":", ".", "::/a", "relative:/a", "/a:", "~:/a", "./bin:/a"])
def test_empty_and_relative_entries_of_the_path_are_not_searched(path: str) -> None:
    assert candidates("ls", path) in ([], ["/a/ls"])


def test_a_program_that_memgauge_runs_is_never_one_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "valgrind")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", ":", f":{tmp_path}/no/such", "../" + tmp_path.name):
        monkeypatch.setenv("PATH", path)
        assert find_program("valgrind") is None
    monkeypatch.setenv("PATH", f":{tmp_path}")
    assert find_program("valgrind") == str(tmp_path / "valgrind")


def test_what_may_not_be_run_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "tool").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "tool").touch(0o644)
    (tmp_path / "c").mkdir()
    program(tmp_path / "c" / "tool")
    monkeypatch.setenv("PATH", ":".join(str(tmp_path / name) for name in "abc"))
    assert find_program("tool") == str(tmp_path / "c" / "tool")


@pytest.mark.native
def test_a_command_of_the_working_directory_is_run_only_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "ls", "#!/bin/sh\nexit 7\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        CommandNotFound, match=r"to run the program in this directory, write '\./ls'"
    ):
        Program(["ls"], {"PATH": ":."})
    named = Program(["./ls"], dict(os.environ))
    named.start()
    ended = named.wait(60)
    named.close()
    assert ended is not None
    assert ended.exit_code == 7
