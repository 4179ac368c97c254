"""Devices of byte-addressable memory (`/dev/daxN.M`) to put arrays in.

A device has no free space to allocate: all of it may be data of others. Memory that is all zeros,
or that begins with memgauge's mark, is used; anything else is refused unless it may be overwritten.
Afterwards what was used is zeros again, unless it is to be kept. A device is mapped, never read or
written, and in pages of its own alignment only.

Source: the kernel's Documentation/ABI/testing/sysfs-bus-dax and drivers/dax/device.c.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memgauge.model.errors import RequestError
from memgauge.model.termination import deferred
from memgauge.model.text import plain
from memgauge.model.units import format_bytes
from memgauge.system.areas import journal as area_journal
from memgauge.system.areas.cleaned import Cleaned, State, state_of
from memgauge.system.areas.lock import require_free
from memgauge.system.areas.mark import MARK_BYTES, Mark, decode, encode, marked_by_us
from memgauge.system.tree import Tree

KIND = "devdax"

_CHUNK_BYTES = 2 << 20
_USUAL_ALIGN_BYTES = 2 << 20
"""Alignment assumed for kernels before 5.10, which do not report it."""
_SMALLEST_SLACK_BYTES = 128 << 20
_SLACK_PAGES = 16

_REMEDIES = {
    errno.EACCES: "ask root for access to it, or run as root",
    errno.EPERM: "ask root for access to it, or run as root",
    errno.EBUSY: "another program uses it; name another device",
    errno.ENXIO: "no driver is bound to it; see daxctl list",
}


class Device(NamedTuple):
    """An open device, locked."""

    descriptor: int
    bytes: int
    """Usable bytes from its start: those that were checked, or fewer."""
    page_bytes: int
    reserved_bytes: int
    """Bytes at its head that are reserved for the mark."""
    node: int | None
    """NUMA node of the medium: the node it is, would become, or is attached to."""


class Facts(NamedTuple):
    """What the kernel reports of a device."""

    bytes: int
    page_bytes: int
    node: int | None


def facts_of(path: str, tree: Tree | None = None) -> Facts:
    """Size, alignment and node of a device.

    Raises:
        RequestError: no device of byte-addressable memory is there.
    """
    tree = tree or Tree()
    what = f"memory {KIND}:{plain(path)}"
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise RequestError(
            f"{what}: {reason}; memory devices have the form /dev/daxN.M, see daxctl list"
        ) from error
    place = f"/sys/dev/char/{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
    size = tree.integer(f"{place}/size")
    is_dax = tree.path(f"{place}/subsystem").resolve().name == "dax"
    if not stat.S_ISCHR(found.st_mode) or not is_dax or size is None:
        raise RequestError(
            f"{what}: is not a device of byte-addressable memory; name a /dev/daxN.M, or write "
            "file:PATH for a file"
        )
    nodes = (tree.integer(f"{place}/{name}") for name in ("target_node", "numa_node"))
    return Facts(
        bytes=size,
        page_bytes=tree.integer(f"{place}/align") or _USUAL_ALIGN_BYTES,
        node=next((node for node in nodes if node is not None and node >= 0), None),
    )


@contextmanager
def opened(path: str, size: int, *, keep: bool, overwrite: bool) -> Iterator[Device]:
    """Open a device to hold arrays of `size` bytes.

    Args:
        path: the device file.
        size: total bytes of the arrays; rounding each array up to pages adds to this.
        keep: whether to leave mark and data there for a later run.
        overwrite: whether to use the device even if it holds data of others.

    Raises:
        RequestError: the path is not such a device, or the device is too small, in use, or holds
            data.
    """
    what = f"memory {KIND}:{plain(path)}"
    facts = facts_of(path)
    end = _end(facts, size, what)
    descriptor = _open(path, what)
    try:
        with deferred():
            mark = _read(descriptor, facts, what)
            require_free(descriptor, mark, what)
        if not overwrite:
            _require_blank(descriptor, facts, mark.bytes if mark else 0, end, what)
        used = max(end, mark.bytes if mark else 0)
        stays = keep or (mark is not None and mark.kept)
        with _marked(path, descriptor, facts, used, stays=stays):
            yield Device(descriptor, end, facts.page_bytes, MARK_BYTES, facts.node)
    finally:
        os.close(descriptor)


def cleaned(path: str) -> Cleaned:
    """Overwrite with zeros what a killed run left there; everything else stays."""
    try:
        facts = facts_of(path)
        descriptor = _open(path, path)
    except RequestError as error:
        return Cleaned.not_possible(path, str(error))
    try:
        mark = _read(descriptor, facts, path)
        state = state_of(descriptor, mark)
        if mark is not None and state is State.LEFT:
            _blank(descriptor, facts, mark.bytes)
            size = format_bytes(mark.bytes)
            return Cleaned.removed(f"{path}: its first {size}, which a killed run left, are zeros")
        return Cleaned.of(state, path, f"the next run with {KIND}:{path} uses it again")
    except (OSError, RequestError) as error:
        return Cleaned.not_possible(path, str(error))
    finally:
        os.close(descriptor)


def _end(facts: Facts, size: int, what: str) -> int:
    """Most bytes that arrays occupy: each begins on a new page, so more than their sum."""
    page = facts.page_bytes
    least = page + -(-size // page) * page
    if least > facts.bytes:
        raise RequestError(
            f"{what}: {format_bytes(size)} are requested, but it has {format_bytes(facts.bytes)} "
            f"in pages of {format_bytes(page)}, the first of which holds memgauge's mark; use "
            "less, or name another"
        )
    slack = max(size // 4, _SMALLEST_SLACK_BYTES, _SLACK_PAGES * page)
    return min(facts.bytes // page * page, least + slack // page * page)


def _open(path: str, what: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "see daxctl list")
        reason = (error.strerror or "cannot be opened").lower()
        raise RequestError(f"{what}: {reason}; {remedy}") from error


def _head(descriptor: int, facts: Facts, what: str) -> mmap.mmap:
    try:
        return mmap.mmap(descriptor, facts.page_bytes)
    except OSError as error:
        raise RequestError(
            f"{what}: cannot be mapped: {(error.strerror or 'refused').lower()}; see daxctl list"
        ) from error


def _read(descriptor: int, facts: Facts, what: str) -> Mark | None:
    with _head(descriptor, facts, what) as window:
        return decode(window[:MARK_BYTES], what)


def _write(descriptor: int, facts: Facts, mark: Mark) -> None:
    with mmap.mmap(descriptor, facts.page_bytes) as window:
        window[:MARK_BYTES] = encode(mark)


@contextmanager
def _marked(path: str, descriptor: int, facts: Facts, used: int, *, stays: bool) -> Iterator[None]:
    area_journal.register(KIND, path, kept=False)
    try:
        _write(descriptor, facts, marked_by_us(used, kept=False))
        yield
    finally:
        with deferred():
            if stays:
                _write(descriptor, facts, marked_by_us(used, kept=True))
                area_journal.register(KIND, path, kept=True)
            else:
                _blank(descriptor, facts, used)
                area_journal.forget(KIND, path)


def _windows(
    descriptor: int, facts: Facts, begin: int, end: int
) -> Iterator[tuple[int, mmap.mmap]]:
    """Mapped chunks of the device, with their offsets."""
    for offset in range(begin, end, facts.page_bytes):
        with mmap.mmap(descriptor, facts.page_bytes, offset=offset) as window:
            yield offset, window


def _require_blank(descriptor: int, facts: Facts, ours: int, end: int, what: str) -> None:
    zeros = bytes(_CHUNK_BYTES)
    begin = ours // facts.page_bytes * facts.page_bytes
    for offset, window in _windows(descriptor, facts, begin, end):
        for at in range(0, facts.page_bytes, _CHUNK_BYTES):
            chunk = window[at : at + _CHUNK_BYTES]
            if chunk != zeros[: len(chunk)] and offset + at >= ours:
                raise RequestError(
                    f"{what}: holds data that memgauge did not write, in the "
                    f"{format_bytes(_CHUNK_BYTES)} from byte {offset + at}; name another device, "
                    "or allow overwriting it with --overwrite"
                )


def _blank(descriptor: int, facts: Facts, used: int) -> None:
    """Overwrite everything that is not zero with zeros, the mark last."""
    zeros = bytes(_CHUNK_BYTES)
    for offset, window in _windows(descriptor, facts, 0, min(used, facts.bytes)):
        for at in range(0, facts.page_bytes, _CHUNK_BYTES):
            begin = MARK_BYTES if offset + at == 0 else at
            chunk = window[begin : at + _CHUNK_BYTES]
            if chunk != zeros[: len(chunk)]:
                window[begin : begin + len(chunk)] = zeros[: len(chunk)]
    with mmap.mmap(descriptor, facts.page_bytes) as window:
        window[:MARK_BYTES] = bytes(MARK_BYTES)
