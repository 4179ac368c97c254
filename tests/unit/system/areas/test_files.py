"""Files to put arrays in: whose they are, what becomes of them, and what is refused."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.unit.system.owners import DEAD

from memgauge.model.errors import RequestError
from memgauge.system.areas import files as area_files
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.mark import MAGIC, MARK_BYTES, Mark, decode, encode, marked_by_us
from memgauge.system.owner import Owner, is_another_alive, this_process

MIB = 1 << 20

pytestmark = [pytest.mark.native, pytest.mark.usefixtures("state")]


@pytest.fixture
def path(tmp_path: Path, unnamed_files: bool) -> str:
    """Where a file may be made, with and without a file system that has unnamed ones."""
    del unnamed_files
    return str(tmp_path / "arrays")


def mark_of(path: str) -> Mark:
    with Path(path).open("rb") as file:
        mark = decode(file.read(MARK_BYTES), path)
    assert mark is not None
    return mark


def left_by_a_dead_run(path: str, *, kept: bool = False) -> None:
    mark = Mark(owner=DEAD, kept=kept, bytes=MIB)
    Path(path).write_bytes(encode(mark) + b"data")
    area_journal.register("file", path)


def test_a_mark_reads_back_and_fits() -> None:
    mark = marked_by_us(5 * MIB, kept=True)
    assert decode(encode(mark), "x") == mark
    assert len(encode(mark)) == MARK_BYTES


@pytest.mark.parametrize("head", [b"", b"\0" * 4096, b"text", MAGIC, MAGIC + b"{}\n", MAGIC + b"["])
def test_what_is_no_whole_mark_is_none(head: bytes) -> None:
    assert decode(head, "x") is None


def test_the_mark_of_another_version_is_refused() -> None:
    with pytest.raises(
        RequestError, match=r"x: was made by another version .* 2, this one knows 1"
    ):
        decode(MAGIC + b'{"version":2}\n', "x")


def test_a_file_that_is_not_kept_never_has_a_name(path: str) -> None:
    with area_files.opened(path, MIB, keep=False) as file:
        assert list(Path(path).parent.iterdir()) == []
        assert os.fstat(file.descriptor).st_nlink == 0
        assert file.reserved_bytes == 0
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(file.descriptor)
    assert area_journal.entries() == []


def test_in_a_directory_too_also_behind_a_link(tmp_path: Path, path: str) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "to")
    for place in ("to", "link"):
        with area_files.opened(str(tmp_path / place), MIB, keep=False) as file:
            assert os.fstat(file.descriptor).st_nlink == 0
    assert list((tmp_path / "to").iterdir()) == []


def test_a_kept_file_bears_its_mark_and_is_used_again(path: str) -> None:
    with area_files.opened(path, MIB, keep=True) as file:
        assert mark_of(path) == marked_by_us(MIB, kept=False)
        assert file.reserved_bytes == MARK_BYTES
    assert mark_of(path).kept
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    number = Path(path).stat().st_ino
    (entry,) = area_journal.entries()
    assert (entry.kind, entry.path, entry.kept) == ("file", path, True)
    for keep in (True, False):
        with area_files.opened(path, 3 * MIB, keep=keep):
            assert mark_of(path).kept, "a kill would make it a leftover"
        assert Path(path).stat().st_ino == number
        assert mark_of(path) == marked_by_us(3 * MIB, kept=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_kept_file_stays_when_the_run_is_ended(error: type[BaseException], path: str) -> None:
    with pytest.raises(error), area_files.opened(path, MIB, keep=True):
        raise error
    assert mark_of(path).kept


def test_a_run_that_was_refused_leaves_no_new_file(path: str) -> None:
    with pytest.raises(RequestError), area_files.opened(path, MIB, keep=True):
        raise RequestError("full")
    assert list(Path(path).parent.iterdir()) == []
    assert area_journal.entries() == []


def test_a_file_that_cannot_be_marked_is_not_left_behind(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, offset: int, size: int) -> None:
        del descriptor, offset, size
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with (
        pytest.raises(RequestError, match=r"no space left on device; free space there"),
        area_files.opened(path, MIB, keep=True),
    ):
        pytest.fail("it was made")
    assert list(Path(path).parent.iterdir()) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_one_that_was_there_stays_when_a_run_is_refused(path: str) -> None:
    with area_files.opened(path, MIB, keep=True):
        pass
    with pytest.raises(RequestError), area_files.opened(path, MIB, keep=True):
        raise RequestError("full")
    assert mark_of(path).kept


def test_what_a_killed_run_left_is_used_and_removed_as_it_should_have_been(path: str) -> None:
    left_by_a_dead_run(path)
    with area_files.opened(path, MIB, keep=False):
        assert mark_of(path).owner == this_process()
    assert not Path(path).exists()
    left_by_a_dead_run(path)
    with area_files.opened(path, MIB, keep=True):
        pass
    assert mark_of(path).kept


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("content", [b"", b"precious", b"memgauge area", b"\0" * 5000])
def test_a_file_of_others_is_untouched(content: bytes, *, keep: bool, path: str) -> None:
    Path(path).write_bytes(content)
    Path(path).chmod(0o640)
    before = Path(path).stat()
    with (
        pytest.raises(RequestError, match="memgauge did not create it and leaves it unchanged"),
        area_files.opened(path, MIB, keep=keep),
    ):
        pytest.fail("it was opened")
    assert Path(path).read_bytes() == content
    after = Path(path).stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode, after.st_size) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_mode,
        before.st_size,
    )


def test_a_file_that_appears_meanwhile_is_untouched(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_the_race(path: str, _what: str) -> None:
        Path(path).write_bytes(b"precious")

    monkeypatch.setattr(area_files, "look", lose_the_race)
    with (
        pytest.raises(RequestError, match=r"file exists; another run may just have created it"),
        area_files.opened(path, MIB, keep=True),
    ):
        pytest.fail("it was made")
    assert Path(path).read_bytes() == b"precious"


def test_a_file_that_took_the_name_is_not_removed(path: str) -> None:
    left_by_a_dead_run(path)
    with area_files.opened(path, MIB, keep=False):
        Path(path).unlink()
        Path(path).write_bytes(b"precious")
    assert Path(path).read_bytes() == b"precious"


def test_two_runs_do_not_share_a_file(path: str) -> None:
    with (
        area_files.opened(path, MIB, keep=True),
        pytest.raises(RequestError, match="is in use by another run; wait until that run ends"),
        area_files.opened(path, MIB, keep=True),
    ):
        pytest.fail("both have it")
    assert mark_of(path).kept


def test_a_run_that_lives_is_told_by_its_mark_where_locks_are_not(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    with subprocess.Popen(["sleep", "60"]) as other:
        ticks = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        alive = Owner(pid=other.pid, boot_id=this_process().boot_id, start_ticks=int(ticks))
        assert is_another_alive(alive)
        assert not is_another_alive(msgspec.structs.replace(alive, start_ticks=int(ticks) - 1))
        assert not is_another_alive(msgspec.structs.replace(alive, boot_id="another"))
        Path(path).write_bytes(encode(Mark(owner=alive, kept=False, bytes=MIB)))
        with (
            pytest.raises(RequestError, match="is in use by another run"),
            area_files.opened(path, MIB, keep=True),
        ):
            pytest.fail("it was opened")
        other.kill()
    assert not is_another_alive(alive)
    with area_files.opened(path, MIB, keep=True):
        pass


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (os.mkfifo, "is a FIFO"),
        (socket_at, "is a socket"),
        (lambda path: path.symlink_to("/nowhere"), "is a symbolic link"),
    ],
)
@pytest.mark.parametrize("keep", [True, False])
def test_what_is_no_file_is_refused(
    make: object, said: str, *, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(make)
    make(Path("thing"))
    with (
        pytest.raises(RequestError, match=f"file:thing: {said}, which memgauge leaves unchanged"),
        area_files.opened("thing", MIB, keep=keep),
    ):
        pytest.fail("it was opened")
    assert [found.name for found in tmp_path.iterdir()] == ["thing"]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none/x", "no such file or directory; create its directory first"),
        ("file/x", "not a directory; name a file in a directory"),
        ("n" * 300, "file name too long; give it a shorter name"),
        ("nul\0", "embedded null byte"),
        ("\udcff", "its name is not UTF-8"),
    ],
)
def test_a_path_that_cannot_be_is_one_line(
    name: str, said: str, *, keep: bool, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(RequestError, match=said) as caught,
        area_files.opened(str(tmp_path / name), MIB, keep=keep),
    ):
        pytest.fail("it was opened")
    assert "\n" not in str(caught.value)
    assert area_journal.entries() == []


def test_a_directory_cannot_be_kept(tmp_path: Path) -> None:
    with (
        pytest.raises(RequestError, match="--keep needs the name of a file in that directory"),
        area_files.opened(str(tmp_path), MIB, keep=True),
    ):
        pytest.fail("it was opened")


def test_what_may_not_be_written_is_one_line(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain_open = os.open

    def refuse(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None or flags & os.O_PATH:  # the journal's
            return plain_open(path, flags, mode, dir_fd=dir_fd)
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    for keep in (True, False):
        with (
            pytest.raises(
                RequestError, match="permission denied; name a directory where you may write"
            ),
            area_files.opened(path, MIB, keep=keep),
        ):
            pytest.fail("it was opened")


PROGRAM = """
import sys, time
from memgauge.system.areas import files as area_files
with area_files.opened(sys.argv[1], 1 << 20, keep=sys.argv[2] == "keep"):
    print("opened", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "arrays"), "keep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "opened\n"
        yield program
        program.kill()


def test_for_real_a_kill_leaves_what_is_recognised(
    started: subprocess.Popen[str], tmp_path: Path
) -> None:
    path = str(tmp_path / "arrays")
    state = area_files.cleaned(path)
    assert state.line == f"{path}: in use by a run; left unchanged"
    with (
        pytest.raises(RequestError, match="in use by another run"),
        area_files.opened(path, MIB, keep=True),
    ):
        pytest.fail("it was opened")
    started.send_signal(signal.SIGKILL)
    started.wait()
    assert mark_of(path).owner.pid == started.pid
    cleaned = area_files.cleaned(path)
    assert cleaned.line == f"{path}: removed, 4 KiB left by a killed run"
    assert not Path(path).exists()


def test_cleaning_leaves_what_is_kept_foreign_or_gone(path: str) -> None:
    assert area_files.cleaned(path) == (None, True, False)
    left_by_a_dead_run(path, kept=True)
    line = area_files.cleaned(path).line
    assert line == f"{path}: kept on purpose; to remove it: rm {path}"
    assert mark_of(path).kept
    Path(path).write_bytes(b"precious")
    cleaned = area_files.cleaned(path)
    assert (cleaned.line, cleaned.forget) == (
        f"{path}: not created by memgauge; left unchanged",
        True,
    )
    assert Path(path).read_bytes() == b"precious"


def test_cleaning_does_not_wait_for_a_fifo(path: str) -> None:
    os.mkfifo(path)
    assert "not created by memgauge" in (area_files.cleaned(path).line or "")


def test_a_file_that_cannot_be_read_is_refused_by_name() -> None:
    with (
        pytest.raises(RequestError, match=r"^memory file:/proc/self/mem: input/output error; "),
        area_files.opened("/proc/self/mem", MIB, keep=False),
    ):
        pytest.fail("it was opened")


def test_a_directory_that_takes_no_files_is_not_called_missing() -> None:
    with (
        pytest.raises(
            RequestError, match=r"/proc: (no file can be created in that|permission denied)"
        ),
        area_files.opened("/proc", MIB, keep=False),
    ):
        pytest.fail("it was opened")
