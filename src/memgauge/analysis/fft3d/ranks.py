"""The ranks of a job of the mini-app: their runs, as far as present, and when phases ran."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec

from memgauge.analysis.fft3d.shape import FFT_PHASES, FUSED, NAME, TWO_NESTS, Pencils, transform_of
from memgauge.analysis.ranks.rank_runs import MOST_RANKS, RankRun, rank_run
from memgauge.analysis.statistics.intervals import sustained
from memgauge.model.cpulist import parse_cpu_list
from memgauge.model.grid import grid_of
from memgauge.model.points.fft3d import JobRequested
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run


class Phase(msgspec.Struct, frozen=True):
    """One of the phases of a transform: the third FFT is (`fft`, 3)."""

    name: str
    occurrence: int


class Transformed(msgspec.Struct, frozen=True, kw_only=True):
    """One transform on one rank."""

    ranks: int
    """That took part."""
    size: int | None
    """Points each way; None in records of earlier versions."""
    seconds: float
    phases: dict[Phase, float]
    """Seconds of each, in the order in which they ran."""
    spans: dict[Phase, list[tuple[int, int]]]
    """Begin and end of each, on the clock of the rank's run: several where a GPU took the array in
    batches."""


class Rank(RankRun, frozen=True, kw_only=True):
    """One rank."""

    on_node: str
    """Name of its node, as the job's run records it."""
    transforms: list[Transformed]
    """Those that ended, in their order."""


class JobFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a job, as its run records it."""

    ranks: int
    steps: list[Pencils]
    nodes: dict[int, str]
    """Name of the node of each rank."""
    repetitions: int | None
    scaling: str | None
    device: str
    gpus: dict[int, str]
    """That of each rank, in words; of those that use one."""
    tile: int
    """Elements that re-sort 1 and 3 read at a time; 0: in the study's order."""


def is_job(run: Run) -> bool:
    """Whether the run is of a job of the mini-app."""
    return any(NAME in start.experiments for start in run.starts)


def facts_of(run: Run) -> JobFacts | None:
    """The facts of a job; None if the run's facts are missing or impossible."""
    requested = JobRequested.of(run.parameters.get(NAME, {}))
    ranks = requested.ranks
    if ranks is None or not 0 < ranks <= MOST_RANKS:
        return None
    steps = list(_steps(requested.steps, requested.nests))
    return JobFacts(
        ranks=ranks,
        steps=[step for step in steps if step.grid.ranks <= ranks],
        nodes=_nodes(requested.nodes, ranks),
        repetitions=_count(requested.repetitions),
        scaling=requested.scaling or None,
        device=requested.device or "cpu",
        gpus=_gpus(requested.gpus, ranks),
        tile=_count(requested.tile) or 0,
    )


def ranks_of(run: Run, facts: JobFacts) -> list[Rank]:
    """All ranks, including those without a run."""
    return [
        _rank(run.directory, number, facts.nodes.get(number, "")) for number in range(facts.ranks)
    ]


def transforms_of(regions: Sequence[Region]) -> list[Transformed]:
    """A rank's transforms, from its regions; those that did not end are left out."""
    ordered = sorted(regions, key=lambda region: (region.begin_ns, -(region.end_ns or 0)))
    found: list[Transformed] = []
    for at, region in enumerate(ordered):
        named = transform_of(region.name)
        if named is None or region.end_ns is None:
            continue
        ranks, size = named
        spans = _spans(_inside(ordered[at + 1 :], region))
        found.append(
            Transformed(
                ranks=ranks,
                size=size,
                seconds=(region.end_ns - region.begin_ns) * 1e-9,
                phases={
                    phase: sum(end - begin for begin, end in parts) * 1e-9
                    for phase, parts in spans.items()
                },
                spans=spans,
            )
        )
    return found


def _spans(regions: Iterable[Region]) -> dict[Phase, list[tuple[int, int]]]:
    """Of each phase. Batches of one FFT follow each other with no other phase between them."""
    found: dict[Phase, list[tuple[int, int]]] = {}
    batched: dict[str, Phase] = {}
    for region in regions:
        if region.name not in FFT_PHASES:
            batched = {}
        phase = batched.get(region.name)
        if phase is None:
            phase = Phase(region.name, 1 + sum(1 for one in found if one.name == region.name))
        if region.name in FFT_PHASES:
            batched[region.name] = phase
        found.setdefault(phase, []).append((region.begin_ns, region.end_ns or region.begin_ns))
    return found


def phases_in(transforms: Sequence[Transformed]) -> list[Phase]:
    """All that occur, in the order of the first transform that has most."""
    longest = max(transforms, key=lambda one: len(one.phases), default=None)
    return list(longest.phases) if longest is not None else []


def seconds_of(transforms: Sequence[Transformed], phase: Phase) -> float | None:
    """The median over transforms of one rank; None where it never ended."""
    known = [one.phases[phase] for one in transforms if phase in one.phases]
    return median(known) if known else None


def seconds_between(transforms: Sequence[Transformed], phase: Phase) -> tuple[float, float]:
    """The 95% interval of that median; from 0 to infinity of too few transforms."""
    spread = sustained([one.phases[phase] for one in transforms if phase in one.phases], 0.5)
    return (spread.low, spread.high) if spread is not None else (0.0, math.inf)


def on(rank: Rank, step: Pencils) -> list[Transformed]:
    """A rank's transforms of one step."""
    return [
        one
        for one in rank.transforms
        if one.ranks == step.grid.ranks and one.size in {None, step.size}
    ]


def _inside(regions: Sequence[Region], outer: Region) -> Iterator[Region]:
    """Those that begin and end in it; they are in the order of their begin."""
    last = outer.end_ns or 0
    for region in regions:
        if region.begin_ns >= last:
            return
        if region.end_ns is not None and region.end_ns <= last and region.tid == outer.tid:
            yield region


def _rank(job: Path, number: int, node: str) -> Rank:
    found = rank_run(job, number)
    run, problem = found.run, found.problem
    if run is not None and problem is None and any(one.exit_code for one in run.processes):
        problem = "its work failed"
    return Rank(
        rank=number,
        directory=found.directory,
        run=run,
        problem=problem,
        on_node=node,
        transforms=transforms_of(run.regions) if run is not None else [],
    )


def _steps(text: str, nests: str) -> Iterator[Pencils]:
    for word in text.split():
        shape, _, size = word.partition(":")
        grid = grid_of(shape)
        if grid is not None and _is_number(size) and int(size) % grid.divisor == 0:
            written = TWO_NESTS if nests == TWO_NESTS else FUSED
            yield Pencils(size=int(size), grid=grid, nests=written)


def _nodes(text: str, ranks: int) -> dict[int, str]:
    words = (word.rpartition(":") for word in text.split())
    return _by_rank(((numbers, name) for name, _, numbers in words), ranks)


def _gpus(text: str, ranks: int) -> dict[int, str]:
    parts = (part.strip().partition(": ") for part in text.split(";"))
    return _by_rank(((numbers, name) for numbers, _, name in parts), ranks)


def _by_rank(reported: Iterable[tuple[str, str]], ranks: int) -> dict[int, str]:
    """The text that belongs to each rank, of lists of ranks and theirs."""
    found: dict[int, str] = {}
    for numbers, text in reported:
        try:
            listed = parse_cpu_list(numbers)
        except ValueError:
            continue
        found |= dict.fromkeys(listed, text)
    return {rank: text for rank, text in found.items() if rank < ranks}


def _count(text: str) -> int | None:
    return int(text) if _is_number(text) else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < len(text) < 10
