"""The runs of a job's ranks, as far as they are there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from memgauge.analysis.section import Verdict
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import MemgaugeError
from memgauge.model.record_kinds.programs import Process
from memgauge.model.records import NOT_WATCHED, RankPlace
from memgauge.model.run import Run
from memgauge.model.storage.profile_job import rank_directory
from memgauge.model.storage.run_file import read_run
from memgauge.model.text import plain
from memgauge.model.units import format_count

MOST_RANKS = 65_536
NO_RUN = "no run was found"
"""The problem of a rank that recorded nothing here."""

NodeKey = tuple[str, str]
"""Host name and boot."""


class RankRun(msgspec.Struct, frozen=True, kw_only=True):
    """One rank."""

    rank: int
    directory: Path
    run: Run | None
    problem: str | None
    """What is missing of its run; None if it is complete."""

    @property
    def place(self) -> RankPlace | None:
        """Where it ran; None if that is not recorded."""
        return None if self.run is None else self.run.start.rank

    @property
    def node(self) -> NodeKey | None:
        """Its node; None if that is not recorded."""
        return None if self.place is None else (self.place.hostname, self.place.boot)

    @property
    def process(self) -> Process | None:
        """Its program; None if that did not begin."""
        return self.run.processes[-1] if self.run is not None and self.run.processes else None


def rank_run(job: Path, number: int) -> RankRun:
    """The run of one rank, whatever is there of it.

    Args:
        job: Directory of the job.
        number: Of the rank.
    """
    directory = rank_directory(job, number)
    run, problem = _read(directory)
    return RankRun(rank=number, directory=directory, run=run, problem=problem)


def missing(ranks: Sequence[RankRun]) -> Iterator[Verdict]:
    """Each kind of problem once, with the ranks that have it."""
    problems: dict[str, list[int]] = {}
    for rank in ranks:
        if rank.problem is not None:
            problems.setdefault(rank.problem, []).append(rank.rank)
    for problem, numbers in problems.items():
        yield Verdict(
            level="problem",
            text=f"{named(numbers)} of {len(ranks)}: {plain(problem)}.",
            remedy="copy them here from their nodes, or use an --output that all nodes share"
            if problem == NO_RUN
            else None,
        )


def why_not_watched(ranks: Sequence[RankRun], component: str) -> str | None:
    """Why a component is on no timeline: the fact of the first rank that records it."""
    for rank in ranks:
        for warning in rank.run.warnings if rank.run is not None else []:
            name, _, reason = warning.message.partition(": ")
            if warning.code == NOT_WATCHED and name == component:
                return reason.partition(";")[0]
    return None


def crowded(ranks: int, cpus: int, node: str) -> Iterator[Verdict]:
    """Whether a node had more ranks than CPUs that these may use.

    Args:
        ranks: How many ran there.
        cpus: How many CPUs they had together; 0 if unknown.
        node: Its name.
    """
    if ranks > cpus > 0:
        yield Verdict(
            level="warning",
            text=f"{ranks} ranks shared {format_count(cpus, 'CPU')} of {plain(node)}: times "
            "include waiting for a CPU, above all where ranks exchange data.",
            remedy="start no more ranks on a node than it has CPUs",
        )


def named(numbers: Sequence[int]) -> str:
    """`Rank 3`, `Ranks 0-3,7`."""
    return f"Rank{'s' * (len(numbers) > 1)} {format_cpu_list(numbers)}"


def _read(directory: Path) -> tuple[Run | None, str | None]:
    if not directory.is_dir():
        return None, NO_RUN
    try:
        run = read_run(directory)
    except MemgaugeError as error:
        return None, str(error)
    if run.end is None:
        return run, "killed before its end, or still running"
    if run.end.status != "complete":
        return run, f"{run.end.status}: {run.end.reason}" if run.end.reason else run.end.status
    return run, None
