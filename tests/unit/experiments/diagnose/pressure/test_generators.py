"""Generators of pressure work until they are told to end, and fail aloud."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.pressure.generators import Generators
from memgauge.experiments.diagnose.treatments import Pressure
from memgauge.model.errors import SystemFailure
from memgauge.system.detect import detect

CPUS = detect().allowed_cpus[-1:]
SMALL = {"read": Pressure(bytes=1 << 20), "write": Pressure(bytes=1 << 20, reads=0, writes=1)}


def generating() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "pressure"]


def nothing() -> None:
    pass


def test_pressure_lasts_as_long_as_its_context() -> None:
    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        for name in SMALL:
            with generators.at_work(name, between=nothing):
                before_s = time.process_time()
                while time.process_time() - before_s < 0.02:
                    time.sleep(0.005)
                assert generating()
            assert not generating()


def test_pressure_ends_with_an_interruption_of_what_runs_beside_it() -> None:
    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        with pytest.raises(KeyboardInterrupt), generators.at_work("read", between=nothing):
            raise KeyboardInterrupt
        assert not generating()


def test_between_two_pieces_of_work_something_else_is_done_on_a_generators_cpu() -> None:
    seen: list[set[int]] = []
    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        with generators.at_work("read", between=lambda: seen.append(os.sched_getaffinity(0))):
            while len(seen) < 3:
                time.sleep(0.005)
        count = len(seen)
    assert all(one == set(CPUS) for one in seen)
    assert len(seen) == count


def test_what_fails_between_is_told() -> None:
    def fail() -> None:
        raise ValueError("no distance")

    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        with (
            pytest.raises(SystemFailure, match="'read' failed: no distance"),
            generators.at_work("read", between=fail),
        ):
            time.sleep(0.05)


def test_a_failure_of_the_generators_is_told() -> None:
    stack = ExitStack()
    generators = Generators(CPUS, SMALL, stack)
    stack.close()
    with pytest.raises(SystemFailure, match="'read' failed: Traffic is closed"):  # noqa: SIM117
        with generators.at_work("read", between=nothing):
            time.sleep(0.01)
