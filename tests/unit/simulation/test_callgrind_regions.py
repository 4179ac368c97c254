"""What each region moves, from dumps that callgrind makes at marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgauge.model.simulated_program import TrafficPlace
from memgauge.model.storage.marks import Mark
from memgauge.simulation.callgrind_regions import by_region_of, inside_parts, parts_of

PID = 7
EVENTS = "events: Ir DLmr DLmw ILmr ILdmr DLdmr DLdmw\n"


def mark(kind: str, name: str = "solve", tid: int = 7) -> Mark:
    return Mark(begins=kind == "b", stamp_ns=0, pid=PID, tid=tid, cpu_ns=None, name=name)


def dump(
    place: Path, number: int | None, kind: str, lines: tuple[int, int], command: str = "a"
) -> None:
    """A part in which a function read and wrote so many lines, up to a mark of this kind."""
    name = {"b": "memgauge_region_begin", "e": "memgauge_region_end_", "": ""}[kind]
    trigger = f"--dump-before={name}" if name else "Program termination"
    costs = f"9 {lines[0]} 0 0 0 0 {lines[1]}"
    text = f"cmd: {command}\ndesc: Trigger: {trigger}\n{EVENTS}fn=(1) f\n1 {costs}\n"
    text += f"calls=1 0\n1 99 99 99 99 99 99 99\ntotals: {costs}\n"
    file = f"out.{PID}" if number is None else f"out.{PID}.{number}"
    (place / file).write_text(text, encoding="ascii")


def marks(place: Path, *lines: str) -> Path:
    file = place / "out.-"
    text = "".join(f"{kind} 5 {PID} 7 0 {name}\n" for kind, name in map(str.split, lines))
    file.write_text(text, encoding="ascii")
    return file


def test_a_region_has_what_lies_between_its_marks(tmp_path: Path) -> None:
    """Eleven parts, of which number 10 comes after number 9."""
    order = ["b", "e"] * 5
    for at, kind in enumerate(order, start=1):
        dump(tmp_path, at, kind, (at, 100 * at))
    dump(tmp_path, None, "", (1000, 0))
    names = ["solve", "scan", "solve", "solve", "scan"]
    file = marks(tmp_path, *(f"{kind} {names[at // 2]}" for at, kind in enumerate(order)))
    parts = parts_of(tmp_path, PID)
    assert [one.begins for one in parts] == [*(kind == "b" for kind in order), None]
    found = by_region_of({PID: parts}, file, "function", 64)
    assert found.why_not is None
    solve, scan = found.regions
    assert (solve.name, scan.name) == ("solve", "scan")
    assert (solve.read_bytes, solve.write_bytes) == (64 * (2 + 6 + 8), 6400 * (2 + 6 + 8))
    assert (scan.read_bytes, scan.write_bytes) == (64 * (4 + 10), 6400 * (4 + 10))
    assert solve.places == [
        TrafficPlace(
            function="f", object=None, file=None, line=None,
            read_bytes=solve.read_bytes, write_bytes=solve.write_bytes,
        )
    ]  # fmt: skip
    assert by_region_of({PID: parts}, file, None, 64).regions[0].places == []


def test_parts_of_a_program_that_was_replaced_are_left_out(tmp_path: Path) -> None:
    dump(tmp_path, 1, "b", (5, 0), command="before exec")
    dump(tmp_path, 2, "b", (6, 0))
    dump(tmp_path, None, "", (7, 0))
    assert [one.path.name for one in parts_of(tmp_path, PID)] == ["out.7.2", "out.7"]


def test_nested_and_overlapping_regions_both_have_what_lies_in_both() -> None:
    order = [mark("b", "a"), mark("b", "b"), mark("e", "a"), mark("e", "b")]
    begins = [one.begins for one in order]
    assert inside_parts(order, begins) == [[], ["a"], ["a", "b"], ["b"], []]


def test_a_region_that_two_threads_are_inside_of_is_open_until_both_have_left() -> None:
    order = [mark("b"), mark("b", tid=8), mark("e"), mark("e", tid=8)]
    inside = inside_parts(order, [True, True, False, False])
    assert inside == [[], ["solve"], ["solve"], ["solve"], []]


@pytest.mark.parametrize(
    ("order", "begins", "why"),
    [
        ([mark("b"), mark("e")], [], "valgrind sees no call that makes its marks"),
        ([mark("b")], [True, False], "it wrote 1 marks, and valgrind saw 2 calls"),
        ([mark("b"), mark("e")], [False, True], "or in another order"),
        ([mark("e")], [False], "region solve ends more often than it begins"),
    ],
)
def test_what_does_not_fit_together_is_not_told(
    order: list[Mark], begins: list[bool], why: str
) -> None:
    found = inside_parts(order, begins)
    assert isinstance(found, str)
    assert why in found


def test_marks_of_a_forked_process_and_torn_ones_are_not_told(tmp_path: Path) -> None:
    dump(tmp_path, None, "", (1, 1))
    parts = parts_of(tmp_path, PID)
    file = tmp_path / "out.-"
    file.write_bytes(b"")
    assert by_region_of({PID: parts}, file, None, 64) == by_region_of({}, file, None, 64)
    file.write_bytes(b"b 5 8 8 0 solve\n")
    assert by_region_of({PID: parts}, file, None, 64).why_not == (
        "a process marks regions that forked without starting a program"
    )
    file.write_bytes(b"b 5 7")
    assert by_region_of({PID: parts}, file, None, 64).why_not == "its marks are incomplete"
