"""Trees of processes that are asked to end, and killed if they do not."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from memgauge.system.programs.ending import end_tree
from memgauge.system.programs.program import lives

OBEYS = "sleep 60 & echo $! >{0}; wait"
IGNORES = "trap '' TERM; (trap '' TERM; sleep 60) & echo $! >{0}; sleep 60"
CHILD_IGNORES = "(trap '' TERM; sleep 60) & echo $! >{0}; wait"


@pytest.mark.parametrize(
    ("script", "within_s", "waits"),
    [(OBEYS, 30.0, False), (IGNORES, 0.3, True), (CHILD_IGNORES, 0.3, True)],
)
def test_all_that_a_process_started_ends(
    tmp_path: Path, script: str, within_s: float, *, waits: bool
) -> None:
    told = tmp_path / "pid"
    process = subprocess.Popen(["sh", "-c", script.format(told)])
    until = time.monotonic() + 30
    while not (told.exists() and told.read_text(encoding="ascii").strip()):
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.1)  # until the traps are set
    began_s = time.monotonic()
    end_tree(process.pid, within_s)
    took_s = time.monotonic() - began_s
    process.wait(30)
    child = int(told.read_text(encoding="ascii"))
    while lives(child):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert (took_s >= within_s) == waits
