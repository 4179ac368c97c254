"""The live view fits whatever it is shown on, and tells what readings prove."""

import io
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import MS, S, cpu_time, gpu_power, reads

from memgauge.analysis.profile.latest import Latest, Level
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.reports.terminal.live import Live, line_of, lines_of, value_of

SET = CounterSet(counters="fast", slots=3, of=[reads(0), cpu_time(1), gpu_power(2)])


def test_levels_are_rates_between_the_latest_readings() -> None:
    latest = Latest()
    latest.take(SET, 0, 0, [0, 0, 40_000])
    assert [(level.name, level.value) for level in latest.levels()] == [
        ("memory read, socket 0", None),
        ("GPU power, gpu0", 40.0),
        ("CPU use", None),
    ]
    latest.take(SET, S, S, [1000, 500_000_000, 50_000])
    assert [level.value for level in latest.levels()] == [64_000.0, 50.0, 0.5]
    latest.take(SET, S, S, [9999, 9, 9])
    assert [level.value for level in latest.levels()] == [64_000.0, 50.0, 0.5]
    latest.take(SET, 2 * S, 2 * S, [None, 600_000_000, None])
    assert [level.value for level in latest.levels()] == [None, None, pytest.approx(0.1)]


def test_tracks_of_several_sets_are_told_apart() -> None:
    other = CounterSet(counters="slow", slots=2, of=[cpu_time(1)])
    latest = Latest()
    for at in (0, S):
        latest.take(SET, at, at, [0, at, 0])
        latest.take(other, at, at, [0, at // 2])
    by_name = {level.name: level.value for level in latest.levels()}
    assert len(by_name) == 4
    assert {v for n, v in by_name.items() if n.startswith("CPU use")} == {0.5, 1.0}


def test_an_estimate_is_marked() -> None:
    shared = CounterSet(counters="a", slots=3, of=[reads(2, enabled_slot=0, running_slot=1)])
    latest = Latest()
    latest.take(shared, 0, 0, [0, 0, 0])
    latest.take(shared, S, S, [100, 50, 10])
    (level,) = latest.levels()
    assert level == Level("memory read, socket 0", 1280.0, "B/s", is_estimate=True)
    assert value_of(level) == "~1.28 kB/s"


NAMES = st.text(min_size=1, max_size=60)
LEVELS = st.lists(
    st.builds(
        Level,
        NAMES,
        st.one_of(st.none(), st.floats(-1e15, 1e15)),
        st.sampled_from(["B/s", "W", ""]),
    ),
    max_size=30,
)  # fmt: skip


@given(LEVELS, st.integers(1, 200), st.integers(2, 60))
def test_no_line_is_wider_than_the_terminal(levels: list[Level], columns: int, rows: int) -> None:
    history = {level.name: deque([level.value] * 50) for level in levels}
    lines = lines_of(3.0, levels, history, columns, rows)
    assert all(len(line) <= max(20, columns - 1) for line in lines)
    assert len(lines) <= rows
    assert not any(char in line for line in lines for char in "\n\x1b\r")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_redrawn_and_left_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with Live(stream, columns=60) as live:
        live.show(1.0, [Level("CPU use", 0.5, "cores")])
        live.show(2.0, [Level("CPU use", 1.0, "cores")])
    written = stream.getvalue()
    assert "0.50 cores" in written
    assert "▅█" in written
    assert "\x1b[2K" in written


def test_elsewhere_a_line_now_and_then() -> None:
    stream = io.StringIO()
    with Live(stream) as live:
        for second in range(25):
            live.show(float(second), [Level("CPU use", 0.5, "cores"), Level("power", None, "W")])
    assert stream.getvalue().splitlines() == [
        "0 s: CPU use 0.50 cores",
        "10 s: CPU use 0.50 cores",
        "20 s: CPU use 0.50 cores",
    ]


def test_nothing_read_yet_is_said() -> None:
    assert line_of(0, [Level("power", None, "W")]) == "0 s: no readings yet"


def test_a_reader_that_went_away_ends_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with Live(Gone()) as live:
        live.show(0.0, [Level("CPU use", 0.5, "cores")])


def test_a_terminal_without_unicode_gets_ascii() -> None:
    class Latin(Terminal):
        encoding = "ascii"

    stream = Latin()
    with Live(stream, columns=60) as live:
        live.show(1.0, [Level("page faults", 5000.0, "1/s")])
    assert stream.getvalue().isascii()
    assert "5.00 103/s" not in stream.getvalue()


def test_milliseconds_count(tmp_path: object) -> None:
    latest = Latest()
    latest.take(SET, 0, 0, [0, 0, 0])
    latest.take(SET, 10 * MS, 10 * MS, [1, 10 * MS, 0])
    assert latest.levels()[0].value == pytest.approx(6400.0)
