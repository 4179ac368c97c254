"""What callgrind says through one FIFO: which processes started programs, however it is cut."""

from pathlib import Path

import pytest

from memgauge.model.errors import SystemFailure
from memgauge.simulation.remarks import Remarks, remarks

START = b"==%d== For interactive control, run 'callgrind_control -h'.\n"
FORKED = b"==3== Events    : Ir Dr Dw\n"


def test_programs_are_counted_by_process_and_one_that_forked_started_none(tmp_path: Path) -> None:
    with remarks(tmp_path / "log") as said:
        (tmp_path / "log").write_bytes(START % 1 + START % 2 + FORKED + START % 1 + b"==1== \n")
    assert dict(said.starts) == {1: 2, 2: 1}
    assert said.last == "==1== For interactive control, run 'callgrind_control -h'."


@pytest.mark.parametrize("length", [1, 7, 64])
def test_lines_that_come_in_pieces_are_put_together(tmp_path: Path, length: int) -> None:
    said = Remarks(tmp_path / "log")
    text = START % 12 + FORKED + START % 7
    for at in range(0, len(text), length):
        said.take(text[at : at + length])
    said.stop()
    assert dict(said.starts) == {12: 1, 7: 1}


def test_a_command_that_names_what_marks_a_start_is_none(tmp_path: Path) -> None:
    said = Remarks(tmp_path / "log")
    said.take(b"==1== Command: echo For interactive control, run 'callgrind_control -h'.\n")
    said.stop()
    assert not said.starts


def test_more_than_a_pipe_holds_is_read_while_it_is_written(tmp_path: Path) -> None:
    with remarks(tmp_path / "log") as said:
        for pid in range(1, 4000):
            (tmp_path / "log").write_bytes(START % pid)
    assert said.starts.total() == 3999


def test_a_fifo_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        SystemFailure, match="log: cannot be created: No such file or directory; set"
    ):
        Remarks(tmp_path / "none" / "log")
    assert not list(tmp_path.iterdir())
