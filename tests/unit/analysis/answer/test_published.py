"""What an answer says of the theoretical peak and of published figures."""

from __future__ import annotations

import msgspec
from tests.unit.analysis.runs import records

from memgauge.analysis.answer.published import published_lines
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.section import AnswerLine
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.records import RunStart
from memgauge.model.run import run_of


def lines(**changes: object) -> list[AnswerLine]:
    first, *others = records()
    assert isinstance(first, RunStart)
    system = msgspec.structs.replace(first.system, **changes)
    start = msgspec.structs.replace(first, system=system)
    return list(published_lines(figures_of(run_of([start, *others]))))


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert lines(theoretical_bandwidth_bytes_per_s=None, cpu_signature=None) == []


def test_shares_of_a_given_peak_have_their_interval() -> None:
    (line,) = lines(theoretical_bandwidth_bytes_per_s=200e9, peak_is_given=True)
    assert line.detail == "200.0 GB/s as given"
    for figure in line.figures:
        assert isinstance(figure.value, Estimate)
        assert figure.value.low < figure.value.value < figure.value.high < 1


def test_what_was_published_is_a_fact_with_its_number_and_tools() -> None:
    named = {"cpu_signature": "AuthenticAMD 25 17 1", "cpu_model": "AMD EPYC 9354"}
    found = lines(theoretical_bandwidth_bytes_per_s=None, virtualisation=None, **named)
    assert [line.detail for line in found] == [
        "DRAM 88 to 89 ns (3 models of Zen 4 (Genoa), machines, sc-membench)"
    ]
