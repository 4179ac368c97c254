"""Numbers of threads in a command."""

from __future__ import annotations

import pytest
from tests.unit.analysis.runs import system

pytest.importorskip("memgauge._core")

from memgauge.experiments.diagnose.parameters import DiagnoseParameters, Variant
from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.experiments.diagnose.variants.cpu_placements import THREAD_VARIABLES
from memgauge.experiments.diagnose.variants.offered import _on_its_cpus, variants
from memgauge.experiments.diagnose.variants.threads import takes_threads, with_threads

PLACES = Places(program=[0, 1, 2, 3], reference=0, pressure=[], same_cache=None, llc_bytes=None)


def threads_of(command: str) -> dict[str, Treatment]:
    parameters = DiagnoseParameters(
        command=command, only=("threads",), variants=(Variant("own", "./b -t {threads}"),)
    )
    return {one.name: one for one in variants(parameters, PLACES, system())[0]}


def test_every_place_is_filled() -> None:
    assert with_threads(["a", "-t{threads}", "{threads},{threads}"], 3) == ["a", "-t3", "3,3"]
    assert with_threads(["a", "{thread}"], 3) == ["a", "{thread}"]
    assert takes_threads(["a", "x{threads}"])
    assert not takes_threads(["a"])


def test_a_command_with_a_place_gets_its_numbers_there_and_nowhere_else() -> None:
    found = threads_of("./a --threads={threads} in")
    assert found["2 threads"].words == ["./a", "--threads=2", "in"]
    assert found["1 thread"].words == ["./a", "--threads=1", "in"]
    assert found["1 thread"].environment == {}
    assert found["1 thread"].change == "{threads} = 1"
    assert found["own"].words == ["./b", "-t", "4"]


def test_a_command_without_a_place_gets_them_in_its_environment() -> None:
    found = threads_of("./a in")
    assert found["2 threads"].words is None
    assert found["2 threads"].environment == dict.fromkeys(THREAD_VARIABLES, "2")


def test_fewer_cpus_have_fewer_threads_in_the_command() -> None:
    compact = Treatment(name="compact CPUs", kind="variant", cpus=[2, 3])
    assert _on_its_cpus(compact, ["./a", "{threads}"]).words == ["./a", "2"]
    assert _on_its_cpus(compact, ["./a"]).words is None
    elsewhere = Treatment(name="local memory", kind="variant")
    assert _on_its_cpus(elsewhere, ["./a", "{threads}"]).words is None
