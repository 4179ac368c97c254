"""What callgrind writes, read."""

from pathlib import Path

from memgauge.simulation.callgrind import totals_of

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


def test_a_process_that_forked_is_told_by_its_log(tmp_path: Path) -> None:
    from memgauge.simulation.callgrind import _is_fresh

    (tmp_path / "log.1").write_text("==1== For interactive control, run 'callgrind_control -h'.\n")
    (tmp_path / "log.2").write_text("==2== Command: same\n")
    assert _is_fresh(tmp_path, 1)
    assert not _is_fresh(tmp_path, 2)
    assert not _is_fresh(tmp_path, 3)
