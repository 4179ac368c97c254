"""Strong and weak scaling of the mini-app: rates over the number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

from memgauge.analysis.fft3d.ranks import Rank, on
from memgauge.analysis.fft3d.shape import ALL2ALL, FFT, Pencils


class StepFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One number of ranks. Times are seconds of the slowest rank, the median over transforms."""

    pencils: Pencils
    transforms: int
    median_s: float
    least_s: float
    most_s: float
    fft_s: float
    """All three, and the copies to and from a GPU,"""
    resort_s: float
    """all four,"""
    all2all_s: float
    """and both."""

    @property
    def flops_per_s(self) -> float:
        """By the count of 5 n log2 n."""
        return self.pencils.flops / self.median_s


def step_figures(ranks: Sequence[Rank], step: Pencils) -> StepFigures | None:
    """None where not one transform ended on all ranks of the step."""
    taken = [on(rank, step) for rank in ranks[: step.grid.ranks]]
    count = min((len(transforms) for transforms in taken), default=0)
    if not count:
        return None
    whole = [max(one[at].seconds for one in taken) for at in range(count)]

    def slowest(kind: str) -> float:
        sums = [
            max(
                sum(s for phase, s in one[at].phases.items() if kind_of(phase.name) == kind)
                for one in taken
            )
            for at in range(count)
        ]
        return median(sums)

    return StepFigures(
        pencils=step,
        transforms=count,
        median_s=median(whole),
        least_s=min(whole),
        most_s=max(whole),
        fft_s=slowest(FFT),
        resort_s=slowest("resort"),
        all2all_s=slowest(ALL2ALL),
    )


def kind_of(name: str) -> str:
    """Of a phase: one of three."""
    if name == ALL2ALL:
        return ALL2ALL
    return "resort" if name.startswith("resort") else FFT


def speed_up(step: StepFigures, first: StepFigures) -> float:
    """Operations a second over those of the first step.

    Of a fixed size that is the time of one rank over that of so many (strong scaling).
    """
    return step.flops_per_s / first.flops_per_s


def efficiency(step: StepFigures, first: StepFigures) -> float:
    """Speed-up for each rank of it, as a share of that of the first step."""
    return speed_up(step, first) * first.pencils.grid.ranks / step.pencils.grid.ranks
