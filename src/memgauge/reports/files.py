"""Writing what was rendered: whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from memgauge.model.errors import RequestError, SystemFailure


def check_writable(path: Path) -> None:
    """Refuse, before long work, a place where its result cannot be written.

    Raises:
        RequestError: the path is a directory, or nothing can be made beside it.
    """
    trial = _beside(path)
    try:
        if path.is_dir():
            raise RequestError(f"{path}: is a directory; name a file in it")
        if path.exists() and not path.is_file():
            return
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise RequestError(
            f"{path}: cannot be written: {error.strerror}; choose another place"
        ) from error


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text; see `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; see `write_pieces`."""
    write_pieces(path, [content])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file by way of a temporary one beside it, so that no half page is ever seen.

    What is there and no regular file, such as `/dev/stdout` or a pipe, is written into.

    Raises:
        SystemFailure: the directory cannot be written, or the disk is full.
    """
    temporary = _beside(path)
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                file.writelines(pieces)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines(pieces)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if not isinstance(error, OSError):
            raise
        raise SystemFailure(
            f"{path}: cannot be written: {error.strerror}; free space or choose another place"
        ) from error


def _beside(path: Path) -> Path:
    """A name of our own in the same directory."""
    return path.with_name(f".{path.name}.{os.getpid()}")
