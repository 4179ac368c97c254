"""Every command, interrupted at random moments: nothing is left, and runs are reported on.

`make kills KILLS=500 SIGNALS=500` does it more often and prints what came of each command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = os.environ.get("MEMGAUGE_KILLS", "200")
SIGNALS = os.environ.get("MEMGAUGE_SIGNALS", "100")
WITHIN_S = os.environ.get("MEMGAUGE_KILLS_WITHIN_S", "15")
"""Trials are in random order, and as many are made as there is time for."""
SEED = os.environ.get("MEMGAUGE_KILLS_SEED", "1")


@pytest.mark.long
@pytest.mark.native
def test_commands_that_are_killed_or_ended_leave_nothing() -> None:
    words = ["--kills", KILLS, "--signals", SIGNALS, "--within", WITHIN_S, "--seed", SEED]
    done = subprocess.run(
        [sys.executable, "-m", "tests.kills", *words],
        cwd=Path(__file__).parents[3],
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"\n{done.stdout}"
