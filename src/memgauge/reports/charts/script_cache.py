"""The chart libraries that go into pages: those of the wheel, or a bundle made here.

A wheel contains them. A source tree does not: there vl-convert bundles them, and the bundle is kept
between renderings, since bundling takes longer than all the rest.

The kept file is in the user's cache directory, and its code goes into every page. So it is not
trusted: it is used only if its digest matches the one in this package. Without the file, or without
a cache directory, the bundle is made again, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.user_directories import cache_directory

_MOST_BYTES = 16 << 20
"""Of a bundle; those known have 0.9 MB."""


@cache
def shipped() -> str | None:
    """The chart libraries that the build put into the package; None if it did not."""
    script = _asset("vega.js")
    return script.read_text("utf-8") if script.is_file() else None


def licences() -> str:
    """Names, copyright and licences of the chart libraries, as a comment of their script."""
    return f"/*\n{_asset('chart_libraries.txt').read_text('utf-8')}*/\n"


def snippet() -> str:
    """What vl-convert makes the bundle of."""
    found: str = _bundles()["snippet"]
    return found


def bundle(version: str, make: Callable[[], str]) -> str:
    """The chart libraries of a version of vl-convert, from the cache or made and cached.

    Args:
        version: of vl-convert.
        make: makes the bundle of `snippet()`.
    """
    digest = known_digest(version)
    place = cache_directory()
    if digest is None or place is None:
        return make()
    path = place / f"vega-{digest[:16]}.js"
    found = _read(path, digest)
    if found is not None:
        return found
    made = make()
    if _digest(made.encode()) == digest:
        _keep(path, made)
    return made


def known_digest(version: str) -> str | None:
    """The SHA-256 of the bundle of a version of vl-convert; None: it is not in the package."""
    found: str | None = _bundles()["sha256"].get(version)
    return found


def _bundles() -> dict[str, Any]:
    return tomllib.loads(_asset("bundles.toml").read_text("utf-8"))


def _asset(name: str) -> Traversable:
    return resources.files("memgauge.reports") / "assets" / name


def _read(path: Path, digest: str) -> str | None:
    try:
        content = read_file(path, _MOST_BYTES)
    except OSError:
        return None
    return content.decode() if _digest(content) == digest else None


def _keep(path: Path, script: str) -> None:
    with contextlib.suppress(OSError):
        replace_file(path, [script.encode()])


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
