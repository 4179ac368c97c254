"""How long `memgauge --help` and the rendering of a report take, as whole commands.

python -m benchmarks.startup RUN
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from statistics import median

REPEATS = 15


def seconds(*arguments: str) -> float:
    """Wall time of one command."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "memgauge", *arguments], capture_output=True, check=True)
    return time.monotonic() - began


def main() -> None:
    """Parse arguments and print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run")
    run = parser.parse_args().run
    for arguments in (("--help",), ("stream", "--help"), ("report", run)):
        times = sorted(seconds(*arguments) for _ in range(REPEATS))
        label = " ".join(arguments[:2]) if arguments[0] != "report" else "report RUN"
        print(
            f"memgauge {label}: median {median(times) * 1e3:.0f} ms "
            f"({times[0] * 1e3:.0f}..{times[-1] * 1e3:.0f}, n={REPEATS})"
        )


if __name__ == "__main__":
    main()
