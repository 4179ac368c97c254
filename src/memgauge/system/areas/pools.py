"""Pools of libpmemobj to put arrays in: made, recognised, removed or kept.

A pool is in a file without a name; only a pool that is to be kept gets a name, as the last step, so
nothing else remains however the run ends. An existing pool is used if its layout is memgauge's own.
It is never removed, because it was kept on purpose. Everything else is left unchanged.

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
"""Least number of bytes that the library needs for itself."""


@contextmanager
def opened(path: str, size: int, *, keep: bool) -> Iterator[_core.Memory]:
    """Open a pool to hold arrays of `size` bytes in total.

    Args:
        path: a pool that memgauge created and kept, a path that does not exist yet, or a directory.
        size: bytes of the arrays; the pool is larger by what the library needs.
        keep: whether to keep the pool. A pool that an earlier run kept stays anyway.

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
    """An existing pool."""
    try:
        descriptor = reopen(path)
    except OSError as error:
        raise refused(what, error) from error
    try:
        _require_ours(descriptor, what)
        whole = os.fstat(descriptor).st_size
        if whole < size + _OWN_BYTES:
            raise RequestError(
                f"{what}: that pool has {format_bytes(whole)}, too little for arrays of "
                f"{format_bytes(size)}; remove it (rm {shlex.quote(path)}), or name another"
            )
        with _area(descriptor, path, create=False) as memory:
            yield memory
    finally:
        os.close(descriptor)


@contextmanager
def _passing(directory: str, path: str, size: int, what: str) -> Iterator[_core.Memory]:
    """A pool without a name, which disappears when it is closed."""
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
        found = "is not a pool" if layout is None else f"is a pool of the layout '{plain(layout)}'"
        raise RequestError(
            f"{what}: {found}; memgauge did not create it and leaves it unchanged; name another "
            "file"
        )


def _make_room(descriptor: int, size: int, what: str) -> None:
    """Allocate the pool's space, so that a full file system is an error now and not a signal later.

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
    """Remove a pool that a killed run left there; everything else stays."""
    return clean(path, _state)


def _state(descriptor: int, path: str) -> State:
    """The state of a pool, from its layout, the library's lock, and its journal entry."""
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
    # A pool without a journal entry that marks it as temporary was kept on purpose.
    passing = bool(noted) and not any(entry.kept for entry in noted)
    return State.LEFT if passing else State.KEPT
