"""A GPU opened through its driver: what it is, and each way in which it cannot be had."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("memgauge._core")

from tests.gpu_stand_in import GpuStandIn

from memgauge._core import Gpu, GpuDriver, GpuKernelSpec, GpuStreamArrays, gpu_tuned_specs
from memgauge.model.errors import RequestError, SystemFailure

pytestmark = pytest.mark.native


def opened(gpu_stand_in: GpuStandIn, index: int = 0, **knobs: Any) -> Gpu:
    files = gpu_stand_in.files(**knobs)
    return Gpu(GpuDriver(files.driver), index, files.compiler)


def test_a_device_is_what_the_driver_tells(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(devices=2, cuda_version=12060, name_1="Other", l2_bytes_1=0)
    driver = GpuDriver(files.driver)
    assert driver.version == "12.6"
    first, second = driver.devices
    assert (first.index, first.name, first.compute) == (0, "Stand-in GPU", "9.0")
    assert (first.memory_bytes, first.l2_bytes, first.multiprocessors) == (64 << 20, 1 << 20, 4)
    assert (first.memory_clock_khz, first.bus_bits, first.ecc) == (1_000_000, 4096, True)
    assert (first.copy_engines, first.integrated, first.mig, first.error) == (2, False, False, "")
    assert first.uuid.startswith("GPU-")
    assert first.bus_id == first.bus_id.lower()
    assert (second.name, second.l2_bytes) == ("Other", None)
    gpu = Gpu(driver, 1, files.compiler)
    assert gpu.facts.name == "Other"
    assert gpu.peers() == [0]
    assert gpu.clock_error_ns is None
    assert gpu.free_bytes <= 64 << 20
    gpu.close()
    with pytest.raises(RuntimeError, match="closed"):
        assert gpu.free_bytes


def test_an_instance_is_known_by_its_name(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(name="NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    (device,) = GpuDriver(files.driver).devices
    assert device.mig
    assert device.uuid.startswith("MIG-")


def test_what_an_old_driver_lacks_is_done_without(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(
        without=("cuDeviceGetUuid_v2", "cuEventElapsedTime_v2", "cuFuncLoad")
    )
    gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
    assert gpu.facts.uuid == ""
    arrays = GpuStreamArrays(gpu, 1000)
    assert arrays.run(GpuKernelSpec("copy")).threads[0].end_ns
    with pytest.raises(RequestError, match="not the CUDA driver's library, or one older"):
        GpuDriver(gpu_stand_in.files(without=("cuLaunchKernel",)).driver)


@pytest.mark.parametrize(
    ("knobs", "index", "says"),
    [
        ({"devices": 0}, 0, r"cuInit: no CUDA.*CUDA_VISIBLE_DEVICES"),
        ({}, 3, r"cuda:3: no such GPU; the driver shows cuda:0 \(Stand-in GPU\)"),
        ({"compute_mode": 2}, 0, r"cuda:0: cannot be used: it is in prohibited compute mode"),
        ({"fail": {"cuInit": 803}}, 0, r"cannot start the CUDA driver: cuInit: .*restart"),
        ({"fail": {"cuInit": 802}}, 0, r"nvidia-fabricmanager"),
        ({"fail": {"cuDevicePrimaryCtxRetain": 46}}, 0, r"cuda:0: .*Retain: .*exclusive mode"),
        ({"fail": {"nvrtcVersion": 2, "cuStreamCreate": 2}}, 0, r"cuda:0: cuStreamCreate: out of"),
    ],
)
def test_a_gpu_that_is_not_to_be_had_says_why(
    gpu_stand_in: GpuStandIn, knobs: dict[str, Any], index: int, says: str
) -> None:
    with pytest.raises(RequestError, match=says) as refused:
        opened(gpu_stand_in, index, **knobs)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("knobs", "error", "says"),
    [
        (
            {"fail": {"cuModuleLoadData": 222}},
            RequestError,
            r"NVRTC 13.0 into .*CUDA 13.0: .*older",
        ),
        ({"fail": {"nvrtcCompileProgram": 6}}, SystemFailure, r"for sm_90 .*error: told to fail"),
        ({"nvrtc_archs": "100,120"}, RequestError, r"NVRTC 13.0 makes no code for .*9.0; install"),
        ({"fail": {"cuMemAlloc_v2": "2@3"}}, RequestError, r"cannot allocate .* bytes .* are free"),
        ({"fail": {"cuLaunchKernel": 700}}, SystemFailure, r"cannot use this GPU any more"),
        ({"fail": {"cuStreamQuery": 214}}, SystemFailure, r"cuda:0: cuStreamQuery: .*-q -d ECC"),
    ],
)
def test_arrays_that_cannot_be_made_say_why(
    gpu_stand_in: GpuStandIn, knobs: dict[str, Any], error: type[Exception], says: str
) -> None:
    gpu = opened(gpu_stand_in, **knobs)
    with pytest.raises(error, match=says) as refused:
        GpuStreamArrays(gpu, 1000)
    assert "\n" not in str(refused.value)


def test_a_chip_newer_than_the_compiler_is_given_ptx(gpu_stand_in: GpuStandIn) -> None:
    gpu = opened(gpu_stand_in, compute="12.1", nvrtc_archs="80,90,100")
    assert all(one.passed for one in GpuStreamArrays(gpu, 1000).validate())


def test_what_nvrtc_opens_when_it_compiles_is_found_beside_it(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files(nvrtc_version="12.8")
    builtins = Path(files.compiler).with_name("libnvrtc-builtins.so.12.8")
    made = ["g++", "-shared", "-x", "c++", os.devnull, "-o", str(builtins)]
    subprocess.run(made, check=True)
    assert str(builtins) not in Path("/proc/self/maps").read_text(encoding="utf-8")
    Gpu(GpuDriver(files.driver), 0, files.compiler)
    assert str(builtins) in Path("/proc/self/maps").read_text(encoding="utf-8")


def test_kernels_are_loaded_before_anything_is_timed(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    arrays = GpuStreamArrays(Gpu(GpuDriver(files.driver), 0, files.compiler), 1000)
    arrays.run(GpuKernelSpec("copy"))
    assert files.calls("cuFuncLoad") == files.calls("cuModuleGetFunction") > 0
    loaded = files.calls("cuFuncLoad")
    arrays.run(GpuKernelSpec("copy"))
    assert files.calls("cuFuncLoad") == loaded


def test_what_is_made_outlives_the_gpu_and_memory_comes_back(gpu_stand_in: GpuStandIn) -> None:
    files = gpu_stand_in.files()
    driver = GpuDriver(files.driver)
    gpu = Gpu(driver, 0, files.compiler)
    arrays = GpuStreamArrays(gpu, 1 << 20)
    free = gpu.free_bytes
    gpu.close()
    assert arrays.run(GpuKernelSpec("triad")).threads
    arrays.close()
    again = Gpu(driver, 0, files.compiler)
    assert again.free_bytes >= free + 3 * 8 * (1 << 20)


def test_specs_are_read_back_as_they_were_given() -> None:
    for spec in gpu_tuned_specs("add", "float"):
        again = GpuKernelSpec(
            spec.operation,
            spec.element,
            spec.variant,
            vector_bytes=spec.vector_bytes,
            unroll=spec.unroll,
            hint=spec.hint,
            threads_per_block=spec.threads_per_block,
            blocks_per_multiprocessor=spec.blocks_per_multiprocessor,
        )
        assert again.hint == spec.hint
        assert (again.counted_read_bytes, again.counted_write_bytes) == (8, 4)
        assert again.write_allocate_bytes == 0
    with pytest.raises(RequestError, match="choose 1, 2, 4 or 8"):
        GpuKernelSpec("copy", variant="tuned", unroll=5)
