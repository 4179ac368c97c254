"""Runs of the command line tool that tests look at, or end, while they measure."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from tests.integration.command import command


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """The tool in a directory, with its state beside it."""
    return subprocess.Popen(
        command(*arguments),
        cwd=cwd,
        env=os.environ | {"XDG_STATE_HOME": str(cwd / "state")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_samples(running: subprocess.Popen[str], directory: Path) -> None:
    """Until its memory was made and something was measured; fails when it ended before."""
    deadline = time.monotonic() + 90
    records = directory / "records.jsonl"
    while not (records.exists() and b'"kind":"sample"' in records.read_bytes()):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.05)
