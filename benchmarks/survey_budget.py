"""Does a survey beside busy loops end in time, and with how many rounds?

    python -m benchmarks.survey_budget --budgets 5,10,30,60 --loops 4

Each budget is tried with one CPU and with two, by affinity, beside loops that may use all CPUs.
Printed: wall time of the command, points and rounds, and the load of the machine. The goal is an
end within a tenth of the budget after it, and never more than five seconds after it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import memgauge
from memgauge.runner.budget import LATE_S, LATE_SHARE


def busy_loops(count: int) -> list[subprocess.Popen[bytes]]:
    """Programs that compute and never end by themselves."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def surveyed(budget_s: int, cpus: set[int], output: Path) -> str:
    """Make a survey on these CPUs; how it ended, in words."""
    command = [sys.executable, "-m", "memgauge", "survey", f"--budget={budget_s}s"]
    began_s = time.monotonic()
    done = subprocess.run(
        [*command, f"--output={output}"],
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        capture_output=True,
        check=False,
    )
    wall_s = time.monotonic() - began_s
    promised_s = budget_s + min(LATE_SHARE * budget_s, LATE_S)
    late = "in time" if wall_s <= promised_s else f"{wall_s - promised_s:.1f} s late"
    if done.returncode:
        return f"{wall_s:.1f} s, {late}: {done.stderr.decode(errors='replace').strip()[-200:]}"
    run = memgauge.load(output).run
    return f"{wall_s:.1f} s, {late}; {len(run.points)} points, {run.rounds} rounds"


def main() -> None:
    """Parse arguments and print a line for each number of CPUs and budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--budgets", default="5,10,30,60")
    parser.add_argument("--loops", type=int, default=4)
    chosen = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0))
    loops = busy_loops(chosen.loops)
    try:
        with tempfile.TemporaryDirectory() as directory:
            for count in (1, 2):
                for budget_s in map(int, chosen.budgets.split(",")):
                    output = Path(directory) / f"{count}-{budget_s}"
                    found = surveyed(budget_s, set(allowed[:count]), output)
                    load = os.getloadavg()[0]
                    print(f"{count} CPUs, {budget_s} s: {found}; load {load:.1f}", flush=True)
    finally:
        for loop in loops:
            loop.kill()


if __name__ == "__main__":
    main()
