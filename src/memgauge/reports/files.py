"""Writes rendered output: to a file completely or not at all, or to standard output if named."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterable
from pathlib import Path

from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.storage.files import check_replaceable, replace_file

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]{1,9})")
_STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}


def check_writable(path: Path) -> None:
    """Refuse, before long work, a place where its result cannot be written.

    Raises:
        RequestError: the path is a directory, a FIFO or a device, or nothing can be made beside it.
    """
    if _is_stream(path):
        return
    try:
        check_replaceable(path)
    except IsADirectoryError as error:
        raise RequestError(f"{path}: is a directory; name a file in it") from error
    except OSError as error:
        raise RequestError(
            f"{path}: cannot be written: {error.strerror}; choose another path"
        ) from error


def write_text(path: Path, text: str, *, below: Path | None = None) -> None:
    """Write UTF-8 text; see `write_pieces`.

    Args:
        path: File or stream, as for `write_pieces`.
        text: Whole content.
        below: Untrusted directory that contains `path`, as for `write_pieces`.
    """
    write_bytes(path, text.encode(), below=below)


def write_bytes(path: Path, content: bytes, *, below: Path | None = None) -> None:
    """Write a file; see `write_pieces`.

    Args:
        path: File or stream, as for `write_pieces`.
        content: Whole content.
        below: Untrusted directory that contains `path`, as for `write_pieces`.
    """
    write_pieces(path, [content], below=below)


def write_pieces(path: Path, pieces: Iterable[bytes], *, below: Path | None = None) -> None:
    """Write a file as `replace_file` does, so that no half page is ever seen.

    `/dev/stdout`, `/dev/stderr`, `/dev/fd/N` (which shells give for `>(command)`) and `/dev/null`
    are written to. Other devices, and FIFOs, are refused.

    Args:
        path: File to create or replace, or one of these streams.
        pieces: Content, written as it is produced.
        below: Untrusted directory that contains `path`: no link below it is followed. None if the
            parent of `path` is to be used as given.

    Raises:
        SystemFailure: the file cannot be written, or the disk is full.
    """
    try:
        if _is_stream(path):
            _write_to_stream(path, pieces)
        else:
            replace_file(path, pieces, below=below)
    except OSError as error:
        raise SystemFailure(
            f"{path}: cannot be written: {error.strerror}; {_remedy(error)}"
        ) from error


def _remedy(error: OSError) -> str:
    """What lets a file be written that could not be."""
    limits = {errno.EMFILE: "raise ulimit -n", errno.EFBIG: "raise ulimit -f"}
    return limits.get(error.errno or 0, "free space or choose another path")


def _is_stream(path: Path) -> bool:
    return str(path) == os.devnull or _descriptor(path) is not None


def _descriptor(path: Path) -> int | None:
    """The open descriptor that a path stands for."""
    found = _DESCRIPTOR.fullmatch(str(path))
    return int(found[1]) if found else _STANDARD.get(str(path))


def _write_to_stream(path: Path, pieces: Iterable[bytes]) -> None:
    descriptor = _descriptor(path)
    if descriptor is None:
        opened = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    else:
        opened = os.dup(descriptor)
    with os.fdopen(opened, "wb") as file:
        file.writelines(pieces)
