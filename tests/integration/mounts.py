"""File systems mounted for a test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(kind: str, options: str, place: Path) -> Iterator[Path]:
    """A file system of that kind, on a new directory; unmounted afterwards."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", kind, "-o", options, "none", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"{kind} cannot be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)
