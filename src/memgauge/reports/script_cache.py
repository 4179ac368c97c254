"""Keeps the bundled chart libraries between renderings: bundling takes longer than all the rest.

The file lies in the user's cache directory (XDG Base Directory Specification) and starts with the
digest of what follows, so that a torn or altered one is made again. Where none can be kept,
everything works as if there were none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from memgauge.model.errors import SystemFailure
from memgauge.reports.files import write_text


def directory() -> Path | None:
    """Where the cache lies; None where the user has no home."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "memgauge"
    except RuntimeError:
        return None


def kept(name: str, make: Callable[[], str]) -> str:
    """The script kept under that name, else what `make` returns, kept from now on."""
    place = directory()
    if place is None:
        return make()
    path = place / name
    found = _read(path)
    if found is None:
        found = make()
        with contextlib.suppress(SystemFailure):
            write_text(path, f"{_digest(found)}\n{found}")
    return found


def _read(path: Path) -> str | None:
    try:
        digest, _, script = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == _digest(script) else None


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()
