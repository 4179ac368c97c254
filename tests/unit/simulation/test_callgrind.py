"""What callgrind writes, read."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memgauge.machines import library
from memgauge.simulation.callgrind import _options, totals_of
from memgauge.simulation.callgrind_places import (
    MOST_PLACES,
    Lines,
    Place,
    lines_by_place,
    places_of,
)
from memgauge.simulation.two_levels import two_levels

HEAD = "# callgrind format\nversion: 1\npid: 7\npositions: line\nevents: Ir Dr Dw DLdmw\n"


def test_totals_are_by_event() -> None:
    assert totals_of(f"{HEAD}summary: 9 9 9 9\nfn=(1) main\n5 1 2\ntotals: 10 4 3 2\n") == {
        "Ir": 10,
        "Dr": 4,
        "Dw": 3,
        "DLdmw": 2,
    }


def test_zeros_at_the_end_may_be_left_out() -> None:
    assert totals_of(f"{HEAD}totals: 10 4\n") == {"Ir": 10, "Dr": 4, "Dw": 0, "DLdmw": 0}


def test_a_file_that_was_not_finished_has_none() -> None:
    assert totals_of(HEAD) is None
    assert totals_of("") is None
    assert totals_of(f"{HEAD}totals: 10 4 3") is None


def test_a_directory_of_any_name_is_meant_literally() -> None:
    caches = two_levels(library.load("xeon-gold-6130"))
    options = _options(caches, Path("/place/100%p of %q{HOME}"))
    assert "--log-file=/place/100%%p of %%q{HOME}/log" in options
    assert "--callgrind-out-file=/place/100%%p of %%q{HOME}/out.%p" in options


PLACES = """\
events: Ir DLmr DLmw ILmr DLdmr

ob=(1) /bin/work
fl=(1) work.c
fn=(1) main
10 5 2 0 1
12 9
cob=(2) /lib/libc.so
cfi=(2) ???
cfn=(2) memset
calls=3 0
12 900 70 70 70 70
fi=(3) inlined.h
4 1 1
fe=(1)
13 1 0 4 0 2

fn=(3) other
10 1 8

ob=(2)
fl=(2)
fn=(2)
0 7 1 1

totals: 24 12 5 1 2
"""


def by(kind: str, text: str = PLACES) -> Lines:
    return lines_by_place(text.splitlines(), "line" if kind == "line" else "function")


def test_costs_are_of_the_function_that_they_stand_in_without_what_it_called() -> None:
    assert by("function") == {
        Place("/bin/work", "main", "work.c", 0): (8, 2),
        Place("/bin/work", "other", "work.c", 0): (8, 0),
        Place("/lib/libc.so", "memset", "???", 0): (2, 0),
    }


def test_an_inlined_line_is_of_its_own_file() -> None:
    assert by("line") == {
        Place("/bin/work", "main", "work.c", 10): (3, 0),
        Place("/bin/work", "main", "inlined.h", 4): (1, 0),
        Place("/bin/work", "main", "work.c", 13): (4, 2),
        Place("/bin/work", "other", "work.c", 10): (8, 0),
        Place("/lib/libc.so", "memset", "???", 0): (2, 0),
    }


def test_places_of_several_processes_are_added_up_and_the_largest_come_first() -> None:
    found = places_of([by("line"), by("line")], 64)
    first, last = found.kept[0], found.kept[-1]
    assert (first.function, first.line, first.read_bytes) == ("other", 10, 2 * 8 * 64)
    assert (last.file, last.line, last.read_bytes) == ("inlined.h", 4, 2 * 64)
    assert found.without_line_bytes == 2 * 2 * 64
    (unknown,) = [one for one in found.kept if one.function == "memset"]
    assert (unknown.file, unknown.line, unknown.object) == (None, None, "/lib/libc.so")


def test_more_places_than_are_kept_are_counted() -> None:
    every = {Place("a", f"f{at}", "c", 0): (at + 1, 0) for at in range(MOST_PLACES + 3)}
    found = places_of([every], 64)
    assert (len(found.kept), found.left_out) == (MOST_PLACES, 3)
    assert min(one.read_bytes for one in found.kept) == 4 * 64


LINES = st.sampled_from(
    [
        "events: Ir DLmr",
        "fn=(1) a",
        "fn=(1)",
        "fl=(1",
        "ob=",
        "calls=1",
        "1 2 3",
        "+1 2",
        "x",
        "=",
        "",
    ]
)


@given(st.lists(LINES | st.text(max_size=12)))
def test_any_text_gives_places_or_none(lines: list[str]) -> None:
    for place, (read, written) in lines_by_place(lines, "line").items():
        assert read + written > 0
        assert place.line >= 0
