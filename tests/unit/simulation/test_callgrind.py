"""What callgrind writes, read."""

from pathlib import Path

from memgauge.machines import library
from memgauge.simulation.callgrind import _options, totals_of
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
