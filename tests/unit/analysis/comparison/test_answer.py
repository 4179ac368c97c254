"""The verdict of a comparison and the figures that matter, in a screen."""

import msgspec
import pytest
from tests.unit.analysis.runs import records

from memgauge.analysis.comparison.answer import is_key
from memgauge.analysis.comparison.figures import Source, of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import Verdict
from memgauge.comparing import Compared
from memgauge.model.records import RunStart, Sample
from memgauge.model.run import run_of
from memgauge.reports.terminal.report import render


def source(name: str, run_id: str, seed: int = 1) -> Source:
    first, *others = records(seed=seed)
    assert isinstance(first, RunStart)
    named = msgspec.structs.replace(first, run_id=run_id)
    return of_run(figures_of(run_of([named, *others])), name)


def screen(*sources: Source) -> list[str]:
    return render(report_of(compare(sources)), whole=False).splitlines()


def test_two_runs_fit_fifteen_lines() -> None:
    lines = screen(source("one", "a"), source("two", "b", seed=2))
    assert lines[0] == "Comparison of memory figures: A is one; B is two"
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert text.count("B/A") == sum("B/A" in line for line in lines)
    assert "triad, 2t" in text
    assert "triad, 1t" in text
    assert "copy, 1t" not in text
    assert "Not sure." in text
    assert "One run a side decides nothing: compare 3 a side" in lines[-1]


def test_what_was_not_alike_is_one_sentence_where_it_would_not_fit() -> None:
    report = report_of(compare([source("one", "a"), source("two", "b", seed=2)]))
    assert report.answer is not None
    steps = [Verdict(level="warning", text=f"Reason {at}: {'many words ' * 20}") for at in range(4)]
    longer = msgspec.structs.replace(report.answer, next_steps=[*steps, *report.answer.next_steps])
    unlike = msgspec.structs.replace(report, answer=longer)
    short = render(unlike, whole=False)
    assert len(short.splitlines()) <= 15
    assert "See --all: reason 0, reason 1, reason 2, reason 3" in short
    assert short.count("B/A") >= 6
    assert render(unlike).count("many words") > 4


def test_a_run_against_itself_is_called_that_and_nothing_is_to_be_done() -> None:
    lines = screen(source("one", "a"), source("one", "a"))
    assert "B is the same run as A." in lines
    assert not any("decides nothing" in line for line in lines)


def test_the_whole_report_ends_with_the_same_figures() -> None:
    report = report_of(compare([source("one", "a"), source("two", "b", seed=2)]))
    short = render(report, whole=False)
    assert render(report).endswith(short[short.index("B against A") :])


def test_figures_of_many_sources_stay_on_a_screen() -> None:
    sources = [source(name, name, seed=at) for at, name in enumerate("abcdef")]
    assert len(screen(*sources)) <= 40


@pytest.mark.parametrize("kept", ["workingset"])
def test_without_a_key_figure_those_that_differ_most_are_shown(kept: str) -> None:
    def only(seed: int) -> Source:
        of = [
            r for r in records(seed=seed) if not isinstance(r, Sample) or r.point.startswith(kept)
        ]
        return of_run(figures_of(run_of(of)), str(seed))

    lines = screen(only(1), only(2))
    assert any(line.startswith(f"{kept}/") for line in lines)


@pytest.mark.parametrize(
    ("name", "is_gated"),
    [
        ("stream/triad/tuned/double/2t", True),
        ("latency/DRAM/random/4k", True),
        ("loaded/100r/sequential/1g/d0/traffic", True),
        ("stream/triad/standard/double/2t", False),
        ("stride/dependent/random/64/256", False),
    ],
)
def test_a_gate_without_a_pattern_looks_at_key_figures(name: str, is_gated: bool) -> None:
    assert is_key(name) is is_gated
    measured = Compared(compare([source("one", "a"), source("two", "b", seed=2)]))
    assert measured.gate(keys_only=True)(name) is is_gated
    assert measured.gate(keys_only=False)(name)
