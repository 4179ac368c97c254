"""Which points a round samples, and in which order: at random, so that no disturbance keeps step.

A point that is precise is sampled once in two or in four rounds, at a random one of them, and the
sample stands for all. Points that are sampled equally often are sampled in the same rounds, and
those sampled less often in rounds that sample the others too: so ratios of two points can be made
of rounds that sampled both.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from memgauge.runner.point_progress import PointProgress

BLOCK = 4
"""Rounds after which a point may be sampled more or less often."""


class Turns:
    """Draws the rounds, and the order within each."""

    def __init__(self, draw: random.Random | None = None) -> None:
        self._draw = draw or random.Random()
        self._chosen: dict[int, set[int]] = {}

    def of_round(self, round_: int, tracked: Iterable[PointProgress]) -> list[PointProgress]:
        """Points to sample in a round, in random order.

        Args:
            round_: Number of the round, which is one more than that of the round before.
            tracked: All points.
        """
        place = round_ % BLOCK
        if place == 0 or not self._chosen:
            self._chosen = self._drawn()
        due = []
        for progress in tracked:
            if place == 0 or progress.stride == 0:
                progress.begin_block()
            if progress.to_sample and place in self._chosen[progress.stride]:
                due.append(progress)
        self._draw.shuffle(due)
        return due

    def _drawn(self) -> dict[int, set[int]]:
        """Places in a block by how many rounds one sample stands for."""
        once = self._draw.randrange(BLOCK)
        half = BLOCK // 2
        other = self._draw.randrange(half) + (half if once < half else 0)
        return {1: set(range(BLOCK)), 2: {once, other}, 4: {once}}
