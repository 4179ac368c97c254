"""Which other CPUs a program is tried on, on made-up machines."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.unit.experiments.machines import a_machine

from memgauge.experiments.diagnose.variants.cpu_placements import cpu_placements, on_all_cpus
from memgauge.model.system import System

TWO_SOCKETS = a_machine(4, threads_per_core=2, sockets=2)
"""CPU n and n + 8 are siblings; 0-3 and 8-11 share a cache."""


def placed(
    program: Sequence[int], machine: System, **environment: str
) -> tuple[dict[str, list[int] | None], dict[str, str]]:
    made, not_tried = cpu_placements(program, machine, environment)
    return {one.name: one.cpus for one in made}, {one.name: one.reason for one in not_tried}


@pytest.mark.parametrize(
    ("program", "machine", "cpus", "reasons"),
    [
        (
            range(16),
            TWO_SOCKETS,
            {
                "one thread a core": [*range(8)],
                "one cache complex": [*range(4), *range(8, 12)],
            },
            {
                "compact CPUs": "the same CPUs as one cache complex",
                "scattered CPUs": "the same CPUs as one thread a core",
            },
        ),
        (
            [0, 1, 8, 9],
            TWO_SOCKETS,
            {"one thread a core": [0, 1], "compact CPUs": [0, 8]},
            {
                "one cache complex": "the program's CPUs share one last-level cache",
                "scattered CPUs": "the same CPUs as one thread a core",
            },
        ),
        (
            [0, 1, 2, 4, 5, 6],
            a_machine(4, sockets=2),
            {"one cache complex": [0, 1, 2], "scattered CPUs": [0, 1, 4]},
            {
                "one thread a core": "the program has one CPU of each core",
                "compact CPUs": "the same CPUs as one cache complex",
            },
        ),
        (
            [0, 1],
            a_machine(1, sockets=2),
            {"one cache complex": [0]},
            {
                "one thread a core": "the program has one CPU of each core",
                "compact CPUs": "needs 4 CPUs, and the program has 2",
                "scattered CPUs": "needs 4 CPUs, and the program has 2",
            },
        ),
        ([3], a_machine(4), {}, {"other CPUs": "the program has one CPU"}),
    ],
)
def test_only_sets_that_differ_are_tried_and_the_others_have_a_reason(
    program: Sequence[int],
    machine: System,
    cpus: dict[str, list[int]],
    reasons: dict[str, str],
) -> None:
    assert placed(program, machine) == (cpus, reasons)


def test_every_set_lies_within_the_programs_cpus_and_is_stated() -> None:
    program = [1, 2, 5, 9, 10, 13]
    made, _ = cpu_placements(program, TWO_SOCKETS, {})
    assert made
    for one in made:
        assert one.cpus is not None
        assert set(one.cpus) < set(program)
        assert one.change.startswith(f"on {len(one.cpus)} CPUs: ")


def test_hidden_caches_make_no_complex() -> None:
    _, reasons = placed(range(4), msgspec.structs.replace(a_machine(4), caches=[]))
    assert reasons["one cache complex"] == "the system hides caches of the program's CPUs"


def test_numbers_of_threads_are_lowered_and_never_raised() -> None:
    environment = {"OMP_NUM_THREADS": "16", "MKL_NUM_THREADS": "2", "GOMAXPROCS": "4,2"}
    made, _ = cpu_placements(range(16), TWO_SOCKETS, environment)
    (one, *_) = made
    assert one.environment == {"OMP_NUM_THREADS": "8"}
    assert one.change == "on 8 CPUs: 0-7, OMP_NUM_THREADS=8"


def test_all_cpus_are_tried_where_a_diagnosis_takes_some_of_them() -> None:
    (one,) = on_all_cpus([0, 1], [0, 1, 2, 3])
    assert (one.cpus, one.change) == ([0, 1, 2, 3], "on all 4 CPUs, 0-3, as without a diagnosis")
    assert on_all_cpus([0, 1, 2, 3], [0, 1]) == []
