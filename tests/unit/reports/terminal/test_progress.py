import io

import pytest

from memgauge.reports.terminal.progress import Progress, duration


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_elsewhere_than_on_a_terminal_a_line_every_ten_seconds() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, clock=clock) as progress:
        for second in range(25):
            clock.now_s = float(second)
            progress.update("stream\x1b[31m", second / 60, second, 41, 60 - second)
    assert stream.getvalue().splitlines() == [
        "stream: 0%, 0/41 points, 1:00 min left",
        "stream: 17%, 10/41 points, 50 s left",
        "stream: 33%, 20/41 points, 40 s left",
    ]


def test_on_a_terminal_a_bar_that_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream, clock = Terminal(), Clock()
    with Progress(stream, clock=clock) as progress:
        progress.update("latency", 0.5, 3, 41, 30.0)
        clock.now_s = 0.1
        progress.update("too soon", 0.6, 3, 41, 29.9)
    assert "latency" in stream.getvalue()
    assert "3/41 points" in stream.getvalue()
    assert "too soon" not in stream.getvalue()


def test_silent_writes_nothing() -> None:
    stream = Terminal()
    with Progress(stream, silent=True) as progress:
        progress.update("latency", 0.5, 3, 41, 30.0)
    assert stream.getvalue() == ""


def test_a_reader_that_went_away_ends_nothing() -> None:
    with Progress(Gone()) as progress:
        progress.update("latency", 0.5, 3, 41, 30.0)
        progress.update("latency", 0.6, 3, 41, 30.0)


@pytest.mark.parametrize(
    ("seconds", "said"), [(-1, "0 s"), (0.4, "0 s"), (59.4, "59 s"), (65, "1:05 min")]
)
def test_durations(seconds: float, said: str) -> None:
    assert duration(seconds) == said
