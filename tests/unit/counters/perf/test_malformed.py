"""Malformed trees: each oddity is named in the list, beside the event and in the run's notes."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.counters_trees.machines import MACHINES
from tests.counters_trees.sysfs import Tree

from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.resolve import resolve
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.runner.partial import LEFT_OUT, partial_warnings

pytestmark = pytest.mark.native

Change = Callable[[Tree], None]
ONE = {"broadwell": "uncore_imc_2", "zen5": "amd_umc_2", "power9": "nest_mba2_imc",
       "grace": "nvidia_scf_pmu_1"}  # fmt: skip
COUNTED = {
    "broadwell": "3 of 4 controllers counted: ",
    "zen5": "23 of 24 controllers counted: ",
    "power9": "7 of 8 controllers counted: ",
    "grace": "1 of 2 controllers counted: ",
}

LOST = "3 of 4 controllers counted: uncore_imc_2 is left out"


def put(file: str, text: str, pmu: str = "uncore_imc_2") -> Change:
    def change(tree: Tree) -> None:
        (tree.device(pmu) / file).write_text(f"{text}\n")

    return change


def gone(file: str, pmu: str = "uncore_imc_2") -> Change:
    def change(tree: Tree) -> None:
        path = tree.device(pmu) / file
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    return change


def unreadable(file: str) -> Change:
    def change(tree: Tree) -> None:
        path = tree.device("uncore_imc_2") / file
        path.unlink()
        os.mkfifo(path)

    return change


def padded(tree: Tree) -> None:
    shutil.copytree(tree.device("uncore_imc_2"), tree.device("uncore_imc_02"))
    put("type", "77", "uncore_imc_02")(tree)


def on_one_socket(tree: Tree) -> None:
    for number in range(4):
        put("cpumask", "0", f"uncore_imc_{number}")(tree)


def notes_everywhere(tree: Tree) -> list[str]:
    """The notes of the first event, which the list and the event's own explanation have too."""
    back_end = PerfBackEnd(tree.host)
    known = Catalogue(tree.host).known[0]
    listed = back_end.notes()
    assert all(note in listed for note in known.notes)
    assert all(note in known.event.pitfalls for note in known.notes)
    return known.notes


@pytest.mark.parametrize("machine", ONE)
def test_a_sound_tree_has_no_notes(machine: str, tmp_path: Path) -> None:
    tree = MACHINES[machine](tmp_path)
    assert notes_everywhere(tree) == []
    assert Catalogue(tree.host).known[0].partial is None


@pytest.mark.parametrize("machine", ONE)
@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("type", None, "its type cannot be read"),
        ("type", "abc", "its type 'abc' is not a number from 0 to 2147483647"),
        ("type", "-1", "its type '-1' is not a number"),
        ("type", "99999999999", "its type '99999999999' is not a number"),
        ("type", "", "its type '' is not a number"),
        ("cpumask", "", "its cpumask is empty"),
        ("cpumask", "x", "its cpumask 'x' is not a list of CPUs"),
        ("cpumask", "0,0", "its cpumask '0,0' is not a list of CPUs"),
        ("cpumask", "999999", "its cpumask '999999' is not a list of CPUs"),
        ("cpumask", "4095", "its cpumask names only CPUs that are not online (4095)"),
        ("cpumask", None, "it has no cpumask, which others of its kind have"),
    ],
)
def test_a_controller_left_out_is_counted_and_named(
    machine: str, file: str, text: str | None, why: str, tmp_path: Path
) -> None:
    tree, pmu = MACHINES[machine](tmp_path), ONE[machine]
    (gone(file, pmu) if text is None else put(file, text, pmu))(tree)
    note = notes_everywhere(tree)[0]
    assert note.startswith(f"{COUNTED[machine]}{pmu} is left out, {why}")
    assert "the sum lacks its traffic: look for the PMU in the kernel log" in note
    lacks = Catalogue(tree.host).known[0].partial
    assert lacks is not None
    assert lacks.text == note
    assert note.startswith(f"{lacks.counted} of {lacks.listed} controllers counted: ")
    assert [*lacks.left_out] == [pmu]
    assert lacks.left_out[pmu].startswith(why)
    assert all(place.pmu != pmu for place in Catalogue(tree.host).known[0].places)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put("type", "21"), f"{LOST}, its type 21 is that of uncore_imc_1 too"),
        (unreadable("type"), f"{LOST}, its type cannot be read"),
        (unreadable("cpumask"), f"{LOST}, its cpumask cannot be read"),
        (gone("format"), f"{LOST}, perf:uncore_imc_2/event=0x4,umask=0x3/: has no field"),
        (put("events/cas_count_read", "event=4,umaks=3"), "has no field or event 'umaks'"),
        (put("events/cas_count_read", "event=0x1000"), "does not fit its 8 bits"),
        (put("events/cas_count_read", ""), "uncore_imc_2: event cas_count_read cannot be read"),
        (gone("events"), "uncore_imc_2: publishes no usable cas_count_read, as others"),
        (put("events/cas_count_read.scale", "abc"), "uncore_imc_2: the scale of event cas_count"),
        (unreadable("events/cas_count_read.scale"), "uncore_imc_2: the scale of event cas_count"),
        (unreadable("events/cas_count_read.unit"), "uncore_imc_2: the unit of event cas_count"),
        (put("events/cas_count_read.scale", "1e-4"), "uncore_imc_2: the kernel's scale is 104.858"),
        (put("events/cas_count_read.unit", "Furlong"), "uncore_imc_2: the kernel's unit 'furlong'"),
        (put("cpumask", "0"), "uncore_imc_2: its cpumask names 0 only, where most of its"),
        (put("cpumask", "0,4095"), "uncore_imc_2: its cpumask names CPU 4095, which is not online"),
        (gone(""), "no uncore_imc PMU of number 2 is listed, though higher numbers are"),
        (padded, "uncore_imc_2 has the number of uncore_imc_02"),
        (on_one_socket, "no uncore_imc PMU counts on socket 1"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named(change: Change, said: str, tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    change(tree)
    assert any(said in note for note in notes_everywhere(tree))


def test_a_gap_in_the_numbers_states_no_count(tmp_path: Path) -> None:
    """How many controllers the machine has beyond those listed cannot be told."""
    tree = MACHINES["broadwell"](tmp_path)
    gone("")(tree)
    assert not any("controllers counted" in note for note in notes_everywhere(tree))


def test_a_socket_without_its_only_pmu_is_named(tmp_path: Path) -> None:
    tree = MACHINES["grace"](tmp_path)
    gone("", "nvidia_scf_pmu_1")(tree)
    notes = notes_everywhere(tree)
    assert [note.partition(":")[0] for note in notes] == [
        "no nvidia_scf_pmu PMU counts on socket 1"
    ]


@pytest.mark.parametrize(
    "change",
    [put("events/cas_count_read.unit", "Furlong"), unreadable("events/cas_count_read.unit")],
)
def test_a_scale_in_an_unknown_unit_is_not_used(change: Change, tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    change(tree)
    places = Catalogue(tree.host).known[0].places
    assert {place.worth.scale for place in places} == {64.0}


def test_pmus_none_of_which_can_be_used_are_not_called_absent(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    for number in range(4):
        put("type", "", f"uncore_imc_{number}")(tree)
    back_end = PerfBackEnd(tree.host)
    reason = back_end.probe().reason or ""
    assert "is shown" not in reason
    notes = back_end.notes()
    assert [note.partition(" ")[0] for note in notes] == [f"uncore_imc_{n}" for n in range(4)]


def test_an_event_that_no_pmu_can_count_names_the_first_reason(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    for number in range(4):
        put("cpumask", "", f"uncore_imc_{number}")(tree)
    event = Catalogue(tree.host).known[0].event
    assert (event.state, event.reason) == ("refused", "uncore_imc_0: its cpumask is empty")


def test_a_partial_sum_becomes_one_warning_of_the_run(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    put("type", "x")(tree)
    found = Catalogue(tree.host).known[0]
    assert found.partial is not None
    sets = [
        CounterSet(counters=name, slots=0, of=[], notes=found.notes, partial=[found.partial])
        for name in "ab"
    ]
    (warning,) = partial_warnings(sets)
    assert (warning.code, warning.message) == (LEFT_OUT, found.notes[0])


@pytest.mark.parametrize("text", ["uncore_imc/event=0x04,umask=0x03/", "uncore_imc/clockticks/"])
def test_a_raw_sum_names_what_is_left_out(text: str, tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    put("type", "21")(tree)
    put("type", "x", "uncore_imc_3")(tree)
    found = resolve(Catalogue(tree.host), text)
    assert {place.pmu for place in found.places} == {"uncore_imc_0", "uncore_imc_1"}
    for pmu in ("uncore_imc_2", "uncore_imc_3"):
        assert any(f"{pmu} is left out" in note for note in found.notes)
        assert any(f"{pmu} is left out" in one for one in found.event.pitfalls)


def test_a_single_pmu_says_nothing_of_the_others(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    put("type", "x")(tree)
    for text in ("uncore_imc_0/cas_count_read/", "uncore_imc_0/clockticks/"):
        assert resolve(Catalogue(tree.host), text).notes == []
