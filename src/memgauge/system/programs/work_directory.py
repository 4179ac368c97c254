"""A directory where another program writes files for a run; it is removed however the run ends.

A journal entry precedes it, so that `memgauge system --clean` finds what a killed run left. A mark
in the directory, locked while the run is alive, shows that memgauge created it; beside the mark,
only files with the expected names are removed.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from memgauge.model.errors import MemgaugeError, SystemFailure
from memgauge.model.termination import deferred
from memgauge.model.text import plain
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.cleaned import Cleaned, State, state_of
from memgauge.system.areas.lock import is_locked
from memgauge.system.areas.mark import MARK_BYTES, decode, encode, marked_by_us

KIND = "directory"
MARK = "memgauge.mark"
LOG = "log"
"""A FIFO or a file that all processes write to."""
OUTPUT = "out."
"""Prefix of the names of result files; the number of the process follows."""
_EXPECTED = re.compile(rf"{LOG}|{re.escape(OUTPUT)}[0-9.-]+")
_REMOVALS = 3
_POLL_S = 0.1


@contextmanager
def work_directory(purpose: str) -> Iterator[Path]:
    """Make a directory below that of temporary files, and remove it on leaving.

    If the user has no place for a journal, the directory is created nevertheless; it then remains
    only if memgauge and its watching process are both killed.

    Args:
        purpose: part of its name.

    Raises:
        SystemFailure: it cannot be created.
    """
    path = _free_path(purpose)
    with suppress(SystemFailure):
        area_journal.register(KIND, str(path))
    mark = -1
    try:
        with deferred():
            mark = _made(path)
        yield path
    finally:
        with deferred():
            _leave(path, mark)


def remove_left(path: str, within_s: float) -> None:
    """Remove a directory whose run was just killed and may take a moment to end."""
    until = time.monotonic() + within_s
    while not (outcome := cleaned(path)).forget and time.monotonic() < until:
        time.sleep(_POLL_S)
    if outcome.forget:
        area_journal.forget(KIND, path)


def cleaned(path: str) -> Cleaned:
    """Remove a directory that a killed run left; everything else stays."""
    try:
        directory = _open_directory(path)
    except FileNotFoundError:
        return Cleaned.gone()
    except NotADirectoryError:  # also a symbolic link, which is not followed
        return Cleaned.of(State.FOREIGN, path, "")
    except OSError as error:
        return Cleaned.not_possible(path, error.strerror or "cannot be opened")
    try:
        return _cleaned(path, directory)
    except OSError as error:
        return Cleaned.not_possible(path, error.strerror or "cannot be removed")
    except MemgaugeError as error:
        return Cleaned.not_possible(path, str(error))
    finally:
        os.close(directory)


def _free_path(purpose: str) -> Path:
    try:
        parent = Path(tempfile.gettempdir()).absolute()
    except OSError as error:
        raise SystemFailure(
            f"temporary files: {plain(error.strerror or str(error))}; set TMPDIR to a writable "
            "directory"
        ) from error
    return parent / f"memgauge-{purpose}-{secrets.token_hex(8)}"


def _made(path: Path) -> int:
    """The mark of a directory, open and locked."""
    try:
        path.mkdir(mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        mark = os.open(path / MARK, flags, 0o600)
    except OSError as error:
        raise _refused(path, error) from error
    try:
        is_locked(mark)
        os.write(mark, encode(marked_by_us(0, kept=False)))
    except OSError as error:
        os.close(mark)
        raise _refused(path, error) from error
    return mark


def _refused(path: Path, error: OSError) -> SystemFailure:
    return SystemFailure(
        f"{plain(str(path))}: cannot be created: {error.strerror}; free space there, or set "
        "TMPDIR to another directory"
    )


def _leave(path: Path, mark: int) -> None:
    """Remove the directory; if that fails, its journal entry stays."""
    with suppress(OSError):
        directory = _open_directory(str(path))
        try:
            _remove(str(path), directory)
        finally:
            os.close(directory)
    if mark >= 0:
        os.close(mark)
    if not os.path.lexists(path):
        area_journal.forget(KIND, str(path))


def _open_directory(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _cleaned(path: str, directory: int) -> Cleaned:
    if os.fstat(directory).st_uid != os.geteuid():
        return Cleaned.of(State.FOREIGN, path, "")
    if not os.listdir(directory):  # killed before the mark was made; nothing can be lost
        Path(path).rmdir()
        return Cleaned.removed(f"{path}: empty directory removed, left by a killed run")
    state = _state(path, directory)
    if state is not State.LEFT:
        return Cleaned.of(state, path, "")
    count = len(os.listdir(directory)) - 1
    if rest := _remove(path, directory):
        why = f"holds {plain(rest[0])}, which memgauge did not create; check it and remove it"
        return Cleaned.not_possible(path, why)
    files = "1 file" if count == 1 else f"{count} files"
    return Cleaned.removed(f"{path}: removed, with {files} left by a killed run")


def _state(path: str, directory: int) -> State:
    """Remove a directory by its mark, which no run holds locked any more."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(MARK, flags, dir_fd=directory)
    except FileNotFoundError:
        return State.FOREIGN
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return State.FOREIGN
        return state_of(descriptor, decode(os.pread(descriptor, MARK_BYTES, 0), path))
    finally:
        os.close(descriptor)


def _remove(path: str, directory: int) -> list[str]:
    """Remove a directory with its expected files; it stays if there are others, which are returned.

    A process that outlives the run may still add a file, which the next check removes.

    Raises:
        OSError: it cannot be removed.
    """
    for attempt in range(1, _REMOVALS + 1):
        names = sorted(set(os.listdir(directory)) - {MARK})
        if rest := [name for name in names if not _EXPECTED.fullmatch(name)]:
            return rest
        for name in [*names, MARK]:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)
        try:
            Path(path).rmdir()
        except OSError:
            if attempt == _REMOVALS:
                raise
        else:
            break
    return []
