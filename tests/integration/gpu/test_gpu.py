"""`--memory cuda:N` from the command line, on stand-ins of the driver and NVRTC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.command import memgauge

from memgauge.model.storage.run_file import Run, read_run

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

STREAM = ["stream", "--memory", "cuda:0", "--array-bytes", "64KiB", "--kernel", "copy,triad"]
SHORT = ["--budget", "6.5s", "--precision", "0.3"]
SCRIPTED: dict[str, Any] = {
    "clock": "scripted",
    "kernel_ns_per_byte": 0.001,
    "launch_ns": 1000,
    "l2_bytes": 16 << 10,
}


def measured(
    stand_in: GpuStandIn, output: Path, *more: str, **knobs: Any
) -> tuple[Run, dict[str, Any]]:
    environment = stand_in.environment(**(SCRIPTED | knobs))
    words = [*STREAM, *SHORT, "--output", output, "--json", *more]
    done = memgauge(*words, environment=environment)
    assert done.returncode == 0, done.stderr
    return read_run(output), json.loads(done.stdout)


def refused(
    stand_in: GpuStandIn, output: Path, *words: str, without: tuple[str, ...] = (), **knobs: Any
) -> str:
    environment = stand_in.environment(without=without, **knobs)
    done = memgauge(*words, *SHORT, "--output", output, environment=environment)
    assert done.returncode == 2, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("memgauge: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert not (output / "records.jsonl").exists()
    return lines[0]


def test_every_walk_takes_what_its_bytes_take(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    """In scripted time a launch over B bytes takes 1 us and B ps: so must each sample."""
    run, document = measured(gpu_stand_in, tmp_path / "run")
    slices = [point for point in run.points.values() if point.role != "counted"]
    assert len(slices) == 8
    for point in slices:
        expected_ns = 1000 + 0.001 * point.bytes_counted
        assert run.samples_of(point.point), point.point
        for sample in run.samples_of(point.point):
            (thread,) = sample.threads
            took_ns = thread.end_ns[0] - thread.begin_ns[0]
            assert took_ns == pytest.approx(expected_ns, rel=0.01)
        assert point.actual["gpu"] == "Stand-in GPU"
        assert point.actual["theoretical_bytes_per_s"] == 1.024e12
    (validation,) = run.validations
    assert validation.subject == "double, cuda:0"
    assert [check.passed for check in validation.checks] == [True] * 3
    assert [check.elements for check in validation.checks] == [8 << 10] * 3
    assert {figure["memory"] for figure in memories(document)} == {"cuda:0"}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Bandwidth of the GPU" in page


def memories(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = [point["requested"] for section in document["sections"] for point in section["points"]]
    assert len(found) == 8
    return found


def test_a_mig_instance_has_no_theoretical_bandwidth(
    gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    words = ["--element", "float", "--kernel", "triad"]
    run, document = measured(
        gpu_stand_in, tmp_path / "run", *words, name="Stand-in GPU MIG 1g.10gb"
    )
    assert run.points["stream/triad/tuned/float/cuda:0"].bytes_counted == 3 * (64 << 10)
    assert run.validations[0].checks[0].elements == 16 << 10
    assert not any("theoretical_bytes_per_s" in p.actual for p in run.points.values())
    said = [verdict["text"] for section in document["sections"] for verdict in section["verdicts"]]
    assert any("a MIG instance has part of the bus" in text for text in said)


@pytest.mark.parametrize(
    ("words", "knobs", "said"),
    [
        ("stream --memory cuda:3", {}, "choose from cuda:0 (Stand-in GPU)"),
        ("stream --memory cuda:0", {"devices": 0}, "the driver shows no GPU"),
        ("stream --memory cuda:0", {"fail": {"cuInit": 803}}, "differ in version"),
        (
            "stream --memory cuda:0",
            {"fail": {"cuDevicePrimaryCtxRetain": 46}},
            "another process has it in exclusive mode",
        ),
        ("stream --memory cuda:0", {"fail": {"cuMemAlloc_v2": 2}}, "out of memory"),
        ("stream --memory cuda:0 --array-bytes 30MiB", {}, "available in cuda:0; use smaller"),
        ("stream --memory cuda:0 --threads 2", {}, "--threads: does not apply to cuda:0"),
        (
            "stride --memory cuda:0",
            {},
            "cannot measure the memory of a GPU (cuda:0); use one of stream",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line(
    gpu_stand_in: GpuStandIn, tmp_path: Path, words: str, knobs: dict[str, Any], said: str
) -> None:
    assert said in refused(gpu_stand_in, tmp_path / "run", *words.split(), **knobs)


def test_a_survey_leaves_out_what_measures_no_gpu(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    output = tmp_path / "run"
    words = ["--memory", "cuda:0", "--only", "stream,stride", "--budget", "6.5s"]
    environment = gpu_stand_in.environment(**(SCRIPTED | {"memory": 1 << 20}))
    done = memgauge("survey", *words, "--output", output, environment=environment)
    assert done.returncode == 0, done.stderr
    run = read_run(output)
    assert {point.experiment for point in run.points.values()} == {"stream"}
    left_out = [one.message for one in run.warnings if one.code == "left-out"]
    (said,) = [one for one in left_out if one.startswith("stride: ")]
    assert said.startswith("stride: cannot measure the memory of a GPU (cuda:0)")
