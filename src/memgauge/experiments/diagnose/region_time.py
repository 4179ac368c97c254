"""Time that a program spends inside a region that it marks, in each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack

from memgauge.counters.marks import VARIABLE
from memgauge.model.errors import SystemFailure
from memgauge.model.storage.marks import lines_of, regions_of
from memgauge.model.text import few, plain, quoted
from memgauge.system.programs.work_directory import LOG, work_directory

MOST_NAMED = 8


class RegionTime:
    """A file of marks, new for each run, in a directory that goes with the diagnosis."""

    def __init__(self, name: str, stack: ExitStack) -> None:
        """Make the directory.

        Args:
            name: Of the region.
            stack: Removes the directory when it is closed.

        Raises:
            SystemFailure: it cannot be made.
        """
        self._name = plain(name)
        self._file = stack.enter_context(work_directory("diagnose")) / LOG

    def environment(self) -> Mapping[str, str]:
        """Variables by which the next run leaves its marks; those of the last one are dropped.

        Raises:
            SystemFailure: the file cannot be written.
        """
        try:
            with self._file.open("wb"):
                pass
        except OSError as error:
            raise SystemFailure(
                f"{plain(str(self._file))}: cannot be written: {error.strerror}; free space there, "
                "or set TMPDIR to another directory"
            ) from error
        return {VARIABLE: str(self._file)}

    def seconds(self, program: str) -> float:
        """Time in which at least one thread of the last run was inside the region.

        Args:
            program: What it is called in an error.

        Raises:
            SystemFailure: it never entered the region or never left it, or marks are missing.
        """
        try:
            with self._file.open("rb") as file:
                marks = regions_of(lines_of(file), lambda stamp_ns: stamp_ns)
        except OSError as error:
            raise SystemFailure(
                f"{quoted(program)}: its marks cannot be read: {error.strerror}"
            ) from error
        if marks.warnings:
            raise SystemFailure(
                f"{quoted(program)}: the time in region {quoted(self._name)} is not known: "
                f"{marks.warnings[0].message}"
            )
        mine = [one for one in marks.regions if one.name == self._name]
        if not mine:
            names = list(dict.fromkeys(one.name for one in marks.regions))
            others = f"its regions are {few(names, MOST_NAMED)}" if names else "it marks none"
            raise SystemFailure(
                f"{quoted(program)}: never enters region {quoted(self._name)} (--region); {others}"
                "; docs/profile.md shows how a program marks regions"
            )
        ended = [(one.begin_ns, one.end_ns) for one in mine if one.end_ns is not None]
        if len(ended) < len(mine):
            raise SystemFailure(
                f"{quoted(program)}: ended inside region {quoted(self._name)}, so that the time "
                "in it is not known; mark its end"
            )
        inside_ns = covered_ns(ended)
        if inside_ns <= 0:
            raise SystemFailure(
                f"{quoted(program)}: spends no time that can be measured in region "
                f"{quoted(self._name)}; choose a longer one"
            )
        return inside_ns * 1e-9


def covered_ns(spans: Iterable[tuple[int, int]]) -> int:
    """Length of what spans of time cover together, each moment once.

    Args:
        spans: Begin and end of each, in ns, in any order.
    """
    covered_ns = until_ns = 0
    for begin_ns, end_ns in sorted(spans):
        covered_ns += max(0, end_ns - max(begin_ns, until_ns))
        until_ns = max(until_ns, end_ns)
    return covered_ns
