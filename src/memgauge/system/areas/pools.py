"""Pools of libpmemobj to put arrays in: made, recognised, removed or kept.

A pool is in a file without a name until it is to be kept: then the file gets its name last, so that
nothing is left of it however the run ends. A pool that is there is used where its layout is
memgauge's own, and never removed: it was kept on purpose. Everything else is left as it is.

Source: pmemobj_open(3) and pmempool(1), PMDK.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.errors import RequestError
from memgauge.model.termination import deferred
from memgauge.model.text import plain
from memgauge.model.units import format_bytes
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.cleaned import Cleaned, State
from memgauge.system.areas.files import (
    clean,
    give_name,
    look,
    nameless,
    refused,
    remove,
    reopen,
    unnamed,
)
from memgauge.system.areas.lock import is_locked
from memgauge.system.owner import is_another_alive
from memgauge.system.tree import Tree

if TYPE_CHECKING:
    from memgauge import _core

KIND = "pmemobj"

_OWN_BYTES = 8 << 20
"""What the library needs for itself, at least."""


@contextmanager
def opened(path: str, size: int, *, keep: bool) -> Iterator[_core.Memory]:
    """A pool for arrays of so many bytes in all.

    Args:
        path: of a pool that memgauge made and left there, or of none yet, or of a directory.
        size: of the arrays; the pool is larger by what the library needs.
        keep: leave it there. A pool that an earlier run was asked to leave stays anyway.

    Raises:
        RequestError: libpmemobj is not installed; the file is not memgauge's pool, too small, in
            use or damaged; or there is no space for one.
    """
    what = f"memory {KIND}:{plain(path)}"
    found = look(path, what)
    if found is not None and stat.S_ISREG(found):
        used = _kept(path, size, what)
    elif found is None and keep:
        used = _to_keep(path, size, what)
    elif keep:
        raise RequestError(f"{what}: --keep needs the name of a file in that directory; give one")
    else:
        used = _passing(path if found is not None else str(Path(path).parent), path, size, what)
    with used as memory:
        yield memory


@contextmanager
def _kept(path: str, size: int, what: str) -> Iterator[_core.Memory]:
    """A pool that is there."""
    try:
        descriptor = reopen(path)
    except OSError as error:
        raise refused(what, error) from error
    try:
        _require_ours(descriptor, what)
        whole = os.fstat(descriptor).st_size
        if whole < size + _OWN_BYTES:
            raise RequestError(
                f"{what}: that pool has {format_bytes(whole)}, too few for arrays of "
                f"{format_bytes(size)}; remove it (rm {shlex.quote(path)}), or name another"
            )
        with _area(descriptor, path, create=False) as memory:
            yield memory
    finally:
        os.close(descriptor)


@contextmanager
def _passing(directory: str, path: str, size: int, what: str) -> Iterator[_core.Memory]:
    """A pool that is gone when it is closed."""
    with deferred():
        descriptor = unnamed(directory, what)
    try:
        _make_room(descriptor, size, what)
        with _area(descriptor, path, create=True) as memory:
            yield memory
    finally:
        os.close(descriptor)


@contextmanager
def _to_keep(path: str, size: int, what: str) -> Iterator[_core.Memory]:
    """A pool that gets its name when the run has ended well."""
    area_journal.register(KIND, path, kept=False)
    stays = False
    descriptor = -1
    try:
        with deferred():
            descriptor = _new(path, what)
        _make_room(descriptor, size, what)
        with _area(descriptor, path, create=True) as memory:
            yield memory
        stays = True
    finally:
        with deferred():
            if descriptor >= 0:
                _leave(descriptor, path, what, stays=stays)


def _new(path: str, what: str) -> int:
    try:
        return nameless(path)
    except OSError as error:
        if not isinstance(error, FileExistsError):
            area_journal.forget(KIND, path)
        raise refused(what, error) from error


def _leave(descriptor: int, path: str, what: str, *, stays: bool) -> None:
    try:
        if not stays:
            remove(path, descriptor)
            area_journal.forget(KIND, path)
            return
        try:
            give_name(descriptor, path)
        except OSError as error:
            area_journal.forget(KIND, path)
            raise refused(what, error) from error
        area_journal.register(KIND, path, kept=True)
    finally:
        os.close(descriptor)


def _require_ours(descriptor: int, what: str) -> None:
    from memgauge import _core

    layout = _core.layout_of_pool(descriptor)
    if layout != _core.POOL_LAYOUT:
        found = "is no pool" if layout is None else f"is a pool of the layout '{plain(layout)}'"
        raise RequestError(
            f"{what}: {found} and memgauge did not make it; it is left as it is: name another file"
        )


def _make_room(descriptor: int, size: int, what: str) -> None:
    """Space for the pool, so that a full file system is an error now and no signal later.

    In a file system in memory a page lies where it is touched first: with several nodes that is
    left to the threads that use it.
    """
    from memgauge import _core

    whole = _core.pool_bytes(size)
    space = os.fstatvfs(descriptor)
    free = space.f_bavail * space.f_frsize
    if space.f_blocks and whole > free:
        raise RequestError(
            f"{what}: a pool of {format_bytes(whole)} is needed, and its file system has "
            f"{format_bytes(free)} left; free some, or name another file system"
        )
    nodes = parse_cpu_list(Tree().text("/sys/devices/system/node/has_memory") or "0")
    try:
        if len(nodes) > 1 and _core.file_system_of(descriptor) == "tmpfs":
            os.ftruncate(descriptor, whole)
        else:
            os.posix_fallocate(descriptor, 0, whole)
    except OSError as error:
        raise refused(what, error) from error


@contextmanager
def _area(descriptor: int, path: str, *, create: bool) -> Iterator[_core.Memory]:
    from memgauge import _core

    memory = _core.open_pool_area(descriptor, path, create)
    try:
        yield memory
    finally:
        memory.close()


def cleaned(path: str) -> Cleaned:
    """Remove a pool that a dead run left there; all else stays."""
    return clean(path, _state)


def _state(descriptor: int, path: str) -> State:
    """By its layout, the library's lock, and what was written down of it."""
    from memgauge import _core

    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return State.FOREIGN
    if _core.layout_of_pool(descriptor) != _core.POOL_LAYOUT:
        return State.FOREIGN
    noted = [
        entry
        for entry in area_journal.entries()
        if entry.kind == KIND and entry.path == str(Path(path).absolute())
    ]
    if is_locked(descriptor) or any(is_another_alive(entry.owner) for entry in noted):
        return State.IN_USE
    # What nobody wrote down as passing was kept.
    passing = bool(noted) and not any(entry.kept for entry in noted)
    return State.LEFT if passing else State.KEPT
