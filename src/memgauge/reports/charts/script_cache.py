"""Keeps the bundled chart libraries between renderings: bundling takes longer than all the rest.

The file is in the user's cache directory, and its code goes into every page. So it is not trusted:
it is used only if its digest matches the one in this package. Without the file, or without a cache
directory, the bundle is made again, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.storage.user_directories import cache_directory

SNIPPET = "window.vegaEmbed = vegaEmbed;"
"""What the bundle is made of: the libraries that it names, bound for the page's own script."""
_MOST_BYTES = 16 << 20
"""Of a bundle; those known have 0.9 MB."""


def bundle(version: str, make: Callable[[], str]) -> str:
    """The chart libraries of a version of vl-convert, from the cache or made and cached.

    Args:
        version: of vl-convert.
        make: makes the bundle of `SNIPPET`.
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
    text = (resources.files("memgauge.reports") / "assets" / "bundles.toml").read_text("utf-8")
    found: str | None = tomllib.loads(text)["sha256"].get(version)
    return found


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
