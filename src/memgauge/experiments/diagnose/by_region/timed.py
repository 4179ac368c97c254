"""Time that a program spends inside regions that it marks, in each run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack

from memgauge.counters.marks import VARIABLE
from memgauge.experiments.diagnose.treatments import NotTried
from memgauge.model.errors import SystemFailure
from memgauge.model.record_kinds.programs import Region
from memgauge.model.storage.marks import Marks, lines_of, regions_of
from memgauge.model.text import few, plain, quoted
from memgauge.system.programs.work_directory import LOG, work_directory

MOST_NAMED = 8
MOST_TIMED = 8
"""Regions that are timed beside the whole run: each makes the intervals of all of them wider."""
LEAST_SHARE = 0.05
"""Of the first run, that a region takes which is timed: of a shorter one noise would be all."""
MARK_NS = 3000
"""What one mark may cost a program: one write(2), see memgauge/region.h."""
MOST_MARKING = 0.01
"""Share of a run that marks may take; above it they are switched off."""
MOST_MARKS = 20_000
"""More are not read after each run, beside which the references wait."""
BY_REGION = "verdicts by region"
BY_PHASE = "verdicts by phase"


class MarksOfRun:
    """A file of marks, new for each run, in a directory that goes with the diagnosis."""

    def __init__(self, stack: ExitStack) -> None:
        """Make the directory.

        Args:
            stack: Removes the directory when it is closed.

        Raises:
            SystemFailure: it cannot be made.
        """
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

    def read(self, to_run_ns: Callable[[int], int] = int) -> Marks:
        """Regions of the last run.

        Args:
            to_run_ns: From the clock of marks to that of the stamps.

        Raises:
            OSError: the file cannot be read.
        """
        with self._file.open("rb") as file:
            return regions_of(lines_of(file), to_run_ns)


class RegionTime:
    """The region whose time counts instead of the program's."""

    def __init__(self, name: str, stack: ExitStack) -> None:
        """Prepare for marks.

        Args:
            name: Of the region.
            stack: Removes what was prepared when it is closed.

        Raises:
            SystemFailure: there is no place for marks.
        """
        self._name = plain(name)
        self._marks = MarksOfRun(stack)
        self.environment = self._marks.environment

    def seconds(self, program: str) -> float:
        """Time in which at least one thread of the last run was inside the region.

        Args:
            program: What it is called in an error.

        Raises:
            SystemFailure: it never entered the region or never left it, or marks are missing.
        """
        try:
            marks = self._marks.read()
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
        inside_ns = _inside_ns(mine)
        if inside_ns is None:
            raise SystemFailure(
                f"{quoted(program)}: ended inside region {quoted(self._name)}, so that the time "
                "in it is not known; mark its end"
            )
        if inside_ns <= 0:
            raise SystemFailure(
                f"{quoted(program)}: spends no time that can be measured in region "
                f"{quoted(self._name)}; choose a longer one"
            )
        return inside_ns * 1e-9


class RegionTimes:
    """The regions of a program that are timed beside the whole run: those of its first run."""

    def __init__(self, stack: ExitStack) -> None:
        """Prepare for marks; which regions are timed is known after the first run.

        Args:
            stack: Removes what was prepared when it is closed.

        Raises:
            SystemFailure: there is no place for marks.
        """
        self._marks: MarksOfRun | None = MarksOfRun(stack)
        self._chosen: list[str] | None = None
        self.marks: int | None = None
        """That the first run made; None: no region is timed."""
        self.not_tried: list[NotTried] = []
        """Regions that are not timed, and why; known after the first run."""

    def environment(self) -> Mapping[str, str]:
        """Variables by which the next run leaves its marks; none where nothing is timed.

        Raises:
            SystemFailure: there is no place for marks any more.
        """
        return self._marks.environment() if self._marks else {}

    def of_run(self, run_ns: int) -> dict[str, float]:
        """Seconds in which at least one thread of the last run was inside each region.

        A region that it did not enter, or in which it ended, is missing; all are if marks are.

        Args:
            run_ns: Time that the run took.
        """
        if self._marks is None:
            return {}
        try:
            marks = self._marks.read()
        except OSError:
            return {}
        inside_ns = by_region(marks.regions)
        if self._chosen is None:
            self._chosen = self._choose(marks, inside_ns, run_ns)
            if not self._chosen:
                self._marks = None
        if marks.warnings:
            return {}
        found = {name: inside_ns.get(name) for name in self._chosen}
        return {name: one * 1e-9 for name, one in found.items() if one is not None}

    @property
    def chosen(self) -> Sequence[str]:
        """Those that are timed, the longest first; known after the first run."""
        return self._chosen or ()

    def spans_of_run(self, to_run_ns: Callable[[int], int]) -> dict[str, list[tuple[int, int]]]:
        """When at least one thread of the last run was inside each region: begins and ends in ns.

        As of `of_run`, what is not known of it is missing.

        Args:
            to_run_ns: From the clock of marks to that of the stamps.
        """
        if self._marks is None:
            return {}
        try:
            marks = self._marks.read(to_run_ns)
        except OSError:
            return {}
        if marks.warnings:
            return {}
        found: dict[str, list[tuple[int, int]]] = {}
        unended = {one.name for one in marks.regions if one.end_ns is None}
        for one in marks.regions:
            if one.end_ns is not None and one.name in self.chosen and one.name not in unended:
                found.setdefault(one.name, []).append((one.begin_ns, one.end_ns))
        return {name: together(spans) for name, spans in found.items()}

    def _choose(self, marks: Marks, inside_ns: Mapping[str, int | None], run_ns: int) -> list[str]:
        """By the first run: those that take most of its time."""
        if not marks.regions:
            self.not_tried.append(NotTried(BY_REGION, "the program marks none"))
            self.not_tried.append(NotTried(BY_PHASE, PHASES_MOVE))
            return []
        count = 2 * len(marks.regions)
        if count > MOST_MARKS or count * MARK_NS > MOST_MARKING * run_ns:
            why = f"a run makes {count:,} marks, which would take too much of its time"
            self.not_tried.append(NotTried(BY_REGION, why))
            return []
        unended = [name for name, known in inside_ns.items() if known is None]
        known = {name: taken for name, taken in inside_ns.items() if taken}
        long = [name for name, taken in known.items() if taken >= LEAST_SHARE * run_ns]
        chosen = sorted(long, key=lambda name: -known[name])[:MOST_TIMED]
        self.marks = count if chosen else None
        short = [name for name in inside_ns if name not in {*chosen, *unended}]
        self._leave_out(unended, "a run ends inside it")
        self._leave_out(
            short, f"shorter than {LEAST_SHARE:.0%} of a run, or than {MOST_TIMED} others"
        )
        return chosen

    def _leave_out(self, names: Sequence[str], why: str) -> None:
        if names:
            self.not_tried.append(NotTried(BY_REGION, f"{few(names, MOST_NAMED)}: {why}"))


PHASES_MOVE = (
    "pressure changes when phases begin and end, so that those found in time are not the same work "
    "in each run; mark regions"
)


def by_region(regions: Iterable[Region]) -> dict[str, int | None]:
    """Time in which at least one thread was inside, in ns, by name in the order of first begins.

    Args:
        regions: Of one run.

    Returns:
        None for a region in which the run ended, or that takes no time that can be measured.
    """
    found: dict[str, list[Region]] = {}
    for one in regions:
        found.setdefault(one.name, []).append(one)
    return {name: _inside_ns(of) or None for name, of in found.items()}


def _inside_ns(regions: Sequence[Region]) -> int | None:
    """None: one of them never ended."""
    ended = [(one.begin_ns, one.end_ns) for one in regions if one.end_ns is not None]
    return covered_ns(ended) if len(ended) == len(regions) else None


def covered_ns(spans: Iterable[tuple[int, int]]) -> int:
    """Length of what spans of time cover together, each moment once.

    Args:
        spans: Begin and end of each, in ns, in any order.
    """
    return sum(end_ns - begin_ns for begin_ns, end_ns in together(spans))


def together(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """What spans of time cover, each moment once, in order of time.

    Args:
        spans: Begin and end of each, in ns, in any order; those of no length are left out.
    """
    found: list[tuple[int, int]] = []
    for begin_ns, end_ns in sorted(spans):
        if found and begin_ns <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end_ns))
        elif begin_ns < end_ns:
            found.append((begin_ns, end_ns))
    return found
