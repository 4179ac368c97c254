import io
import math
import unicodedata

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.unit.reports.strangers import reports
from tests.unit.reports.synthetic import estimate, hostile, machine, survey

from memgauge.analysis.section import Cell, Column, Report, Section, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.reports import cells
from memgauge.reports.terminal.report import Look, render, render_system


def controls(text: str) -> set[str]:
    return {char for char in text if char != "\n" and unicodedata.category(char).startswith("C")}


@settings(max_examples=60)
@given(reports, st.sampled_from([80, 40, 20]), st.sampled_from(["utf-8", "ascii"]))
def test_every_line_fits_and_nothing_steers_the_terminal(
    report: Report, width: int, encoding: str
) -> None:
    text = render(report, width, color=False, encoding=encoding)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert controls(text) == set()
    text.encode(encoding, "strict")


@pytest.mark.parametrize("width", [80, 60, 40, 20])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_survey_and_a_machine_fit(width: int, encoding: str) -> None:
    for text in (
        render(survey(), width, encoding=encoding),
        render_system(machine(), width, encoding=encoding),
    ):
        assert max(map(cell_len, text.splitlines())) <= width
        text.encode(encoding, "strict")


@pytest.mark.parametrize("width", [80, 40])
def test_every_narrow_figure_appears_whole(width: int) -> None:
    text = render(survey(), width)
    seen = " ".join(text.split())
    for table in (table for section in survey().sections for table in section.tables):
        for row in table.rows:
            for cell, column in zip(row, table.columns, strict=True):
                if isinstance(cell, Estimate) and column.narrow:
                    assert cells.centre(cell, column) in seen
                    assert cells.spread(cell, column.unit) in seen


def test_wide_columns_are_left_out() -> None:
    text = render(survey())
    assert "each array" not in text
    assert "samples" not in text


def test_verdicts_come_first_and_worst_first_with_sign_and_word() -> None:
    lines = render(survey()).splitlines()
    at = {
        word: next(n for n, line in enumerate(lines) if f"{sign} {word}" in line)
        for sign, word in (("✗", "problem"), ("!", "warning"), ("·", "note"), ("✓", "good"))
    }
    assert list(at.values()) == sorted(at.values())
    assert max(at.values()) < next(n for n, line in enumerate(lines) if line.startswith("kernel"))


def test_missing_is_a_dash_and_what_missed_the_precision_is_marked() -> None:
    read = next(line for line in render(survey()).splitlines() if line.startswith("read"))
    assert read.split()[2:4] == ["\N{EN DASH}", "\N{EN DASH}"]
    assert "±2.1%*" in render(survey())
    assert "* the interval is wider than the ±1% requested" in render(survey())


def test_an_interval_that_is_not_known_is_explained_where_it_stands() -> None:
    unknown = Estimate(100.0, -math.inf, math.inf)
    table = Table(name="t", title="T", columns=[Column(title="x", unit="ns")], rows=[[unknown]])
    one = Section(name="latency", title="Latency", question="?", tables=[table])
    said = "±? too few samples for an interval"
    assert said in render(msgspec.structs.replace(survey(), sections=[one]))
    assert said not in render(survey())


def long_report(sections: int) -> Report:
    table = Table(
        name="sweep",
        title="Sweep",
        columns=[Column(title="delay"), Column(title="latency", unit="ns")],
        rows=[[delay, float(100 + delay)] for delay in range(40)],
        note="How it is made.",
    )
    further = msgspec.structs.replace(table, name="further", title="Further", rows=[[99, 199.0]])
    folded = Table(name="all", title="All", columns=[Column(title="x", narrow=False)], rows=[[1]])
    tables = [table, further, folded]
    one = Section(name="loaded", title="Loaded", question="?", tables=tables)
    return msgspec.structs.replace(survey(), sections=[one] * sections)


def test_a_long_survey_shows_both_ends_of_a_long_table_and_says_what_it_leaves_out() -> None:
    lines = render(long_report(9), whole=False).splitlines()
    assert lines.count("… 30 of 40 rows are only in report.html") == 9
    assert lines.count("… 1 further table is only in report.html") == 9
    assert "How it is made." not in lines
    shown = {line.split()[0] for line in lines if line.split() and line.split()[0].isdigit()}
    assert shown == {str(delay) for delay in [*range(6), *range(36, 40)]}
    assert max(map(len, lines)) <= 80


def test_a_long_survey_counts_the_notes_on_the_run_and_prints_what_is_worse() -> None:
    verdicts = [
        Verdict(level="note", text="Clocks drift."),
        Verdict(level="note", text="A guest."),
        Verdict(level="warning", text="Busy."),
    ]
    report = msgspec.structs.replace(long_report(9), verdicts=verdicts)
    short, long = (render(report, whole=whole) for whole in (False, True))
    assert "… 2 notes are only in report.html" in short
    assert "Busy." in short
    assert "Clocks drift." not in short
    assert "Clocks drift." in long


@pytest.mark.parametrize(("sections", "whole"), [(1, False), (9, True)])
def test_a_single_experiment_and_a_whole_report_show_every_row(sections: int, whole: bool) -> None:
    text = render(long_report(sections), whole=whole)
    assert "report.html" not in text
    assert text.count("139.0") == sections


def test_a_table_that_just_fits_loses_no_column() -> None:
    what = "bandwidth at no delay, 75% reads, non-temporal, sequential"
    titles = ["what", "one side", "other side", "unit", "difference", "allowed", "verdict"]
    row: list[Cell] = [what, estimate(150.35), estimate(148.2), "GB/s", 1.4, 3.0, "differs"]
    table = Table(name="t", title="T", columns=[Column(title=t) for t in titles], rows=[row] * 2)
    section = Section(name="c", title="C", question="?", tables=[table])
    for width in (80, 76, 72, 60, 30):
        text = render(msgspec.structs.replace(survey(), sections=[section]), width)
        assert text.count("differs") == 2, width
        assert "verdict" in text
        assert max(map(cell_len, text.splitlines())) <= width


def test_colour_only_where_it_is_wanted() -> None:
    assert "\x1b[" not in render(survey(), color=False)
    assert "\x1b[" in render(survey(), color=True)


def test_hostile_text_neither_colours_nor_rings_nor_reorders() -> None:
    text = render(hostile())
    assert controls(text) == set()
    assert "[bold]" in text, "markup is shown, not obeyed"


def test_remedies_of_a_machine_are_shown() -> None:
    text = render_system(machine())
    assert "✗ no      2 MiB pages: the pool is empty" in text
    assert "→ echo 512 > /proc/sys/vm/nr_hugepages (as root)" in text


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_the_look_follows_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Look.of(_Terminal()) == Look(columns=70, color=True, encoding="utf-8")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not Look.of(_Terminal()).color
    assert Look.of(io.StringIO()) == Look(columns=70, color=False, encoding="ascii")
    monkeypatch.delenv("COLUMNS")
    assert Look.of(io.StringIO()) == Look(columns=80, color=False, encoding="ascii")


def test_of_many_verdicts_the_gravest_are_shown_and_the_rest_is_counted() -> None:
    verdicts = [Verdict(level="note", text=f"Note {at}.") for at in range(5000)]
    verdicts.append(Verdict(level="problem", text="Broken."))
    text = render(msgspec.structs.replace(survey(), verdicts=verdicts))
    assert "Broken." in text
    assert text.count("Note ") == 99
    assert "4901 more remarks like these, none more severe, not shown here." in text


def test_of_a_table_of_any_length_both_ends_are_shown() -> None:
    columns = [Column(title="at", digits=0)]
    table = Table(name="t", title="T", columns=columns, rows=[[at] for at in range(10_000)])
    section = Section(name="s", title="S", question="?", tables=[table])
    lines = render(msgspec.structs.replace(survey(), sections=[section])).splitlines()
    assert "… 9500 of 10000 rows are only in report.html" in lines
    shown = [line.strip() for line in lines if line.strip().isdigit()]
    assert shown == [str(at) for at in [*range(250), *range(9750, 10_000)]]


def test_a_text_of_any_length_is_cut_and_says_so() -> None:
    verdict = Verdict(level="warning", text="word " * 1_000_000)
    text = render(msgspec.structs.replace(survey(), verdicts=[verdict]))
    assert len(text) < 20_000
    assert "(4,998,000 more characters are left out)" in " ".join(text.split())


def test_conditions_are_one_line_of_a_report_that_begins_with_pictures() -> None:
    found = Verdict(level="note", text="FOUND")
    lacking = Verdict(level="warning", text="LACKING", about="conditions")
    section = msgspec.structs.replace(survey().sections[0], verdicts=[found, lacking])
    report = msgspec.structs.replace(
        survey(), sections=[section], verdicts=[lacking], pictures_first=True
    )
    short, whole = render(report, whole=False), render(report)
    assert "FOUND" in short
    assert "LACKING" not in short
    assert "2 remarks on the machine and the recording, 2 warnings among them" in short
    assert whole.count("LACKING") == 2
