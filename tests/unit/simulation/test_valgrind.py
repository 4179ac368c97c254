"""What is said of a program of which valgrind counted nothing."""

from __future__ import annotations

import signal

import pytest

from memgauge.model.errors import CommandNotFound, SimulationFailed
from memgauge.model.termination import Terminated
from memgauge.simulation.signals import ENDING
from memgauge.simulation.valgrind import nothing_counted
from memgauge.system.programs.program import Ended


@pytest.mark.parametrize("number", sorted(ENDING))
def test_a_signal_before_the_first_instruction_has_its_own_exit_code(number: int) -> None:
    found = nothing_counted(["./program"], Ended(signal=number), "==1== Callgrind")
    assert isinstance(found, Terminated)
    assert found.exit_code == 128 + number


def test_other_reasons_are_one_line() -> None:
    killed = nothing_counted(["./program"], Ended(signal=signal.SIGKILL), "")
    assert isinstance(killed, SimulationFailed)
    assert "was killed (SIGKILL)" in str(killed)
    assert isinstance(nothing_counted(["none"], Ended(exit_code=127), ""), CommandNotFound)
    foreign = nothing_counted(["arm"], Ended(exit_code=1), "wrong ELF class")
    assert str(foreign).startswith("'arm': valgrind simulated none of it (exit code 1): wrong")
