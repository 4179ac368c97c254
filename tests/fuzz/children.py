"""memgauge in a child process, and what it cost: processor time and memory, not the clock."""

from __future__ import annotations

import os
import resource
from typing import NamedTuple

from tests.integration import warm

LONGEST_CPU_S = 120
LARGEST_SPACE_BYTES = 16 << 30
"""Of a child that goes astray, so that the machine is not taken along."""
LIMITS = {resource.RLIMIT_CPU: LONGEST_CPU_S, resource.RLIMIT_AS: LARGEST_SPACE_BYTES}
LIMIT_S = 3600
"""Of wall clock: for what neither ends nor works."""


class Done(NamedTuple):
    """How a child ended."""

    code: int
    out: str
    err: str
    cpu_s: float
    peak_bytes: int


def run_memgauge(*arguments: str) -> Done:
    """The command line, with these arguments.

    All children are forks of one process, so that what they used can be compared.
    """
    done = warm.run(arguments, None, os.environ, LIMIT_S, limits=LIMITS)
    return Done(done.returncode, done.stdout, done.stderr, done.cpu_s, done.peak_bytes)
