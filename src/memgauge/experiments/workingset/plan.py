"""What `workingset` measures: its footprints, and how each is walked and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, ClassVar, Self

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Setup, Work
from memgauge.experiments.shared.native import to_sample
from memgauge.experiments.shared.rings import Take, Walk, work_of_walk
from memgauge.model.errors import RequestError
from memgauge.model.option import size_option
from memgauge.model.parameters import OneThreadParameters
from memgauge.model.points.facts import Facts
from memgauge.model.points.workingset import WorkingsetRequested
from memgauge.model.records import Point, Sample
from memgauge.model.units import format_bytes

KIB = 1 << 10
LEAST_BYTES = 4 * KIB
LEAST_LARGEST_BYTES = 64 << 20
MEMORY_DIVISOR = 12
"""Of what is available: where memory is short the largest footprint is smaller, for all rings and
arrays together take eight times as much."""
CACHE_MULTIPLE = 6
"""Three footprints beyond twice the last level, so that memory shows as a plateau of its own."""
SWEEPS = 4
"""Reads of a footprint before each walk, where a cache may hold it."""

DENSE_STEPS = (4, 5, 6, 7)
SPARSE_STEPS = (4, 6)
"""Quarters of a power of two: four sizes an octave while rings are quickly walked, then two."""
DENSE_UP_TO_BYTES = 8 << 20

LEAST_FOOTPRINTS = 12
"""Of a sweep in which plateaus can still be told from the steps between them."""

ELEMENT_BYTES = 8
"""Of the array whose prefixes are read."""


class WorkingsetParameters(OneThreadParameters, frozen=True, kw_only=True):
    """What `workingset` takes."""

    unlisted: ClassVar[frozenset[str]] = OneThreadParameters.unlisted | {"sweep"}

    largest_bytes: Annotated[
        int | None,
        size_option("largest footprint to measure", automatic="six times the last-level cache"),
    ] = None


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """A prefix of an array, read again and again."""

    footprint_bytes: int
    repeats: int
    """Of one sampling pass."""


class WorkingsetGroup(Group, frozen=True, kw_only=True):
    """A point for each footprint that is walked, then one for each that is read.

    Each back end has its own walks.
    """

    walks: Sequence[Walk]
    reads: Sequence[Read]
    elements: int
    """Of the array: as large as the largest footprint."""

    def parts(self) -> list[Part]:
        """Two sweeps: levels show in the latencies."""
        names = [point.point for point in self.points]
        walked, read = names[: len(self.walks)], names[len(self.walks) :]
        return [
            Part(
                importance=Importance.LEVELS,
                points=walked,
                works=[work_of_walk(walk) for walk in self.walks],
                least=LEAST_FOOTPRINTS,
            ),
            Part(
                importance=Importance.CURVES,
                points=read,
                works=[Work(bytes=2 * one.repeats * one.footprint_bytes) for one in self.reads],
                least=LEAST_FOOTPRINTS,
            ),
        ]

    def setup(self) -> Setup:
        """An array is filled, and rings are linked."""
        linked_bytes = sum(walk.footprint_bytes for walk in self.walks)
        return Setup(filled_bytes=self.bytes - linked_bytes, linked_bytes=linked_bytes)

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer footprints; the array stays as large as the largest."""
        measured = [*zip(self.points, [*self.walks, *self.reads], strict=True)]
        kept = [(point, one) for point, one in measured if point.point in names]
        walks = [one for _, one in kept if isinstance(one, Walk)]
        dropped = sum(one.footprint_bytes for one in self.walks) - sum(
            one.footprint_bytes for one in walks
        )
        return msgspec.structs.replace(
            self,
            points=[point for point, _ in kept],
            walks=walks,
            reads=[one for _, one in kept if isinstance(one, Read)],
            bytes=self.bytes - dropped,
        )


def footprints(largest_bytes: int, dense_up_to_bytes: int = DENSE_UP_TO_BYTES) -> list[int]:
    """Sizes to measure, ascending, whole KiB, and `largest_bytes` the last.

    They are four an octave up to `dense_up_to_bytes`, then two.
    """
    sizes: list[int] = []
    octave = LEAST_BYTES
    while octave <= largest_bytes:
        steps = DENSE_STEPS if octave < dense_up_to_bytes else SPARSE_STEPS
        sizes += [octave * step // 4 for step in steps]
        octave *= 2
    return [size for size in sizes if size < largest_bytes] + [largest_bytes]


def largest_footprint(parameters: WorkingsetParameters, automatic_bytes: int, step: int) -> int:
    """Bytes of the largest footprint, no less than the smallest.

    Args:
        parameters: As requested; with `largest_bytes` None the default applies.
        automatic_bytes: The default, which the caller derives from the caches.
        step: Granularity in bytes: the footprint is rounded down to a multiple.

    Raises:
        RequestError: less is requested than the smallest footprint.
    """
    requested = parameters.largest_bytes
    if requested is not None and requested < LEAST_BYTES:
        raise RequestError(
            f"--largest-bytes {format_bytes(requested)}: the smallest footprint is "
            f"{format_bytes(LEAST_BYTES)}; ask for that or more"
        )
    return max(LEAST_BYTES, (requested or automatic_bytes) // step * step)


def reads_of(sizes: Sequence[int], pass_bytes: int) -> list[Read]:
    """Each size as often as `pass_bytes` hold it, at least once."""
    return [Read(footprint_bytes=size, repeats=max(1, pass_bytes // size)) for size in sizes]


def bytes_of(sizes: Sequence[int]) -> int:
    """Memory of a ring for each footprint, and of three arrays as large as the last of them."""
    return sum(sizes) + 3 * sizes[-1]


def walk_point(walk: Walk, requested: Facts, actual: Facts) -> Point:
    """The point that measures latency over one footprint.

    Args:
        walk: Ring of that footprint; its timed loads are the accesses of the point.
        requested: Facts to record beside the footprint, such as page policy or placement.
        actual: Facts known before the ring is linked; those of the linked ring are added later.
    """
    access = WorkingsetRequested(access="latency", footprint_bytes=walk.footprint_bytes)
    return Point(
        point=f"workingset/latency/{walk.footprint_bytes}",
        experiment="workingset",
        quantity="latency",
        requested=requested.recorded() | access.recorded(),
        actual=actual.recorded(),
        accesses=walk.hops,
    )


def read_point(where: str, read: Read, requested: Facts, actual: Facts) -> Point:
    """The point that measures read bandwidth over one footprint.

    Args:
        where: Beginning of the point's name, such as `workingset/read`; the footprint follows.
        read: Footprint, and how often a sampling pass reads it.
        requested: Facts to record beside the footprint, such as page policy or placement.
        actual: Facts known before the array is allocated; those of the array are added later.
    """
    access = WorkingsetRequested(access="read", footprint_bytes=read.footprint_bytes)
    return Point(
        point=f"{where}/{read.footprint_bytes}",
        experiment="workingset",
        quantity="bandwidth",
        requested=requested.recorded() | access.recorded(),
        actual=actual.recorded(),
        bytes_counted=read.repeats * read.footprint_bytes,
        bytes_moved=read.repeats * read.footprint_bytes,
    )


def sampling(run: Callable[..., _core.Slice], read: Read) -> Take:
    """How a read is sampled; `run` takes elements of a prefix and its repeats."""

    def take(point: str, round_: int) -> Sample:
        elements = read.footprint_bytes // ELEMENT_BYTES
        return to_sample(point, round_, run(prefix_elements=elements, repeats=read.repeats))

    return take
