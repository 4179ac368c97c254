"""Files of other tools as runs of a history: when each was written, and its figures.

Such a file names neither its machine nor its time. Its machine is that of its directory, as for
runs; its time is the date in its name, or when it was last modified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from memgauge.analysis.trend.history import Observation, RunFacts
from memgauge.model.errors import RequestError
from memgauge.model.text import shown
from memgauge.model.units import format_count
from memgauge.references.foreign.files import NOT_NAMED, no_output, read_foreign
from memgauge.references.library import Reference

_DATE = re.compile(
    r"(?<!\d)(20\d\d)-?([01]\d)-?([0-3]\d)"
    r"(?:[T_. -]?([0-2]\d)[:h-]?([0-5]\d)(?:[:m-]?([0-5]\d))?)?(?!\d)",
    re.ASCII,
)
"""`2026-11-28`, `20261128`, or with a time behind it: `2026-11-28T0315`."""


def read_tool_output(path: Path, machine: str) -> tuple[RunFacts, Iterator[Observation]]:
    """One file as a run, and its figures.

    Args:
        path: The file, or the directory of curves.
        machine: Name of its machine.

    Raises:
        RequestError: it is not the output of a tool that can be read.
    """
    reference = read_foreign(path)
    if reference is None:
        raise RequestError(no_output(path))
    facts = RunFacts(
        run=_identifier(path, reference),
        started_at=written_at(path),
        machine_id="",
        kind=f"machine {NOT_NAMED}",
        modules=None,
        conditions={"tool": reference.tool or ""},
    )
    return facts, _observations(facts.run, machine, reference)


def _identifier(path: Path, reference: Reference) -> str:
    """The same for the same figures in a file of the same name, so that copies count once."""
    content = [path.name, reference.tool, *(f"{one.name}={one.value}" for one in reference.figures)]
    return f"{path.name[:60]}-{sha256(repr(content).encode('utf-8', 'replace')).hexdigest()[:12]}"


def _observations(run: str, machine: str, reference: Reference) -> Iterator[Observation]:
    for one in reference.figures:
        direction = one.direction
        if direction != "neither":  # amounts are not tracked
            key = (one.name, "")
            yield Observation(machine, run, key, one.unit, direction, one.statistic, one.value)


def dated(name: str) -> datetime | None:
    """The date in a file's name, taken as UTC; None: it has none."""
    for match in _DATE.finditer(name):
        try:
            year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        except ValueError:
            continue
    return None


def written_at(path: Path) -> datetime:
    """When the figures of a file were made, as far as it can be known.

    Raises:
        RequestError: the file has gone.
    """
    named = dated(path.name)
    if named is not None:
        return named
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        raise RequestError(f"{shown(path)}: when it was written cannot be known") from None


def notes_of(paths: Sequence[Path]) -> list[str]:
    """Where the times of files come from, in a sentence."""
    if not paths:
        return []
    undated = sum(dated(path.name) is None for path in paths)
    files = format_count(len(paths), "file")
    by = (
        "the dates in their names"
        if not undated
        else f"when they were last modified, in {undated} of them, and the dates in the names of "
        "the others"
        if undated < len(paths)
        else "when they were last modified, which copying may change"
    )
    return [f"The times of {files} of other tools are {by}; their machine is not named in them."]
