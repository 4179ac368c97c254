"""What an experiment is; each is described in `memgauge.model.experiments`.

An experiment plans points, opens what they need and measures them one sampling pass at a time. It
has no statistics, no printing, no files and no argument parsing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

import msgspec

from memgauge.experiments.shared.importance import Importance, Part, Setup, Work
from memgauge.model.memory import MemoryPlacement
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import AnyRecord, Point, Sample, Validation, Warning
from memgauge.model.system import System
from memgauge.system.memory.reservation import PagesWanted
from memgauge.system.memory.sources import ORDINARY, Memories

TYPICAL_BYTES = 64 << 20
"""Of a sampling pass that is not described."""

Values = Mapping[str, Sequence[float]]
"""GB/s or ns of all samples of each point that count, in order of time."""


class Bench(ABC):
    """A group of points that share buffers and threads, opened and ready to be measured."""

    points: list[Point]
    """With their `actual` filled in: what was got, read back from the kernel."""

    counters: Sequence[CounterSet] = ()
    """Read around its samples, opened; to be recorded before the first of them."""

    found: Sequence[AnyRecord] = ()
    """What was found as it was opened, to be recorded before its first sample."""

    is_needed: bool = True
    """Whether a run is incomplete without its samples; else they are taken as time allows."""

    @abstractmethod
    def measure(self, point: str, round_: int) -> list[Sample]:
        """One sampling pass: one native call, a few milliseconds, raw stamps back.

        The samples of the point, and of those that are `measured_with` it.
        """

    def keep(self, names: Collection[str]) -> None:
        """Drop all points but these, and those measured with them, before any is declared."""
        self.points = kept_points(self.points, names)

    def refine(self, values: Values) -> list[Point]:
        """Further points, where what was measured so far shows that they are worth their time.

        Asked every few rounds. The points are ready to be measured when this returns them.
        """
        del values
        return []

    def eliminated(self, values: Values) -> set[str]:
        """Points that a search may stop sampling, judged by the values of all points so far.

        What they measured is kept.
        """
        del values
        return set()

    def validate(self) -> list[Validation]:
        """Check what the kernels left in memory; empty where nothing is written."""
        return []


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Points to be opened together.

    Each experiment has a subclass that adds what `open` needs: `open` decides nothing anew.
    """

    name: str
    points: list[Point]
    bytes: int
    """Memory it allocates: of the placement `memory` of its parameters, unless `bytes_in` says."""
    bytes_in: dict[MemoryPlacement, int] = {}
    """The same by placement, of an experiment that uses several."""
    pool_bytes: int = 0
    """Of `bytes`, those from the kernel's pools of explicit huge pages, which are apart from the
    memory that may be allocated."""
    compared: str = ""
    """Groups of an experiment that follow each other with the same name here are compared: they
    are measured in the same rounds if they fit memory together. Empty: with no other group."""

    @property
    def threads(self) -> int:
        """Of its largest team."""
        return max((point.threads for point in self.points), default=1)

    @property
    def leaders(self) -> list[Point]:
        """Points that are measured for themselves."""
        return [point for point in self.points if point.measured_with is None]

    @property
    def whole_walks(self) -> frozenset[str]:
        """Points that are whole walks over arrays, of which a few suffice."""
        return frozenset(point.point for point in self.points if point.role == "pass")

    def parts(self) -> list[Part]:
        """Its points by importance; all of them at once unless a subclass knows better."""
        names = [point.point for point in self.leaders]
        work = Work(bytes=TYPICAL_BYTES, threads=self.threads)
        return [Part(importance=Importance.SHAPES, points=names, works=[work] * len(names))]

    def setup(self) -> Setup:
        """What opening it does."""
        return Setup(filled_bytes=self.bytes, threads=self.threads)

    def keeping(self, names: Collection[str]) -> Self:
        """The group without all points but these, and those measured with them.

        Args:
            names: Points of `parts`, of any halving.
        """
        return msgspec.structs.replace(self, points=kept_points(self.points, names))


def kept_points(points: Sequence[Point], names: Collection[str]) -> list[Point]:
    """Those of these names, and those that are measured with them."""
    return [one for one in points if one.point in names or one.measured_with in names]


class Experiment(ABC):
    """One question asked of the memory system."""

    name: ClassVar[str]
    parameters: ClassVar[type[Any]]
    """A frozen struct of `memgauge.model.parameters`; the CLI flags and API signature follow it."""

    @abstractmethod
    def plan(self, parameters: Any, system: System) -> Sequence[Group]:
        """The points to measure. Pure.

        Raises:
            RequestError: what was asked cannot be done.
            NotPossibleHere: this machine lacks what the experiment needs, whatever is asked; a
                survey goes on without it.
        """

    @abstractmethod
    def open(
        self,
        group: Any,
        parameters: Any,
        memories: Memories = ORDINARY,
    ) -> AbstractContextManager[Bench]:
        """Allocate and start what the group needs; all is freed on leaving, however it is left.

        Buffers take their pages from `memories.of(placement)`.

        Args:
            group: one that `plan` returned.
            parameters: those it was planned with.
            memories: where placements are made.
        """

    def reservation(self, parameters: Any, system: Callable[[], System]) -> Sequence[PagesWanted]:
        """Explicit huge pages to add to the kernel's pools before the run looks at the machine.

        Args:
            parameters: As requested.
            system: Detects the machine as it is before, for what is sized by it.

        Raises:
            RequestError: none of what is to be reserved would be used.
        """
        del parameters, system
        return ()

    def simulate(
        self, points: Sequence[Point], parameters: Any, system: System
    ) -> Iterable[AnyRecord]:
        """What models predict for the points of a run; taken and recorded one by one, last of all.

        Ctrl-C ends it between two.

        Args:
            points: All points of this experiment in the run, with their actual facts.
            parameters: Those that the points were planned with.
            system: The machine, restricted to the NUMA nodes that the parameters select.
        """
        del points, parameters, system
        return []

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """Typed warnings about one point.

        Args:
            point: The point, with its actual facts.
            elapsed_ns: Time of each of its samples, from the first begin to the last end of its
                threads; empty if none was taken.
            system: The whole machine, whatever NUMA nodes the parameters select.
        """
        del point, elapsed_ns, system
        return []
