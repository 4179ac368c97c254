"""Reading and writing files in directories that a stranger may have prepared.

Every file that memgauge writes whole goes through `replace_file`, and one that grows through
`open_new` and `open_appending`. None of them opens an existing special file: no link is followed,
no
FIFO or device is opened, and names of temporary files are unpredictable. `read_file` and
`open_file` read regular files of a bounded size, and never wait.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from memgauge.model.termination import deferred
from memgauge.model.text import is_system_text
from memgauge.model.units import format_bytes

_NOT_SUPPORTED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT})
"""Errors of open(2) for O_TMPFILE on file systems and kernels without it."""
_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_file(path: str | os.PathLike[str], limit_bytes: int) -> bytes:
    """The content of a regular file of at most `limit_bytes`.

    Raises:
        OSError: as `open_file`; also where the file grew beyond the limit while it was read.
    """
    with open_file(path, limit_bytes) as file:
        content = file.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise _too_large(path, limit_bytes)
    return content


def open_file(path: str | os.PathLike[str], limit_bytes: int) -> BinaryIO:
    """A regular file of at most `limit_bytes`, open for reading.

    Raises:
        OSError: it cannot be opened, is not a regular file (EINVAL), is larger (EFBIG), or its
            name is invalid (EINVAL). `strerror` states which.
    """
    try:
        # Without O_NONBLOCK a FIFO in the file's place would block the reader forever, and without
        # O_NOCTTY a terminal could become this process's own.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError as error:  # a zero byte, or a lone surrogate
        raise OSError(errno.EINVAL, "it cannot be the name of a file", path) from error
    try:
        _check(os.fstat(descriptor), path, limit_bytes)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_end(path: str | os.PathLike[str], most_bytes: int) -> bytes:
    """The last bytes of a regular file of any size.

    Raises:
        OSError: as `open_file`.
    """
    with open_file(path, sys.maxsize) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - most_bytes))
        return file.read(most_bytes)


def replace_file(path: Path, pieces: Iterable[bytes], *, below: Path | None = None) -> None:
    """Write a file completely or not at all, replacing an existing one.

    The pieces are written to a file without a name, which gets its name when complete, so that a
    killed writer leaves nothing. If the file system does not support such files, a random name is
    used meanwhile. A link of that name is replaced, not followed. Missing directories are created.

    Args:
        path: the file.
        pieces: its content, written as it is produced.
        below: an untrusted directory that contains `path`: no link below it is followed. Without
            it,
            the parent of `path` is used as given.

    Raises:
        OSError: a directory or the file cannot be created, or `path` is a directory, a FIFO, a
            socket
            or a device, which are not replaced.
    """
    with _directory_of(path, below) as directory:
        _refuse_special(path, directory)
        with _unfinished(path, directory) as (file, name):
            file.writelines(pieces)
            file.flush()
            if name is not None:  # network file systems report a full disk only now
                os.fsync(file.fileno())
            _put_in_place(file, name, path, directory)


def check_replaceable(path: Path) -> None:
    """Check before long work whether `replace_file` will be able to write there.

    Missing directories are created, and stay.

    Raises:
        OSError: it will not; the error states why.
    """
    with _directory_of(path, None) as directory:
        _refuse_special(path, directory)
        with _unfinished(path, directory):
            pass


def open_new(path: Path, *, below: Path | None = None) -> BinaryIO:
    """Create a new file and open it for writing; see `replace_file` for `below`.

    Raises:
        OSError: it cannot be created, or the name exists, even as a dangling link.
    """
    with _directory_of(path, below) as directory:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.fdopen(os.open(path.name, flags, 0o666, dir_fd=directory), "wb")


def open_appending(path: Path, *, below: Path | None = None) -> BinaryIO:
    """Open an existing regular file for appending; see `replace_file` for `below`.

    Raises:
        OSError: it does not exist, cannot be opened, or is not a regular file.
    """
    with _directory_of(path, below, make=False) as directory:
        _refuse_special(path, directory)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(path.name, flags, dir_fd=directory), "ab")


@contextmanager
def _directory_of(path: Path, below: Path | None, *, make: bool = True) -> Iterator[int]:
    """A descriptor of a file's directory, which is created if missing."""
    base = path.parent if below is None else below
    parts = path.parent.relative_to(base).parts
    if path.name in {"", ".."} or ".." in parts or not is_system_text(path):
        raise OSError(errno.EINVAL, "it cannot be the name of a file", str(path))
    if make:
        with contextlib.suppress(FileExistsError):  # a file in its place is reported by open(2)
            base.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(base, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            descriptor = _entered(part, descriptor, make=make)
        yield descriptor
    finally:
        os.close(descriptor)


def _entered(part: str, parent: int, *, make: bool) -> int:
    """Replace the descriptor of a directory by that of a directory in it."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=parent)
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    inner = os.open(part, flags, dir_fd=parent)
    os.close(parent)
    return inner


@contextmanager
def _unfinished(path: Path, directory: int) -> Iterator[tuple[BinaryIO, str | None]]:
    """A new file that is to become `path`, and its temporary name, or None without a name.

    On exit it is removed unless it was given its final name.
    """
    name = None
    try:
        with deferred():  # a signal finds either no file, or one whose name is known here
            file, name = _made_unfinished(path, directory)
        with file:
            yield file, name
    finally:
        if name is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)


def _made_unfinished(path: Path, directory: int) -> tuple[BinaryIO, str | None]:
    """The open file, and its name if the file system does not support files without one."""
    try:
        flags = os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC
        return os.fdopen(os.open(".", flags, 0o666, dir_fd=directory), "wb"), None
    except OSError as error:
        if error.errno not in _NOT_SUPPORTED:
            raise
    name = _random_name(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.fdopen(os.open(name, flags, 0o666, dir_fd=directory), "wb"), name


def _put_in_place(file: BinaryIO, name: str | None, path: Path, directory: int) -> None:
    with deferred():  # a signal between two of these steps would leave a name behind
        if name is None:
            name = _named(file, path, directory)
        if name == path.name:
            return
        try:
            os.rename(name, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
            raise


def _named(file: BinaryIO, path: Path, directory: int) -> str:
    """Name a file without a name: as `path`, or randomly if that name exists; return the name."""
    # proc(5): linking the descriptor's own entry is how a file without a name gets one.
    source = f"/proc/self/fd/{file.fileno()}"
    try:
        os.link(source, path.name, dst_dir_fd=directory)
    except FileExistsError:
        name = _random_name(path)
        os.link(source, name, dst_dir_fd=directory)
        return name
    return path.name


def _refuse_special(path: Path, directory: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        mode = os.stat(path.name, dir_fd=directory, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise OSError(errno.EINVAL, f"{_kind(mode)} exists there", str(path))


def _random_name(path: Path) -> str:
    """A random name that begins with a dot and as much of the file's name as file systems allow."""
    return f".{path.name[:40]}.{secrets.token_hex(8)}.part"


def _check(status: os.stat_result, path: str | os.PathLike[str], limit_bytes: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, f"it is {_kind(status.st_mode)}, not a regular file", path)
    if status.st_size > limit_bytes:
        raise _too_large(path, limit_bytes)


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def _too_large(path: str | os.PathLike[str], limit_bytes: int) -> OSError:
    return OSError(
        errno.EFBIG, f"larger than {format_bytes(limit_bytes)}, the limit for such files", path
    )
