"""Runs the command line tool on a tree whose counters count system calls, fed by a stimulus.

    python -m tests.integration.counters.verify_here SETTINGS.json counters verify ...

The settings say which tree, and what is wrong with it. Two CPUs stand for two sockets, and this
machine's memory for the memory of both.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
from tests.counters_trees import tracepoints
from tests.unit.experiments.counting import two_nodes

from memgauge import _core
from memgauge.__main__ import main
from memgauge.counters.host import SYSFS_VARIABLE, this_host
from memgauge.counters.registry import load
from memgauge.experiments.counters_compare.host import CountersCompare
from memgauge.experiments.counters_verify.bench import Moved
from memgauge.experiments.counters_verify.host import CountersVerify
from memgauge.model.counting.events import Event
from memgauge.system import detect

CALL_BYTES = 1 << 16
"""What a call stands for: real counts of 64 bytes would be too many calls."""

WAYS = {"read_bytes": "reads", "write_bytes": "writes"}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What to run on."""

    tree: str
    root: str
    """Where the tree is planted."""
    scales: dict[str, float] = {}
    """By what factor the tree lies, by quantity."""
    wrong: dict[str, float] = {}
    """By what factor the events of PMUs lie, by how the names of these begin."""
    silent_cpus: list[int] = []
    """Whose counters are not fed, of"""
    silent: list[str] = []
    """these quantities."""
    idle_calls: int = 0
    """Of others, in every region and every idle time."""
    swapped: bool = False
    """Whether reads are counted as writes, and writes as reads."""
    twice: bool = False
    """Whether every counter of a socket counts all of its traffic, as if each was the only one."""
    wraps_at: float | None = None
    """Share of the bytes of the largest region, modulo which regions are counted."""
    stops_after: int | None = None
    """Regions and idle times after which nothing is counted any more."""
    factors: dict[int, float] = {}
    """By CPU, which stands for its socket."""
    scaled: bool = True
    """Whether the tree says what a call is worth; else a count is what the platform's is."""


class Feeding:
    """Makes the calls that stand for what was moved, on the CPU of its socket."""

    def __init__(self, settings: Settings, tree: tracepoints.CountingTree) -> None:
        self._settings = settings
        self._tree = tree
        self._regions = 0
        self._most: dict[tuple[object, ...], int] = {}
        known = load("perf", this_host()).events()
        self.events = {e.quantity: e for e in known if e.quantity in WAYS}

    def __call__(self, moved: Moved) -> None:
        """Each instance on the CPU counts every call there."""
        due = {
            "read_bytes": moved.read_bytes + moved.allocate_bytes,
            "write_bytes": moved.write_bytes,
        }
        if self._settings.swapped:
            due = dict(zip(due, reversed(due.values()), strict=True))
        self._regions += 1
        if self._regions > (self._settings.stops_after or self._regions):
            return
        for quantity, event in self.events.items():
            cpu, places = _places(event, moved.place.memory_node)
            calls = self._settings.idle_calls
            silent = quantity in self._settings.silent and cpu in self._settings.silent_cpus
            if not silent:
                share = self._settings.factors.get(cpu, 1.0) / (
                    1 if self._settings.twice else places
                )
                calls += round(self._counted(moved, quantity, due[quantity]) * share / CALL_BYTES)
            make = self._tree.read if quantity == "read_bytes" else self._tree.write
            make(calls, cpu)

    def _counted(self, moved: Moved, quantity: str, due: int) -> int:
        """Bytes of a region, with the wraps that were asked for.

        Regions last equally long, so that each load moves other bytes: its largest region counts.
        """
        key = (quantity, moved.place, moved.load)
        self._most[key] = max(due, self._most.get(key, 0))
        share = self._settings.wraps_at
        return due % max(1, int(self._most[key] * share)) if share else due


def _places(event: Event, socket: int) -> tuple[int, int]:
    """Where the counters of a socket are read (some have all of theirs on CPU 0), and how many."""
    cpus = [int(name.rpartition("@cpu")[2]) for name in event.instances]
    cpu = socket if socket in cpus else 0
    return cpu, cpus.count(cpu)


def plant(settings: Settings) -> tracepoints.CountingTree:
    """The tree, whose events say that a count is worth `CALL_BYTES`, or what is wrong instead."""
    tree = tracepoints.TREES[settings.tree](Path(settings.root))
    if tree is None:
        sys.exit(f"{settings.tree}: no two system calls here whose tracepoints suit it")
    if not settings.scaled:
        return tree
    for events in (tree.sysfs / "bus/event_source/devices").glob("*/events"):
        for event in [p for p in events.iterdir() if p.suffix not in {".scale", ".unit"}]:
            text = event.read_text(encoding="ascii")
            write = f"{tree.writes.id:#x}" in text and tree.reads.id != tree.writes.id
            factor = settings.scales.get("write_bytes" if write else "read_bytes", 1.0)
            pmu = events.parent.name
            for start, by in settings.wrong.items():
                factor *= by if pmu.startswith(start) else 1.0
            for suffix, line in (("scale", f"{CALL_BYTES * factor / 2**20!r}"), ("unit", "MiB")):
                (events / f"{event.name}.{suffix}").write_text(f"{line}\n", encoding="ascii")
    return tree


_Traffic, _LoopNest = _core.Traffic, _core.LoopNest


def _unbound(team: _core.Team, bytes: int, **options: object) -> _core.Traffic:
    """Memory of made-up nodes is taken wherever it is."""
    options.pop("memory", None)
    return _Traffic(team, bytes, **options)  # type: ignore[arg-type]


def _unbound_nest(
    team: _core.Team, spec: _core.NestSpec, copies: int, **options: object
) -> _core.LoopNest:
    """The same of loop nests."""
    options.pop("memory", None)
    return _LoopNest(team, spec, copies, **options)  # type: ignore[arg-type]


def run(settings: Settings, arguments: list[str]) -> int:
    """The command's exit code."""
    tree = plant(settings)
    os.environ[SYSFS_VARIABLE] = str(tree.sysfs)
    feeding = Feeding(settings, tree)
    CountersVerify.stimulus = CountersCompare.stimulus = feeding
    detect.detect = lambda *_: two_nodes()
    _core.Traffic = _unbound  # type: ignore[assignment,misc]
    _core.LoopNest = _unbound_nest  # type: ignore[assignment,misc]
    with tracepoints.alone():
        return main(arguments)


if __name__ == "__main__":
    sys.exit(run(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Settings), sys.argv[2:]))
