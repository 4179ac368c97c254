"""Runs the combinations of one experiment in this process; one line of JSON for each."""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
import traceback
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.option_matrix import options, small_machine
from tests.option_matrix.pairs import Covering, Row, covering, enough_for_each_value

from memgauge.__main__ import main as memgauge
from memgauge.api import surveyed
from memgauge.counters.opening import find
from memgauge.experiments.registry import for_memory, load
from memgauge.model.errors import ExitCode, MemgaugeError
from memgauge.model.parameters import build
from memgauge.runner.fitting import planned_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memgauge.experiments.shared.base import Experiment
    from memgauge.model.parameters import CommonParameters

SHORT = ("--precision", "0.9", "--json")
BUDGETS_S = (1, 4, 16, 60)
"""Each where there was no time to measure in the one before it, as on a busy machine."""
ALL = "all"
COUNTING = ("stream", "traffic")
"""Experiments that may be told to count the traffic of memory."""


def main() -> None:
    """Read what to run, run it, and print what became of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.option_matrix")
    parser.add_argument("name", help="experiment")
    parser.add_argument("--gpu", action="store_true", help="measure cuda:0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", default=ALL, help="combinations beside those of single values")
    asked = parser.parse_args()
    small_machine.become_small()
    place = Path(tempfile.mkdtemp(prefix="option-matrix-"))
    try:
        run(asked.name, place, asked.gpu, asked.share, random.Random(asked.seed))
    finally:
        shutil.rmtree(place)


def run(name: str, place: Path, gpu: bool, share: str, draw: random.Random) -> None:
    """Print a line for each combination that is run or refused beforehand."""
    enough = None if share == ALL else int(share)
    found = chosen(name, place, draw, gpu=gpu, enough=enough)
    singles = enough_for_each_value(found.rows)
    others = [row for row in found.rows if row not in singles]
    if enough is not None:
        others = draw.sample(others, min(enough, len(others)))
    say(combinations=len(found.rows), run=len(singles + others), impossible=len(found.refused))
    for row in singles + others:
        say(row=row, **outcome(name, row, place))
    for why, row in found.reasons.items():
        say(words=options.words(name, row), refused=why)


def chosen(
    name: str, place: Path, draw: random.Random, *, gpu: bool, enough: int | None = None
) -> Covering:
    """Combinations that plan something here; with `enough`, those of values and so many more."""
    system = small_machine.small()

    def refusal(row: Row) -> str | None:
        try:
            for experiment, parameters in requested(name, row):
                planned_groups(for_memory(experiment, parameters), parameters, system)
        except MemgaugeError as error:
            return str(error)
        if name in COUNTING and row["--counters"] == "auto" and not gpu:
            return refusal_of_auto()
        return None

    return covering(options.factors_of(name, place, gpu=gpu), refusal, draw, enough)


@cache
def refusal_of_auto() -> str | None:
    """Why this machine's memory traffic cannot be counted; else known only when a run opens it."""
    try:
        find(("auto",))
    except MemgaugeError as error:
        return str(error)
    return None


def requested(name: str, row: Row) -> Iterator[tuple[Experiment, CommonParameters]]:
    """What the command of a combination is going to measure."""
    for one in surveyed(row[options.ONLY]) if name == options.SURVEY else [name]:
        struct = options.struct_of(one)
        asked = options.given(struct, row)
        if name == options.SURVEY and not struct.takes_threads:
            asked.pop("threads", None)
        yield load(one), build(struct, **asked)


def outcome(name: str, row: Row, place: Path) -> dict[str, Any]:
    """Run a combination as a command, and look at what it printed."""
    words = options.words(name, row)
    for budget_s in BUDGETS_S:
        found = run_once([*words, "--budget", f"{budget_s}s", *SHORT], place)
        # A budget may end before anything is measured: the next is longer.
        is_empty = found["code"] == ExitCode.FAILED and "nothing was measured" in found["said"]
        is_empty |= found["code"] == ExitCode.NOT_VERIFIED
        if found["figures"] or (found["code"] and not is_empty):
            break
    if found["figures"] and found["code"] == ExitCode.NOT_VERIFIED:
        found["code"] = ExitCode.DONE
    return {"words": words, **found}


def run_once(words: list[str], place: Path) -> dict[str, Any]:
    """What a command exits with, says, and how many figures it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # documents are written as bytes
    said = io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(said):
            code = int(memgauge([*words, "--output", str(place / "run")]))
    except Exception:  # noqa: BLE001 - the test tells it, with what was run
        return {"code": None, "said": traceback.format_exc(), "figures": 0}
    finally:
        clear(place)
    is_whole = code in {ExitCode.DONE, ExitCode.NOT_VERIFIED}
    figures = figures_in(json.loads(printed.buffer.getvalue())) if is_whole else 0
    return {"code": code, "said": said.getvalue(), "figures": figures}


def clear(place: Path) -> None:
    """Leave nothing of one combination to the next."""
    for made in place.iterdir():
        shutil.rmtree(made) if made.is_dir() else made.unlink()


def figures_in(document: dict[str, Any]) -> int:
    """How many points have samples, or sizes of traffic a simulation.

    Samples that were set aside count, since on a busy machine that may be all of them.
    """
    points = [point for section in document["sections"] for point in section["points"]]
    sizes = [size for kernel in document["traffic"] or () for size in kernel["sizes"]]
    return sum(map(is_measured, points)) + sum(map(has_traffic, sizes))


def is_measured(point: dict[str, Any]) -> bool:
    """Whether it has samples."""
    return bool(point["samples"] + point["set_aside"])


def has_traffic(size: dict[str, Any]) -> bool:
    """Whether there is more than what is expected of it."""
    return bool(size["simulated"] or size["measured"])


def say(**facts: object) -> None:
    """Print a line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
