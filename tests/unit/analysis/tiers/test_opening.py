"""What the page of two memories in competition begins with."""

from __future__ import annotations

import pytest
from tests.unit.analysis.tiers.runs import tiers_run
from tests.unit.analysis.tiers.test_section import saturating, shared

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.tiers.opening import opening
from memgauge.analysis.tiers.section import analyse
from memgauge.model.run import Run
from memgauge.reports.html.page import render
from memgauge.results import Published


def lines(run: Run) -> dict[str, AnswerLine]:
    found = analyse(figures_of(run)).opening
    assert 2 <= len(found) <= 5
    return {line.label: line for line in found}


def test_advice_both_memories_the_best_split_and_what_a_loses() -> None:
    found = lines(tiers_run(8, saturating))
    assert list(found) == ["Split", "Alone", "Together", "A loses"]
    assert "Keep all 8 threads on A" in found["Split"].detail
    alone_a, alone_b = (figure.value for figure in found["Alone"].figures)
    assert isinstance(alone_a, Estimate)
    assert isinstance(alone_b, Estimate)
    assert alone_a.value == pytest.approx(32, rel=0.01)
    assert alone_b.value == pytest.approx(4, rel=0.01)
    assert found["Together"].detail == "with 1 of 8 threads in B, the largest sum of both"
    assert found["A loses"].detail.startswith("12.5% (")


def test_splits_that_are_alike_are_said_to_be() -> None:
    found = lines(tiers_run(8, shared(40, 8)))
    assert "other splits cannot be told from it" in found["Together"].detail


def test_without_usable_splits_nothing_can_be_told() -> None:
    (line,) = opening([])
    assert line.detail == "cannot be told: no two splits of the threads have a usable sample"


def test_published_figures_are_shown_without_an_interval() -> None:
    (section,) = Published("nvdimm-nvm-nvm").report.sections
    values = [figure.value for line in section.opening for figure in line.figures]
    assert values
    assert not any(isinstance(value, Estimate) for value in values)


def test_the_page_begins_with_it() -> None:
    page = render(Published("nvdimm-nvm-nvm").report)
    begin = page.index("<main>")
    answer, verdicts = page.index('<div class="answer">', begin), page.index("<ul class=", begin)
    assert answer < verdicts < page.index("<section", begin)
    assert "Give at most 4 of 16 threads to B" in page[answer:verdicts]
