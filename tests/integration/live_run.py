"""Runs of the command line tool that tests look at, or end, while they measure."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path


def wait_for_samples(running: subprocess.Popen[str], directory: Path) -> None:
    """Until its memory was made and something was measured; fails when it ended before."""
    deadline = time.monotonic() + 90
    records = directory / "records.jsonl"
    while not (records.exists() and b'"kind":"sample"' in records.read_bytes()):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.05)
