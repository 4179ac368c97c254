"""What only a real GPU can show to be right; skipped, with the reason, where there is none.

It needs nothing but memgauge and pytest, so that it runs on a GPU machine as it is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from memgauge.model.errors import RequestError
from memgauge.system.gpu.libraries import nvrtc_file

core: Any = pytest.importorskip("memgauge._core", reason="the native core is not built")

KERNELS = ("copy", "scale", "add", "triad", "read", "write", "update")
ARRAY_BYTES = 4 << 20


@pytest.fixture(scope="module")
def gpu() -> Iterator[Any]:
    try:
        driver = core.GpuDriver()
        usable = [facts.index for facts in driver.devices if not facts.error]
        if not usable:
            pytest.skip("the driver shows no GPU that can be used")
        opened = core.Gpu(driver, usable[0], nvrtc_file(driver.version))
    except RequestError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def memgauge(*arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memgauge", *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def measured(tmp_path: Path, *arguments: str) -> Any:
    done = memgauge(*arguments, "--budget", "3s", "--json", "--output", str(tmp_path / "run"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("element", ["double", "float"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_variants_compute_what_it_should(gpu: Any, kernel: str, element: str) -> None:
    searched = core.gpu_tuned_specs(kernel, element)
    specs = [core.GpuKernelSpec(kernel, element), *searched[:: max(1, len(searched) // 9)]]
    arrays = core.GpuStreamArrays(gpu, ARRAY_BYTES // (8 if element == "double" else 4), element)
    arrays.prepare(specs)
    for spec in specs:
        (thread,) = arrays.run(spec, iterations=3).threads
        assert len(thread.begin_ns) == len(thread.end_ns) == 3
        assert all(end > begin for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True))
    assert all(check.failed_elements == 0 for check in arrays.validate())
    arrays.close()


def test_one_wrong_element_is_found(gpu: Any) -> None:
    arrays = core.GpuStreamArrays(gpu, ARRAY_BYTES // 8)
    arrays.run(core.GpuKernelSpec("triad"))
    arrays.corrupt("a", 12345)
    found = {check.array: check for check in arrays.validate()}
    assert (found["a"].failed_elements, found["a"].first_failed) == (1, 12345)
    assert found["b"].failed_elements == 0
    arrays.close()


@pytest.mark.parametrize(("reads", "writes"), [(1, 0), (2, 1), (1, 1), (0, 1)])
def test_a_mix_moves_its_share(gpu: Any, reads: int, writes: int) -> None:
    traffic = core.GpuTraffic(gpu, ARRAY_BYTES)
    (thread,) = traffic.run(reads, writes, bytes=ARRAY_BYTES, iterations=2).threads
    moved = thread.read_bytes + thread.write_bytes
    assert moved >= 2 * ARRAY_BYTES
    assert thread.read_bytes * writes == thread.write_bytes * reads
    assert all(check.failed_elements == 0 for check in traffic.validate())
    traffic.close()


@pytest.mark.parametrize("host", ["pinned", "pageable"])
def test_what_is_transferred_arrives(gpu: Any, host: str) -> None:
    transfers = core.GpuTransfers(gpu, ARRAY_BYTES, host=host)
    for direction in ("host-to-device", "device-to-host", "both"):
        done = transfers.run(direction, ARRAY_BYTES, iterations=2)
        assert len(done.threads) == (2 if direction == "both" else 1)
        assert all(check.failed_elements == 0 for check in transfers.validate())
    transfers.close()


def test_a_chase_visits_every_node_and_counts_its_time(gpu: Any) -> None:
    chase = core.GpuChase(gpu, 1 << 20)
    assert chase.is_single_cycle()
    walk = chase.run(2000, warm_hops=chase.nodes, iterations=3)
    assert len(walk.cycles) == 3
    assert min(walk.cycles) > 2000
    chase.close()


def test_more_than_its_memory_is_one_line(gpu: Any) -> None:
    with pytest.raises(RequestError) as caught:
        core.GpuStreamArrays(gpu, gpu.facts.memory_bytes)
    assert "\n" not in str(caught.value)


def test_no_such_gpu_is_one_line(gpu: Any, tmp_path: Path) -> None:
    done = memgauge("stream", "--memory", "cuda:99", "--output", str(tmp_path / "run"))
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_stream_reaches_a_part_of_the_theoretical(gpu: Any, tmp_path: Path) -> None:
    memory = f"cuda:{gpu.facts.index}"
    done = measured(tmp_path, "stream", "--memory", memory, "--kernel", "triad")
    assert all(check["passed"] for one in done["validations"] for check in one["checks"])
    points = done["sections"][0]["points"]
    for point in points:
        theoretical = point["actual"].get("theoretical_bytes_per_s")
        assert point["actual"]["gpu"] == gpu.facts.name
        if theoretical is not None:
            assert 0 < 1e9 * point["sustained"]["value"] < theoretical


def test_counters_of_the_gpu_count_or_say_why_not(gpu: Any, tmp_path: Path) -> None:
    memory = f"cuda:{gpu.facts.index}"
    done = memgauge(
        *("stream", "--memory", memory, "--kernel", "copy", "--counters", "auto"),
        *("--budget", "5s", "--json", "--output", str(tmp_path / "run")),
    )
    if done.returncode == 2:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    hardware = json.loads(done.stdout)["sections"][0]["hardware"]
    assert hardware
    assert all(one["hardware_to_software"]["value"] > 0.5 for one in hardware)


@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("cupy", "mpi4py")),
    reason="CuPy and mpi4py are not both installed",
)
def test_a_transform_on_the_gpu_is_right(gpu: Any, tmp_path: Path) -> None:
    place = tmp_path / "fft"
    done = memgauge("fft3d", "--device", "cuda", "--size", "64", "--output", str(place))
    assert done.returncode == 0, done.stderr
    known = memgauge("report", str(place), "--format", "json")
    titles = {phase["title"] for phase in json.loads(known.stdout)["fft3d"]["steps"][0]["phases"]}
    assert {"copy in 1", "FFT 1", "copy out 1"} <= titles
