"""Diagnoses of real programs whose answers are known, on this machine: never a wrong verdict?

    python -m benchmarks.diagnose.known --repeat 3 --budget 3m chase mixture-50 triad

Each program of `known_programs.c` is compiled with cc and diagnosed, in random order. A mixture
measures its own share of waiting, without pressure, which is set beside the interval.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import memgauge
from memgauge.analysis.diagnose.document import DiagnosisFigures, diagnosis_figures
from memgauge.analysis.figures.run import figures_of

SOURCE = Path(__file__).with_name("known_programs.c")
MIB = 1 << 20
WAITS = {"latency", "memory"}
KNOWN: dict[str, tuple[list[object], set[str]]] = {
    "arithmetic": (["arithmetic", 500_000_000], {"not memory"}),
    "chase-l2": (["chase", 150_000_000, 256 << 10], {"not memory"}),
    "chase": (["chase", 5_000_000, 256 * MIB], WAITS),
    "mixture-25": (["mixture", 2_000_000, 256 * MIB, 0.25], WAITS),
    "mixture-50": (["mixture", 4_000_000, 256 * MIB, 0.50], WAITS),
    "mixture-75": (["mixture", 6_000_000, 256 * MIB, 0.75], WAITS),
    "triad": (["triad", 40, 384 * MIB], {"bandwidth", "memory"}),
    "gather": (["gather", 60_000_000, 256 * MIB], WAITS),
    "gather-4k": (["gather-4k", 40_000_000, 256 * MIB], WAITS),
    "translate": (["translate-plain", 4_000_000, 256 * MIB], {"translation", *WAITS, "cache"}),
    "chase-plain": (["chase-plain", 5_000_000, 256 * MIB], WAITS),
    "gather-plain": (["gather-plain", 40_000_000, 256 * MIB], WAITS),
    "triad-plain": (["triad-plain", 40, 384 * MIB], {"bandwidth", "memory"}),
    "product-blocked": (["product-blocked", 1, 24 * MIB], {"not memory", "memory", "latency"}),
    "phases": (["phases", 2, 256 * MIB], {"memory", "latency", "bandwidth"}),
}
"""Words of each program, and the verdicts that are right."""
TRANSLATES = {"translate", "chase-plain", "gather-plain", "gather-4k"}
"""Programs of which translation may be said to take part of the time, on base pages;"""
ON_HUGE = {"chase", "gather", "mixture-25", "mixture-50", "mixture-75"}
"""and those that are on huge pages, which may spare it."""


def main() -> None:
    """Print a row for each diagnosis."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(KNOWN), choices=[*KNOWN, []])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--budget", default="3m")
    parser.add_argument("--only", default="interference,traffic", help="add pages for translation")
    options = parser.parse_args()
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("no cc on PATH")
    titles = ["program", "verdict", "", "share of waiting", "true", "rounds", "translation", ""]
    print(f"| {' | '.join(titles)} |")
    print(f"| {' | '.join('---' for _ in titles)} |")
    with tempfile.TemporaryDirectory() as place:
        program = f"{place}/known"
        subprocess.run([compiler, "-O2", "-march=native", "-o", program, SOURCE], check=True)
        order = [name for name in options.names for _ in range(options.repeat)]
        random.shuffle(order)
        for at, name in enumerate(order):
            words, right = KNOWN[name]
            command = [program, *map(str, words)]
            result = memgauge.diagnose(
                command,
                only=options.only,
                metric="time ([0-9.]+)",
                budget=options.budget,
                simulate_up_to="120s",
                output=f"{place}/run-{at}",
            )
            found = diagnosis_figures(figures_of(result.run))
            if found is not None:
                _row(name, found, right, _true_share(command))


def _true_share(command: list[str]) -> str:
    """What a mixture prints of itself."""
    if "mixture" not in command:
        return "-"
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"share ([0-9.]+)", printed)
    return f"{float(found[1]):.0%}" if found else "-"


def _row(name: str, found: DiagnosisFigures, right: set[str], true: str) -> None:
    share = found.latency_share
    interval = "-"
    if share is not None and share.low is not None and share.high is not None:
        interval = f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"
    verdict = "" if found.verdict == "cannot tell" else "right"
    if verdict and found.verdict not in right:
        verdict = "WRONG"
    rounds = max((one.rounds for one in found.treatments if one.name == "write"), default=0)
    cells = [name, found.verdict, verdict, interval, true, str(rounds), *_translation(name, found)]
    print(f"| {' | '.join(cells)} |", flush=True)


def _translation(name: str, found: DiagnosisFigures) -> tuple[str, str]:
    """What is said of it, and whether that is right."""
    one = found.translation
    if one is None:
        return "-", ""
    right = {"translation": TRANSLATES, "spared": ON_HUGE}.get(one.verdict)
    share = "" if one.at_least is None else f", at least {one.at_least:.0%}"
    if one.verdict == "cannot tell":
        return f"{one.verdict}: {one.why}", ""
    if right is None:
        return one.verdict, ""  # of huge pages of this machine, which a host may split
    return f"{one.verdict}{share}", "right" if name in right else "WRONG"


if __name__ == "__main__":
    main()
