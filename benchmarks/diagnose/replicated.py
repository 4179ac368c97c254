"""What the scripts that diagnose simulated machines take and print alike."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


class Options(argparse.Namespace):
    """Of one script."""

    replications: int
    """Runs of each program on each machine."""
    rounds: int
    """Most of them in a run."""
    seed: int


def parser(documentation: str, replications: int) -> argparse.ArgumentParser:
    """The options that all of them take; a script may add others.

    Args:
        documentation: Of the script; its first line is shown.
        replications: Default of `--replications`.
    """
    made = argparse.ArgumentParser(description=documentation.splitlines()[0])
    made.add_argument("--replications", type=int, default=replications)
    made.add_argument("--rounds", type=int, default=40, help="most of them")
    made.add_argument("--seed", type=int, default=1)
    return made


def head(titles: Sequence[str]) -> None:
    """Print the head of a table."""
    row(titles)
    row(["---"] * len(titles))


def row(cells: Sequence[str]) -> None:
    """Print a row at once: a table takes minutes."""
    print(f"| {' | '.join(cells)} |", flush=True)
