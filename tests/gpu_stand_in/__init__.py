"""Stand-ins of the CUDA driver, NVRTC and CUPTI for tests: libraries with the real interface.

Kernels really run: the stand-in of NVRTC compiles their source for this machine's processor, and
the driver's runs each thread of each block in turn. Every access of theirs to device memory is
counted, and checked against what was allocated. Streams are threads that work beside the host.

The fixture `gpu_stand_in` gives a `GpuStandIn`:

    def test_something(gpu_stand_in):
        done = memgauge("stream", "--memory", "cuda:0", environment=gpu_stand_in.environment())
        files = gpu_stand_in.files(devices=2)                      # in this process
        gpu = Gpu(GpuDriver(files.driver), 0, files.compiler)
        files.calls("cuMemAlloc_v2")                               # how often it was called

Knobs, given by keyword (each is an environment variable GPU_STAND_IN_NAME of the libraries; one
with a device's number at its end, such as `name_1`, is that device's alone):

    devices=1                      0: cuInit finds no device
    name="Stand-in GPU"            with " MIG 1g.10gb" in it, an instance
    memory=64 << 20                bytes; allocations beyond are refused
    l2_bytes=1 << 20  multiprocessors=4  compute="9.0"  copy_engines=2  ecc=True  integrated=False
    clock_khz=1_000_000  memory_clock_khz=1_000_000  bus_bits=4096  compute_mode=0
    peers=True                     whether devices reach each other's memory
    pinnable=1 << 36               bytes that cuMemHostAlloc gives at most
    cuda_version=13000  nvrtc_version="13.0"  nvrtc_archs="75,80,86,89,90,100,120"
    fail={"cuInit": 803}           calls that fail with a code; "2@3": from the third call on
    sources="/a/directory"         takes what NVRTC was given: NUMBER.cu, and NUMBER.options by line
    nvrtc_log="..."                what NVRTC says where nvrtcCompileProgram is told to fail
    without=("cuDeviceGetUuid_v2",)  entry points that the libraries have not
    kernel_threads_per_block=1024  what a compiled kernel can be launched with
    globaltimer_step_ns=32         in which the GPU's timer advances

    clock="scripted"               else events are stamped by the monotonic clock. Then work costs
                                   what these say, and its stream's time goes on by just that:
    launch_ns=1000  kernel_ns_per_byte=0.001      of a kernel: + bytes loaded and stored
    copy_ns=1000  copy_ns_per_byte=0.04           of a copy; or apart: to_device_ns_per_byte,
                                   to_host_ns_per_byte, peer_ns_per_byte

    So with scripted time a kernel that moves B bytes takes launch_ns + B x kernel_ns_per_byte, the
    %globaltimer and clock64() in it advance likewise (and by globaltimer_step_ns for each reading
    of the timer since which nothing was moved), and streams overlap without slowing another. A
    kernel that passes the time until some later one ends when the host waits for what it queued.

CUPTI's stand-in (`cupti.cpp`, which says its own knobs) asks the driver's for the totals of
`counts.h`. What stands in for another library is built when it has a line in `build.LIBRARIES`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.gpu_stand_in import build


@dataclass(frozen=True)
class Totals:
    """Bytes moved since the driver was loaded, of one device: the fields of `counts.h`."""

    kernel_read_bytes: int
    kernel_write_bytes: int
    from_host_bytes: int
    to_host_bytes: int
    from_peer_bytes: int
    to_peer_bytes: int
    within_bytes: int
    launches: int
    copies: int


@dataclass(frozen=True)
class StandInFiles:
    """Libraries for use in this process: own ones, as each is loaded once for a process."""

    driver: str
    compiler: str
    counters: str
    """CUPTI, which counts what the driver moved."""

    def calls(self, entry_point: str) -> int:
        """How often an entry point of the driver was called."""
        library = ctypes.CDLL(self.driver)
        library.gpu_stand_in_calls.restype = ctypes.c_ulonglong
        return int(library.gpu_stand_in_calls(entry_point.encode()))

    def totals(self, device: int = 0) -> Totals:
        """What was moved so far, of finished work."""
        into = (ctypes.c_ulonglong * len(Totals.__dataclass_fields__))()
        assert ctypes.CDLL(self.driver).gpu_stand_in_totals_of(device, into) == 0
        return Totals(*into)


class GpuStandIn:
    """A machine with GPUs that is none; see the module's docstring."""

    def __init__(self, place: Path, scratch: Path) -> None:
        self._place = place
        self._scratch = scratch
        self._made = 0

    def environment(self, *, without: tuple[str, ...] = (), **knobs: object) -> dict[str, str]:
        """A whole environment for a child process, in which the libraries are found first."""
        root = self._copy(without) if without else self._place
        libraries = str(root / "lib64")
        path = os.pathsep.join(filter(None, [libraries, os.environ.get("LD_LIBRARY_PATH")]))
        found = {
            name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"
        }
        return (
            found
            | {"LD_LIBRARY_PATH": path, "CUDA_HOME": str(root), "CUDA_PATH": str(root)}
            | {f"GPU_STAND_IN_{name.upper()}": text for name, text in self._texts(knobs).items()}
        )

    def files(self, *, without: tuple[str, ...] = (), **knobs: object) -> StandInFiles:
        """Libraries with these knobs, to be loaded by their names in this process."""
        libraries = self._copy(without) / "lib64"
        lines = [f"{name}={text}\n" for name, text in self._texts(knobs).items()]
        (libraries / "knobs").write_text("".join(lines), encoding="utf-8")
        names = ("libcuda.so.1", "libnvrtc.so.12", "libcupti.so.12")
        return StandInFiles(*(str(libraries / name) for name in names))

    def _texts(self, knobs: Mapping[str, object]) -> dict[str, str]:
        texts = {name: text(value) for name, value in knobs.items()}
        return {"kernel_cache": str(self._place / "kernels")} | texts

    def _copy(self, without: tuple[str, ...]) -> Path:
        self._made += 1
        root = self._scratch / f"gpu-{self._made}"
        shutil.copytree(self._place / "lib64", root / "lib64")
        for library in build.LIBRARIES:
            build.without(without, root / "lib64" / library)
        return root


def text(value: object) -> str:
    """A knob's value as the libraries read it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Mapping):
        return ",".join(f"{name}={code}" for name, code in value.items())
    return str(value)


@pytest.fixture
def gpu_stand_in(tmp_path_factory: pytest.TempPathFactory) -> GpuStandIn:
    """Machines with GPUs for tests; skips where there is no g++."""
    return GpuStandIn(build.built(), tmp_path_factory.mktemp("gpu"))
