"""Explicit huge pages around a run: what an earlier one left, and what this one has reserved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memgauge.experiments.shared.base import Experiment
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Warning
from memgauge.system.memory.reservation import left_behind, reserved


@contextmanager
def prepared(chosen: Sequence[tuple[Experiment, CommonParameters]]) -> Iterator[list[Warning]]:
    """Reserve what the experiments ask for, and return it on leaving, however it is left.

    Gives what a reader of the run must know, such as that a killed run left pages reserved.

    Raises:
        RequestError: the pages cannot be had.
    """
    wanted = [
        found for one, requested in chosen if (found := one.reservation(requested)) is not None
    ]
    if wanted:
        with reserved(wanted[0]) as noticed:
            yield noticed
        return
    left = left_behind()
    yield [left] if left is not None else []
