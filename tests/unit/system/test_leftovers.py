"""`memgauge system --clean`: what is removed, what stays and why, and what is said."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from tests.unit.system.owners import DEAD

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.records import Warning
from memgauge.system import leftovers
from memgauge.system.areas import files as area_files
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.mark import Mark, encode
from memgauge.system.memory import reservation

MIB = 1 << 20

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("state")]


def left(path: Path, *, kept: bool = False) -> Path:
    path.write_bytes(encode(Mark(owner=DEAD, kept=kept, bytes=MIB)))
    area_journal.register("file", str(path), kept=kept)
    return path


def test_without_leftovers_it_says_so() -> None:
    assert leftovers.clean() == ["no leftovers of killed runs were found"]


def test_each_thing_is_a_line_and_only_what_was_left_goes(tmp_path: Path) -> None:
    left(tmp_path / "a")
    left(tmp_path / "b", kept=True)
    left(tmp_path / "c").write_bytes(b"precious")
    left(tmp_path / "d").unlink()
    assert leftovers.clean() == [
        f"{tmp_path}/a: removed, 4 KiB left by a killed run",
        f"{tmp_path}/b: kept on purpose; to remove it: rm {tmp_path}/b",
        f"{tmp_path}/c: not created by memgauge; left unchanged",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]
    assert leftovers.clean() == [
        f"{tmp_path}/b: kept on purpose; to remove it: rm {tmp_path}/b",
    ]


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    with area_files.opened(path, MIB, keep=True):
        assert leftovers.clean() == [f"{path}: in use by a run; left unchanged"]
    assert Path(path).exists()


def test_what_another_host_left_is_cleaned_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("platform.node", lambda: "elsewhere")
        left(tmp_path / "a")
    assert leftovers.clean() == [
        f"{tmp_path}/a: belongs to a run on elsewhere; clean up on that machine"
    ]
    assert (tmp_path / "a").exists()


def test_what_cannot_be_removed_is_a_failure_that_names_the_rest_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left(tmp_path / "a")
    left(tmp_path / "b")

    def refuse(path: Path) -> None:
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        path.unlink()

    monkeypatch.setattr(area_files, "remove", lambda path, _: refuse(Path(path)))
    with pytest.raises(SystemFailure, match=r"a: cannot be cleaned: .*denied; .*b: removed"):
        leftovers.clean()
    assert [Path(entry.path).name for entry in area_journal.entries()] == ["a"]


def test_a_torn_note_is_passed_over(state: Path, tmp_path: Path) -> None:
    left(tmp_path / "a")
    (file,) = (state / "memgauge" / "areas").iterdir()
    (file.parent / "torn.json").write_bytes(file.read_bytes()[:20])
    assert len(leftovers.clean()) == 1


def test_what_is_no_note_in_the_journal_is_passed_over_without_waiting(
    state: Path, tmp_path: Path
) -> None:
    left(tmp_path / "a")
    journal = state / "memgauge" / "areas"
    os.mkfifo(journal / "fifo.json")
    (journal / "endless.json").symlink_to("/dev/zero")
    (journal / "directory.json").mkdir()
    with (journal / "large.json").open("wb") as file:
        file.truncate(1 << 40)
    (journal / "deep.json").write_bytes(b"[" * 60_000)
    assert leftovers.clean() == [f"{tmp_path}/a: removed, 4 KiB left by a killed run"]


def test_a_kind_of_a_later_memgauge_is_named(tmp_path: Path) -> None:
    area_journal.register("holographic", str(tmp_path / "a"))
    with pytest.raises(SystemFailure, match="does not know the kind holographic"):
        leftovers.clean()


def test_reserved_huge_pages_are_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    done = Warning(code="huge-pages-returned", message="they were returned")
    monkeypatch.setattr(reservation, "return_left", lambda: [done])
    assert leftovers.clean() == ["they were returned"]

    def refuse() -> list[Warning]:
        raise RequestError("--clean: cannot be written")

    monkeypatch.setattr(reservation, "return_left", refuse)
    with pytest.raises(SystemFailure, match="--clean: cannot be written"):
        leftovers.clean()


def test_nothing_is_made_where_it_cannot_be_written_down(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "memgauge").write_bytes(b"in the way")
    with (
        pytest.raises(SystemFailure, match=r"cannot record that .* XDG_STATE_HOME"),
        area_files.opened(str(tmp_path / "a"), MIB, keep=True),
    ):
        pytest.fail("it was made")
    assert list(tmp_path.iterdir()) == []


def test_entries_are_whole_and_later_ones_replace_earlier(tmp_path: Path) -> None:
    first = area_journal.register("file", str(tmp_path / "a"))
    assert area_journal.entries() == [first]
    area_journal.register("file", str(tmp_path / "a"), kept=True)
    assert area_journal.entries() == [msgspec.structs.replace(first, kept=True)]
    area_journal.forget("file", str(tmp_path / "a"))
    area_journal.forget("file", str(tmp_path / "a"))
    assert area_journal.entries() == []
