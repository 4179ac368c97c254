"""Directories of files that other programs write: removed at the end, found after a kill."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.unit.system.owners import DEAD

from memgauge.model.errors import SystemFailure
from memgauge.system import leftovers
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.mark import Mark, encode
from memgauge.system.programs.work_directory import KIND, MARK, remove_left, work_directory

pytestmark = pytest.mark.usefixtures("state")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    made = tmp_path / "temporary files"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(made))
    return made


def left(path: Path, *names: str) -> Path:
    """What a killed run leaves: a directory that was written down, with a mark and files."""
    area_journal.register(KIND, str(path))
    path.mkdir()
    (path / MARK).write_bytes(encode(Mark(owner=DEAD, kept=False, bytes=0)))
    for name in names:
        (path / name).write_bytes(b"x")
    return path


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_it_is_gone_with_its_files_and_its_entry_afterwards(place: Path) -> None:
    with work_directory("test") as made:
        assert made.parent == place
        assert made.stat().st_mode & 0o777 == 0o700
        assert [entry.path for entry in area_journal.entries()] == [str(made)]
        os.mkfifo(made / "log")
        (made / "out.12").touch()
        (made / "out.12.1-02").touch()
        assert leftovers.clean() == [f"{made}: in use by a run; left unchanged"]
    assert not list(place.iterdir())
    assert area_journal.entries() == []


def test_it_is_gone_after_an_error_too(place: Path) -> None:
    with pytest.raises(ZeroDivisionError), work_directory("test"):
        1 / 0  # noqa: B018
    assert not list(place.iterdir())


def test_what_a_killed_run_left_is_removed(place: Path) -> None:
    path = left(place / "a", "out.1", "out.2")
    os.mkfifo(path / "log")
    assert leftovers.clean() == [f"{path}: removed, with 3 files left by a killed run"]
    assert not list(place.iterdir())
    assert leftovers.clean() == [leftovers.NOTHING]


def test_one_that_got_no_mark_yet_is_removed_only_while_it_is_empty(place: Path) -> None:
    path = place / "a"
    area_journal.register(KIND, str(path))
    path.mkdir()
    assert leftovers.clean() == [f"{path}: empty directory removed, left by a killed run"]
    area_journal.register(KIND, str(path))
    path.mkdir()
    (path / "log").write_bytes(b"precious")
    assert leftovers.clean() == [f"{path}: not created by memgauge; left unchanged"]
    assert (path / "log").read_bytes() == b"precious"


@pytest.mark.parametrize("kind", ["link", "file", "fifo", "foreign mark", "mark is a fifo"])
def test_what_memgauge_did_not_make_stays(place: Path, tmp_path: Path, kind: str) -> None:
    path = place / "a"
    target = left(tmp_path / "target", "out.1")
    area_journal.forget(KIND, str(target))
    area_journal.register(KIND, str(path))
    if kind == "link":
        path.symlink_to(target)
    elif kind == "file":
        path.write_bytes((target / MARK).read_bytes())
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
        (path / "out.1").touch()
        if kind == "foreign mark":
            (path / MARK).write_bytes(b"memgauge?")
        else:
            os.mkfifo(path / MARK)
    assert leftovers.clean() == [f"{path}: not created by memgauge; left unchanged"]
    assert os.path.lexists(path)
    assert names(target) == [MARK, "out.1"]


def test_a_link_as_mark_is_not_followed(place: Path, tmp_path: Path) -> None:
    other = left(tmp_path / "other")
    area_journal.forget(KIND, str(other))
    path = left(place / "a")
    (path / MARK).unlink()
    (path / MARK).symlink_to(other / MARK)
    with pytest.raises(SystemFailure, match="cannot be cleaned"):
        leftovers.clean()
    assert (other / MARK).exists()


def test_files_that_memgauge_does_not_expect_keep_the_directory(place: Path) -> None:
    path = left(place / "a", "out.1", "thesis.tex")
    with pytest.raises(SystemFailure, match=r"holds thesis\.tex, which memgauge did not create"):
        leftovers.clean()
    assert names(path) == [MARK, "out.1", "thesis.tex"]


def test_without_a_place_for_the_journal_it_is_made_nevertheless(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    with work_directory("test") as made:
        assert made.exists()
    assert not list(place.iterdir())


def test_a_place_that_cannot_be_written_to_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with (
        pytest.raises(SystemFailure, match=r"cannot be created: No such file .*; .* TMPDIR"),
        work_directory("test"),
    ):
        pass
    assert area_journal.entries() == []


KILLED = """
import os, signal, tempfile
from memgauge.system.programs.work_directory import work_directory
tempfile.tempdir = {place!r}
with work_directory("test") as made:
    (made / "out.7").touch()
    print(made, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_leaves_what_clean_finds(place: Path) -> None:
    words = [sys.executable, "-c", KILLED.format(place=str(place))]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    (path,) = place.iterdir()
    assert done.stdout == f"{path}\n"
    assert leftovers.clean() == [f"{path}: removed, with 1 file left by a killed run"]
    assert not list(place.iterdir())


def test_one_that_was_just_killed_is_removed_and_forgotten(place: Path) -> None:
    path = left(place / "a", "log")
    remove_left(str(path), 10)
    assert not path.exists()
    assert area_journal.entries() == []
