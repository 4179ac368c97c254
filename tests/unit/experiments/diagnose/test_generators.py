"""Generators of pressure work until they are told to end, and fail aloud."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.generators import Generators
from memgauge.experiments.diagnose.treatments import Pressure
from memgauge.model.errors import SystemFailure
from memgauge.system.detect import detect

CPUS = detect().allowed_cpus[-1:]
SMALL = {"read": Pressure(bytes=1 << 20), "write": Pressure(bytes=1 << 20, reads=0, writes=1)}


def generating() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "pressure"]


def test_pressure_lasts_as_long_as_its_context() -> None:
    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        for name in SMALL:
            with generators.at_work(name):
                before_s = time.process_time()
                while time.process_time() - before_s < 0.02:
                    time.sleep(0.005)
                assert generating()
            assert not generating()


def test_pressure_ends_with_an_interruption_of_what_runs_beside_it() -> None:
    with ExitStack() as stack:
        generators = Generators(CPUS, SMALL, stack)
        with pytest.raises(KeyboardInterrupt), generators.at_work("read"):
            raise KeyboardInterrupt
        assert not generating()


def test_a_failure_of_the_generators_is_told() -> None:
    stack = ExitStack()
    generators = Generators(CPUS, SMALL, stack)
    stack.close()
    with pytest.raises(SystemFailure, match="'read' failed: Traffic is closed"):  # noqa: SIM117
        with generators.at_work("read"):
            time.sleep(0.01)
