"""Where the files of a store are, and which of them hold.

- `memgauge-store.json`: marks the directory as a store
- `machine=NAME/day=YYYY-MM-DD/RUN.parquet`: the figures of one run, as it was added
- `compacted/month=YYYY-MM/NUMBER.parquet`: the figures of many runs of all machines

A file is written beside its place and renamed, so that readers see whole files only. Each run has a
file of its own: any number of writers add runs at the same time, and none waits for another. A run
that is added again replaces its file.

Compacting writes the runs of a month into one file with the next number, then removes what went
into it. Of each month the file with the highest number holds; a run that is in a file of its own
and in the compacted one too counts once, as in its own. So a compaction that is killed at any
moment leaves a store that reads the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from pathlib import Path

import msgspec

from memgauge.model.errors import RequestError, RunFileError, SystemFailure
from memgauge.model.storage.cluster import is_name
from memgauge.model.storage.codec import UNREADABLE
from memgauge.model.storage.files import read_file, replace_file
from memgauge.model.text import quoted, shown

STORE_VERSION = 1
MARKER = "memgauge-store.json"
COMPACTED = "compacted"
_MOST_BYTES = 1 << 16
_MACHINE = re.compile(r"machine=(.+)")
_DAY = re.compile(r"day=(\d{4}-\d{2}-\d{2})", re.ASCII)
_MONTH = re.compile(r"month=(\d{4}-\d{2})", re.ASCII)
_RUN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})\.parquet", re.ASCII)
_NUMBER = re.compile(r"(\d{6})\.parquet", re.ASCII)


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Content of the marker."""

    format_version: int


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one run."""

    path: Path
    machine: str
    day: str
    run: str
    """As files are named, see `file_stem`."""

    @property
    def month(self) -> str:
        """YYYY-MM."""
        return self.day[:7]


class MonthFile(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of many runs of one month."""

    path: Path
    month: str
    number: int


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """What of a store holds at a moment."""

    runs: list[RunFile]
    months: list[MonthFile]
    """One for each month that was compacted."""
    outdated: list[MonthFile]
    """Left by a compaction that was killed."""


def is_store(path: Path) -> bool:
    """Whether a user's path is a store."""
    return os.path.isfile(path / MARKER)  # noqa: PTH113 - never raises


def check_store(path: Path) -> None:
    """Refuse what is not a store, or one of a later version.

    Raises:
        RunFileError: it is none that this memgauge reads.
    """
    marker = path / MARKER
    try:
        found = msgspec.json.decode(read_file(marker, _MOST_BYTES), type=Marker)
    except OSError as error:
        raise RunFileError(f"{shown(marker)}: cannot be read: {error.strerror}") from error
    except UNREADABLE as error:
        raise RunFileError(
            f"{shown(marker)}: does not mark a store of figures; name the directory that "
            "'memgauge trend --add-to' wrote"
        ) from error
    if found.format_version > STORE_VERSION:
        raise RunFileError(
            f"{shown(marker)}: written by a later memgauge, in format version "
            f"{found.format_version}, and this memgauge reads versions up to {STORE_VERSION}; use "
            "the later memgauge"
        )


def make_store(path: Path) -> None:
    """Make a store where none is; a directory that holds anything else is refused.

    Raises:
        RequestError: the directory holds something else.
        SystemFailure: it cannot be written.
    """
    if is_store(path):
        check_store(path)
        return
    try:
        # Another writer may be making the same store: its marker, or the file that becomes it.
        names = [one.name for one in path.iterdir()] if path.is_dir() else []
        if any(MARKER not in name for name in names) and not is_store(path):
            raise RequestError(
                f"--add-to {quoted(str(path))}: holds something else than a store; name a store, "
                "or a directory that is empty or does not exist"
            )
        content = msgspec.json.encode(Marker(format_version=STORE_VERSION))
        replace_file(path / MARKER, [content + b"\n"])
    except OSError as error:
        raise SystemFailure(
            f"{shown(path)}: cannot be written: {error.strerror}; choose another directory"
        ) from error


def checked_machine(name: str, option: str) -> str:
    """The name of a machine, which becomes the name of a directory.

    Raises:
        RequestError: it cannot be one.
    """
    if not is_name(name):
        raise RequestError(
            f"{option} {quoted(name)}: is not the name of a machine; use letters, digits, '-', "
            "'_' and '.', such as node17"
        )
    return name


def file_stem(run: str) -> str:
    """Name of a run's file, without its ending: its identifier where that can be one."""
    return run if _RUN.fullmatch(f"{run}.parquet") else sha256(run.encode()).hexdigest()[:32]


def run_path(store: Path, machine: str, day: str, run: str) -> Path:
    """File of a run.

    Args:
        store: Directory of the store.
        machine: Name of the machine.
        day: Of its begin, as YYYY-MM-DD.
        run: Its identifier.
    """
    return store / f"machine={machine}" / f"day={day}" / f"{file_stem(run)}.parquet"


def month_path(store: Path, month: str, number: int) -> Path:
    """File of a month's runs.

    Args:
        store: Directory of the store.
        month: As YYYY-MM.
        number: Of the compaction, from 1.
    """
    return store / COMPACTED / f"month={month}" / f"{number:06}.parquet"


def files_of(store: Path, machines: Sequence[str] = (), since: date | None = None) -> Files:
    """The files that may hold runs of these machines since a day; what else is there is ignored.

    Args:
        store: The store.
        machines: Their names; empty: all.
        since: First day; None: all.

    Raises:
        SystemFailure: a directory cannot be read.
    """
    first = "" if since is None else since.isoformat()
    try:
        runs = [one for one in _run_files(store, machines) if one.day >= first]
        months: dict[str, list[MonthFile]] = {}
        for one in _month_files(store / COMPACTED):
            if one.month >= first[:7]:
                months.setdefault(one.month, []).append(one)
    except OSError as error:
        raise SystemFailure(
            f"{shown(Path(error.filename or store))}: cannot be read: {error.strerror}"
        ) from error
    ordered = [sorted(of_month, key=lambda one: one.number) for of_month in months.values()]
    return Files(
        runs=runs,
        months=[of_month[-1] for of_month in ordered],
        outdated=[one for of_month in ordered for one in of_month[:-1]],
    )


def _run_files(store: Path, machines: Sequence[str]) -> list[RunFile]:
    found: list[RunFile] = []
    for machine, of_machine in _entries(store, _MACHINE):
        if machines and machine not in machines:
            continue
        for day, of_day in _entries(of_machine, _DAY):
            found += [
                RunFile(path=path, machine=machine, day=day, run=run)
                for run, path in _entries(of_day, _RUN)
            ]
    return sorted(found, key=lambda one: (one.machine, one.day, one.run))


def _month_files(compacted: Path) -> list[MonthFile]:
    return [
        MonthFile(path=path, month=month, number=int(number))
        for month, of_month in _entries(compacted, _MONTH)
        for number, path in _entries(of_month, _NUMBER)
    ]


def _entries(directory: Path, pattern: re.Pattern[str]) -> list[tuple[str, Path]]:
    """Entries with such names that are no links; none where the directory is gone meanwhile."""
    try:
        with os.scandir(directory) as entries:
            return [
                (match[1], directory / entry.name)
                for entry in entries
                if (match := pattern.fullmatch(entry.name)) and not entry.is_symlink()
            ]
    except FileNotFoundError:
        return []
