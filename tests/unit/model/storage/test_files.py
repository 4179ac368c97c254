"""Whatever a directory from elsewhere holds, only what was meant is written, and nothing waits."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Self

import pytest

from memgauge.model.storage import files
from memgauge.model.storage.files import (
    check_replaceable,
    open_appending,
    open_file,
    open_new,
    read_file,
    replace_file,
)

MANY_PIDS = range(1, 4000)


@pytest.fixture(params=["unnamed", "named"])
def temporary(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With files that have no name until they are whole, and as where there are none such."""
    if request.param == "named":
        real = os.open

        def without(path: str, flags: int, *rest: int, **more: int) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
            return real(path, flags, *rest, **more)

        monkeypatch.setattr(os, "open", without)
    return str(request.param)


def names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir())


def test_a_file_is_replaced_whole(tmp_path: Path, temporary: str) -> None:
    path = tmp_path / "new" / "folder" / "page.html"
    replace_file(path, [b"fi", b"rst"])
    replace_file(path, [b"second"])
    assert path.read_bytes() == b"second"
    assert names(path.parent) == ["page.html"]


def test_the_mode_is_the_users(tmp_path: Path, temporary: str) -> None:
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "page", [b""])
        open_new(tmp_path / "log").close()
    finally:
        os.umask(before)
    for name in ("page", "log"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_a_failure_half_way_leaves_what_was_there(tmp_path: Path, temporary: str) -> None:
    path = tmp_path / "page.html"
    replace_file(path, [b"first"])

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_file(path, pieces())
    assert path.read_bytes() == b"first"
    assert names(tmp_path) == ["page.html"]


def test_links_under_foreseeable_names_are_never_written_through(
    tmp_path: Path, temporary: str
) -> None:
    """A directory from elsewhere with a link for each process number that there may be."""
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"mine")
    directory = tmp_path / "run"
    directory.mkdir()
    for pid in {*MANY_PIDS, os.getpid()}:
        (directory / f".report.html.{pid}").symlink_to(treasure)
    replace_file(directory / "report.html", [b"page"])
    check_replaceable(directory / "report.html")
    assert treasure.read_bytes() == b"mine"
    assert (directory / "report.html").read_bytes() == b"page"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path, temporary: str) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_bytes(b"mine")
    page = tmp_path / "report.html"
    page.symlink_to(treasure)
    replace_file(page, [b"page"])
    assert treasure.read_bytes() == b"mine"
    assert not page.is_symlink()
    assert page.read_bytes() == b"page"


def make_socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def make_device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("making a device needs root")
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device is not allowed here")


@pytest.mark.parametrize(
    ("make", "what"),
    [(os.mkfifo, "a FIFO"), (make_socket, "a socket"), (make_device, "a device")],
)
def test_what_is_no_file_is_neither_opened_nor_replaced(
    tmp_path: Path, make: Callable[[Path], None], what: str
) -> None:
    path = tmp_path / "report.html"
    make(path)
    kind = stat.S_IFMT(path.lstat().st_mode)
    for refused in (
        lambda: replace_file(path, [b"page"]),
        lambda: check_replaceable(path),
        lambda: open_appending(path),
        lambda: open_new(path),
        lambda: open_file(path, 10),
    ):
        with pytest.raises(OSError, match=" ") as caught:
            refused()
        assert caught.value.errno in {errno.EINVAL, errno.EEXIST, errno.ENXIO}
    with pytest.raises(OSError, match=f"{what} exists there"):
        replace_file(path, [b"page"])
    assert stat.S_IFMT(path.lstat().st_mode) == kind
    assert names(tmp_path) == ["report.html"]


def test_a_fifo_is_not_opened_even_where_somebody_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="a FIFO exists there"):
            replace_file(path, [b"page"])
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


def test_below_a_directory_no_link_is_followed(tmp_path: Path) -> None:
    home, run = tmp_path / "home", tmp_path / "run"
    (run / "nodes").mkdir(parents=True)
    home.mkdir()
    (home / "figures.json").write_bytes(b"mine")
    (run / "nodes" / "n1").symlink_to(home)
    path = run / "nodes" / "n1" / "figures.json"
    for refused in (
        lambda: replace_file(path, [b"theirs"], below=run),
        lambda: open_new(path.with_name("new"), below=run),
        lambda: open_appending(path, below=run),
    ):
        with pytest.raises(NotADirectoryError):
            refused()
    assert (home / "figures.json").read_bytes() == b"mine"
    assert names(home) == ["figures.json"]
    replace_file(run / "nodes" / "n2" / "figures.json", [b"ok"], below=run)
    assert (run / "nodes" / "n2" / "figures.json").read_bytes() == b"ok"


def test_the_directory_that_a_user_names_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    replace_file(tmp_path / "link" / "page", [b"page"])
    assert (tmp_path / "real" / "page").read_bytes() == b"page"


@pytest.mark.parametrize("name", ["..", "a/../../b", "zero\0byte", "lone\ud800surrogate"])
def test_names_that_cannot_be_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match="it cannot be the name of a file"):
        replace_file(tmp_path / "run" / name, [b""], below=tmp_path / "run")


def test_long_names_have_room_for_a_temporary_one(tmp_path: Path, temporary: str) -> None:
    path = tmp_path / ("é" * 120)
    replace_file(path, [b"1"])
    replace_file(path, [b"2"])
    assert path.read_bytes() == b"2"


def test_a_new_file_is_never_one_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "link")
    with open_new(tmp_path / "log") as log:
        log.write(b"one")
    with pytest.raises(FileExistsError):
        open_new(tmp_path / "log")
    with open_appending(tmp_path / "log") as log:
        log.write(b" two")
    assert (tmp_path / "log").read_bytes() == b"one two"
    (tmp_path / "other").symlink_to(tmp_path / "log")
    with pytest.raises(OSError, match="symbolic links"):
        open_appending(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        open_appending(tmp_path / "missing" / "log")
    assert names(tmp_path) == ["link", "log", "other"]


def test_a_check_leaves_nothing_but_directories(tmp_path: Path, temporary: str) -> None:
    check_replaceable(tmp_path / "new" / "page")
    assert names(tmp_path / "new") == []
    with pytest.raises(IsADirectoryError):
        check_replaceable(tmp_path / "new")


def test_reading_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_file(path, 10) == b"0123456789"
    with pytest.raises(OSError, match="larger than 9 B") as caught:
        read_file(path, 9)
    assert caught.value.errno == errno.EFBIG
    with path.open("wb") as file:
        file.truncate(30_000_000_000)
    with pytest.raises(OSError, match="larger than 1 MiB"):
        read_file(path, 1 << 20)


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    grown = os.open(path, os.O_WRONLY | os.O_APPEND)
    real = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        os.write(grown, b"more")
        return found

    monkeypatch.setattr(os, "fstat", growing)
    try:
        with pytest.raises(OSError, match="larger than 10 B"):
            read_file(path, 10)
    finally:
        os.close(grown)


def test_devices_and_odd_names_are_not_read(tmp_path: Path) -> None:
    for path, what in (
        ("/dev/zero", "it is a device, not a regular file"),
        (str(tmp_path), "it is a directory, not a regular file"),
        ("zero\0byte", "it cannot be the name of a file"),
        ("lone\ud800surrogate", "it cannot be the name of a file"),
    ):
        with pytest.raises(OSError, match=what):
            read_file(path, 1 << 20)


def test_nothing_is_left_by_a_writer_that_is_killed(tmp_path: Path) -> None:
    """Where the file system has files without a name; those that have none may leave one."""
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"the file system of {tmp_path} has no files without a name: {error.strerror}")
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from memgauge.model.storage.files import replace_file\n"
        "def pieces():\n"
        "    yield b'half' * 100000\n"
        "    print('half', flush=True)\n"
        "    time.sleep(600)\n"
        "replace_file(Path(sys.argv[1]) / 'page', pieces())\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"half\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert names(tmp_path) == []


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "page"
    contents = [bytes([65 + at]) * 100_000 for at in range(8)]
    ends = time.monotonic() + 0.5

    def write(content: bytes) -> None:
        while time.monotonic() < ends:
            replace_file(path, [content])

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["page"]


class _SignalAtLine:
    """Sends Ctrl-C to this process before the Nth line of the module that is run."""

    def __init__(self, number: int) -> None:
        self._left = number

    @property
    def came(self) -> bool:
        return self._left <= 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> Self | None:
        if frame.f_code.co_filename != files.__file__:
            return None
        if event == "line":
            self._left -= 1
            if self._left == 0:
                signal.raise_signal(signal.SIGINT)
        return self


# What is open when Ctrl-C comes between two lines is closed by its last reference going away.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("before", [None, b"first"])
def test_a_signal_before_any_line_leaves_no_temporary_file(
    before: bytes | None, tmp_path: Path, temporary: str
) -> None:
    path = tmp_path / "page"
    for line in range(1, 1000):
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before)
        at_line = _SignalAtLine(line)
        tracer = sys.gettrace()
        sys.settrace(at_line)
        try:
            replace_file(path, [b"second"])
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(tracer)
        if not at_line.came:
            break
        assert set(names(tmp_path)) <= {"page"}, f"line {line}"
        assert not path.exists() or path.read_bytes() in {before, b"second"}
    assert 20 < line < 999
    assert path.read_bytes() == b"second"
