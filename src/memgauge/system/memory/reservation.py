"""Explicit huge pages that are reserved for one run and returned however it ends.

A state file records each reservation before it is made, so that the next run finds what `kill -9`
left behind.
"""

from __future__ import annotations

import atexit
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.records import Warning
from memgauge.model.storage.user_directories import required_state_directory, state_directory
from memgauge.model.termination import deferred, unwinding
from memgauge.model.units import format_bytes
from memgauge.system.limits.memory import require_memory
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES, HUGE_PAGE_DIRECTORY
from memgauge.system.owner import boot_id
from memgauge.system.state_file import hold, left, read_state, state_path, write_state
from memgauge.system.tree import Tree

OPTION = "--reserve-huge-pages"
CLEAN = "--clean"
_MOST_BYTES = 1 << 16


class PagesWanted(msgspec.Struct, frozen=True, kw_only=True):
    """Memory to reserve in explicit pages of one size."""

    page_bytes: int
    bytes: int

    @property
    def pages(self) -> int:
        """Whole pages that hold it."""
        return -(-self.bytes // self.page_bytes)


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a state file: how many pages a run was about to add to which pool."""

    pid: int
    boot_id: str
    page_bytes: int
    before: int
    """Pages in the pool when it began."""
    wanted: int
    """Pages it was about to add."""


class Pool:
    """The explicit huge pages of one size: a file of the kernel to read and to write."""

    def __init__(self, page_bytes: int, tree: Tree) -> None:
        self.page_bytes = page_bytes
        self.file = f"{HUGE_PAGE_DIRECTORY}/hugepages-{page_bytes >> 10}kB/nr_hugepages"
        self._tree = tree

    @property
    def size(self) -> str:
        """Size of one page, to read."""
        return format_bytes(self.page_bytes)

    def total(self) -> int:
        """Pages in the pool, free or not; 0 where the kernel has no such pool."""
        return self._tree.integer(self.file) or 0

    def exists(self) -> bool:
        """Whether the kernel has pages of this size."""
        return self._tree.exists(self.file)

    def is_writable(self) -> bool:
        """Whether this process may change its size."""
        return os.access(self._tree.path(self.file), os.W_OK)

    def resize(self, pages: int) -> None:
        """Request a number of pages; the kernel may allocate fewer. Raises OSError."""
        # In a tree from elsewhere, a link here must not redirect the write.
        flags = os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self._tree.path(self.file), flags)
        try:
            os.write(descriptor, f"{pages}\n".encode("ascii"))
        finally:
            os.close(descriptor)


def left_behind(tree: Tree | None = None, directory: Path | None = None) -> list[Warning]:
    """Describe what killed runs left reserved and how to return it, for each size of pages.

    A state file of an earlier boot, or of pages that are gone, is removed.
    """
    tree = tree or Tree()
    warnings: list[Warning] = []
    for path, descriptor in _left_files(directory):
        state = read_state(descriptor, _State, _MOST_BYTES)
        pages = _left(state, tree)
        if state is None or not pages:
            path.unlink(missing_ok=True)
        else:
            warnings.append(_warning(state, pages, tree))
    return warnings


def return_left(tree: Tree | None = None, directory: Path | None = None) -> list[Warning]:
    """Return the pages that killed runs left reserved; a description for each size of pages.

    Raises:
        RequestError: this process may not change the pool.
    """
    tree = tree or Tree()
    returned: list[Warning] = []
    for path, descriptor in _left_files(directory):
        with deferred():
            done = _return_left(descriptor, tree, CLEAN)
            path.unlink(missing_ok=True)
            returned += [done] if done else []
    return returned


@contextmanager
def reserved(
    wanted: PagesWanted, tree: Tree | None = None, directory: Path | None = None
) -> Iterator[list[Warning]]:
    """Add pages to the kernel's pool, and remove as many again on exit, even after an error.

    Pages left by a killed run are returned first. Yields notes for readers of the run: that there
    were such pages, or that the kernel allocated fewer than requested.

    Args:
        wanted: Size of the pages, and the bytes that they must hold together.
        tree: Root of the sysfs and procfs to use; None means this machine's.
        directory: Where the state file is kept; None means the user's state directory.

    Raises:
        RequestError: no pool of that size, no right to change it, no memory for it, or another run
            holds reserved pages.
        SystemFailure: the state file cannot be written, and nothing was reserved; or, on exit, the
            pages could not be returned.
    """
    reservation = _Reservation(wanted, tree or Tree(), directory or required_state_directory())
    atexit.register(reservation.release)
    try:
        with unwinding():
            try:
                yield reservation.acquire()
            finally:
                reservation.release()
    finally:
        reservation.release()  # does nothing unless a second signal interrupted the first call
        atexit.unregister(reservation.release)


class _Reservation:
    """Pages added to a pool, and the state file that records them."""

    def __init__(self, wanted: PagesWanted, tree: Tree, directory: Path) -> None:
        self._wanted = wanted
        self._tree = tree
        self._pool = Pool(wanted.page_bytes, tree)
        self._path = _path(directory, wanted.page_bytes)
        self._descriptor: int | None = None
        self._added = 0

    def acquire(self) -> list[Warning]:
        """Reserve the pages; those left by a killed run are returned first."""
        if not self._pool.exists():
            raise RequestError(
                f"{OPTION}: this kernel has no huge pages of {self._pool.size}; use --pages thp"
            )
        if not self._pool.is_writable():
            raise self._refused(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        require_memory(
            self._wanted.bytes, OPTION, remedy="reserve less, or free memory", tree=self._tree
        )
        with deferred():
            self._descriptor = self._hold()
            left = _return_left(self._descriptor, self._tree, OPTION)
            return ([left] if left else []) + self._add(self._descriptor)

    def release(self) -> None:
        """Remove the added pages; may be called again."""
        with deferred():
            if self._descriptor is None:
                return
            if self._added:
                _resize(self._pool, max(0, self._pool.total() - self._added), self._kept)
                self._added = 0
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def _hold(self) -> int:
        try:
            descriptor = hold(self._path)
        except OSError as error:
            raise self._unwritable(error) from error
        if descriptor is None:
            raise RequestError(
                f"{OPTION}: another run holds reserved pages ({self._path}); wait until it ends"
            )
        return descriptor

    def _add(self, descriptor: int) -> list[Warning]:
        before, wanted = self._pool.total(), self._wanted.pages
        state = _State(
            pid=os.getpid(),
            boot_id=boot_id(self._tree),
            page_bytes=self._pool.page_bytes,
            before=before,
            wanted=wanted,
        )
        try:
            write_state(descriptor, state)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            _resize(self._pool, before + wanted, self._refused)
        finally:
            self._added = min(wanted, max(0, self._pool.total() - before))
        return self._fewer(wanted)

    def _fewer(self, wanted: int) -> list[Warning]:
        remedy = "free memory (echo 1 > /proc/sys/vm/compact_memory), or reserve at boot"
        size = self._pool.size
        if not self._added:
            raise RequestError(
                f"{OPTION}: the kernel found no contiguous {size} for a huge page; {remedy}"
            )
        if self._added == wanted:
            return []
        message = f"the kernel reserved only {self._added} of {wanted} huge pages of {size}"
        return [Warning(code="huge-pages-fewer", message=message, remedy=remedy)]

    def _refused(self, error: OSError) -> RequestError:
        return _refused(self._pool, error, OPTION)

    def _kept(self, error: OSError) -> SystemFailure:
        return SystemFailure(
            f"{OPTION}: {self._added} huge pages of {self._pool.size} could not be returned: "
            f"{error.strerror}; lower the number in {self._pool.file} by that as root"
        )

    def _unwritable(self, error: OSError) -> SystemFailure:
        return SystemFailure(
            f"{OPTION}: {self._path} cannot record the reservation: {error.strerror}; free space "
            "there, or set XDG_STATE_HOME to another directory"
        )


def _return_left(descriptor: int, tree: Tree, option: str) -> Warning | None:
    state = read_state(descriptor, _State, _MOST_BYTES)
    pages = _left(state, tree)
    if state is None or not pages:
        return None
    pool = Pool(state.page_bytes, tree)
    _resize(pool, pool.total() - pages, lambda error: _refused(pool, error, option))
    return Warning(
        code="huge-pages-returned",
        message=f"a run that was killed (process {state.pid}) had left {pages} huge pages "
        f"of {pool.size} reserved; they were returned",
    )


def _refused(pool: Pool, error: OSError, option: str) -> RequestError:
    instead = ", or use --pages thp" if option == OPTION else ""
    return RequestError(
        f"{option}: {pool.file} cannot be written: {error.strerror}; run as root, let "
        f"root make the file writable{instead}"
    )


def _resize(pool: Pool, pages: int, refused: Callable[[OSError], Exception]) -> None:
    try:
        pool.resize(pages)
    except OSError as error:
        raise refused(error) from error


def _left_files(directory: Path | None) -> Iterator[tuple[Path, int]]:
    """The state files of killed runs of this user, each locked while it is looked at."""
    place = directory or state_directory()
    for path in _paths(place) if place is not None else ():
        with left(path) as descriptor:
            if descriptor is not None:
                yield path, descriptor


def _paths(directory: Path) -> list[Path]:
    return [_path(directory, page_bytes) for page_bytes in EXPLICIT_PAGE_BYTES.values()]


def _path(directory: Path, page_bytes: int) -> Path:
    """One file per machine and size of pages.

    That of the usual size has the name that earlier versions gave to any; it holds the size.
    """
    usual = page_bytes == EXPLICIT_PAGE_BYTES["2m"]
    size = "" if usual else f"-{page_bytes >> 10}kB"
    return state_path(directory, "huge-pages", size)


def _left(state: _State | None, tree: Tree) -> int:
    """Pages of a killed run that are still in the pool, excluding pages that others added."""
    if state is None or state.boot_id != boot_id(tree):
        return 0
    return max(0, min(state.wanted, Pool(state.page_bytes, tree).total() - state.before))


def _warning(state: _State, pages: int, tree: Tree) -> Warning:
    pool = Pool(state.page_bytes, tree)
    return Warning(
        code="huge-pages-left",
        message=f"a run that was killed (process {state.pid}) left {pages} huge pages of "
        f"{pool.size} reserved, {format_bytes(pages * state.page_bytes)} that no other program "
        f"can use",
        remedy=f"as root: echo {pool.total() - pages} > {pool.file}; the next run with {OPTION} "
        f"returns them too",
    )
