"""Verdicts on regions of a program: each for itself, and together wrong no more often than one."""

from __future__ import annotations

import random

import msgspec
import pytest
from benchmarks.diagnose.simulated import MACHINES, Machine, Truth, passes_of_parts
from benchmarks.diagnose.simulated_regions import KNOWN, judged
from tests.unit.analysis.diagnose.programs import diagnosed, with_regions

from memgauge.analysis.diagnose.by_region.judged import confidence, region_diagnoses
from memgauge.analysis.diagnose.deciding import LEAST_DECIDED_ROUNDS, decided
from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.diagnose.section import analyse
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.report.run import report_of

SETUP, SOLVE, SCAN = (0.0, 0.0, 0.0), (0.75, 0.0, 0.0), (0.0, 1.0, 0.0)


def regions_of(figures: Figures) -> dict[str, str]:
    return {one.name: one.judgement.kind for one in region_diagnoses(figures)}


def test_each_region_has_its_own_verdict() -> None:
    run = with_regions(diagnosed(latency=0.4), {"setup": SETUP, "solve": SOLVE, "scan": SCAN})
    assert regions_of(run) == {"setup": "not memory", "solve": "memory", "scan": "bandwidth"}
    by_name = {one.name: one for one in region_diagnoses(run)}
    share = by_name["solve"].judgement.latency_share
    assert share is not None
    assert share.low <= 0.75 <= share.high
    run_share = by_name["solve"].run_share
    assert run_share is not None
    assert run_share.value == pytest.approx(0.5, rel=0.02)
    text = " ".join(one.text for one in analyse(run).verdicts)
    assert "By region: " in text
    assert "scan limited by bandwidth (50% of a run)" in text


def test_the_verdict_on_the_run_is_that_without_regions() -> None:
    bare = diagnosed(latency=0.4)
    marked = with_regions(bare, {"solve": SOLVE})
    assert analyse(marked).verdicts[0] == analyse(bare).verdicts[0]
    assert [one.name for one in analyse(bare).tables] == ["diagnose-pressure"]


def test_intervals_grow_with_the_number_of_regions() -> None:
    assert confidence(1) == pytest.approx(0.95)
    assert confidence(8) == pytest.approx(1 - 0.05 / 8)
    alone = region_diagnoses(with_regions(diagnosed(), {"a": SOLVE}))[0].judgement.latency_share
    many = with_regions(diagnosed(), {"a": SOLVE, **{f"b{at}": SETUP for at in range(7)}})
    (one,) = (each for each in region_diagnoses(many) if each.name == "a")
    share = one.judgement.latency_share
    assert alone is not None
    assert share is not None
    assert share.high - share.low > 1.2 * (alone.high - alone.low)


def test_what_many_regions_leave_too_few_rounds_for_is_not_told() -> None:
    few = with_regions(diagnosed(rounds=8), {f"r{at}": SOLVE for at in range(8)})
    assert set(regions_of(few).values()) == {"cannot tell"}
    assert regions_of(with_regions(diagnosed(rounds=8), {"r": SOLVE})) == {"r": "memory"}


def test_a_region_that_some_runs_do_not_enter_has_the_rounds_that_it_is_in() -> None:
    run = with_regions(diagnosed(), {"solve": SOLVE, "late": SOLVE}, missing={"late": 5})
    found = {one.name: one.judgement for one in region_diagnoses(run)}
    assert found["solve"].kind == "memory"
    assert found["late"].why == "Only 5 rounds could be paired; 8 are needed."


def test_a_rate_of_the_program_is_none_of_its_regions() -> None:
    rated = with_regions(diagnosed(latency=0.5, rate=400.0, process_cpus="0"), {"solve": SOLVE})
    (one,) = region_diagnoses(rated)
    assert one.judgement.kind == "memory"
    assert one.time_s is not None
    assert one.time_s.value == pytest.approx(0.5, rel=0.02)


def test_regions_are_in_data_and_in_the_answer() -> None:
    run = with_regions(diagnosed(latency=0.4), {"setup": SETUP, "solve": SOLVE})
    found = diagnosis_figures(run)
    assert found is not None
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    assert {one.name: one.verdict for one in found.regions} == {
        "setup": "not memory",
        "solve": "memory",
    }
    answer = report_of(run).answer
    assert answer is not None
    (line,) = (one for one in answer.lines if one.label == "By region")
    assert "solve waits for memory (50% of a run)" in line.detail
    bare = diagnosis_figures(diagnosed())
    assert bare is not None
    assert bare.regions == []


def test_pressure_goes_on_until_each_region_is_settled() -> None:
    clear = diagnosed(latency=0.5, rounds=LEAST_DECIDED_ROUNDS, noise=0.002)
    settled = with_regions(clear, {"setup": SETUP, "solve": SOLVE}, noise=0.002)
    open_ = with_regions(clear, {"setup": SETUP, "solve": SOLVE}, noise=0.2)
    for figures, is_decided in ((clear, True), (settled, True), (open_, False)):
        run = figures.run
        assert bool(decided(run.points_of("diagnose"), run.samples)) == is_decided


@pytest.mark.parametrize("machine", MACHINES[:2], ids=lambda machine: machine.name)
def test_verdicts_on_several_regions_are_seldom_wrong(machine: Machine) -> None:
    """The whole table is made by `benchmarks.diagnose.simulated_regions`."""
    draw = random.Random(7)
    truths: list[Truth] = [KNOWN[one] for one in ("arithmetic", "25% waiting", "streaming")]
    wrong = 0
    for _ in range(10):
        parts = passes_of_parts(machine, truths, 24, draw)
        for verdicts in (judged(parts), judged(parts, truths)):
            wrong += any(
                one.kind not in truth.right | {"cannot tell"}
                for one, truth in zip(verdicts, truths, strict=True)
            )
    assert wrong <= 1
