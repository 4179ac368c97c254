"""Generators with the references that show what they do, and the limits of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import median

import msgspec

from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.pressure.core_distance import CoreDistance
from memgauge.experiments.diagnose.pressure.generators import Generators
from memgauge.experiments.diagnose.pressure.limits import LimitGroup
from memgauge.experiments.diagnose.pressure.references import References, joined, sizes
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.model.points.diagnose import DiagnoseActual, point_name
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import Sample
from memgauge.system.limits.memory import available_bytes

MEMORY_PART = 8
"""One part in so many of the free memory may go to a reference that is as large as the program."""


class Machinery:
    """Generators with the references that show what they do."""

    def __init__(  # noqa: PLR0913 - where and what it presses, and on what
        self,
        where: Places,
        treatments: Sequence[Treatment],
        limit: LimitGroup,
        stack: ExitStack,
        *,
        program_bytes: int,
        is_shared: bool,
    ) -> None:
        """Allocate and prepare all.

        Args:
            where: CPUs of generators and references.
            treatments: That are to be applied.
            limit: For those by limits of the kernel.
            stack: Frees all when it is closed.
            program_bytes: Memory of the program; 0: not known.
            is_shared: Whether a process that runs on may use the references' CPU.
        """
        cpu, cpus = where.reference, where.pressure
        room = available_bytes() // MEMORY_PART
        self.references = References(cpu, where.llc_bytes, min(program_bytes, room), stack)
        self._limit = limit
        kinds = {one.name: one.pressure for one in treatments if one.pressure is not None}
        self.generators = Generators(cpus, kinds, stack)
        # A ping-pong with a CPU that a process keeps busy waits for the scheduler at each turn.
        self._distance = None if is_shared else CoreDistance.between([cpu, cpus[0]], stack)

    def facts(self, treatment: Treatment) -> dict[str, Scalar]:
        """What was found for a treatment before the first round.

        Args:
            treatment: Any of the group.
        """
        if treatment.pressure is None:
            return {}
        return DiagnoseActual(pause_units=self.generators.pause_units(treatment.name)).recorded()

    def around(self, name: str, round_: int, run: Callable[[], Sample]) -> list[Sample]:
        """The program under one kind of pressure, and the references there.

        Where a hypervisor moves the cores, they are brought near and kept so as far as possible.

        Args:
            name: Of the treatment.
            round_: Number of the round.
            run: Runs the program.
        """
        points = {reference: point_name(reference, name) for reference in self.references.names}
        distance = self._distance
        if distance is not None:
            distance.begin()
        between = distance.keep if distance is not None else _nothing
        with self._limit.limiting(name), self.generators.at_work(name, between=between):
            before = self.references.take(points, round_)
            program = run()
            after = self.references.take(points, round_)
        samples = [program, *map(joined, before, after)]
        if distance is None:
            return samples
        pingpongs_ns = distance.end()
        pingpong_ns = median(pingpongs_ns) if pingpongs_ns else None
        seen = msgspec.structs.replace(
            program, pingpongs_ns=pingpongs_ns, one_core_below_ns=distance.one_core_below_ns
        )
        return [
            msgspec.structs.replace(one, pingpong_ns=pingpong_ns) for one in (seen, *samples[1:])
        ]


def memory_bytes(treatments: Sequence[Treatment], where: Places) -> int:
    """Of generators and references; the program's own is not known before it has run."""
    each = {one.pressure.bytes for one in treatments if one.pressure}
    if not each:
        return 0
    return 2 * sum(each) * len(where.pressure) + sizes(where.llc_bytes).total


def _nothing() -> None:
    return None
