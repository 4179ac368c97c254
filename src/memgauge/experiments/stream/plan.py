"""What `stream` measures with one team or on one GPU: its kernels, and a point for each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Generic, Self

import msgspec

from memgauge import _core
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.stream.counted import traffic_facts
from memgauge.experiments.stream.kernels import Role, Spec, StreamKernel
from memgauge.experiments.stream.parameters import StreamParameters
from memgauge.model.points.stream import StreamActual, StreamRequested
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Point

ESSENTIAL_TUNED = ("copy", "triad", "read", "write")
ESSENTIAL_STANDARD = ("copy", "triad")
"""Kernels between whose bandwidths those of all others lie, nearly."""


class KernelPoint(msgspec.Struct, Generic[Spec], frozen=True, kw_only=True):
    """A point and the kernel it runs."""

    point: Point
    kernel: StreamKernel[Spec]
    contest: str
    """The same of all points of one kernel, variant and team."""


class PlannedArrays(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of arrays before they are there."""

    actual: StreamActual
    threads: int | None
    """Of the team; None: a GPU."""
    pages: str = ""
    """Policy; empty: a GPU's memory."""


class StreamGroup(Group, Generic[Spec], frozen=True, kw_only=True):
    """Kernels that share arrays."""

    kernels: list[KernelPoint[Spec]]
    counters: tuple[str, ...]
    """Events to count around kernels; empty: none is counted."""
    is_end: bool = True
    """Whether this is one thread, the whole machine or a GPU, and no team between."""
    slice_elements: int
    """Of each array, that all threads walk in a slice, with its lead-in."""
    pass_elements: int
    """The same of a whole pass."""

    def parts(self) -> list[Part]:
        """The kernels that bound all others first, whole passes last."""
        slices = [one for one in self.kernels if one.point.role == "slice"]
        passes = [one for one in self.kernels if one.point.role != "slice"]
        first = [one for one in slices if _is_essential(one.kernel.spec)]
        others = [one for one in slices if not _is_essential(one.kernel.spec)]
        importances = (
            (Importance.ESSENTIAL, Importance.CURVES, Importance.PASSES)
            if self.is_end
            else (Importance.TEAMS, Importance.TEAMS, Importance.PASSES)
        )
        return [
            self._part(importance, members)
            for importance, members in zip(importances, (first, others, passes), strict=True)
            if members
        ]

    def _part(self, importance: Importance, members: list[KernelPoint[Spec]]) -> Part:
        return Part(
            importance=importance,
            points=[one.point.point for one in members],
            works=[self._work(one) for one in members],
        )

    def _work(self, one: KernelPoint[Spec]) -> Work:
        spec = one.kernel.spec
        moved = spec.counted_read_bytes + spec.counted_write_bytes + spec.write_allocate_bytes
        elements = self.slice_elements if one.point.role == "slice" else self.pass_elements
        return Work(bytes=moved * elements, threads=one.point.threads)

    def keeping(self, names: Collection[str]) -> Self:
        """Fewer kernels of the same arrays."""
        kernels = [one for one in self.kernels if one.point.point in names]
        return msgspec.structs.replace(self, points=[one.point for one in kernels], kernels=kernels)


def _is_essential(spec: _core.KernelSpec | _core.GpuKernelSpec) -> bool:
    known = ESSENTIAL_STANDARD if spec.variant == "standard" else ESSENTIAL_TUNED
    return spec.operation in known


def contests_of(kernels: Iterable[KernelPoint[Spec]]) -> dict[str, str]:
    """What each candidate of a search competes for, by the name of its point."""
    return {one.point.point: one.contest for one in kernels if one.kernel.candidate}


def kernel_points(
    parameters: StreamParameters,
    kernels_of: Callable[[StreamParameters, Role], list[StreamKernel[Spec]]],
    arrays: PlannedArrays,
    *,
    counted: bool,
) -> list[KernelPoint[Spec]]:
    """Before arrays are there.

    Args:
        parameters: as requested.
        kernels_of: all that runs in a role.
        arrays: what is known of the arrays.
        counted: whether kernels are counted too.
    """
    roles: tuple[Role, ...] = ("slice", "pass", "counted") if counted else ("slice", "pass")
    return [
        _kernel_point(parameters, kernel, role, arrays)
        for role in roles
        for kernel in kernels_of(parameters, role)
    ]


def _kernel_point(
    parameters: StreamParameters,
    kernel: StreamKernel[Spec],
    role: Role,
    arrays: PlannedArrays,
) -> KernelPoint[Spec]:
    spec, memory = kernel.spec, str(parameters.memory)
    threads, pages = arrays.threads, arrays.pages
    team = memory if threads is None else f"{threads}t"
    if pages and len(parameters.page_kinds) > 1:
        team += f"/{pages}"
    contest = f"stream/{spec.operation}/{spec.variant}/{spec.element}/{team}"
    requested = StreamRequested(
        kernel=spec.operation,
        variant=spec.variant,
        element=spec.element,
        threads=threads,
        memory=memory,
        pages=pages,
        array_bytes=parameters.array_bytes,
        candidate=kernel.candidate,
        access=kernel.access,
        store=kernel.store,
        prefetch="" if kernel.prefetch is None else str(kernel.prefetch),
    )
    actual = msgspec.structs.replace(
        arrays.actual,
        passes=parameters.repetitions if role == "pass" else None,
        regions=parameters.runs if role == "counted" else None,
    )
    point = Point(
        point="/".join([contest, *kernel.suffixes, *([] if role == "slice" else [role])]),
        experiment="stream",
        quantity="bandwidth",
        requested=requested.recorded(),
        actual=actual.recorded(),
        threads=threads or 1,
        role=role,
    )
    return KernelPoint(point=point, kernel=kernel, contest=contest)


def prepared(
    planned: KernelPoint[Spec], elements: int, facts: Mapping[str, Scalar]
) -> KernelPoint[Spec]:
    """Complete a planned point once the arrays are there.

    Args:
        planned: the point.
        elements: that one iteration walks over.
        facts: what is recorded about these arrays.
    """
    spec = planned.kernel.spec
    counted = spec.counted_read_bytes + spec.counted_write_bytes
    actual = {**planned.point.actual, **planned.kernel.actual.recorded(), **facts}
    if planned.point.role == "counted":
        actual |= traffic_facts(spec, elements)
    point = msgspec.structs.replace(
        planned.point,
        actual=actual,
        bytes_counted=elements * counted,
        bytes_moved=elements * (counted + spec.write_allocate_bytes),
    )
    return msgspec.structs.replace(planned, point=point)
