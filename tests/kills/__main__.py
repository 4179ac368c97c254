"""Interrupt all commands and print what came of it; see the package."""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from tests.kills import table
from tests.kills.processes import be_alone, obey_signals
from tests.kills.scenarios import RECORDED, SCENARIOS, SHARED_MEMORY, Scenario
from tests.kills.trials import Interruption, Outcome, Setting, killed, signalled, tried
from tests.unit.analysis import runs

from memgauge.model.storage.run_writer import RunWriter

Draw = Callable[[random.Random, float], Interruption]
_DRAWS: dict[str, Draw] = {"kill": killed, "signal": signalled}
_SAID_EVERY = 25


class Planned(msgspec.Struct, frozen=True):
    """One trial; its draws depend on its own seed alone, so that it can be repeated."""

    scenario: Scenario
    draw: Draw
    seed: str


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 where anything was not as it is to be."""
    requested = _parser().parse_args(arguments)
    obey_signals()
    shared = be_alone()
    if shared is None:
        _say(f"{SHARED_MEMORY} is others' too, and is not looked at: root would have one alone")
    with _prepared() as prepared:
        series = _Series(Setting(prepared, shared))
        plan = _planned(requested, _possible(requested.only))
        try:
            series.work(plan, time.monotonic() + requested.within)
        except KeyboardInterrupt:
            _say("interrupted: the rest is left out")
    _say(f"\n{table.kills_table(series.kills)}\n\n{table.signals_table(series.signals)}")
    return int(series.wrong)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="how often SIGKILL is sent")
    parser.add_argument("--signals", type=int, default=100, help="how often other signals are sent")
    parser.add_argument("--within", type=float, default=math.inf, help="seconds, then it ends")
    parser.add_argument("--seed", default=str(random.randrange(1 << 32)), help="to repeat trials")
    parser.add_argument("--trial", help="make one trial again, of --only, as a fault names it")
    parser.add_argument("--only", help="names of commands, as the table has them, by semicolons")
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextmanager
def _prepared() -> Iterator[Path]:
    """A directory with a run to read, which is made up, and a filled cache."""
    directory = Path(tempfile.mkdtemp(prefix="memgauge-kills-"))
    try:
        with RunWriter(directory / RECORDED) as writer:
            writer.write(runs.records(rounds=4))
        words = [sys.executable, "-m", "memgauge", "report", str(directory / RECORDED)]
        cache = {"XDG_CACHE_HOME": str(directory / "cache")}
        subprocess.run(words, env=os.environ | cache, check=True, capture_output=True)
        yield directory
    finally:
        shutil.rmtree(directory)


def _possible(only: str | None) -> list[Scenario]:
    """Those asked for that this machine has the means for."""
    possible = []
    for scenario in SCENARIOS:
        if only is not None and scenario.name not in only.split(";"):
            continue
        if (lacking := scenario.needs()) is None:
            possible.append(scenario)
        else:
            _say(f"left out: {scenario.name}: {lacking}")
    return possible


def _planned(requested: argparse.Namespace, possible: Sequence[Scenario]) -> list[Planned]:
    """Each command once where there are enough trials, the rest by weight; all in random order."""
    if requested.trial is not None:
        draw = _DRAWS[requested.trial.split()[-2]]
        return [Planned(scenario, draw, requested.trial) for scenario in possible]
    draws = random.Random(requested.seed)
    weights = [one.weight for one in possible]
    plan = []
    for name, count in (("kill", requested.kills), ("signal", requested.signals)):
        chosen = draws.sample(possible, len(possible))
        chosen += draws.choices(possible, weights, k=max(0, count - len(possible)))
        plan += [
            Planned(scenario, _DRAWS[name], f"{requested.seed} {name} {index}")
            for index, scenario in enumerate(chosen[:count])
        ]
    draws.shuffle(plan)
    return plan


class _Series:
    """Trials one after another, and what came of them."""

    def __init__(self, setting: Setting) -> None:
        self.kills: table.Tallies = defaultdict(table.Tally)
        self.signals: table.Tallies = defaultdict(table.Tally)
        self.wrong = False
        self._setting = setting
        self._took_s: dict[str, float] = {}

    def work(self, plan: Sequence[Planned], until_s: float) -> None:
        """Make the trials that there is time for."""
        for done, one in enumerate(plan):
            if done % _SAID_EVERY == 0:
                _say(f"{done} of {len(plan)} done")
            if time.monotonic() > until_s:
                _say("the time is over: the rest is left out")
                break
            self._add(one)

    def _add(self, one: Planned) -> None:
        """Interrupt it, at a moment of the time that it takes."""
        scenario = one.scenario
        if scenario.name not in self._took_s:
            alone = tried(scenario, None, self._setting)
            self._took_s[scenario.name] = alone.took_s
            self._complain(f"{scenario.name}, left alone", alone)
        interruption = one.draw(random.Random(one.seed), self._took_s[scenario.name])
        outcome = tried(scenario, interruption, self._setting)
        if outcome.was_over:  # the machine was busier when it was left alone
            self._took_s[scenario.name] = outcome.took_s
        (self.kills if one.draw is killed else self.signals)[scenario.name].add(outcome)
        again = f"--only '{scenario.name}' --trial '{one.seed}'"
        self._complain(f"{scenario.name}: {interruption} ({again})", outcome)

    def _complain(self, what: str, outcome: Outcome) -> None:
        if outcome.wrong:
            self.wrong = True
            _say(f"FAULT {what}:")
        for line in outcome.wrong:
            _say(f"    {line}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
