"""The command line tool as a user meets it: exit codes, streams, signals, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import jsonschema
import pytest
from tests.integration.command import command, memgauge, without_core

pytestmark = pytest.mark.native

QUICK = ("--array-bytes", "8MiB", "--kernel", "copy,triad", "--threads", "1", "--budget", "2s")


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cli")
    done = memgauge("stream", *QUICK, "--output", "run", cwd=directory)
    assert done.returncode == 0, done.stderr
    return directory / "run"


def test_a_run_leaves_records_summary_and_page(quick_run: Path) -> None:
    assert sorted(path.name for path in quick_run.iterdir()) == [
        "records.jsonl",
        "report.html",
        "summary.txt",
    ]


def test_the_summary_fits_80_columns(quick_run: Path) -> None:
    lines = (quick_run / "summary.txt").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 80


def test_json_is_one_document_on_stdout_and_nothing_else(tmp_path: Path) -> None:
    done = memgauge("stream", *QUICK, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    schema = json.loads(memgauge("schema", "--of", "document", cwd=tmp_path).stdout)
    jsonschema.validate(document, schema)


def test_records_follow_the_published_schema(quick_run: Path) -> None:
    schema = json.loads(memgauge("schema", cwd=quick_run).stdout)
    validator = jsonschema.Draft202012Validator(schema)
    with (quick_run / "records.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            validator.validate(json.loads(line))


def test_report_renders_again_the_same_figures(quick_run: Path) -> None:
    before = (quick_run / "summary.txt").read_text(encoding="utf-8")
    done = memgauge("report", str(quick_run), cwd=quick_run)
    assert done.returncode == 0
    assert (quick_run / "summary.txt").read_text(encoding="utf-8") == before


def test_report_needs_no_native_core(quick_run: Path, tmp_path: Path) -> None:
    environment = without_core(tmp_path)
    for arguments in (["report", str(quick_run)], ["export", str(quick_run)], ["--help"]):
        done = memgauge(*arguments, environment=environment)
        assert done.returncode == 0, done.stderr
    refused = memgauge("stream", environment=environment)
    assert refused.returncode == 2
    assert "no native core" in refused.stderr


def test_the_stream_form_is_labelled_as_the_rules_ask(quick_run: Path) -> None:
    text = memgauge("report", str(quick_run), "--format", "stream", cwd=quick_run).stdout
    assert "Best Rate MB/s" in text
    assert "variant of the STREAM benchmark" in text


def test_export_gives_one_row_for_each_stamp(quick_run: Path) -> None:
    lines = memgauge("export", str(quick_run), cwd=quick_run).stdout.splitlines()
    records = (quick_run / "records.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [record for record in map(json.loads, records) if record["kind"] == "sample"]
    assert len(lines) == 1 + sum(len(thread[1]) for s in samples for thread in s["threads"])


BAD_INPUT = [
    (("stream", "--array-bytes", "64MB!"), "64MB!"),
    (("stream", "--array-bytes", "0"), "--array-bytes"),
    (("stream", "--array-bytes", "-1"), "--array-bytes"),
    (("stream", "--array-bytes", "1PiB"), "1 PiB"),
    (("stream", "--array-bytes", "2TiB"), "available"),
    (("stream", "--threads", "0"), "--threads"),
    (("stream", "--threads", "1000000000"), "--threads"),
    (("stream", "--threads", "9-2"), "--threads"),
    (("stream", "--threads", "4000"), "use at most"),
    (("stream", "--cpus", "60000"), "60000"),
    (("stream", "--cpus", "all"), "compact, scatter, cores"),
    (("stream", "--kernel", "tirad"), "choose from copy"),
    (("stream", "--memory", "node:77"), "77"),
    (("stream", "--memory", "tape"), "dram, node:N"),
    (("stream", "--budget", "0"), "--budget"),
    (("stream", "--budget", "soon"), "--budget"),
    (("stream", "--precision", "300%"), "--precision"),
    (("stream", "--nonsense"), "no such option"),
    (("latency", "--threads", "2"), "one thread at a time"),
    (("workingset", "--largest-bytes", "900TiB"), "available"),
    (("workingset", "--largest-bytes", "1B"), "the smallest footprint is 4 KiB"),
    (("misses", "--largest-bytes", "900TiB"), "available"),
    (("misses", "--largest-bytes", "64KiB"), "may fit into the caches"),
    (("misses", "--threads", "2"), "asked of one core"),
    (("loaded", "--read-share", "101%"), "more than 100%"),
    (("loaded", "--delay", "-1"), "negative"),
    (("loaded", "--threads", "4000"), "use at most"),
    (("mix", "--read-share", "101%"), "more than 100%"),
    (("loaded", "--threads", "0"), "--threads"),
    (("loaded", "--delay", ""), "--delay ''"),
    (("loaded", "--order", "up"), "choose from sequential"),
    (("mix", "--read-share", "nan"), "is not a share"),
    (("mix", "--read-share", ""), "is not a share"),
    (("mix", "--threads", "4000"), "use at most"),
    (("mix", "--nodes", "1000"), "no such node"),
    (("mix", "--store", "none"), "choose from temporal"),
    (("stride", "--stride", "0"), "is zero"),
    (("stride", "--stride", ""), "--stride ''"),
    (("stride", "--access", "100"), "whole lines"),
    (("stride", "--footprint", "900TiB"), "ask for less"),
    (("stride", "--sweep", "wide"), "choose from coarse, fine"),
    (("pages", "--largest-bytes", "900TiB"), "ask for less"),
    (("pages", "--largest-bytes", "1B"), "not even 16 lines"),
    (("pages", "--stride", "0"), "is zero"),
    (("report", "nowhere"), "nowhere"),
    (("compare", "nowhere", "reference:nvdimm-dram"), "nowhere"),
    (("compare", "reference:nvdimm-dram", "/dev/null"), "/dev/null"),
    (("compare", "reference:nvdimm-dram", "reference:nvdimm", "--fail-if-slower", "-5%"), "-5"),
    (("export", "nowhere"), "nowhere"),
    (("survey", "--resume", "nowhere"), "nowhere"),
    (("frobnicate",), "frobnicate"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_INPUT, ids=lambda value: " ".join(value)[:40])
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    done = memgauge(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("memgauge: ")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_cpus_outside_the_affinity_mask_are_refused(tmp_path: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU only")
    first, second, *_ = sorted(os.sched_getaffinity(0))
    done = memgauge(
        "stream", *QUICK, "--cpus", str(second), cwd=tmp_path, before=("taskset", "-c", str(first))
    )
    assert done.returncode == 2
    assert f"CPU {second}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_one_cpu_is_too_few_for_latency_under_load(tmp_path: Path) -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    done = memgauge("loaded", cwd=tmp_path, before=("taskset", "-c", cpu))
    assert done.returncode == 2
    assert done.stderr.startswith("memgauge: loaded: only one CPU can be used")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_huge_pages_that_are_not_there_name_the_remedy(tmp_path: Path) -> None:
    pool = Path("/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages")
    if pool.exists() and int(pool.read_text(encoding="ascii")):
        pytest.skip("this machine has 1 GiB pages free")
    done = memgauge("stream", *QUICK, "--pages", "1g", cwd=tmp_path)
    assert done.returncode == 2
    assert "1g" in done.stderr or "1 GiB" in done.stderr
    assert done.stderr.count("\n") <= 2


def test_an_unwritable_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory", encoding="ascii")
    done = memgauge("stream", *QUICK, "--output", "file/run", cwd=tmp_path)
    assert done.returncode in {1, 2}
    assert "file" in done.stderr
    assert (tmp_path / "file").read_text(encoding="ascii") == "not a directory"


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work", encoding="ascii")
    done = memgauge("stream", *QUICK, "--output", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def started(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for_samples(directory: Path, deadline_s: float = 60.0) -> None:
    """Until the run has recorded its first samples."""
    records = directory / "records.jsonl"
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if records.exists() and '"sample"' in records.read_text(encoding="utf-8"):
            return
        time.sleep(0.05)
    pytest.fail("no sample was recorded")


LONG = ("stream", "--array-bytes", "8MiB", "--threads", "1", "--precision", "0.000001")


def test_ctrl_c_keeps_what_was_measured_and_exits_130(tmp_path: Path) -> None:
    process = started(*LONG, "--budget", "60s", "--output", "run", cwd=tmp_path)
    wait_for_samples(tmp_path / "run")
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in error
    assert "Traceback" not in error
    last = (tmp_path / "run" / "records.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["status"] == "interrupted"


def test_a_killed_run_can_be_reported_and_resumed(tmp_path: Path) -> None:
    process = started(*LONG, "--budget", "60s", "--output", "run", cwd=tmp_path)
    wait_for_samples(tmp_path / "run")
    process.kill()
    process.communicate(timeout=30)
    reported = memgauge("report", "run", cwd=tmp_path)
    assert reported.returncode == 0, reported.stderr
    assert "killed" in reported.stdout
    resumed = memgauge(
        "survey", "--resume", "run", "--budget", "3s", "--precision", "0.5", cwd=tmp_path
    )
    assert resumed.returncode == 0, resumed.stderr
    assert "killed" not in resumed.stdout


def test_a_reader_that_leaves_the_pipe_is_no_error(quick_run: Path) -> None:
    process = started("export", str(quick_run), cwd=quick_run)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        assert process.stdout.readline().startswith("run,point,")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 0


def test_help_names_every_command(tmp_path: Path) -> None:
    text = memgauge("--help", cwd=tmp_path).stdout
    for name in ("survey", "stream", "latency", "workingset", "system", "report", "export"):
        assert f"  {name} " in text


def test_system_prints_text_and_json(tmp_path: Path) -> None:
    assert memgauge("system", cwd=tmp_path).returncode == 0
    found = json.loads(memgauge("system", "--json", cwd=tmp_path).stdout)
    assert found["allowed_cpus"]


def test_a_full_disk_behind_standard_output_is_one_line(quick_run: Path) -> None:
    for arguments in (("report", str(quick_run)), ("export", str(quick_run))):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                command(*arguments), stdout=full, stderr=subprocess.PIPE, check=False, timeout=120
            )
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == (
            b"memgauge: standard output: cannot be written: No space left on device; free space or "
            b"write elsewhere"
        )
        assert b"Traceback" not in done.stderr
