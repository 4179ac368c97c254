"""A program that chooses its CPUs: where pressure is left, and what is not tried any more."""

from __future__ import annotations

import pytest

pytest.importorskip("memgauge._core")

from msgspec.structs import replace
from tests.unit.experiments.machines import a_machine

from memgauge.experiments.diagnose.host import Diagnose, DiagnoseGroup
from memgauge.experiments.diagnose.own_cpus import chosen, on_left, places_left
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.treatments import pressures
from memgauge.model.parameters import build


def planned(only: str = "interference", steps: int = 0) -> DiagnoseGroup:
    asked = build(DiagnoseParameters, command="true", only=only, pressure_steps=str(steps))
    (group,) = Diagnose().plan(asked, a_machine(8, threads_per_core=2))
    assert group.places.program == [0, 8, 1, 9, 2, 10, 3, 11]
    assert group.places.pressure == [4, 5, 6, 7]
    return group


@pytest.mark.parametrize("seen", [[], [0], [0, 1, 2, 3, 8, 9, 10, 11]])
def test_a_program_that_stays_where_it_was_put_changes_nothing(seen: list[int]) -> None:
    group = planned("interference,placement")
    left = places_left(group.places, seen, group.core_of)
    assert left == group.places
    assert on_left(group.treatments, group.places, left, 0) == (group.treatments, [])


def test_generators_leave_the_cores_of_ranks() -> None:
    group = planned(steps=1)
    left = places_left(group.places, [0, 8, 5, 14], group.core_of)
    assert chosen(group.places, left.program) == [5, 14]
    assert left.pressure == [4, 7]  # CPU 14 is a thread of core 6
    assert (left.program, left.reference, left.same_cache) == ([0, 5, 8, 14], 5, None)
    kept, not_tried = on_left(group.treatments, group.places, left, 1)
    assert [one.name for one in kept] == [one.name for one in group.treatments]
    by_name = {one.name: one.pressure for one in kept}
    for one in pressures(left):  # fewer generators have larger arrays each
        assert by_name[one.name] == one.pressure
    assert not_tried == []


def test_cpu_placements_would_not_reach_ranks() -> None:
    group = planned("placement")
    left = places_left(group.places, [5], group.core_of)
    kept, not_tried = on_left(group.treatments, group.places, left, 0)
    assert {one.name for one in kept} == {"as it is", "as it is again"}
    assert [(one.name, one.reason) for one in not_tried] == [
        ("other CPUs", "the program runs on CPUs 5 of its own choice, as ranks of a launcher do")
    ]


def test_without_a_free_core_there_is_no_pressure() -> None:
    group = planned("interference,pages")
    left = places_left(group.places, range(16), group.core_of)
    kept, (why,) = on_left(group.treatments, group.places, left, 0)
    assert {one.kind for one in kept} <= {"variant"}
    assert why.name == "interference"
    assert why.reason == (
        "the program runs on CPUs 0-15 of its own choice, which leaves none for pressure; bind it "
        "to fewer, or name others with --pressure-cpus"
    )


def test_a_cpu_that_the_machine_does_not_show_is_no_core_of_others() -> None:
    group = planned()
    places = replace(group.places, pressure=[4])
    assert places_left(places, [99], group.core_of).pressure == [4]
