"""Files of other tools beside runs, and beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.samples.paths import TOOL_SAMPLES
from tests.unit.analysis.runs import records

from memgauge import api
from memgauge.analysis.comparison.figures import Source, of_reference, of_run
from memgauge.analysis.comparison.ratios import Pair, compare, compare_two
from memgauge.analysis.comparison.report import report_of
from memgauge.analysis.figures.run import figures_of
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.run import run_of
from memgauge.references.foreign.files import read_foreign
from memgauge.references.library import PublishedFigure, Reference
from memgauge.references.library import load as load_reference

LIKWID = (
    "LIKWID MICRO BENCHMARK\nTest: triad_mem\nUsing 2 threads\nSize (Byte): 512000000\n"
    "MByte/s: 50000\n"
    "LIKWID MICRO BENCHMARK\nTest: stream_mem_avx\nUsing 2 threads\nSize (Byte): 512000000\n"
    "MByte/s: 28000\n"
)


@pytest.fixture(scope="module")
def run() -> Source:
    return of_run(figures_of(run_of(records(rounds=40))), "run")


def opened(path: Path) -> Source:
    found = read_foreign(path)
    assert found is not None
    return of_reference(found)


def written(path: Path, text: str) -> Source:
    path.write_text(text, encoding="utf-8")
    return opened(path)


def names(pair: Pair) -> set[str]:
    return {row.name for row in pair.rows}


def test_another_tools_kernel_stands_beside_the_best_of_the_run(
    run: Source, tmp_path: Path
) -> None:
    pair = compare_two(run, written(tmp_path / "likwid.txt", LIKWID))
    row = next(row for row in pair.rows if row.name == "stream/triad/any kernel/double/2t")
    assert row.other.value == 28.0
    assert row.differs["kernel"].endswith(" against likwid-stream_mem_avx")
    assert row.outcome == "not known"
    assert {row.name for row in pair.rows if "likwid" in row.name} == set()
    (left,) = [one for one in pair.unpaired if one.name.startswith("likwid-bench/triad_mem")]
    assert "memgauge has not" in left.why


def test_files_of_one_tool_are_compared_by_all_their_names(tmp_path: Path) -> None:
    first = written(tmp_path / "a", LIKWID)
    second = written(tmp_path / "b", LIKWID.replace("50000", "40000"))
    pair = compare_two(first, second)
    assert names(pair) >= {
        "likwid-bench/triad_mem/512000000B/2t",
        "stream/triad/likwid-stream_mem_avx/double/2t",
    }
    (row,) = [row for row in pair.rows if row.name.startswith("likwid-bench")]
    assert row.ratio.value == pytest.approx(0.8)


def test_runs_are_not_compared_by_any_kernel(run: Source) -> None:
    assert not any("any kernel" in name for name in names(compare_two(run, run)))
    published = of_reference(load_reference("nvdimm-dram"))
    assert not any("any kernel" in name for name in names(compare_two(run, published)))


def test_a_report_says_what_is_not_known_of_a_file(run: Source) -> None:
    mlc = opened(TOOL_SAMPLES / "mlc.txt")
    hybrid = of_reference(load_reference("hybrid12-loaded-latency"))
    report = report_of(compare([hybrid, mlc]))
    said = [one.text for one in report.verdicts]
    assert any("is not known from B" in one for one in said)
    assert any("B is the output of Intel Memory Latency Checker 3.5" in one for one in said)
    assert any("of its mixes MLC does not say" in one for one in said)
    assert not any("two machines" in one for one in said)
    assert "mlc/loaded/100r/d20000" in names(compare([hybrid, mlc]).pairs[0])


def test_nothing_in_common_says_what_each_counts(run: Source, tmp_path: Path) -> None:
    place = tmp_path / "bw_mem_cp.txt"
    place.write_text("64.00 9000\n", encoding="utf-8")
    stream = tmp_path / "stream.txt"
    stream.write_text((TOOL_SAMPLES / "stream.txt").read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(RequestError, match="lmbench: a copy's bytes are counted once"):
        api.compare(stream, place)


def test_what_is_no_run_is_named_wherever_a_run_is_read(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match=r"is the output of STREAM .* and no run"):
        api.load(TOOL_SAMPLES / "stream.txt")
    other = tmp_path / "letter"
    other.write_text("Dear all,\n", encoding="utf-8")
    with pytest.raises(RunFileError, match=r"neither a run nor the output of .* 'Dear all,'"):
        api.compare(other, other)
    with pytest.raises(RequestError, match="is not the output of"):
        api.tool_output(other)


def test_a_file_has_a_report_of_its_own() -> None:
    found = api.tool_output(TOOL_SAMPLES / "stream.txt")
    assert found.report.title.startswith("Output of STREAM")
    assert "published" not in found.text().lower().replace("published set", "")
    document = found.document()
    assert document["tool"].startswith("STREAM")
    assert len(document["figures"]) == 4


def test_amounts_are_neither_better_nor_worse() -> None:
    mlc = read_foreign(TOOL_SAMPLES / "mlc.txt")
    assert isinstance(mlc, Reference)
    moved = PublishedFigure(name="perf/x", unit="kB", value=5.0, statistic="sum", label="x")
    source = of_reference(
        Reference(
            name="f",
            tool="perf stat",
            description=mlc.description,
            columns=[],
            rows=[],
            read_figures=[moved],
        )
    )
    assert [one.direction for one in source.comparables] == ["neither"]
