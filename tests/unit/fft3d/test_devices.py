"""The path through CuPy, on a made-up CuPy that copies as one would."""

import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from memgauge.counters.marks import VARIABLE
from memgauge.fft3d.devices import Cuda
from memgauge.model.errors import RequestError
from memgauge.model.marks import regions_of

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")


class OnDevice:
    def __init__(self, values: Any) -> None:
        self.values = values

    def get(self, out: Any) -> None:
        out[...] = self.values


class CudaError(Exception):
    pass


def made_up_cupy(gpus: int | CudaError, gpu_bytes: int = 1 << 30) -> tuple[ModuleType, list[int]]:
    chosen: list[int] = []

    def device(number: int) -> Any:
        chosen.append(number)
        return nullcontext(SimpleNamespace(id=number))

    def count() -> int:
        if isinstance(gpus, CudaError):
            raise gpus
        return gpus

    cupy: Any = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(
        Device=device,
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        runtime=SimpleNamespace(
            getDeviceCount=count,
            memGetInfo=lambda: (gpu_bytes, gpu_bytes),
            CUDARuntimeError=CudaError,
        ),
    )
    cupy.asarray = lambda values: OnDevice(values.copy())
    return cupy, chosen


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(gpus: int | CudaError, gpu_bytes: int = 1 << 30) -> list[int]:
        cupy, chosen = made_up_cupy(gpus, gpu_bytes)
        fft: Any = ModuleType("cupyx.scipy.fft")
        fft.fft = lambda array, axis, overwrite_x: OnDevice(np.fft.fft(array.values, axis=axis))
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setitem(sys.modules, "cupyx.scipy.fft", fft)
        return chosen

    return put


def test_copies_are_phases_of_their_own(
    install: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(1)
    marks = tmp_path / "marks"
    marks.touch()
    monkeypatch.setenv(VARIABLE, str(marks))
    pencils = np.arange(12.0).reshape(3, 4) + 0j
    known = np.fft.fft(pencils, axis=-1)
    Cuda(0, 1, pencils.nbytes).fft(pencils)
    np.testing.assert_array_equal(pencils, known)
    lines = marks.read_bytes().splitlines(keepends=True)
    names = [region.name for region in regions_of(lines, lambda stamp: stamp).regions]
    assert names == ["copy in", "fft", "copy out"]


def test_ranks_of_a_node_take_its_gpus_in_turn(install: Any) -> None:
    chosen = install(4)
    for place in range(6):
        Cuda(place, 6, 16)
    assert chosen == [0, 1, 2, 3, 0, 1]


def test_ranks_that_share_a_gpu_share_its_memory(install: Any) -> None:
    install(2, gpu_bytes=6000)
    Cuda(1, 3, 3000)
    with pytest.raises(RequestError, match=r"on GPU 0 by 2 ranks and it has .*smaller --size"):
        Cuda(0, 3, 3000)


@pytest.mark.parametrize(
    ("gpus", "said"),
    [
        (0, "--device cuda: there is no GPU; use --device cpu"),
        (CudaError("no driver"), "--device cuda: no GPU can be used: no driver; look at"),
    ],
)
def test_a_missing_gpu_is_one_line(install: Any, gpus: int | CudaError, said: str) -> None:
    install(gpus)
    with pytest.raises(RequestError, match=said):
        Cuda(0, 1, 16)


def test_a_missing_cupy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RequestError, match=r"CuPy is not installed; .* pip install cupy-cuda12x"):
        Cuda(0, 1, 16)
