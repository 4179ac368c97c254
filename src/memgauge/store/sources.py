"""What a user names, as runs by machine and their figures: runs, directories, and stores.

Files of other tools count as runs: see `memgauge.store.tool_files`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import msgspec

from memgauge.analysis.trend.history import Observation, RunFacts
from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.storage.run_file import RECORDS_NAME, read_run
from memgauge.model.text import shortened, shown
from memgauge.references.foreign.files import is_curves, is_tool_output
from memgauge.store.layout import is_store
from memgauge.store.query import query
from memgauge.store.rows import facts_of, observations_of, rows_of, run_row
from memgauge.store.tool_files import notes_of, read_tool_output

MOST_DEPTH = 6
"""Directories below a named one in which runs are looked for."""
NOT_ENTERED = frozenset({"/dev", "/proc", "/sys"})
"""Directories below a named one that hold no files of a disk."""
MANY_MACHINES = 20
"""Of more machines only key figures are tracked, unless figures are selected."""

Kept = Callable[[str, int], bool]
"""Whether a figure is tracked, by name of point and number of machines."""


class RunPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a directory."""

    path: Path
    """Of a run the directory, of another tool's output the file, or the directory of curves."""
    machine: str
    is_named: bool
    """Whether the user named this run itself: then it must be readable."""
    is_of_tool: bool = False


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """All that was read."""

    runs: dict[str, list[RunFacts]]
    observations: list[Observation]
    skipped: list[str]
    """Why some runs are left out."""
    notes: list[str] = []
    """What else must be known, in sentences."""


def read_sources(
    paths: Sequence[Path],
    *,
    machine: str | None,
    since: timedelta | None,
    is_kept: Kept,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Sources:
    """Read runs, directories of runs, or one store.

    Args:
        paths: What the user named.
        machine: Name of the machine: of a store the one to look at, of runs whose they are; None:
            all of a store, and of runs as their directories are named.
        since: Time before the newest run; None: all runs.
        is_kept: Selects figures.
        on_progress: Called with the share of the runs that are read.

    Raises:
        RequestError: nothing was named, a store among others, or no run in any of them.
        RunFileError: a run that was named cannot be read.
    """
    stores = [path for path in paths if is_store(path)]
    if stores:
        if len(paths) > 1:
            raise RequestError(
                f"trend: {shown(stores[0])} is a store of figures, which is looked at alone; add "
                "the other runs to it with --add-to"
            )
        runs, observations = query(
            stores[0], machines=[machine] if machine else [], since=since, is_kept=is_kept
        )
        return Sources(runs=runs, observations=[*observations], skipped=[])
    places = [one for path in paths for one in places_of(path, machine)]
    if not places:
        named = ", ".join(shown(path) for path in paths[:3]) or "nothing"
        raise RequestError(
            f"trend: no run in {named}; name directories of runs, a directory that holds some, or "
            "a store"
        )
    return _since(_read(places, is_kept, on_progress), since)


def places_of(path: Path, machine: str | None = None) -> list[RunPlace]:
    """The runs in a directory, and of which machine each is.

    `fleet/node17/monday` is a run of node17 if `fleet` is named. A run that is named itself, and
    those directly in the directory that is named, are of one machine, which has its name.

    Args:
        path: Directory of a run, or one that holds some.
        machine: Name of the machine of all of them; None: as directories are named.
    """
    is_run = os.path.exists(path / RECORDS_NAME)  # noqa: PTH110 - never raises
    of_tool = not is_run and is_tool_output(path)
    if is_run or of_tool or not os.path.isdir(path):  # noqa: PTH112 - never raises
        name = machine or "this machine"
        return [RunPlace(path=path, machine=name, is_named=True, is_of_tool=of_tool)]
    return [
        RunPlace(
            path=run,
            machine=machine or _machine_of(path, run),
            is_named=False,
            is_of_tool=of_tool,
        )
        for run, of_tool in _runs_below(path)
    ]


def _machine_of(path: Path, run: Path) -> str:
    """Directories between the one that was named and the run's."""
    between = run.parent.relative_to(path).parts
    inner = [part for part in between if part != "nodes"]
    # Of a combined run each node's directory is a run: its name is the machine's.
    if between[-1:] == ("nodes",):
        return run.name
    return "/".join(inner) or path.resolve().name or "this machine"


def _runs_below(path: Path) -> Iterator[tuple[Path, bool]]:
    """Runs, and what other tools wrote, which the second value says."""
    depth = len(path.parts)
    for directory, inner, files in os.walk(path):
        found = Path(directory)
        if RECORDS_NAME in files:
            inner.clear()
            yield found, False
            continue
        if is_curves(files):
            yield found, True
        else:
            paths = [found / name for name in sorted(files)]
            yield from ((path, True) for path in paths if is_tool_output(path))
        if len(found.parts) - depth >= MOST_DEPTH:
            inner.clear()
        inner[:] = sorted(
            name
            for name in inner
            if os.path.abspath(found / name) not in NOT_ENTERED  # noqa: PTH100
        )


def _read(
    places: Sequence[RunPlace], is_kept: Kept, on_progress: Callable[[float], None]
) -> Sources:
    machines = len({one.machine for one in places})
    runs: dict[str, list[RunFacts]] = {}
    observations: list[Observation] = []
    skipped: list[str] = []
    for at, place in enumerate(places):
        try:
            facts, found = _read_tool(place) if place.is_of_tool else _read_run(place)
        except MemgaugeError as error:
            if place.is_named:
                raise
            skipped.append(shortened(str(error), 200))
            continue
        runs.setdefault(place.machine, []).append(facts)
        observations += (one for one in found if is_kept(one.key[0], machines))
        on_progress((at + 1) / len(places))
    if not runs:
        raise RequestError(f"trend: none of {len(places)} runs can be read: {skipped[0]}")
    notes = notes_of([one.path for one in places if one.is_of_tool])
    return Sources(runs=runs, observations=observations, skipped=skipped, notes=notes)


def _read_run(place: RunPlace) -> tuple[RunFacts, Iterable[Observation]]:
    run = read_run(place.path)
    rows = rows_of(run, place.machine)
    shared = run_row(run, place.machine) | {"run": run.start.run_id}
    return facts_of(shared), observations_of(rows)


def _read_tool(place: RunPlace) -> tuple[RunFacts, Iterable[Observation]]:
    return read_tool_output(place.path, place.machine)


def _since(found: Sources, since: timedelta | None) -> Sources:
    if since is None:
        return found
    begin = max(one.started_at for runs in found.runs.values() for one in runs) - since
    runs = {
        machine: [one for one in of_machine if one.started_at >= begin]
        for machine, of_machine in found.runs.items()
    }
    known = {machine: {one.run for one in of_machine} for machine, of_machine in runs.items()}
    return Sources(
        runs={machine: of_machine for machine, of_machine in runs.items() if of_machine},
        observations=[one for one in found.observations if one.run in known[one.machine]],
        skipped=found.skipped,
        notes=found.notes,
    )
