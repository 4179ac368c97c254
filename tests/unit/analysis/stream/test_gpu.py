"""STREAM in a GPU's memory: shares of the theoretical bandwidth, and words that fit a GPU."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.stream.gpu_runs import GIB, PEAK_GB_PER_S, candidates, points, run

from memgauge import api
from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report, Section, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.best_of import stream_form
from memgauge.model.errors import RequestError
from memgauge.model.records import ArrayCheck, Environment, Validation
from memgauge.model.run import Run
from memgauge.results import Result

HOST_WORDS = re.compile(
    r"\b(?<!of a )threads?\b(?! a block)|regime|complex|last-level|core clock|huge page"
)


def section_of(of: Run) -> Section:
    (section,) = analyse_run(of).sections
    return section


def said(of: Run) -> list[str]:
    return [verdict.text for verdict in section_of(of).verdicts]


def table_of(of: Run, name: str) -> Table:
    return next(table for table in section_of(of).tables if table.name == name)


def column(table: Table, title: str) -> int:
    return [one.title for one in table.columns].index(title)


def test_the_best_and_triad_are_set_against_the_theoretical_bandwidth() -> None:
    best, share, gain = said(run(points()))
    assert best.startswith("Memory of NVIDIA Example (cuda:0) delivers up to 3")
    assert best.endswith("GB/s (read, tuned).")
    assert share.startswith("Read reaches 95.")
    assert "triad reaches 93." in share
    assert share.endswith(
        "of the theoretical 3352.3 GB/s (two transfers a clock, 2619 MHz, 5120 bits)."
    )
    assert re.fullmatch(r"Tuned triad is 1\.02\d times standard\.", gain)


def test_a_row_for_each_kernel_with_its_share() -> None:
    table = table_of(run(points()), "stream")
    assert [row[0] for row in table.rows] == ["copy", "triad", "read"]
    shares = [row[column(table, "of peak")] for row in table.rows]
    for cell, expected in zip(shares, (0.92, 0.93, 0.95), strict=True):
        assert isinstance(cell, Estimate)
        assert cell.value == pytest.approx(expected, rel=0.002)
        assert cell.low <= cell.value <= cell.high
    best = table.rows[1][column(table, "STREAM best")]
    assert best == pytest.approx(0.91 * PEAK_GB_PER_S, rel=0.002)


def test_more_than_all_is_called_impossible() -> None:
    made = [(point, speed * 1.2) for point, speed in points()]
    found = next(v for v in section_of(run(made)).verdicts if v.level == "problem")
    assert "More than 100% is impossible" in found.text


@pytest.mark.parametrize(
    ("mig", "why"),
    [
        (True, "a MIG instance has part of the bus"),
        (False, "the driver does not report the memory's clock and bus width"),
    ],
)
def test_no_theoretical_bandwidth_is_said_and_not_guessed(mig: bool, why: str) -> None:
    made = points(theoretical_bytes_per_s=None, mig=mig)
    assert f"The theoretical bandwidth is not known: {why}." in said(run(made))
    table = table_of(run(made), "stream")
    assert {row[column(table, "of peak")] for row in table.rows} == {None}
    assert "Share of peak" not in [one.label for one in analyse_run(run(made)).headlines]


def test_small_arrays_are_said_to_measure_launches() -> None:
    small = said(run(points(array_bytes=8 << 20, stream_conformant=False)))
    assert any(
        "smaller than the STREAM rule requires (4 times the second-level" in s for s in small
    )
    assert any(s.startswith("A walk over arrays of 8 MiB takes 3 us (read)") for s in small)
    assert not any("takes" in text for text in said(run(points(array_bytes=GIB))))


def test_a_search_names_its_winner_beside_both_variants() -> None:
    made = [*points(), *candidates({"v16-u4-cs-t256-b8": 3200.0, "v16-u1-ca-t256-b0": 2900.0})]
    (row,) = table_of(run(made), "stream-search").rows
    assert row[:2] == ["triad", "v16-u4-cs-t256-b8"]
    over_standard, over_tuned = row[3], row[4]
    assert isinstance(over_standard, Estimate)
    assert isinstance(over_tuned, Estimate)
    assert over_standard.value == pytest.approx(3200 / (0.91 * PEAK_GB_PER_S), rel=0.002)
    assert over_tuned.value == pytest.approx(3200 / (0.93 * PEAK_GB_PER_S), rel=0.002)
    assert row[5] == 2
    assert len(table_of(run(made), "stream-points").rows) == 5
    best, share, *others = said(run(made))
    assert best.endswith("GB/s (triad, tuned, v16-u4-cs-t256-b8).")
    assert share.count("reaches") == 1
    assert re.fullmatch(
        r"The search found triad 1\.02\d times as fast as tuned: v16-u4-cs-t256-b8\.", others[-1]
    )
    slower = [*points(), *candidates({"v16-u1-ca-t256-b0": 2900.0})]
    assert said(run(slower))[-1] == (
        "Of 1 variant the search found none faster than tuned triad, beyond the intervals."
    )


def test_bars_stand_below_the_theoretical_peak() -> None:
    (chart,) = section_of(run(points())).charts
    assert chart.title == "Kernels on NVIDIA Example"
    assert {one.name for one in chart.series} == {"standard", "tuned"}
    (rule,) = chart.rules
    assert rule.value == pytest.approx(PEAK_GB_PER_S)


def test_nothing_is_said_in_words_of_the_host() -> None:
    report = analyse_run(run([*points(), *candidates({"v16-u4-cs-t256-b8": 3200.0})]))
    assert HOST_WORDS.findall(str(msgspec.to_builtins(report.sections))) == []
    assert HOST_WORDS.findall(str([v.text for v in report.verdicts])) == []
    assert HOST_WORDS.findall(str([one.detail for one in report.headlines])) == []


def test_what_the_hosts_threads_suffered_sets_no_sample_aside() -> None:
    quiet, busy = run(points()), run(points(), switches=3)
    assert section_of(busy) == section_of(quiet)
    (point,) = [p for p in busy.points.values() if p.point == "stream/copy/tuned/double/cuda:0"]
    (summary,) = figures_of(busy).summaries[point.point]
    assert (summary.samples, summary.set_aside) == (60, 0)


def busy_host() -> Environment:
    return Environment(
        at_ns=10_000_000_000,
        interval_s=1.0,
        steal_s=1.0,
        others_s=1.0,
        load_1min=8.0,
        frequency_khz=None,
    )


def test_a_busy_host_is_no_disturbance_of_a_gpu() -> None:
    report = analyse_run(run(points(), extra=(busy_host(),)))
    assert not any("processors' time" in verdict.text for verdict in report.verdicts)
    host = [
        (msgspec.structs.replace(p, requested={**p.requested, "memory": "dram"}), s)
        for p, s in points()
    ]
    report = analyse_run(run(host, extra=(busy_host(),)))
    assert any("processors' time" in verdict.text for verdict in report.verdicts)


def report() -> Report:
    return analyse_run(run(points()))


def test_the_machine_names_the_gpu() -> None:
    assert report().machine.endswith("NVIDIA Example (cuda:0, 0000:3b:00.0)")
    rows = {str(row[0]): str(row[1]) for row in report().system.rows}
    assert rows["GPU cuda:0"] == (
        "NVIDIA Example, compute capability 9.0, 132 multiprocessors, 80 GiB of memory, "
        "L2 50 MiB, ECC on"
    )
    assert rows["cuda:0 is"] == "0000:3b:00.0, GPU-1111"
    assert rows["cuda:0 theoretical bandwidth"] == "3352.3 GB/s"
    assert rows["cuda:0 driver"] == "CUDA 13.0, NVRTC 13.0"
    assert "The GPU was NVIDIA Example (cuda:0, 0000:3b:00.0)." in [
        verdict.text for verdict in report().verdicts
    ]


def test_headlines_are_of_the_gpu() -> None:
    best, share = report().headlines
    assert best.detail == "triad, tuned, NVIDIA Example"
    assert share.value == pytest.approx(0.95, rel=0.002)
    assert share.detail == "by clock and width of the bus"


def test_streams_own_form_names_the_gpu_and_its_validation() -> None:
    check = ArrayCheck(
        array="a",
        average_relative_error=0.0,
        epsilon=1e-13,
        elements=1,
        failed_elements=0,
        first_failed=-1,
        passed=True,
    )
    checked = Validation(experiment="stream", subject="double, cuda:0", checks=[check])
    text = stream_form(run(points(), extra=(checked,)))
    assert "GPU = NVIDIA Example (cuda:0)" in text
    assert "Threads" not in text
    assert "Solution Validates" in text


def test_figures_of_one_gpu_pair_and_those_of_other_memory_do_not() -> None:
    here = of_run(figures_of(run(points())), "here")
    again = of_run(figures_of(run(points())), "again")
    dram = of_run(figures_of(run(points("dram", timed_by=None))), "dram")
    rows = compare([here, again]).pairs[0].rows
    assert {row.name for row in rows} >= {"stream/triad/tuned/double/cuda:0"}
    assert compare([here, dram]).pairs[0].rows == []
    with pytest.raises(
        RequestError, match=r"\(stream in cuda:0\) and in another source \(stream\)"
    ):
        api.compare(Result(run(points()), Path("a")), Result(run(points("dram")), Path("b")))
    assert here.traits["cuda:0 is"] == "0000:3b:00.0, GPU-1111"


def test_the_document_holds_the_figures() -> None:
    made = json_document(run(points()))
    assert msgspec.json.decode(msgspec.json.encode(made))["sections"][0]["name"] == "stream"
