"""Files to put arrays in: made, recognised, used by one run at a time, removed or kept.

A file that is not kept never has a name, so nothing of it remains however the run ends. A file that
is kept gets its name only after its mark has been written, and only if no file has that name yet. A
file without the mark is never written to, truncated or removed.
"""

from __future__ import annotations

import errno
import mmap
import os
import secrets
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.termination import deferred
from memgauge.model.text import plain
from memgauge.model.units import format_bytes
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.cleaned import Cleaned, State, state_of
from memgauge.system.areas.lock import require_free
from memgauge.system.areas.mark import MARK_BYTES, Mark, decode, encode, marked_by_us

KIND = "file"

_REMEDIES = {
    errno.ENOENT: "create its directory first, or name another file",
    errno.ENOTDIR: "name a file in a directory",
    errno.EACCES: "name a directory where you may write",
    errno.EPERM: "name a directory where you may write",
    errno.EROFS: "name a file on a file system that is not read-only",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.ELOOP: "name the file itself, not a symbolic link",
    errno.ENOSPC: "free space there, or name another file system",
    errno.EDQUOT: "free space there, or name another file system",
    errno.ENOMEM: "reserve huge pages as root (/sys/kernel/mm/hugepages), or name another file",
    errno.EEXIST: "another run may just have created it; name another file",
}


class AreaFile(NamedTuple):
    """An open file to map; it is locked if it has a name."""

    descriptor: int
    reserved_bytes: int
    """Bytes at its head that are reserved for the mark."""


@contextmanager
def opened(path: str, size: int, *, keep: bool) -> Iterator[AreaFile]:
    """Open a file to hold arrays of `size` bytes; it has no name unless it is to be kept.

    Args:
        path: a file that memgauge created and kept, a path that does not exist yet, or a directory.
        size: bytes to record in the mark; the file itself does not have this length yet.
        keep: whether to keep the file. A file that an earlier run kept stays anyway.

    Raises:
        RequestError: memgauge did not create the file, it is in use, or it cannot be created there.
    """
    what = f"memory {KIND}:{plain(path)}"
    found = look(path, what)
    if found is not None and stat.S_ISREG(found):
        source = _Named.reopened(path, what)
    elif found is not None and not keep:
        with _without_name(path, what) as passing:
            yield passing
        return
    elif found is not None:
        raise RequestError(f"{what}: --keep needs the name of a file in that directory; give one")
    elif keep:
        source = _Named.made(path, size, what)
    else:
        with _without_name(str(Path(path).parent), what) as passing:
            yield passing
        return
    with source.used(size, keep=keep) as named:
        yield named


def look(path: str, what: str) -> int | None:
    """What kind of file exists at the path; None if there is none."""
    try:
        path.encode()
        found = os.lstat(path).st_mode
        if stat.S_ISLNK(found) and Path(path).is_dir():
            return stat.S_IFDIR
    except UnicodeEncodeError as error:
        raise RequestError(f"{what}: its name is not UTF-8; name another file") from error
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise refused(what, error) from error
    if stat.S_ISDIR(found) or stat.S_ISREG(found):
        return stat.S_IFMT(found)
    raise RequestError(
        f"{what}: is {_name_of(found)}, which memgauge leaves unchanged; name another file"
    )


def _name_of(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISCHR(mode):
        return "a device (for byte-addressable memory write devdax:/dev/daxN.M)"
    if stat.S_ISBLK(mode):
        return "a block device"
    return "a FIFO" if stat.S_ISFIFO(mode) else "a socket"


def refused(what: str, error: OSError | ValueError, *, place: str | None = None) -> RequestError:
    """The error for what the kernel refused, with a next step.

    Args:
        what: Beginning of the message: the requested memory, such as `memory file:/mnt/a`.
        error: The refusal; a ValueError is about a path that no file can have.
        place: Directory in which a file was to be created, if so. For its own directories, procfs
            reports on such an attempt that they do not exist.
    """
    number = error.errno if isinstance(error, OSError) else None
    reason = error.strerror if isinstance(error, OSError) else str(error)
    if number == errno.ENOENT and place is not None and Path(place).is_dir():
        return RequestError(
            f"{what}: no file can be created in that directory; name another directory"
        )
    remedy = _REMEDIES.get(number or 0, "name another")
    return RequestError(f"{what}: {(reason or 'cannot be used').lower()}; {remedy}")


@contextmanager
def _without_name(directory: str, what: str) -> Iterator[AreaFile]:
    with deferred():
        descriptor = unnamed(directory, what)
    try:
        yield AreaFile(descriptor, 0)
    finally:
        os.close(descriptor)


def unnamed(directory: str, what: str) -> int:
    """A file without a name, which disappears when it is closed."""
    try:
        return os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        # The file system or the kernel does not support files without a name.
        if error.errno not in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}:
            raise refused(what, error, place=directory) from error
    name = Path(directory) / f".memgauge-{secrets.token_hex(8)}"
    try:
        descriptor = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise refused(what, error, place=directory) from error
    try:
        name.unlink()
    except OSError as error:
        os.close(descriptor)
        raise refused(what, error, place=directory) from error
    return descriptor


class _Named:
    """A file with a name and a mark, locked."""

    def __init__(self, path: str, descriptor: int, mark: Mark, *, is_new: bool) -> None:
        self._path = path
        self._descriptor = descriptor
        self._mark = mark
        self._is_new = is_new

    @classmethod
    def made(cls, path: str, size: int, what: str) -> _Named:
        """Create a file; it gets its name last."""
        area_journal.register(KIND, path)
        with deferred():
            descriptor = -1
            try:
                descriptor = nameless(path)
                mark = marked_by_us(size, kept=False)
                _write(descriptor, mark)
                require_free(descriptor, None, what)
                give_name(descriptor, path)
            except (OSError, MemgaugeError) as error:
                if descriptor >= 0:
                    remove(path, descriptor)
                    os.close(descriptor)
                if isinstance(error, MemgaugeError):
                    raise
                if error.errno != errno.EEXIST:
                    area_journal.forget(KIND, path)
                raise refused(what, error) from error
            return cls(path, descriptor, mark, is_new=True)

    @classmethod
    def reopened(cls, path: str, what: str) -> _Named:
        """Open an existing file; one that memgauge did not create is refused and not touched."""
        try:
            descriptor = reopen(path)
        except OSError as error:
            raise refused(what, error) from error
        try:
            mark = _read(descriptor, what)
            require_free(descriptor, mark, what)
            return cls(path, descriptor, mark, is_new=False)
        except BaseException:
            os.close(descriptor)
            raise

    @contextmanager
    def used(self, size: int, *, keep: bool) -> Iterator[AreaFile]:
        """The file while it is in use.

        Afterwards it is removed, unless it was kept before or is to be kept.
        """
        stays = self._mark.kept or keep
        failed = False
        try:
            self._enter(size)
            yield AreaFile(self._descriptor, MARK_BYTES)
        except Exception:
            failed = True
            raise
        finally:
            with deferred():
                self._leave(stays=stays and not (failed and self._is_new))

    def _enter(self, size: int) -> None:
        area_journal.register(KIND, self._path, kept=self._mark.kept)
        self._mark = marked_by_us(max(size, self._mark.bytes), kept=self._mark.kept)
        _write(self._descriptor, self._mark)

    def _leave(self, *, stays: bool) -> None:
        try:
            if stays:
                _write(self._descriptor, marked_by_us(self._mark.bytes, kept=True))
                area_journal.register(KIND, self._path, kept=True)
            else:
                remove(self._path, self._descriptor)
                area_journal.forget(KIND, self._path)
        finally:
            os.close(self._descriptor)


def _read(descriptor: int, what: str) -> Mark:
    try:
        head = os.pread(descriptor, MARK_BYTES, 0)
    except OSError as error:  # such as of procfs
        raise refused(what, error) from error
    mark = decode(head, what)
    if mark is None:
        raise RequestError(
            f"{what}: exists, but memgauge did not create it and leaves it unchanged; name "
            "another file"
        )
    return mark


def nameless(path: str) -> int:
    """Create a file that can get that name later. Raises OSError."""
    directory = str(Path(path).parent)
    try:
        return os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno not in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}:
            raise
    # It gets its name at once. A kill before the mark is written leaves an empty file.
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)


def give_name(descriptor: int, path: str) -> None:
    """Give a file without a name a name that is free. Raises OSError."""
    if os.fstat(descriptor).st_nlink:
        return
    place = os.open(Path(path).parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # With directories given Python calls linkat(2), which alone follows the link of procfs.
        os.link(f"/proc/self/fd/{descriptor}", Path(path).name, src_dir_fd=place, dst_dir_fd=place)
    finally:
        os.close(place)


def _write(descriptor: int, mark: Mark) -> None:
    """Write through a mapping, because hugetlbfs does not support write(2). Raises OSError."""
    head = max(mmap.PAGESIZE, _hugetlb_page_bytes(descriptor))
    if os.fstat(descriptor).st_size < head:
        os.ftruncate(descriptor, head)
    if head == mmap.PAGESIZE:
        os.posix_fallocate(descriptor, 0, head)
    with mmap.mmap(descriptor, head) as window:
        window[:MARK_BYTES] = encode(mark)


def _hugetlb_page_bytes(descriptor: int) -> int:
    from memgauge import _core

    is_hugetlb = _core.file_system_of(descriptor) == "hugetlbfs"
    return os.fstatvfs(descriptor).f_bsize if is_hugetlb else 0


def cleaned(path: str) -> Cleaned:
    """Remove what a killed run left there; everything else stays."""
    return clean(path, _state)


def _state(descriptor: int, path: str) -> State:
    regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return state_of(
        descriptor, decode(os.pread(descriptor, MARK_BYTES, 0), path) if regular else None
    )


def clean(path: str, state_of_open: Callable[[int, str], State]) -> Cleaned:
    """Remove a file that a killed run left, depending on the state of the open file."""
    try:
        descriptor = reopen(path)
    except FileNotFoundError:
        return Cleaned.gone()
    except OSError as error:
        return Cleaned.not_possible(path, error.strerror or "cannot be opened")
    try:
        state = state_of_open(descriptor, path)
        if state is State.LEFT:
            size = os.fstat(descriptor).st_size
            remove(path, descriptor)
            return Cleaned.removed(f"{path}: removed, {format_bytes(size)} left by a killed run")
        return Cleaned.of(state, path, f"rm {shlex.quote(path)}")
    except OSError as error:
        return Cleaned.not_possible(path, error.strerror or "cannot be removed")
    except RequestError as error:
        return Cleaned.not_possible(path, str(error))
    finally:
        os.close(descriptor)


def reopen(path: str) -> int:
    """Open an existing file without following links or waiting for FIFOs. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)


def remove(path: str, descriptor: int) -> None:
    """Remove the name if it still belongs to the open file."""
    with suppress(FileNotFoundError):
        if os.path.samestat(os.lstat(path), os.fstat(descriptor)):
            Path(path).unlink()
