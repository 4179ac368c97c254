"""What an experiment is. To add one: a file here, a line in `registry`, an analysis, test and page.

An experiment plans points, opens what they need and measures them one visit at a time. It has no
statistics, no printing, no files and no argument parsing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

import msgspec

from memgauge.model.records import Point, Sample, Validation, Warning
from memgauge.model.system import System


class Bench(Protocol):
    """A group of points that share buffers and threads, opened and ready to be visited."""

    points: list[Point]
    """With their `effective` filled in: what was got, read back from the kernel."""

    def measure(self, point: str, round_: int) -> Sample:
        """One visit: one native call, a few milliseconds, raw stamps back."""
        ...

    def validate(self) -> list[Validation]:
        """Check what the kernels left in memory; empty where nothing is written."""
        ...


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Points to be opened together."""

    name: str
    points: list[Point]
    bytes: int
    """Memory it allocates."""


class Experiment(Protocol):
    """One question asked of the memory system."""

    name: ClassVar[str]
    title: ClassVar[str]
    parameters: ClassVar[type[Any]]
    """A frozen struct of `memgauge.model.parameters`; the CLI flags and API signature follow it."""

    def plan(self, parameters: Any, system: System) -> list[Group]:
        """The points to measure. Pure; raises RequestError when the machine cannot do it."""
        ...

    def open(
        self,
        group: Group,
        parameters: Any,
        system: System,
    ) -> AbstractContextManager[Bench]:
        """Allocate and start what the group needs; all is freed on leaving, however it is left."""
        ...

    def losers(self, speeds: Mapping[str, Sequence[float]]) -> set[str]:
        """Points that a search may stop visiting, judged by the speeds of all points so far.

        What they measured is kept. Empty for every experiment that searches nothing.
        """
        ...

    def check(self, point: Point, samples: list[Sample], system: System) -> list[Warning]:
        """Typed warnings about one point's samples."""
        ...
