"""The screen of a watch: what fits, what is marked, and plain lines in a pipe."""

import io
from collections.abc import Sequence

import msgspec
import pytest
from tests.unit.analysis.watch.rows import NS, counters, row

from memgauge.analysis.watch.headroom import Headroom
from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.status import Status, Watcher
from memgauge.reports.terminal.watch import HELP, Heading, WatchScreen, line_of, lines_of


def when(at_ns: int) -> str:
    return f"12:00:{at_ns // NS:02d}"


def watched(ratios: Sequence[float | None]) -> tuple[Status, list[Alert]]:
    """The status after so many seconds, and what changed with the last sample."""
    watcher = Watcher(counters(), cpus=2, learn_s=20)
    for at, ratio in enumerate(ratios):
        moment, changes = watcher.take((at + 1) * NS, (at + 1) * NS, row(at, ratio, stolen=at))
    return watcher.status(moment), changes


SLOW, CHANGES = watched([1.0] * 30 + [1.5] * 5)
HISTORY: dict[str, list[float | None]] = {
    "latency_ns": [100.0, None, 150.0],
    "steal_share": [0.0, 0.005],
}


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (80, 8), (40, 24), (200, 60), (20, 4)])
def test_lines_fit_and_alerts_come_first(columns: int, rows: int) -> None:
    heading = Heading(when, ["page: http://127.0.0.1:1/"], has_keys=True)
    lines = lines_of(SLOW, HISTORY, heading, columns, rows)
    assert len(lines) <= rows
    assert max(len(text) for text, _ in lines) <= max(40, columns - 1)
    assert [is_alert for _, is_alert in lines[:4]] == [False, False, True, True]
    if rows >= 24:
        assert lines[-1][0] == HELP
    if columns >= 80:
        assert lines[2][0] == "latency 1.50 times the baseline since 12:00:31, steal 0.5%"


def test_what_does_not_fit_is_counted() -> None:
    texts = [text for text, _ in lines_of(SLOW, HISTORY, Heading(when), 80, 7)]
    assert texts[-1].startswith("and ")
    assert texts[-1].endswith(" more")


def test_ratio_cost_and_pause_are_shown() -> None:
    heading = Heading(when)
    first = lines_of(SLOW, HISTORY, heading, 80, 24)[0][0]
    assert first.endswith("watching takes 0.40% of one CPU, 0.05% of its bandwidth")
    heading.is_paused = True
    text = "\n".join(line for line, _ in lines_of(SLOW, HISTORY, heading, 80, 24))
    assert "PAUSED  watching takes 0.40% of one CPU" in text
    assert "1.50x" in text
    assert "baseline (first 20 s): latency 100.0 ns" in text


def test_traffic_beside_peak_and_knee_fits_a_line_of_80_columns() -> None:
    headroom = Headroom(
        read_bytes_per_s=323.4e9,
        write_bytes_per_s=27.1e9,
        peak_bytes_per_s=360e9,
        knee_bytes_per_s=200e9,
    )
    for unverified, name in (([], "memory traffic"), (["uncore"], "traffic, unverified")):
        status = msgspec.structs.replace(SLOW, headroom=headroom, unverified=unverified)
        lines = [text for text, _ in lines_of(status, HISTORY, Heading(when), 80, 24)]
        shown = "350 GB/s, 97% of measured peak, 150 GB/s beyond knee"
        assert f"{name:<20} {shown}" in lines


def test_until_the_probe_has_found_something_its_cost_is_in_bytes() -> None:
    status, _ = watched([None] * 3)
    first, *_ = [text for text, _ in lines_of(status, {}, Heading(when), 80, 24)]
    assert first.endswith("of one CPU, 4.70 MB/s of reads")


def test_missing_values_are_dashes_and_no_alarm() -> None:
    status, _ = watched([None] * 30)
    lines = lines_of(status, {}, Heading(when), 80, 24)
    assert not any(is_alert for _, is_alert in lines)
    (latency,) = [text for text, _ in lines if text.startswith("latency")]
    assert latency.split() == ["latency", "-"]
    assert "latency" not in line_of(status, when)


def test_a_pipe_gets_a_line_for_each_sample_and_one_for_each_alert() -> None:
    stream = io.StringIO()
    status, changes = watched([1.0] * 30 + [1.5] * 4)
    with WatchScreen(stream, Heading(when)) as screen:
        screen.show(status, changes)
    first, *alerts = stream.getvalue().splitlines()
    assert first.startswith("12:00:34 latency ")
    assert "steal 0.5%" in first
    assert [one.partition(":")[0] for one in alerts] == ["  ALERT", "  ALERT"]


def test_a_reader_that_went_away_ends_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with WatchScreen(Gone(), Heading(when)) as screen:
        screen.show(SLOW, CHANGES)


class Terminal(io.StringIO):
    encoding = "ascii"

    def isatty(self) -> bool:
        return True


def test_a_terminal_without_unicode_gets_ascii() -> None:
    stream = Terminal()
    heading = Heading(when)
    with WatchScreen(stream, heading, columns=80) as screen:
        screen.show(SLOW, CHANGES)
        heading.is_paused = True
        screen.redraw()
    assert stream.getvalue().isascii()
    assert "PAUSED" in stream.getvalue()
