"""A scripted experiment: the runner's contract without a native core."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from memgauge.experiments.shared.base import Bench, Experiment, Group, Values
from memgauge.model.parameters import CommonParameters
from memgauge.model.records import ArrayCheck, Point, Sample, ThreadSample, Validation, Warning
from memgauge.model.system import Cpu, System
from memgauge.system.memory.sources import ORDINARY, Memories

Duration = Callable[[str, int], int]
"""Point and round to nanoseconds."""


def a_system(available_bytes: int = 1 << 30, machine_id: str = "m1") -> System:
    return System(
        machine_id=machine_id,
        architecture="x86_64",
        cpu_model="Scripted CPU",
        kernel="6.0",
        virtualisation=None,
        cpus=[Cpu(cpu=0, core=0, socket=0, node=0, sibling=0)],
        allowed_cpus=[0],
        caches=[],
        nodes=[],
        memory_bytes=2 << 30,
        available_bytes=available_bytes,
        base_page_bytes=4096,
        thp="madvise",
        huge_pages=[],
        governor=None,
        isas=[],
    )


def a_point(name: str, role: str = "slice") -> Point:
    return Point(
        point=name,
        experiment="fake",
        quantity="bandwidth",
        requested={},
        actual={},
        bytes_counted=1_000_000,
        role="pass" if role == "pass" else "slice",
    )


def steady(noise: float = 0.001, seed: int = 1) -> Duration:
    draw = random.Random(seed)
    return lambda _point, _round: int(100_000 * (1 + draw.uniform(0, noise)))


class FakeBench(Bench):
    def __init__(
        self,
        points: list[Point],
        duration: Duration,
        *,
        valid: bool,
        eliminated: frozenset[str] = frozenset(),
    ) -> None:
        self.points = points
        self._eliminated = eliminated
        self.visits: list[tuple[str, int]] = []
        self._duration = duration
        self._valid = valid

    def measure(self, point: str, round_: int) -> list[Sample]:
        self.visits.append((point, round_))
        begin = len(self.visits) * 1_000_000
        end = begin + self._duration(point, round_)
        return [
            Sample(
                point=point,
                round=round_,
                threads=[ThreadSample(cpu=0, begin_ns=[begin], end_ns=[end])],
            )
        ]

    def eliminated(self, values: Values) -> set[str]:
        return set(values) & self._eliminated

    def validate(self) -> list[Validation]:
        check = ArrayCheck(
            array="a",
            average_relative_error=0.0 if self._valid else 1.0,
            epsilon=1e-13,
            elements=10,
            failed_elements=0 if self._valid else 10,
            first_failed=0,
            passed=self._valid,
        )
        return [Validation(experiment="fake", subject="arrays", checks=[check])]


class FakeExperiment(Experiment):
    name: ClassVar[str] = "fake"
    parameters: ClassVar[type[CommonParameters]] = CommonParameters

    def __init__(
        self,
        groups: Mapping[str, Sequence[str]],
        duration: Duration | None = None,
        *,
        group_bytes: int = 1000,
        valid: bool = True,
        eliminated: frozenset[str] = frozenset(),
        needed: bool = True,
    ) -> None:
        self.groups = groups
        self.open_now: set[str] = set()
        self.open_at_once = 0
        self.benches: list[FakeBench] = []
        self._duration = duration or steady()
        self._group_bytes = group_bytes
        self._valid = valid
        self._eliminated = eliminated
        self._needed = needed

    def plan(self, parameters: CommonParameters, system: System) -> list[Group]:
        del parameters, system
        return [
            Group(
                name=name,
                points=[a_point(p, "pass" if p.endswith("/pass") else "slice") for p in points],
                bytes=self._group_bytes,
            )
            for name, points in self.groups.items()
        ]

    @contextmanager
    def open(
        self,
        group: Group,
        parameters: CommonParameters,
        memories: Memories = ORDINARY,
    ) -> Iterator[Bench]:
        del parameters, memories
        self.open_now.add(group.name)
        self.open_at_once = max(self.open_at_once, len(self.open_now))
        bench = FakeBench(
            group.points, self._duration, valid=self._valid, eliminated=self._eliminated
        )
        bench.is_needed = self._needed
        self.benches.append(bench)
        try:
            yield bench
        finally:
            self.open_now.remove(group.name)

    def check(self, point: Point, elapsed_ns: Sequence[int], system: System) -> list[Warning]:
        del system
        if elapsed_ns:
            return []
        return [Warning(code="never-visited", message="never visited", point=point.point)]
