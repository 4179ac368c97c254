"""Explicit huge pages of a run: those left by an earlier run, and those reserved by this one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from memgauge.experiments.shared.base import Experiment
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import Warning
from memgauge.system.memory.reservation import left_behind, reserved


@contextmanager
def prepared(chosen: Sequence[tuple[Experiment, CommonParameters]]) -> Iterator[list[Warning]]:
    """Reserve the pages that the experiments need, and return them on exit, even after an error.

    Yields notes for readers of the run, such as that a killed run had left pages reserved.

    Raises:
        RequestError: the pages cannot be reserved.
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
