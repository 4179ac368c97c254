"""What the page of loop nests begins with."""

from __future__ import annotations

from tests.unit.analysis.traffic import runs as made
from tests.unit.analysis.traffic.runs import Noise, gemm_point
from tests.unit.analysis.traffic.test_section import gemm_run

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.traffic.opening import MOST_LINES, opening
from memgauge.analysis.traffic.section import analyse
from memgauge.model.run import Run
from memgauge.reports.html.page import render


def lines(run: Run) -> list[AnswerLine]:
    return analyse(figures_of(run)).opening


def test_expected_simulated_measured_and_speed() -> None:
    found = {line.label: line for line in lines(gemm_run())}
    assert list(found) == ["Expected", "Simulated", "Measured", "Speed"]
    assert [figure.value for figure in found["Expected"].figures] == [3.0, 1.0]
    reads, writes = (figure.value for figure in found["Measured"].figures)
    assert isinstance(reads, Estimate)
    assert isinstance(writes, Estimate)
    assert writes.low < 1.01
    assert writes.high > 0.99
    assert "times the expectation at N = 1024; reads (" in found["Measured"].detail
    assert found["Simulated"].detail.startswith("times the expectation at N = 1024 on this machine")
    assert all(isinstance(figure.value, float) for figure in found["Simulated"].figures)


def test_what_was_neither_simulated_nor_counted_cannot_be_told() -> None:
    run = made.run([gemm_point(size) for size in (64, 128)])
    assert [line.detail for line in lines(run)][1:] == [
        "cannot be told: nothing was simulated and nothing counted"
    ]


def test_drowned_counts_tell_nothing() -> None:
    run = gemm_run(predictions=[], machines=[], noise=Noise(idle_bytes_per_s=1e15))
    assert "cannot be told: nothing can be determined at any size" in [
        line.detail for line in lines(run)
    ]


def test_several_nests_have_a_line_each_and_no_more_than_five() -> None:
    found = lines(made.run([gemm_point(64, threads) for threads in range(1, 8)]))
    assert len(found) == MOST_LINES
    assert found[0].label.startswith("gemm, 1 core")
    assert "more loop nests" in found[-1].detail


def test_nothing_is_said_without_a_nest() -> None:
    assert opening([]) == []


def test_the_page_begins_with_it() -> None:
    page = render(analyse_run(gemm_run()))
    begin = page.index("<main>")
    assert "times the expectation" in page[begin : page.index("<section", begin)]
