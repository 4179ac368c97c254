"""Diagnoses of real programs whose answers are known, on this machine: never a wrong verdict?

    python -m benchmarks.diagnose.known --repeat 3 --budget 3m chase mixture-50 triad
    python -m benchmarks.diagnose.known --repeat 10 --output known.jsonl --within 20m

Each program of `known_programs.c` is compiled with cc and diagnosed, in random order: all of them
once before any a second time. The verdict is that on the region of its work, without its set-up. A
mixture measures its own share of waiting, without pressure, which
is set beside the interval. With --output results are appended to a file, and those that it holds
already, made alike, count: so ten of each can be gathered in several quiet stretches. The records
are kept beside it, in FILE.runs, for `memgauge report` of a wrong one.

--work 0.3 shortens the programs, so that small budgets have rounds enough for a verdict; --work 60
makes a chase of a minute. --neighbour runs another program beside it, which uses memory in bursts.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import count
from pathlib import Path

import memgauge
from benchmarks.diagnose.known_results import (
    Conditions,
    KnownResult,
    keep,
    kept,
    outcome,
    result_of,
    share_words,
    summarise,
    true_share_of,
)
from benchmarks.diagnose.neighbour import neighbour
from benchmarks.diagnose.replicated import head, row
from memgauge.model.errors import MemgaugeError
from memgauge.model.units import parse_duration

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
    "product": (["product", 40, 192 * MIB], {"memory", "latency", "cache"}),
    "product-blocked": (["product-blocked", 5120, 6 * MIB], {"not memory", "memory", "latency"}),
    "phases": (["phases", 2, 256 * MIB], {"memory", "latency", "bandwidth"}),
}
"""Words of each program, and the verdicts that are right."""
RIGHT = {name: right for name, (_, right) in KNOWN.items()}
TRANSLATES = {"translate", "chase-plain", "gather-plain", "gather-4k"}
"""Programs of which translation may be said to take part of the time, on base pages;"""
ON_HUGE = {"chase", "gather", "mixture-25", "mixture-50", "mixture-75"}
"""and those that are on huge pages, which may spare it."""


class Options(argparse.Namespace):
    """Of the command line."""

    names: list[str]
    repeat: int
    budget: str
    only: str
    work: float
    output: Path | None
    within: str | None
    neighbour: bool
    table: bool

    @property
    def conditions(self) -> Conditions:
        """How diagnoses are made by these options."""
        return Conditions(
            budget=self.budget, only=self.only, work=self.work, has_neighbour=self.neighbour
        )


def parsed(arguments: Sequence[str] | None = None) -> Options:
    """The options.

    Args:
        arguments: None: those of the process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(KNOWN)}")
    parser.add_argument(
        "--repeat", type=int, default=1, help="diagnoses of each program, those of FILE included"
    )
    parser.add_argument("--budget", default="3m", help="of each diagnosis")
    parser.add_argument("--only", default="interference,traffic", help="add pages for translation")
    parser.add_argument("--work", type=float, default=1.0, help="times the work of each program")
    parser.add_argument("--output", type=Path, metavar="FILE", help="results, one a line")
    parser.add_argument("--within", metavar="TIME", help="start no diagnosis after it")
    parser.add_argument("--neighbour", action="store_true", help="beside bursts of memory use")
    parser.add_argument("--table", action="store_true", help="only sum up what FILE holds")
    options = parser.parse_args(arguments, namespace=Options())
    unknown = [name for name in options.names if name not in KNOWN]
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(KNOWN)}")
    if options.table and options.output is None:
        parser.error("--table sums up a file: name it with --output")
    options.names = options.names or list(KNOWN)
    return options


def missing(names: Sequence[str], repeat: int, done: Sequence[KnownResult]) -> list[str]:
    """Programs that are still to be diagnosed, those with fewest diagnoses first.

    Args:
        names: Of all programs.
        repeat: Diagnoses that each is to have.
        done: That there are already.
    """
    made = Counter(one.program for one in done)
    turns = [(turn, random.random(), name) for name in names for turn in range(made[name], repeat)]
    return [name for _, _, name in sorted(turns)]


def main() -> None:
    """Print a row for each diagnosis, then one for each program."""
    options = parsed()
    done = [one for one in kept(options.output) if one.conditions == options.conditions]
    todo = [] if options.table else missing(options.names, options.repeat, done)
    if done:
        print(f"{len(done)} diagnoses are in {options.output}; {len(todo)} are to be made\n")
    if todo:
        try:
            for one in _diagnosed(todo, options):
                done.append(one)
                keep(options.output, one)
        except KeyboardInterrupt:
            print("\ninterrupted: the diagnosis that was being made is left out", file=sys.stderr)
        print()
    summarise(done, RIGHT)


def _diagnosed(names: Sequence[str], options: Options) -> Iterator[KnownResult]:
    """The results of the diagnoses of these programs, each with its row."""
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("no cc on PATH")
    limit_s = parse_duration(options.within, "--within") if options.within else math.inf
    begin_s = time.monotonic()
    head(
        ["program", "verdict", "", "share of waiting", "true", "rounds", "since", "translation", ""]
    )
    with tempfile.TemporaryDirectory() as place:
        program = f"{place}/known"
        words = [compiler, "-O2", "-march=native", "-o", program, str(SOURCE), *region_flags()]
        subprocess.run(words, check=True)
        bursts = [program, "triad", "1000000", str(96 * MIB)]
        runs = Path(f"{options.output}.runs") if options.output else Path(place) / "runs"
        with neighbour(bursts) if options.neighbour else nullcontext():
            for name in names:
                if time.monotonic() - begin_s > limit_s:
                    print(f"\n{options.within} are over: run it again for the rest")
                    return
                found = _diagnosis(name, program, runs, options)
                if found is not None:
                    yield found


def region_flags() -> list[str]:
    """To build a program that marks regions."""
    words = [sys.executable, "-m", "memgauge", "region", "--cflags", "--libs"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()


def _diagnosis(name: str, program: str, runs: Path, options: Options) -> KnownResult | None:
    (kind, work, *rest), right = KNOWN[name]
    scaled = max(1, round(int(str(work)) * options.work))
    command = [program, *map(str, (kind, scaled, *rest))]
    try:
        run = memgauge.diagnose(
            command,
            only=options.only,
            budget=options.budget,
            simulate_up_to="120s",
            output=str(_free(runs, name)),
        ).run
    except MemgaugeError as error:
        row([name, f"failed: {error}"])
        return None
    found = result_of(name, run, options.conditions, true_share_of(command))
    if found is not None:
        row(_cells(found, right))
    return found


def _free(runs: Path, name: str) -> Path:
    """A directory for the next record of a program."""
    return next(path for at in count(1) if not (path := runs / f"{name}-{at}").exists())


def _cells(found: KnownResult, right: set[str]) -> list[str]:
    is_told = found.verdict != "cannot tell"
    return [
        found.program,
        found.verdict if is_told else f"{found.verdict}: {found.why}",
        outcome(found, right) if is_told else "",
        share_words(found),
        "-" if found.true_share is None else f"{found.true_share:.0%}",
        str(found.rounds),
        "-" if found.since_round is None else str(found.since_round),
        *_translation(found),
    ]


def _translation(found: KnownResult) -> tuple[str, str]:
    """What is said of it, and whether that is right."""
    said = found.translation
    if said is None:
        return "-", ""
    if said == "cannot tell":
        return f"{said}: {found.why_no_translation}", ""
    right = {"translation": TRANSLATES, "spared": ON_HUGE}.get(said)
    if right is None:
        return said, ""  # of huge pages of this machine, which a host may split
    least = found.translation_at_least
    share = "" if least is None else f", at least {least:.0%}"
    return f"{said}{share}", "right" if found.program in right else "WRONG"


if __name__ == "__main__":
    main()
