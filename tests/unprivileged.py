"""The part of a test that root's privileges would spoil."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def directory_of_nobody() -> Iterator[Path]:
    """A new directory that belongs to who the test is meanwhile: nobody, where it began as root."""
    place = Path(tempfile.mkdtemp(prefix="memgauge-test-", dir="/tmp"))
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.chown(place, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        yield place
    finally:
        if is_root:
            os.seteuid(0)
        shutil.rmtree(place)
