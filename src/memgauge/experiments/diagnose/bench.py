"""The program under all treatments: what one sampling pass of each does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.diagnose.pressure.machinery import Machinery
from memgauge.experiments.diagnose.program.program_runs import OneRun
from memgauge.experiments.diagnose.program.runs import Runs
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.experiments.diagnose.variants.machine_settings import MachineSettings
from memgauge.experiments.shared.base import Bench
from memgauge.model.records import Point, Sample, ThreadSample

LOOK_ROUNDS = 8
"""In the first of so many rounds a program's memory is looked at while it runs: what that takes
from its time is in so few values that no median moves."""


class Starts(msgspec.Struct, frozen=True, kw_only=True):
    """How the program is run in a sampling pass."""

    runs: Runs
    settings: MachineSettings
    in_a_pass: int

    def of(self, treatment: Treatment, *, look: bool) -> list[OneRun]:
        """All runs of a pass under a treatment; see `ProgramRuns.run`."""
        with self.settings.of(treatment):
            return [self.runs.run(treatment, look=look) for _ in range(self.in_a_pass)]


class DiagnoseBench(Bench):
    """Generators, references and the program."""

    def __init__(
        self,
        points: list[Point],
        treatments: Mapping[str, Treatment],
        starts: Starts,
        machinery: Machinery | None,
    ) -> None:
        self.points = points
        self._treatments = treatments
        """By name of the program's point."""
        self._starts = starts
        self._machinery = machinery

    def measure(self, point: str, round_: int) -> list[Sample]:
        """The program once under one treatment, with the references before and after."""
        treatment = self._treatments[point]
        if treatment.pressure is None or self._machinery is None:
            return [self._of_program(point, round_, treatment)]
        return self._machinery.around(
            treatment.name, round_, lambda: self._of_program(point, round_, treatment)
        )

    def _of_program(self, point: str, round_: int, treatment: Treatment) -> Sample:
        look = treatment.pressure is None and round_ % LOOK_ROUNDS == 0
        taken = self._starts.of(treatment, look=look)
        made = _sample(point, round_, taken, (treatment.cpus or self._starts.runs.cpus)[0])
        if not treatment.keeps_uses:
            return made
        return msgspec.structs.replace(made, uses=[one.use for one in taken if one.use is not None])


def _sample(point: str, round_: int, taken: Sequence[OneRun], cpu: int) -> Sample:
    thread = ThreadSample(
        cpu=cpu,
        begin_ns=[one.begin_ns for one in taken],
        end_ns=[one.end_ns for one in taken],
    )
    printed = [one.metric for one in taken if one.metric is not None]
    memories = [one.memory for one in taken if one.memory is not None]
    regions = [name for name in taken[0].regions_s if all(name in one.regions_s for one in taken)]
    return Sample(
        point=point,
        round=round_,
        threads=[thread],
        printed=printed,
        regions_s={name: [one.regions_s[name] for one in taken] for name in regions},
        program_memory=max(memories, key=lambda one: one.anonymous_bytes, default=None),
    )
