"""Reads a run from untrusted bytes: the result is a `Run`, or RunFileError."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from memgauge.model.errors import RunFileError, SystemFailure
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run, run_of
from memgauge.model.storage.cluster import NODES_NAME, is_cluster
from memgauge.model.storage.codec import MAX_LINE_BYTES, TOO_LONG, LineDecoder
from memgauge.model.storage.files import open_file
from memgauge.model.storage.marks import MARKS_NAME, lines_of, regions_of
from memgauge.model.storage.profile_job import is_profile_job, rank_directory
from memgauge.model.text import shown

RECORDS_NAME = "records.jsonl"
MAX_RUN_BYTES = 4 << 30
"""Largest file of records in bytes; larger ones are refused instead of read into memory."""
MAX_MARKS_BYTES = 64 << 20
"""Largest file of marks in bytes: more than the kept regions need."""


def read_run(path: str | os.PathLike[str]) -> Run:
    """The run in a run directory, or in a file of records; a torn last line is left out and noted.

    Raises:
        RunFileError: not a run, corrupt, of a newer version, or too large; the message names the
            line.
    """
    records = records_path(Path(path))
    try:
        with open_records(records) as file:
            return with_marks(read_stream(file, records))
    except OSError as error:
        raise SystemFailure(f"{shown(records)}: cannot be read: {error.strerror}") from error


def with_marks(run: Run) -> Run:
    """Add the regions that a killed profile had not yet made from its program's marks."""
    path = run.directory / MARKS_NAME
    is_there = os.path.isfile(path)  # noqa: PTH113 - never raises
    if run.end is not None or run.regions or not run.processes or not is_there:
        return run
    epoch_ns = run.start.clock.epoch_raw_ns
    try:
        with open_file(path, MAX_MARKS_BYTES) as file:
            marks = regions_of(lines_of(file), lambda stamp_ns: stamp_ns - epoch_ns)
    except OSError as error:
        note = f"marks of the program cannot be read: {error.strerror}"
        return msgspec.structs.replace(run, notes=[*run.notes, note])
    warnings = [*run.warnings, *marks.warnings]
    return msgspec.structs.replace(run, regions=marks.regions, warnings=warnings)


def records_path(path: Path) -> Path:
    """The file of records that a user's path refers to."""
    return path / RECORDS_NAME if os.path.isdir(path) else path  # noqa: PTH112 - never raises


def open_records(path: Path) -> BinaryIO:
    """Open a regular file of acceptable size for reading."""
    try:
        return open_file(path, MAX_RUN_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        if is_cluster(path.parent):
            raise RunFileError(
                f"{shown(path.parent)}: a combined run of many nodes; give the run of one node, "
                f"such as those below {shown(path.parent / NODES_NAME)}, or render all with "
                "'memgauge "
                "report'"
            ) from None
        if is_profile_job(path.parent):
            raise RunFileError(
                f"{shown(path.parent)}: a job of several ranks; give the run of one, such as "
                f"{shown(rank_directory(path.parent, 0))}, or render all with 'memgauge report'"
            ) from None
        raise RunFileError(
            f"{shown(path)}: no such file; give the directory of a run or its {RECORDS_NAME}"
        ) from None
    except OSError as error:
        raise RunFileError(
            f"{shown(path)}: cannot be opened: {error.strerror}; give the directory of a run"
        ) from error


def read_stream(file: BinaryIO, path: Path) -> Run:
    """Read the run of an open file; `path` is for messages."""
    lines = _Lines(file)
    try:
        return run_of(lines.records(), lines.notes, path.parent)
    except RunFileError as error:
        raise RunFileError(f"{shown(path)}: {error}") from error
    except ValueError as error:
        raise RunFileError(f"{shown(path)}: {lines.complaint(str(error))}") from error


class _Lines:
    def __init__(self, file: BinaryIO) -> None:
        self.notes: list[str] = []
        self._file = file
        self._number = 0

    def records(self) -> Iterator[AnyRecord]:
        decoder = LineDecoder()
        while line := self._file.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                self._number += 1
                raise ValueError(TOO_LONG)
            if not line.endswith(b"\n"):
                self.notes.append(
                    f"the last line ends after {len(line)} bytes and was left out: the run was "
                    "stopped while writing it"
                )
                return
            self._number += 1
            yield decoder.decode(line)

    def complaint(self, why: str) -> str:
        if self._number == 0:
            return (
                "contains no complete record; the run was stopped before writing its first; "
                "measure again"
            )
        if self._number == 1:
            return f"not a memgauge run: line 1: {why}; give the directory of a run"
        whole = self._number - 1
        return (
            f"corrupt: line {self._number}: {why}; lines 1 to {whole} are intact: copy them with "
            f"'head -n {whole}' and read the copy"
        )
