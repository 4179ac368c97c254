"""Pages: what does it cost to translate addresses, and what do larger pages give back?

Question: how many pages does each level of the TLB reach, what does a miss of each cost, and how
much of that do huge pages save?

Method: one thread reads N lines again and again in one random order, each load waiting for the one
before. The lines lie packed, one on each base page, or one on each huge page. All cases of one N
touch the same number of lines with the same number of accesses, so that they hit the same caches
and differ in their pages alone: what an access costs more than in the packed case is the cost of
translation. A whole pass goes before each timed piece, so that TLB and caches hold what a repeated
walk leaves in them.
Source: TLB reaches by strides (Saavedra and Smith, 1995); Drepper, "What every programmer should
know about memory" (2007).

What would invalidate it: a kernel or a hypervisor that joins neighbouring pages or splits huge ones
(the reach found is then that of what it made of them); huge pages asked for and not got; page
tables that other programs push out of the caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.experiments.pages.plan import (
    Case,
    PagesParameters,
    cases,
)
from memgauge.experiments.shared.base import Bench, Experiment, Group
from memgauge.experiments.shared.core_counters import CoreCounters, core_counters, counted_call
from memgauge.experiments.shared.importance import Importance, Part, Work
from memgauge.experiments.shared.native import backing_facts, huge_pages_missing, to_sample
from memgauge.model.errors import RequestError
from memgauge.model.points.pages import PagesActual, PagesRequested
from memgauge.model.points.shared import Backing
from memgauge.model.records import Point, Sample, Warning
from memgauge.model.system import System
from memgauge.system.memory.pages import EXPLICIT_PAGE_BYTES
from memgauge.system.memory.reservation import PagesWanted
from memgauge.system.memory.sources import ORDINARY, Memories
from memgauge.system.topology.placement import cpus_for

SLICE_ACCESSES = 8_192
"""Of every case, so that all do the same: 13 us where lines hit the first cache."""

LEAST_COUNTS = 5
"""Of a sweep over numbers of lines."""
FAR_LOADS = 4
"""So few of the accesses to many lines wait for memory, nearly."""

LEAST_WARM_ACCESSES = 2_048
ACCESS_BYTES = 8


class PagesGroup(Group, frozen=True, kw_only=True):
    """All cases in pages of one kind, by the names of their points."""

    cpu: int
    pages: str
    cases: dict[str, Case]
    buffer_bytes: int

    def parts(self) -> list[Part]:
        """A sweep over the number of lines for each stride."""
        sweeps: dict[int, list[Case]] = {}
        for name in (point.point for point in self.points):
            sweeps.setdefault(self.cases[name].stride_bytes, []).append(self.cases[name])
        return [
            Part(
                importance=Importance.SHAPES,
                points=[case.name for case in cases],
                works=[Work(loads=case.count // FAR_LOADS) for case in cases],
                least=LEAST_COUNTS,
            )
            for cases in sweeps.values()
        ]


class PagesBench(Bench):
    """One buffer in pages of one kind, in which all cases lie."""

    def __init__(
        self,
        points: list[Point],
        cases: Mapping[str, Case],
        buffer: _core.AccessBuffer,
        counted: CoreCounters | None,
    ) -> None:
        self.points = points
        self.counters = [counted.set] if counted else []
        self._counted = counted
        self._cases = cases
        self._buffer = buffer

    def measure(self, point: str, round_: int) -> list[Sample]:
        """A whole pass over the lines, then the timed accesses, going on in the same order."""
        case = self._cases[point]
        taken, reading = counted_call(
            self._counted,
            lambda: self._buffer.run(
                "dependent",
                "random",
                ACCESS_BYTES,
                case.spacing_bytes,
                case.count,
                SLICE_ACCESSES,
                warm_accesses=max(case.count, LEAST_WARM_ACCESSES),
            ),
        )
        return [msgspec.structs.replace(to_sample(point, round_, taken), reading=reading)]


class Pages(Experiment):
    """The `pages` experiment."""

    name: ClassVar[str] = "pages"
    parameters: ClassVar[type[PagesParameters]] = PagesParameters

    def reservation(
        self, parameters: PagesParameters, system: Callable[[], System]
    ) -> list[PagesWanted]:
        """Pages of 2 MiB, unless those of 1 GiB are requested."""
        del system
        if parameters.reserve_bytes is None:
            return []
        if parameters.pages not in {"auto", *EXPLICIT_PAGE_BYTES}:
            raise RequestError(
                f"--reserve-huge-pages: no reserved page is used with --pages {parameters.pages}; "
                f"use --pages auto, 2m or 1g"
            )
        page_bytes = EXPLICIT_PAGE_BYTES.get(parameters.pages, EXPLICIT_PAGE_BYTES["2m"])
        return [PagesWanted(page_bytes=page_bytes, bytes=parameters.reserve_bytes)]

    def plan(self, parameters: PagesParameters, system: System) -> list[PagesGroup]:
        """One group for each kind of pages."""
        parameters.refuse_teams("translation is that of one core")
        cpu = cpus_for(parameters.cpus, 1, system)[0]
        return [
            _group(pages, cpu, found) for pages, found in cases(parameters, system, cpu).items()
        ]

    @contextmanager
    def open(
        self,
        group: PagesGroup,
        parameters: PagesParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        """Allocate and touch the buffer.

        Args:
            group: All cases in pages of one kind, with the CPU that reads the lines.
            parameters: What `group` was planned with; `memory` and `counters` are used.
            memories: Sources that the buffer takes its memory from.
        """
        pages, team = group.pages, _core.Team([group.cpu])
        buffer = _core.AccessBuffer(
            team, group.buffer_bytes, pages=pages, memory=memories.of(parameters.memory)
        )
        with closing(buffer):
            native = buffer.backing()
            backing = backing_facts([native], pages)
            page_bytes = _page_bytes(native, Backing.of(backing).pages, pages)
            points = [
                msgspec.structs.replace(
                    point,
                    actual=point.actual
                    | backing
                    | PagesActual(
                        page_bytes=page_bytes,
                        pages_touched=group.cases[point.point].pages_touched(page_bytes),
                    ).recorded(),
                )
                for point in group.points
            ]
            with core_counters(team, parameters.counters, name=f"pages/{pages}") as counted:
                yield PagesBench(points, group.cases, buffer, counted)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        """A warning about huge pages that were requested and are not there.

        Args:
            point: Its requested and its actual pages are compared.
            elapsed_ns: Not used: the facts recorded in `point` decide.
            system: Not used.
        """
        del elapsed_ns, system
        return huge_pages_missing(point)


def _group(pages: str, cpu: int, found: list[Case]) -> PagesGroup:
    buffer_bytes = max(case.footprint_bytes for case in found)
    return PagesGroup(
        name=f"{pages} pages",
        points=[_point(case, cpu) for case in found],
        # Explicit pages were taken out of the memory that may be allocated before.
        bytes=0 if pages in EXPLICIT_PAGE_BYTES else buffer_bytes,
        cpu=cpu,
        pages=pages,
        cases={case.name: case for case in found},
        buffer_bytes=buffer_bytes,
    )


def _page_bytes(backing: _core.Backing, actual: str, requested: str) -> int:
    """Size of the pages that the lines lie on; of a buffer in both sizes, of the huge ones."""
    is_huge = actual not in {"", f"{backing.base_page_bytes >> 10}k"}
    huge = backing.huge_page_bytes if is_huge and requested != "4k" else 0
    return huge or backing.base_page_bytes


def _point(case: Case, cpu: int) -> Point:
    return Point(
        point=case.name,
        experiment="pages",
        quantity="latency",
        requested=PagesRequested(
            pages=case.pages,
            stride_bytes=case.stride_bytes,
            accesses_distinct=case.count,
            footprint_bytes=case.footprint_bytes,
        ).recorded(),
        actual=PagesActual(cpus=str(cpu), spacing_bytes=case.spacing_bytes).recorded(),
        accesses=SLICE_ACCESSES,
    )
