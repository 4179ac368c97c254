"""The best weights of a run as records: by what a diagnosis of the same machine places memory."""

from __future__ import annotations

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.interleave.figures import Choice, choices
from memgauge.model.memory import MAX_WEIGHT
from memgauge.model.records import MeasuredWeights


def measured_weights(figures: Figures) -> list[MeasuredWeights]:
    """The weights that were chosen for each kernel with the largest team; alike ones once.

    Where a team was seen at several distances of its cores, they are those of most samples.

    Args:
        figures: Of a run with `interleave`, or of a survey; of any other there are none.

    Returns:
        Nothing where rounds were too few to choose.
    """
    best: dict[str, Choice] = {}
    for choice in choices(figures):
        kernel = choice.best.kernel
        if not choice.is_known or max(choice.chosen.weights) > MAX_WEIGHT:
            continue
        if kernel not in best or _prominence(choice) > _prominence(best[kernel]):
            best[kernel] = choice
    kernels: dict[tuple[tuple[int, int], ...], list[str]] = {}
    for kernel, choice in best.items():
        kernels.setdefault(tuple(sorted(choice.chosen.used.items())), []).append(kernel)
    start = figures.run.start
    return [
        MeasuredWeights(
            run_id=start.run_id,
            started_at=start.started_at,
            kernels=of_kernels,
            weights=dict(weights),
        )
        for weights, of_kernels in kernels.items()
    ]


def _prominence(choice: Choice) -> tuple[int, int]:
    return choice.best.point.threads, sum(one.summary.samples for one in choice.results)
