"""Explicit huge pages of the machine, for one test at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")


@contextmanager
def alone(file: Path = POOL / "nr_hugepages") -> Iterator[None]:
    """Keep other tests from changing the pool."""
    if not file.exists():
        pytest.skip("the kernel has no pool of 2 MiB pages")
    if not os.access(file, os.W_OK):
        pytest.skip(f"{file} is not writable: run as root to test it")
    with file.open(encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def free_huge_pages(count: int) -> Iterator[None]:
    """Have so many free pages of 2 MiB, and return them to the kernel."""
    with alone():
        total = int((POOL / "nr_hugepages").read_text(encoding="ascii"))
        try:
            (POOL / "nr_hugepages").write_text(f"{total + count}\n", encoding="ascii")
            free = int((POOL / "free_hugepages").read_text(encoding="ascii"))
            if free < count:
                pytest.skip(f"the kernel gives {free} huge pages of 2 MiB, {count} are needed")
            yield
        finally:
            (POOL / "nr_hugepages").write_text(f"{total}\n", encoding="ascii")
