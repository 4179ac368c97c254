"""From what a user names to a trend: reads, selects figures, and analyses."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path

from memgauge.analysis.comparison.answer import is_key
from memgauge.model.errors import RequestError
from memgauge.model.storage.run_file import read_run
from memgauge.model.text import quoted, shown
from memgauge.model.units import parse_age
from memgauge.store.add import add
from memgauge.store.layout import checked_machine, is_store
from memgauge.store.sources import MANY_MACHINES, read_sources
from memgauge.store.trended import Trended

_READING = 0.4
"""Share of the time that reading takes, for a progress bar."""


def trended(
    paths: Sequence[Path],
    *,
    machine: str | None = None,
    only: str | None = None,
    since: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Trended:
    """Read runs and find what changed.

    Args:
        paths: Runs, directories that hold runs, or one store.
        machine: Name of the machine; None: all of a store, and of runs as directories are named.
        only: Glob that selects figures by name; None: all, and of many machines the key figures.
        since: Time before the newest run, such as `90d`; None: all runs.
        on_progress: Called with the share that is done.

    Raises:
        RunFileError: a source cannot be read.
        RequestError: no source holds a run, or none of its figures matches.
    """
    from memgauge.analysis.trend.fleet import trend_of
    from memgauge.analysis.trend.history import histories_of

    age = None if since is None else timedelta(seconds=parse_age(since, "--since"))

    def is_kept(name: str, machines: int) -> bool:
        if only is not None:
            return fnmatchcase(name, only)
        return machines <= MANY_MACHINES or is_key(name)

    found = read_sources(
        paths,
        machine=machine,
        since=age,
        is_kept=is_kept,
        on_progress=lambda share: on_progress(_READING * share),
    )
    if only is not None and not found.observations:
        raise RequestError(
            f"trend: no figure matches --only {quoted(only)}; write the name of one as --json "
            "prints it, such as 'stream/copy/*'"
        )
    histories = histories_of(found.runs, found.observations)
    return Trended(
        trend_of(
            histories,
            found.skipped,
            lambda share: on_progress(_READING + (1 - _READING) * share),
            found.notes,
        )
    )


def added(store: Path, runs: Sequence[Path], machine: str | None = None) -> list[Path]:
    """Add runs to a store, and return the files of their figures.

    Args:
        store: Directory of the store; made if it does not exist.
        runs: Directories of runs, or directories that hold some.
        machine: Name of the machine that they are of; None: this host's.

    Raises:
        RunFileError: a run cannot be read.
        RequestError: there is no run, or one that cannot be added.
        SystemFailure: the store cannot be written.
    """
    from memgauge.store.sources import places_of

    name = checked_machine(machine or platform.node() or "localhost", "--machine")
    mixed = next((path for path in runs if is_store(path)), None)
    if mixed is not None:
        raise RequestError(
            f"--add-to: {shown(mixed)} is a store itself; name directories of runs to add"
        )
    places = [one for path in runs for one in places_of(path, name)]
    if not places:
        raise RequestError("--add-to: no run is named; name directories of runs to add")
    of_tool = next((one.path for one in places if one.is_of_tool), None)
    if of_tool is not None:
        raise RequestError(
            f"--add-to: {shown(of_tool)} was written by another tool, and a store keeps runs; name "
            "such files in 'memgauge trend' itself"
        )
    return [add(store, name, read_run(one.path)) for one in places]
