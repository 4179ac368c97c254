"""What is simulated of a machine, and where a part stands for all of it."""

from __future__ import annotations

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.traffic.machines import machines_of, part_of, sockets_of
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.model.cache_machine import CacheLevel, CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.parameters import build

KIB = 1 << 10


def machine(*shared: int, name: str = "m", borrows: bool = False, cores: int = 24) -> CacheMachine:
    """Levels that so many cores share; 0: all."""
    return CacheMachine(
        name=name,
        title=name,
        source="a test",
        levels=[
            CacheLevel(
                name=f"L{at + 1}",
                bytes=32 * KIB << at,
                ways=8,
                cores=count,
                borrows_idle=borrows and at == len(shared) - 1,
            )
            for at, count in enumerate(shared)
        ],
        machine_cores=cores,
    )


@pytest.mark.parametrize(
    ("shared", "threads", "unit", "times"),
    [
        ((1, 1), 1, 1, 1),
        ((1, 1), 24, 1, 24),
        ((1, 2), 24, 2, 12),
        ((1, 2, 6), 24, 6, 4),
        ((1, 2, 3), 12, 6, 2),
        ((1, 2), 3, 3, 1),
        ((1, 1, 0), 24, 24, 1),
        ((1, 8), 4, 4, 1),
    ],
)
def test_the_smallest_part_that_shares_nothing_is_simulated(
    shared: tuple[int, ...], threads: int, unit: int, times: int
) -> None:
    found = part_of(machine(*shared), [threads])
    assert (found.unit.cores, found.times) == (unit, times)
    assert found.machine.cores == threads
    assert found.machine.idle_cores == 24 - threads


def test_cores_that_borrow_are_not_told_apart() -> None:
    lent = machine(1, 2, borrows=True)
    some = part_of(lent, [4])
    assert (some.unit.cores, some.unit.idle_cores, some.times) == (4, 20, 1)
    busy = part_of(lent, [24])
    assert (busy.unit.cores, busy.unit.idle_cores, busy.times) == (2, 0, 12)


def test_of_two_sockets_of_this_machine_one_is_simulated() -> None:
    here = machine(1, 0, name="this")
    found = part_of(here, [8, 8])
    assert (found.machine.cores, found.unit.cores, found.times) == (8, 8, 2)
    with pytest.raises(RequestError, match="machine this: 8 and 7 threads on its sockets cannot"):
        part_of(here, [8, 7])


def test_sockets_of_this_machine_are_one_of_another() -> None:
    assert part_of(machine(1, 0), [8, 8]).unit.cores == 16
    with pytest.raises(RequestError, match="machine m: has 24 cores, not 32; use fewer threads"):
        part_of(machine(1, 0), [16, 16])


def test_threads_are_counted_by_socket() -> None:
    system = a_machine(4, sockets=2)
    assert sockets_of([0, 1, 2], system) == [3]
    assert sockets_of([0, 4, 1, 5], system) == [2, 2]


def test_an_unknown_machine_is_refused_with_the_nearest() -> None:
    requested = build(TrafficParameters, machine="this,power8-5mb")
    with pytest.raises(RequestError, match="did you mean power9-5mb"):
        machines_of(requested, a_machine(2))


def test_a_machine_that_hides_its_caches_is_measured_all_the_same() -> None:
    hidden = msgspec.structs.replace(a_machine(2), caches=[])
    found = machines_of(build(TrafficParameters, machine="this,power9-5mb"), hidden)
    assert found.names == "power9-5mb"
    assert found.missing is not None
    assert "shows no caches" in found.missing
    with pytest.raises(RequestError, match="shows no caches"):
        machines_of(build(TrafficParameters, machine="this", simulate_only=True), hidden)
