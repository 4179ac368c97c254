"""A job of the mini-app as plain data: what `--json` prints of it."""

from __future__ import annotations

import msgspec

from memgauge.analysis.fft3d.phases import PhaseTimes, Timelines, bypasses, phase_figures
from memgauge.analysis.fft3d.ranks import facts_of, is_job, on, ranks_of
from memgauge.analysis.fft3d.scaling import efficiency, speed_up, step_figures
from memgauge.model.run import Run


class RankFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One rank."""

    rank: int
    node: str
    directory: str
    problem: str | None
    """What is missing of its run; None: it is whole."""
    transforms_s: list[float]
    """Those on all ranks, one by one."""


class TransformFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Transforms of one size on one number of ranks. Times are those of the slowest rank."""

    ranks: int
    grid: str
    size: int
    transforms: int
    median_s: float
    least_s: float
    most_s: float
    speed_up: float
    """Operations a second over those of the first step,"""
    efficiency: float
    """and for each rank, as a share."""
    phases: list[PhaseTimes]


class JobFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A job."""

    scaling: str | None
    device: str
    stores_bypass: bool
    """Whether what is expected takes stores in order to bypass the caches."""
    tile: int
    """Elements that re-sort 1 and 3 read at a time; 0: in the study's order."""
    steps: list[TransformFigures]
    """In the order of their ranks; those of which no transform ended are left out."""
    ranks: list[RankFigures]


def job_figures(run: Run) -> JobFigures | None:
    """None for another kind of run, or one without its parameters."""
    facts = facts_of(run) if is_job(run) else None
    if facts is None or not facts.steps:
        return None
    ranks = ranks_of(run, facts)
    timelines = Timelines()
    bypass = bypasses(run.start.system.architecture)
    steps = [one for one in (step_figures(ranks, step) for step in facts.steps) if one is not None]
    return JobFigures(
        scaling=facts.scaling,
        device=facts.device,
        stores_bypass=bypass,
        tile=facts.tile,
        steps=[
            TransformFigures(
                ranks=step.pencils.grid.ranks,
                grid=str(step.pencils.grid),
                size=step.pencils.size,
                transforms=step.transforms,
                median_s=step.median_s,
                least_s=step.least_s,
                most_s=step.most_s,
                speed_up=speed_up(step, steps[0]),
                efficiency=efficiency(step, steps[0]),
                phases=phase_figures(ranks, step.pencils, timelines, bypass=bypass),
            )
            for step in steps
        ],
        ranks=[
            RankFigures(
                rank=rank.rank,
                node=rank.on_node,
                directory=str(rank.directory),
                problem=rank.problem,
                transforms_s=[one.seconds for one in on(rank, facts.steps[-1])],
            )
            for rank in ranks
        ],
    )
