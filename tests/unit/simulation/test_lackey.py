"""Lines of lackey's as records for the cache model, however they come through the pipe."""

import os
import threading

from memgauge.simulation.lackey import _whole_lines, records_of

STORE = 1 << 32
LINES = b"I  0401ab70,3\n S 1fff000698,8\n L 04222a,4\n M 1000,2\n==12== remark\nI  0401ab73,5\n"


def test_accesses_of_data_become_records_and_nothing_else_does() -> None:
    assert list(records_of(LINES)) == [
        *(0x1FFF000698, 8 | STORE),
        *(0x4222A, 4),
        *(0x1000, 2, 0x1000, 2 | STORE),
    ]


def test_what_only_looks_like_an_access_is_none() -> None:
    assert not records_of(b"x L 1000,8\n L 1000,8 x\n L xyz,8\nL 1000,8\n")


def test_lines_that_come_in_pieces_are_put_together() -> None:
    reading, writing = os.pipe()

    def write() -> None:
        for at in range(0, len(LINES), 7):
            os.write(writing, LINES[at : at + 7])
        os.close(writing)

    thread = threading.Thread(target=write)
    thread.start()
    found = list(_whole_lines(reading, lambda: False))
    thread.join()
    os.close(reading)
    assert b"".join(found) == LINES
    assert all(text.endswith(b"\n") for text in found)


def test_a_pipe_that_somebody_keeps_open_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    os.write(writing, b" L 10,8\n L 20")
    assert list(_whole_lines(reading, lambda: True)) == [b" L 10,8\n", b" L 20"]
    os.close(writing)
    os.close(reading)
