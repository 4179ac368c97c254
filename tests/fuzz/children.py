"""memgauge in a child process, and what it cost: processor time and memory, not the clock."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

LONGEST_CPU_S = 120
LARGEST_SPACE_BYTES = 16 << 30
"""Of a child that goes astray, so that the machine is not taken along."""

# Between this process and the one that is measured: a child's peak is at least what its parent
# held when it was forked.
_MEASURE = """
import json, resource, subprocess, sys
out, err, cpu_s, space_bytes, *command = sys.argv[1:]
for which, most in ((resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_AS, space_bytes)):
    hard = resource.getrlimit(which)[1]
    most = int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard)
    resource.setrlimit(which, (most, hard))
with open(out, "wb") as stdout, open(err, "wb") as stderr:
    code = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]))
"""


class Done(NamedTuple):
    """How a child ended."""

    code: int
    out: str
    err: str
    cpu_s: float
    peak_bytes: int


def run_memgauge(*arguments: str) -> Done:
    """The command line, with these arguments."""
    with tempfile.TemporaryDirectory() as directory:
        said = [Path(directory, name) for name in ("out", "err")]
        measure = [sys.executable, "-c", _MEASURE, *map(str, said)]
        limits = [str(LONGEST_CPU_S), str(LARGEST_SPACE_BYTES)]
        command = [sys.executable, "-m", "memgauge", *arguments]
        known = subprocess.run([*measure, *limits, *command], stdout=subprocess.PIPE, check=True)
        code, cpu_s, peak_bytes = json.loads(known.stdout)
        out, err = (path.read_text(encoding="utf-8", errors="replace") for path in said)
    return Done(code, out, err, cpu_s, peak_bytes)
