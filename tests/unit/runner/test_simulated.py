"""What models predict is recorded record by record, after all was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runner.fakes import FakeExperiment, a_system

from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.parameters import CommonParameters
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, Point, Warning
from memgauge.model.storage.run_file import read_run
from memgauge.model.system import System
from memgauge.runner.request import Progress, Request
from memgauge.runner.run import execute

pytestmark = pytest.mark.usefixtures("no_native_core")

MACHINE = CacheMachine(
    name="m", title="m", source="a test", levels=[CacheLevel(name="L1", bytes=4096, ways=4)]
)


def simulated(point: str) -> Simulated:
    return Simulated(
        point=point,
        machine="m",
        cores=1,
        accesses=10,
        load_read_bytes=64,
        allocate_read_bytes=0,
        software_prefetch_read_bytes=0,
        hardware_prefetch_read_bytes=0,
        write_back_bytes=0,
        bypass_write_bytes=0,
        array_read_bytes={"a": 64},
        levels=[],
        took_s=0.1,
    )


class Predicting(FakeExperiment):
    def __init__(self, *, stop_after: int | None = None) -> None:
        super().__init__({"g": ["a", "b"], "h": ["c"]})
        self.requested: list[str] = []
        self._stop_after = stop_after

    def simulate(
        self, points: Sequence[Point], parameters: Any, system: System
    ) -> Iterator[AnyRecord]:
        del parameters, system
        self.requested = [point.point for point in points]
        yield SimulatedMachine(machine=MACHINE)
        for index, point in enumerate(points):
            if index == self._stop_after:
                raise KeyboardInterrupt
            yield simulated(point.point)
        yield Warning(code="not-simulated", message="one more", experiment="fake")


def request(experiment: FakeExperiment, directory: Path) -> Request:
    return Request(
        experiments=[(experiment, CommonParameters())],
        budget_s=5.0,
        precision=0.5,
        directory=directory,
        system=a_system(),
    )


def test_every_point_of_every_group_is_simulated_and_the_rest_is_said(tmp_path: Path) -> None:
    experiment, seen = Predicting(), list[Progress]()
    run = execute(request(experiment, tmp_path / "r"), seen.append)
    assert experiment.requested == ["a", "b", "c"]
    assert {point: set(found) for point, found in run.simulated.items()} == {
        point: {"m"} for point in "abc"
    }
    assert [warning.code for warning in run.warnings] == ["not-simulated"]
    assert run.end is not None
    assert run.end.status == "complete"
    known = [now.reached for now in seen if now.phase == "simulating fake"]
    assert known == [0, 1, 2, 3, 3]


def test_ctrl_c_keeps_what_was_simulated(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        execute(request(Predicting(stop_after=1), tmp_path / "r"))
    run = read_run(tmp_path / "r")
    assert set(run.simulated) == {"a"}
    assert all(run.samples[point] for point in "abc")
    assert run.end is not None
    assert run.end.status == "interrupted"
