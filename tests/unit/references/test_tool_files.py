"""Files of other tools: real output, closed forms, and what must not be taken for a figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.samples.paths import TOOL_SAMPLES

from memgauge.model.errors import RequestError
from memgauge.references.foreign.files import TOOLS, no_output, not_a_run, read_foreign
from memgauge.references.foreign.parsed import part
from memgauge.references.library import Reference

MIB_PER_S = 2**20 / 1e9

STREAM = """STREAM version $Revision: 5.10 $
This system uses 8 bytes per array element.
Array size = 10000000 (elements), Offset = 0 (elements)
Number of Threads requested = {threads}
Number of Threads counted = {threads}
Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           25000.0     0.0064     0.0064     0.0065
Triad:          26000.0     0.0092     0.0092     0.0093
{end}
"""
VALID = "Solution Validates: avg error less than 1.000000e-13 on all three arrays"


def read(path: Path, text: str) -> Reference:
    path.write_text(text, encoding="utf-8")
    found = read_foreign(path)
    assert found is not None
    return found


def values(reference: Reference) -> dict[str, float]:
    return {one.name: one.value for one in reference.figures}


@pytest.mark.parametrize("path", sorted(TOOL_SAMPLES.glob("*[!d]")), ids=lambda path: path.name)
def test_real_output_has_figures_with_unit_statistic_and_what_it_counts(path: Path) -> None:
    found = read_foreign(path)
    assert found is not None
    assert found.tool
    assert found.figures or path.name.startswith("perf")
    assert found.description.conditions[0].startswith("counted: ")
    assert found.description.caveats
    assert all(one.unit in {"GB/s", "ns"} and one.statistic for one in found.figures)
    assert len({one.name for one in found.figures}) == len(found.figures)
    printed = path.read_text(encoding="utf-8")
    for row in found.rows:
        assert any(cell and cell in printed for cell in row.values())


def test_the_real_samples_are_of_every_tool() -> None:
    tools = {found.tool for path in TOOL_SAMPLES.glob("*[!d]") if (found := read_foreign(path))}
    usual = ("STREAM", "BabelStream", "likwid-bench", "Intel Memory", "multichase", "multiload")
    for name in (*usual, "lmbench", "sysbench memory", "perf stat"):
        assert any((tool or "").startswith(name) for tool in tools), name


def test_stream_is_named_as_points_of_stream_are(tmp_path: Path) -> None:
    both = STREAM.format(threads=2, end=VALID) + STREAM.format(threads=1, end=VALID)
    found = read(tmp_path / "a", both)
    assert found.tool == "STREAM 5.10"
    assert values(found) == {
        f"stream/{kernel}/standard/double/{threads}t": rate
        for threads in (1, 2)
        for kernel, rate in (("copy", 25.0), ("triad", 26.0))
    }
    assert {one.statistic for one in found.figures} == {"best of N passes"}


def test_results_that_did_not_validate_are_no_figures(tmp_path: Path) -> None:
    found = read(tmp_path / "a", STREAM.format(threads=2, end="Failed Validation on array a[]"))
    assert found.figures == []
    assert "validated" in " ".join(found.description.caveats)


def test_of_two_results_of_one_name_none_is_a_figure(tmp_path: Path) -> None:
    found = read(tmp_path / "a", STREAM.format(threads=2, end=VALID) * 2)
    assert found.figures == []
    assert "occur several times" in " ".join(found.description.caveats)


def test_likwid_is_compared_where_its_arrays_lie_in_memory(tmp_path: Path) -> None:
    block = (
        "LIKWID MICRO BENCHMARK\nTest: {test}\nUsing 2 threads\n"
        "Size (Byte):\t\t{size}\nMByte/s:\t\t{rate}\n"
    )
    text = (
        block.format(test="copy_mem_avx", size=1024000000, rate=40000)
        + block.format(test="copy_mem_avx", size=24000, rate=200000)
        + block.format(test="triad", size=1024000000, rate=30000)
        + block.format(test="stream_sp", size=1024000000, rate=31000)
    )
    assert values(read(tmp_path / "a", text)) == {
        "stream/copy/likwid-copy_mem_avx/double/2t": 40.0,
        "likwid-bench/copy_mem_avx/24000B/2t": 200.0,
        "likwid-bench/triad/1024000000B/2t": 30.0,
        "likwid-bench/stream_sp/1024000000B/2t": 31.0,
    }


def test_mlc_is_compared_for_reads_alone() -> None:
    found = read_foreign(TOOL_SAMPLES / "mlc.txt")
    assert found is not None
    known = values(found)
    assert found.tool == "Intel Memory Latency Checker 3.5"
    assert known["loaded/100r/unloaded"] == 81.4
    assert known["loaded/100r/least-delay/traffic"] == pytest.approx(215.7128)
    assert known["mix/100r/sequential/best team"] == pytest.approx(216.87573)
    assert known["mlc/peak/1:1-reads-writes"] == pytest.approx(149.48527)
    assert known["mlc/idle-latency/0-1"] == 131.1
    assert known["mlc/idle"] == 80.8
    assert known["mlc/loaded/100r/d700"] == 92.27
    assert not any("113.9" in str(value) for value in known.values())


def test_mlc_with_writes_has_no_ends(tmp_path: Path) -> None:
    text = (TOOL_SAMPLES / "mlc.txt").read_text(encoding="utf-8")
    known = values(read(tmp_path / "a", text.replace("Read-only traffic type", "-W5 traffic")))
    assert "loaded/100r/unloaded" not in known
    assert known["mlc/loaded/mixed/d700"] == 92.27


def test_units_of_tools_are_converted(tmp_path: Path) -> None:
    head = "BabelStream\nVersion: 5.0\nImplementation: OpenMP\nPrecision: {precision}\n"
    table = "Function    {unit}/s  Min (sec)   Max         Average\nTriad  1000.0  0.1  0.2  0.3\n"
    name = "stream/triad/babelstream/{}/best team"
    for unit, scale in (("MB", 1e-3), ("MiB", MIB_PER_S), ("GB", 1.0), ("TiB", 2**40 / 1e9)):
        text = head.format(precision="float") + table.format(unit=unit)
        assert values(read(tmp_path / "a", text)) == {
            name.format("float"): pytest.approx(1000 * scale)
        }
    lines = "function,num_times,n_elements,sizeof,max_gibytes_per_sec,min_runtime\n"
    text = lines + "Triad,100,1000,8,2.0,0.1\nDot,100,1000,8,4.0,0.1\n"
    gib = 2**30 / 1e9
    assert values(read(tmp_path / "a", text)) == {
        name.format("double"): pytest.approx(2 * gib),
        "babelstream/dot/double": pytest.approx(4 * gib),
    }
    sysbench = (
        "sysbench 1.0.20\nNumber of threads: 2\nRunning memory speed test with the following "
        "options:\n  block size: 1024KiB\n  operation: read\n  scope: global\n"
        "1000.00 MiB transferred (2000.00 MiB/sec)\n"
    )
    assert values(read(tmp_path / "a", sysbench)) == {
        "sysbench/read/1024KiB/global/2t": pytest.approx(2000 * MIB_PER_S)
    }
    multiload = (
        "Samples\t, Byte/thd\t, ChaseThds\t, ChaseNS\t, LoadThds\t, LdAvgMibs\t, ChaseArg\t, "
        "MemLdArg\n4\t, 1000\t, 1\t, 90.5\t, 3\t, 1000\t, simple\t, stream-sum\n"
    )
    assert values(read(tmp_path / "a", multiload)) == {
        "multiload/simple/stream-sum/1+3t/1000B": 90.5,
        "multiload/simple/stream-sum/1+3t/1000B/traffic": pytest.approx(1000 * MIB_PER_S),
        "loaded/100r/least-delay/traffic": pytest.approx(1000 * MIB_PER_S),
    }


def test_perf_has_amounts_of_events_that_count_bytes_alone(tmp_path: Path) -> None:
    lines = [
        "1.000000000,S0,1,{},MiB,uncore_imc/data_reads/,1000000,100.00,,",
        "1.000000000,S0,1,12345,,cycles,1000000,100.00,,",
        "1.000000000,S0,1,5.0,MiB,shared/x/,1000000,50.00,,",
        "1.000000000,S0,1,<not supported>,MiB,absent/x/,0,100.00,,",
        "2.000000000,S0,1,{},MiB,uncore_imc/data_reads/,1000000,100.00,,",
    ]
    text = "\n".join(lines).format("100.0", "300.0")
    found = read(tmp_path / "a", text)
    assert values(found) == {
        "perf/uncore_imc-data_reads": pytest.approx(400 * 2**20 / 1e3),
        "perf/uncore_imc-data_reads/rate": pytest.approx(400 * 2**20 / 2 / 1e9),
    }
    caveats = " ".join(found.description.caveats)
    for event, why in (("cycles", "bytes"), ("shared/x/", "extrapolated"), ("absent", "supported")):
        assert re.search(f"{event}.*{why}", caveats)
    json = (
        '{"counter-value" : "2.000000", "unit" : "MiB", "event" : "umc/r/", "event-runtime" : 1, '
        '"pcnt-running" : 100.00}'
    )
    assert values(read(tmp_path / "b", json)) == {"perf/umc-r": pytest.approx(2 * 2**20 / 1e3)}
    other = "S0;1;2.000000;MiB;umc/r/;1;100.00;;"
    assert values(read(tmp_path / "c", other)) == {"perf/umc-r": pytest.approx(2 * 2**20 / 1e3)}


def test_bare_numbers_of_bw_mem_are_known_by_the_name_of_the_file(tmp_path: Path) -> None:
    text = "64.00 10000.00\n"
    assert values(read(tmp_path / "node1-bw_mem-rd-64m.txt", text)) == {
        "lmbench/bw_mem-rd/64.00MB": 10.0
    }
    other = tmp_path / "numbers.txt"
    other.write_text(text, encoding="utf-8")
    assert read_foreign(other) is None
    assert "bare numbers" in (not_a_run(other) or "")


@pytest.mark.parametrize(
    "begin", ["Intel(R) Memory Latency Checker - v3.9\n", "LIKWID MICRO BENCHMARK of 2026\n"]
)
def test_output_that_ends_before_the_first_measurement_has_no_figures(
    tmp_path: Path, begin: str
) -> None:
    found = read(tmp_path / "output", begin)
    assert not found.figures
    assert not found.rows
    assert "no figure could be read" in " ".join(found.description.caveats)


def test_a_file_of_two_tools_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    mlc = (TOOL_SAMPLES / "mlc.txt").read_text(encoding="utf-8")
    path.write_text(STREAM.format(threads=2, end=VALID) + mlc, encoding="utf-8")
    with pytest.raises(RequestError, match="holds the output of STREAM and of Intel MLC"):
        read_foreign(path)


@pytest.mark.parametrize(
    ("content", "held"),
    [
        (b"Dear all,\nCopy: 1 2 3\n", "it begins 'Dear all,'"),
        (b"", "it is empty"),
        (b"\x7fELF\0\0", "binary data"),
        (b"81.234\n", "bare numbers"),
    ],
)
def test_what_is_nothing_known_is_named_in_one_line(
    tmp_path: Path, content: bytes, held: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    assert read_foreign(path) is None
    for said in (not_a_run(path) or "", no_output(path)):
        assert held in said
        assert all(tool in said for tool in TOOLS)
        assert "\n" not in said


def test_records_of_a_run_are_left_to_the_reader_of_runs(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text('{"type":"start"\n', encoding="utf-8")
    assert read_foreign(path) is None
    assert not_a_run(path) is None
    path.write_bytes(b"")
    assert not_a_run(path) is None
    (tmp_path / "bwlat_50.txt").write_text("1 2\n", encoding="utf-8")
    assert read_foreign(tmp_path) is None


def test_curves_of_mess_have_no_latencies_without_a_unit(tmp_path: Path) -> None:
    (tmp_path / "bwlat_50.txt").write_text("50000\t420\n1000\t160\n", encoding="utf-8")
    (tmp_path / "bwlat_100.txt").write_text("60000 400\n2000 150\n-5 149\n", encoding="utf-8")
    found = read_foreign(tmp_path)
    assert found is not None
    assert values(found) == {
        "mess/50r/p0/traffic": 1.0,
        "mess/50r/p1/traffic": 50.0,
        "mess/100r/p1/traffic": 2.0,
        "mess/100r/p2/traffic": 60.0,
        "loaded/100r/least-delay/traffic": 60.0,
    }
    assert "cycles or ns" in " ".join(found.description.caveats)


def test_text_of_strangers_steers_nothing(tmp_path: Path) -> None:
    text = "Samples,Byte/thd,ChaseNS,ChaseArg,LoadThds\n1,\x1b[2J,80,a\x1b]0;x\x07/../b,\x07\n"
    found = read(tmp_path / "a", text)
    (one,) = found.figures
    assert one.name == "multiload/a-..-b/unnamed/unnamed+unnamedt/unnamedB"
    assert "\x1b" not in repr(found)


def test_what_stands_for_a_number_makes_no_name_long(tmp_path: Path) -> None:
    text = f"Samples,Byte/thd,ChaseNS,ChaseThds\n1,{'9' * 1000},80,{'8' * 1000}\n"
    (one,) = read(tmp_path / "a", text).figures
    assert all(part(piece) == piece for piece in one.name.split("/"))
