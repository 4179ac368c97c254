"""A round before the first: what sampling each point really takes, the most important ones first.

It ends where a round would become so long that too few fit in the time that is left. Points that it
did not come to are left out; its samples are thrown away, because they warm the memory up.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import suppress

import msgspec

from memgauge.experiments.shared.base import Bench, Group
from memgauge.model.errors import DoesNotFit
from memgauge.runner.batches import Planned
from memgauge.runner.budget import Budget
from memgauge.runner.costs import CostModel
from memgauge.runner.thinning import (
    OTHERS_STRIDE,
    ROUNDS,
    LeftPoints,
    Step,
    round_s_of,
    share_of_rounds,
    steps_of,
)

TRIAL_ROUND = 0
"""Number of the round that benches are told; the first real one has it too."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What decides which points of opened benches are kept."""

    budget: Budget
    model: CostModel
    left: LeftPoints
    forced: Collection[str]
    """Points that are kept in any case."""

    def run(self, benches: Mapping[Bench, Planned], share_s: float) -> int:
        """Sample as many points as fit, and drop the others from their benches.

        Args:
            benches: All that are open, with what they were opened for.
            share_s: Seconds that the trial and the rounds of these benches may take.

        Returns:
            Rounds that a sample of a point stands for at least, unless the point is essential: 1
            if there is time for as many samples of all.
        """
        opened = [*benches]
        groups = [planned[2] for planned in benches.values()]
        kept: list[set[str]] = [{group.points[0].point} for group in groups]
        most_s = share_s / (ROUNDS + 1)
        round_s = predicted_s = whole_s = 0.0
        left: list[Step] = []
        for step in steps_of(groups):
            group = groups[step.place]
            wanted = self._is_wanted(step)
            if wanted or round_s < most_s:
                took_s = self._sampled(opened[step.place], step, group, most_s)
                if wanted or round_s + took_s <= most_s:
                    kept[step.place].update(step.names)
                    round_s += took_s
                    whole_s += took_s if step.is_essential else OTHERS_STRIDE * took_s
                    predicted_s += round_s_of(step, group, self.model)
                    continue
            left.append(step)
        pace = round_s / predicted_s if predicted_s else 1.0
        needed_s = self.budget.total_s
        for step in left:
            needed_s += ROUNDS * pace * round_s_of(step, groups[step.place], self.model)
            self.left.add(groups[step.place].points[0].experiment, len(step.names), needed_s)
        for bench, names in zip(opened, kept, strict=True):
            bench.keep(names)
        return 1 if whole_s <= most_s else OTHERS_STRIDE

    def _is_wanted(self, step: Step) -> bool:
        return step.is_essential or bool(set(self.forced).intersection(step.names))

    def _sampled(self, bench: Bench, step: Step, group: Group, most_s: float) -> float:
        """Seconds of a round that the points of a step take; it ends early where that is long."""
        spent_s = 0.0
        whole_walks = group.whole_walks
        for name in step.names:
            if self.budget.ended:
                return spent_s
            began_s = time.monotonic()
            with suppress(DoesNotFit):  # the first round finds the same, and gives the bench up
                bench.measure(name, TRIAL_ROUND)
            spent_s += (time.monotonic() - began_s) * share_of_rounds(step, whole_walks, name)
            if spent_s > most_s and not self._is_wanted(step):
                break
        return spent_s
