"""Which CPUs program and generators get, on made-up machines."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import MIB, a_machine

from memgauge.experiments.diagnose import host
from memgauge.experiments.diagnose.host import Diagnose
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.places import places, places_beside
from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.parameters import build
from memgauge.model.points.diagnose import PROGRAM, DiagnoseActual, DiagnoseRequested
from memgauge.model.system import System


def asked(**given: str) -> DiagnoseParameters:
    return build(DiagnoseParameters, **{"command": "true", **given})


@pytest.mark.parametrize(
    ("machine", "program", "pressure"),
    [
        (a_machine(2), [0], [1]),
        (a_machine(5), [0, 1, 2], [3, 4]),
        (a_machine(4, threads_per_core=2), [0, 4, 1, 5], [2, 3]),
        (a_machine(2, sockets=2), [0, 2], [1, 3]),
        (a_machine(1, sockets=2), [0], [1]),
        (a_machine(8, allowed=[2, 3, 6]), [2, 3], [6]),
        (a_machine(1), [0], []),
    ],
)
def test_each_side_gets_half_of_the_cores_of_each_cache(
    machine: System, program: list[int], pressure: list[int]
) -> None:
    found = places(asked(), machine)
    assert (found.program, found.pressure) == (program, pressure)
    assert found.llc_bytes == 32 * MIB


def test_no_core_serves_both() -> None:
    machine = a_machine(6, threads_per_core=2, sockets=2)
    core = {cpu.cpu: cpu.core for cpu in machine.cpus}
    for given in ({}, {"program_cpus": "0"}, {"pressure_cpus": "3,9"}):
        found = places(asked(**given), machine)
        assert not {core[cpu] for cpu in found.program} & {core[cpu] for cpu in found.pressure}


def test_generators_are_beside_the_program_where_there_is_room() -> None:
    machine = a_machine(4, sockets=2)
    found = places(asked(program_cpus="4"), machine)
    assert found.pressure == [5, 6, 7]
    assert found.same_cache
    far = places(asked(program_cpus="0-3"), machine)
    assert far.pressure == [4, 5, 6, 7]
    assert far.same_cache is False


def test_what_is_not_allowed_is_refused() -> None:
    with pytest.raises(RequestError, match="--program-cpus: CPU 7 is not one"):
        places(asked(program_cpus="7"), a_machine(4))
    with pytest.raises(RequestError, match="leaves no CPU"):
        places(asked(pressure_cpus="0,1"), a_machine(2))


def test_caches_that_are_hidden_are_unknown() -> None:
    found = places(asked(), msgspec.structs.replace(a_machine(4), caches=[]))
    assert (found.llc_bytes, found.same_cache) == (None, None)
    assert found.program == [0, 1]
    assert found.pressure == [2, 3]


def test_every_treatment_has_a_baseline_in_the_plan() -> None:
    (group,) = Diagnose().plan(asked(**{"try": "other=false"}), a_machine(8))
    requested = [DiagnoseRequested.of(point.requested) for point in group.points]
    names = {one.treatment for one in requested}
    assert {one.baseline for one in requested if one.baseline} == {"compute", "as it is"}
    assert names >= {"compute", "write", "cache", "read", "other", "1 thread", "2 threads"}
    leaders = {point.point for point in group.leaders}
    assert all(point.measured_with in {None, *leaders} for point in group.points)


@pytest.mark.parametrize("generators", [1, 4])
def test_the_plan_states_the_memory_of_generators_and_references(generators: int) -> None:
    (group,) = Diagnose().plan(asked(only="interference"), a_machine(2 * generators))
    pressures = [one.pressure for one in group.treatments if one.pressure]
    each = {one.bytes for one in pressures}
    ring, scattered, cached, arrays = 256 * MIB, 128 * MIB, 16 * MIB, 256 * MIB
    assert group.bytes == 2 * sum(each) * generators + ring + scattered + cached + arrays
    (group,) = Diagnose().plan(asked(only="pages"), a_machine(2 * generators))
    assert group.bytes == 0


def test_without_a_free_cpu_only_variants_are_compared() -> None:
    (group,) = Diagnose().plan(asked(), a_machine(1))
    assert {one.kind for one in group.treatments} == {"variant"}
    with pytest.raises(NotPossibleHere, match="no CPU is left"):
        Diagnose().plan(asked(only="interference"), a_machine(1))
    with pytest.raises(RequestError, match="no command"):
        Diagnose().plan(asked(command=""), a_machine(4))


def test_a_placement_is_recorded_with_its_cpus_and_nodes() -> None:
    (group,) = Diagnose().plan(asked(only="placement"), a_machine(4, sockets=2))
    points = {str(point.requested["treatment"]): point for point in group.points}
    assert DiagnoseActual.of(points["as it is"].actual).cpus == "0-1,4-5"
    assert DiagnoseActual.of(points["one cache complex"].actual).cpus == "0-1"
    if "local memory" in points:  # else memory policies are not permitted here
        assert DiagnoseRequested.of(points["local memory"].requested).nodes_wanted == "0-1"
    assert {"interference", "hardware prefetch off"} <= {one.name for one in group.not_tried}


def test_a_placement_that_is_not_possible_is_refused_with_all_reasons() -> None:
    with pytest.raises(NotPossibleHere, match="other CPUs: the program has one CPU; local"):
        Diagnose().plan(asked(only="placement", program_cpus="0"), a_machine(2))


@pytest.mark.parametrize(
    ("machine", "process", "pressure", "reference", "command"),
    [
        # One core is left to see the pressure and to run the command, where there are several.
        (a_machine(2), [0], [1], 0, [0]),
        (a_machine(4), [1], [0, 2], 3, [3]),
        (a_machine(4, threads_per_core=2), [1], [0, 2], 3, [3, 7]),
        # It may use all: generators get half, and may share CPUs with it.
        (a_machine(2), [0, 1], [1], 0, [0]),
        (a_machine(4), [0, 1, 2, 3], [2, 3], 0, [0, 1]),
        # Pressure beside its cache, and the references nowhere else.
        (a_machine(4, sockets=2), [4, 5], [6], 7, [0, 1, 2, 3, 7]),
        (a_machine(2, sockets=2), [2, 3], [0, 1], 2, [2, 3]),
        # CPUs of the machine that memgauge may not use itself.
        (a_machine(8, allowed=[4, 5, 6]), [0, 1], [4, 5], 6, [6]),
    ],
)
def test_pressure_goes_where_the_process_may_not(
    machine: System, process: list[int], pressure: list[int], reference: int, command: list[int]
) -> None:
    found = places_beside(process, asked(), machine)
    assert (found.program, found.pressure) == (process, pressure)
    assert (found.reference, found.command) == (reference, command)


def test_pressure_on_cpus_that_were_named_leaves_the_others() -> None:
    found = places_beside([0, 1, 2, 3], asked(pressure_cpus="1,3"), a_machine(4))
    assert (found.pressure, found.reference, found.command) == ([1, 3], 0, [0, 2])
    assert found.same_cache
    far = places_beside([0], asked(pressure_cpus="4"), a_machine(4, sockets=2))
    assert (far.same_cache, far.reference) == (False, 1)


@pytest.mark.parametrize(
    ("machine", "process", "given"),
    [
        (a_machine(1), [0], {}),
        (a_machine(2), [0, 1], {"pressure_cpus": "0,1"}),
        # The cache of the process is out of reach, so that pressure there cannot be seen.
        (a_machine(2, sockets=2, allowed=[0, 1]), [2], {}),
    ],
)
def test_a_process_without_cpus_beside_it_is_refused(
    machine: System, process: list[int], given: dict[str, str]
) -> None:
    with pytest.raises(NotPossibleHere, match="no CPU is left beside the process"):
        places_beside(process, asked(**given), machine)


READ = {"command": "", "pid": "7", "metric_command": "echo 1", "metric_better": "more"}


def test_a_process_is_planned_under_pressure_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "described", lambda pid: (f"server-{pid}", [0, 1]))
    (group,) = Diagnose().plan(asked(**READ), a_machine(8))
    assert group.name == "server-7"
    assert {one.kind for one in group.treatments} == {"pressure"}
    reasons = {one.name: one.reason for one in group.not_tried}
    assert "process 7 runs already" in reasons["pages"]
    assert {"threads", "placement", "traffic"} <= reasons.keys()
    requested = [DiagnoseRequested.of(point.requested) for point in group.points]
    actual = [DiagnoseActual.of(point.actual) for point in group.points]
    assert {one.metric_better for one in requested} == {"more"}
    assert {(one.pid, one.process) for one in actual} == {(7, "server-7")}
    cpus = {one.subject == PROGRAM: fact.cpus for one, fact in zip(requested, actual, strict=True)}
    assert cpus == {True: "0-1", False: "7"}
    assert not list(Diagnose().simulate(group.points, asked(**READ), a_machine(8)))
    with pytest.raises(RequestError, match="a command and --pid were given"):
        Diagnose().plan(asked(**READ | {"command": "true"}), a_machine(8))
