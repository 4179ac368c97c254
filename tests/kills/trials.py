"""One command, interrupted once: by SIGKILL, or by signals that it may handle."""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from tests.kills import left, records
from tests.kills.place import Place, place_for
from tests.kills.processes import (
    Ended,
    Running,
    descendants,
    nothing_outlives,
    until,
)

from memgauge.system.programs.program import send

if TYPE_CHECKING:
    from tests.kills.scenarios import Scenario

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_TWICE_WITHIN_S = 0.3
_TORN = ("Traceback", "Exception ignored", "Fatal Python", "terminate called", "Aborted")
_LACKS_PAGES = "the kernel found no contiguous"
"""What a machine whose memory has been in use for long may refuse at any time."""
_OURS = ("memgauge: interrupted", "memgauge: ended by ", "Interrupted")


class Setting(msgspec.Struct, frozen=True):
    """What all trials share."""

    prepared: Path
    shared: Path | None


class Interruption(msgspec.Struct, frozen=True):
    """What is sent, and when."""

    at_s: float
    signals: tuple[int, ...]
    to_group: bool
    apart_s: float = 0.0
    """Between two signals."""
    rank: float | None = None
    """Of a job: not to the launcher, but to one of what it started, by its share of them."""

    def __str__(self) -> str:
        names = " and ".join(signal.Signals(number).name for number in self.signals)
        apart = f", {self.apart_s:.3f} s apart" if len(self.signals) > 1 else ""
        whom = "its group" if self.to_group else "it"
        if self.rank is not None:
            whom += ", or one of a job's ranks,"
        return f"{names}{apart} to {whom} at {self.at_s:.3f} s"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    wrong: list[str]
    code: int | None = None
    """None: it did not end."""
    was_over: bool = False
    """Whether the command had ended before."""
    needed_clean: bool = False
    looked: records.Looked = records.Looked([])
    took_s: float = 0.0


def killed(draw: random.Random, duration_s: float) -> Interruption:
    """SIGKILL at any moment."""
    return Interruption(
        draw.uniform(0, duration_s), (signal.SIGKILL,), draw.random() < 0.3, rank=_rank(draw)
    )


def signalled(draw: random.Random, duration_s: float) -> Interruption:
    """One of the signals, or two."""
    count = 2 if draw.random() < 0.3 else 1
    return Interruption(
        draw.uniform(0, duration_s),
        tuple(draw.choices(SIGNALS, k=count)),
        draw.random() < 0.4,
        draw.uniform(0, _TWICE_WITHIN_S),
        _rank(draw),
    )


def _rank(draw: random.Random) -> float | None:
    return draw.random() if draw.random() < 0.5 else None


def words_of(scenario: Scenario) -> list[str]:
    """The command line."""
    return [*scenario.launcher, sys.executable, "-m", scenario.module, *scenario.words]


def tried(scenario: Scenario, requested: Interruption | None, setting: Setting) -> Outcome:
    """The command, interrupted, or left alone; and what is left."""
    with (
        tempfile.TemporaryDirectory(prefix="memgauge-kills-") as root,
        left.pool_alone(scenario),
        place_for(scenario, Path(root) / "place", setting.prepared, setting.shared) as place,
        nothing_outlives(),
    ):
        before = left.pages_reserved() if scenario.reserves else {}
        began_s = time.monotonic()
        running = Running(words_of(scenario), place, terminal=scenario.terminal)
        was_over = requested is not None and _interrupt(running, requested, scenario)
        ended = running.ended()
        took_s = time.monotonic() - began_s
        wrong = _still_running()
        outcome = _judged(scenario, requested, ended, place)
        if scenario.reserves and left.pages_reserved() != before:
            wrong.append(f"huge pages: {before} became {left.pages_reserved()}")
    return msgspec.structs.replace(
        outcome, was_over=was_over, took_s=took_s, wrong=[*wrong, *outcome.wrong]
    )


def _interrupt(running: Running, requested: Interruption, scenario: Scenario) -> bool:
    """Whether it was over before."""
    if not running.lasts(requested.at_s):
        return True
    rank = None if scenario.runs != "job" or requested.rank is None else _one_of(requested.rank)
    for number in requested.signals:
        if rank is None:
            running.send(number, to_group=requested.to_group)
        else:
            send(number, [rank])
        running.lasts(requested.apart_s)
    return False


def _one_of(share: float) -> int | None:
    """One of all processes, the launcher among them; None: they have ended."""
    found = sorted(descendants())
    return found[int(share * len(found))] if found else None


def _still_running() -> list[str]:
    if until(lambda: not descendants()):
        return []
    return [f"process {pid} runs on: {words}" for pid, words in descendants().items()]


def _judged(
    scenario: Scenario, requested: Interruption | None, ended: Ended | None, place: Place
) -> Outcome:
    if ended is None:
        return Outcome(wrong=["it does not end"])
    kill = requested is not None and signal.SIGKILL in requested.signals
    wrong = [] if kill else _badly_said(scenario, requested, ended)
    found = left.leftovers(scenario, place)
    if kill:
        wrong += left.clean(place)
        wrong += [f"left behind: {name}" for name in left.leftovers(scenario, place)]
        wrong += _program_harmed(scenario, place, requested)
    else:
        wrong += [f"left behind: {name}" for name in found]
    looked = records.look_at(scenario, place, resumed=kill)
    return Outcome(
        wrong=[*wrong, *looked.wrong],
        code=ended.code,
        needed_clean=bool(found),
        looked=looked,
    )


def _badly_said(scenario: Scenario, requested: Interruption | None, ended: Ended) -> list[str]:
    """Exit code and stderr of a command that could handle what it was sent."""
    if (
        requested is not None
        and signal.SIGINT in requested.signals
        and _is_interpreters(ended.error)
    ):
        return []
    if scenario.reserves and _LACKS_PAGES in ended.error:
        return []
    expected = {0, *(128 + number for number in (requested.signals if requested else ()))}
    expected |= {ended.code} if ended.is_empty else set()
    wrong = []
    if ended.code not in expected and not (scenario.runs == "job" and requested):
        wrong.append(f"exit code {ended.code}, and not of {sorted(expected)}: {ended.error[-600:]}")
    wrong += [f"stderr: {ended.error[-1500:]}" for word in _TORN if word in ended.error][:1]
    said = [line for line in ended.error.splitlines() if line.startswith(_OURS)]
    if len(said) > scenario.processes and scenario.runs != "job":
        wrong.append(f"says so more than once: {said}")
    return wrong


def _is_interpreters(error: str) -> bool:
    """Whether Ctrl-C came before Python had begun with memgauge, which cannot take it then."""
    return "Traceback" in error and "/memgauge/" not in error and "memgauge: " not in error


def _program_harmed(scenario: Scenario, place: Place, requested: Interruption | None) -> list[str]:
    """A profile that is killed alone leaves its program alone."""
    spared = requested is not None and not requested.to_group and scenario.runs == "profile"
    begun, done = ((place.work / name).exists() for name in ("begun", "done"))
    return ["the program was not let to its end"] if spared and begun and not done else []
