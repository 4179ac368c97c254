"""In a process of its own: a limit that was lowered cannot be raised again by everyone."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, signal, sys
from memgauge.system.limits.processor_time import notice_before_kill
soft, hard = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
with notice_before_kill():
    print(*resource.getrlimit(resource.RLIMIT_CPU))
print(*resource.getrlimit(resource.RLIMIT_CPU))
"""

SPINNING = """
import resource, signal
from memgauge.model.termination import Terminated, unwinding
from memgauge.system.limits.processor_time import notice_before_kill
resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
try:
    with unwinding(), notice_before_kill():
        while True:
            pass
except Terminated as ended:
    print(ended)
"""


def run(program: str, *arguments: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("soft", "hard", "inside"),
    [(50, 50, "49 50"), (30, 50, "30 50"), (-1, -1, "-1 -1"), (30, -1, "30 -1")],
)
def test_notice_comes_before_the_hard_limit(soft: int, hard: int, inside: str) -> None:
    assert run(PROGRAM, soft, hard).splitlines() == [inside, f"{soft} {hard}"]


def test_a_process_that_would_be_killed_unwinds() -> None:
    assert run(SPINNING) == "SIGXCPU\n"
