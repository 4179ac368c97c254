"""The script for GPU machines: on a stand-in, with a part that cannot run, and without any GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gpu_stand_in import GpuStandIn

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.native


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def script(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "benchmarks.gpu", "--small", *options], environment)


def test_a_part_that_fails_is_told_and_the_others_go_on(
    gpu_stand_in: GpuStandIn, tmp_path: Path
) -> None:
    environment = gpu_stand_in.environment(name="Stand-in | 9000")
    options = ["--parts", "fft3d,copies", "--results", str(tmp_path)]
    # No module of that name can be loaded: neither NumPy nor CuPy is asked for by anything else.
    (tmp_path / "numpy.py").write_text("raise ImportError('left out here')")
    paths = [str(tmp_path), environment.get("PYTHONPATH", "")]
    done = script(environment | {"PYTHONPATH": ":".join(filter(None, paths))}, *options)
    assert done.returncode == 1
    page = (tmp_path / "stand-in-9000.md").read_text()
    known = json.loads((tmp_path / "stand-in-9000.json").read_text())
    failed, copied = known["parts"]
    assert (failed["name"], failed["findings"]) == ("fft3d", [])
    assert failed["error"].startswith("exit code 2: memgauge: ")
    assert f"- fft3d: {failed['error']}" in page
    assert copied["error"] is None
    compared = [one for one in copied["findings"] if one["requested"] == "no slower"]
    assert len(compared) == 1
    assert "no figure here means anything" in page
    assert "| within, 1 MiB, driver |" in page
    assert done.stdout.strip() == page.strip()


def test_what_only_the_machine_can_tell_is_told(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    options = ["--parts", "device", "--results", str(tmp_path)]
    done = script(gpu_stand_in.environment(globaltimer_step_ns=1024), *options)
    assert done.returncode == 0, done.stderr
    assert "| timer | 1024 ns; " in done.stdout
    assert "| CUPTI, range | read in " in done.stdout
    assert "after 0.1 s of rest: [0, 0]" in done.stdout


def test_a_part_that_is_not_there_is_named(gpu_stand_in: GpuStandIn) -> None:
    done = script(gpu_stand_in.environment(), "--parts", "copies,cpoies")
    assert done.returncode == 2
    assert done.stderr.startswith("no such part: cpoies; there are tests, stream, ")


def test_a_device_that_is_not_there_is_one_line(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    environment = gpu_stand_in.environment(devices=2)
    done = script(environment, "--device", "2", "--results", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "nothing is measured: the driver shows 2 GPUs, and no GPU 2\n"
    assert list(tmp_path.iterdir()) == []


def test_without_a_driver_nothing_is_built_or_measured() -> None:
    loads = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1')"]
    if run(loads, dict(os.environ)).returncode == 0:
        pytest.skip("this machine has an NVIDIA driver")
    done = run(["benchmarks/gpu/run.sh"], dict(os.environ))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no NVIDIA driver is here" in done.stderr
