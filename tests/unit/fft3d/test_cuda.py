"""The path through CuPy, on a made-up CuPy that copies and transforms when it is synchronised."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.fft3d.made_up_cupy import CUDARuntimeError, MadeUpCupy

from memgauge.counters.marks import VARIABLE
from memgauge.fft3d.cuda import Cuda
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.storage.marks import regions_of

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")

Install = Callable[..., MadeUpCupy]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def put(*arguments: Any, **named: Any) -> MadeUpCupy:
        cupy = MadeUpCupy(*arguments, **named)
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        return cupy

    return put


def some_pencils(rows: int = 6, size: int = 4) -> Any:
    return np.arange(1.0 * rows * size).reshape(rows, size) + 0.5j


def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> list[str]:
    marks = tmp_path / "marks"
    marks.touch()
    monkeypatch.setenv(VARIABLE, str(marks))
    work()
    lines = marks.read_bytes().splitlines(keepends=True)
    return [region.name for region in regions_of(lines, lambda stamp: stamp).regions]


def test_copies_are_phases_of_their_own(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy = install()
    pencils = some_pencils()
    known = np.fft.fft(pencils, axis=-1)
    device = Cuda(0, 1)
    assert device.prepare([pencils], [pencils.shape]) == []
    made = list(cupy.log)
    names = marked(tmp_path, monkeypatch, lambda: device.fft(pencils))
    np.testing.assert_array_equal(pencils, known)
    assert names == ["copy in", "fft", "copy out"]
    assert cupy.log == made, "a plan or memory was made while a transform was timed"


def test_what_does_not_fit_goes_in_batches(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cupy = install(free_bytes=700)
    pencils = some_pencils(rows=10, size=4)
    known = np.fft.fft(pencils, axis=-1)
    device = Cuda(0, 1)
    (note,) = device.prepare([pencils], [pencils.shape])
    assert note.startswith(
        "GPU 0 has 700 B free for 1 rank: an FFT of 640 B is computed there in 3 batch"
    )
    assert [line for line in cupy.log if line.startswith("plan")] in (
        ["plan 4 x 4", "plan 2 x 4"],
        ["plan 2 x 4", "plan 4 x 4"],
    )
    assert (
        marked(tmp_path, monkeypatch, lambda: device.fft(pencils))
        == [
            "copy in",
            "fft",
            "copy out",
        ]
        * 3
    )
    np.testing.assert_array_equal(pencils, known)


def test_a_large_work_area_makes_batches_smaller(install: Install) -> None:
    install(largest_plan=11)
    pencils = some_pencils(rows=10, size=4)
    known = np.fft.fft(pencils, axis=-1)
    device = Cuda(0, 1)
    (note,) = device.prepare([pencils], [pencils.shape])
    assert "in 5 batches" in note
    device.fft(pencils)
    np.testing.assert_array_equal(pencils, known)


def test_transforms_of_other_sizes_share_what_was_taken(install: Install) -> None:
    cupy = install()
    device = Cuda(0, 1)
    whole = some_pencils(rows=9, size=8).reshape(-1)
    device.prepare([whole], [(9, 8), (16, 4)])
    for rows, size in ((9, 8), (16, 4)):
        part = whole[: rows * size].reshape(rows, size)
        known = np.fft.fft(part, axis=-1)
        device.fft(part)
        np.testing.assert_array_equal(part, known)
    assert [line for line in cupy.log if line.startswith("empty")] == ["empty 72"]


def test_not_one_row_is_one_line(install: Install) -> None:
    install(free_bytes=100)
    device = Cuda(1, 3)
    with pytest.raises(RequestError) as caught:
        device.prepare([some_pencils()], [(6, 4)])
    assert str(caught.value) == (
        "--device cuda: GPU 0 has 100 B free of 200 B for 3 ranks, too little for one "
        "row of 4 elements and cuFFT's work area (Out of memory allocating 64 bytes); "
        "stop other programs on that GPU, or start fewer ranks"
    )


def test_arrays_are_page_locked_until_it_is_closed(install: Install) -> None:
    cupy = install()
    one, other = some_pencils(), some_pencils()
    device = Cuda(0, 1)
    device.prepare([one, other], [one.shape])
    assert cupy.locked_bytes == [one.nbytes, other.nbytes]
    device.close()
    device.close()
    assert cupy.locked_bytes == []
    assert cupy.taken_bytes == 0


def test_what_cannot_be_page_locked_is_said_once_and_used(install: Install) -> None:
    install(lockable=False)
    pencils = some_pencils()
    known = np.fft.fft(pencils, axis=-1)
    device = Cuda(0, 1)
    (note,) = device.prepare([pencils, some_pencils()], [pencils.shape])
    assert note == (
        "arrays could not be page-locked (cudaErrorMemoryAllocation: out of memory): copies to and "
        "from GPU 0 are slower"
    )
    device.fft(pencils)
    np.testing.assert_array_equal(pencils, known)
    device.close()


def test_ranks_of_a_node_take_its_gpus_in_turn(install: Install) -> None:
    install(4)
    said = [Cuda(place, 6).facts for place in range(6)]
    assert said[:2] == ["GPU 0, Made-up 0, 0000:3A:00.0", "GPU 1, Made-up 1, 0000:3B:00.0"]
    assert said[4:] == said[:2]


def test_ranks_that_share_a_gpu_share_its_memory(install: Install) -> None:
    install(2, free_bytes=3000)
    alone, shared = Cuda(1, 3), Cuda(0, 3)
    pencils = some_pencils(rows=20, size=4)
    assert alone.prepare([pencils], [pencils.shape]) == []
    alone.close()
    (note,) = shared.prepare([pencils], [pencils.shape])
    assert "for 2 ranks" in note


def test_versions_are_told(install: Install) -> None:
    install()
    assert Cuda(0, 1).libraries == {
        "cupy": "14.0.0",
        "cuda": "12.9",
        "cuda driver": "13.0",
        "cufft": "11401",
    }


def test_a_gpu_that_fails_ends_the_work_in_one_line(install: Install) -> None:
    def fail() -> Any:
        raise CUDARuntimeError("cudaErrorECCUncorrectable: uncorrectable ECC error")

    install(at_work=fail)
    pencils = some_pencils()
    device = Cuda(0, 1)
    device.prepare([pencils], [pencils.shape])
    with pytest.raises(SystemFailure, match=r"^--device cuda: GPU 0: cudaErrorECC.*; check nvid"):
        device.fft(pencils)


@pytest.mark.parametrize(
    ("gpus", "driver", "said"),
    [
        (0, 13000, "--device cuda: no GPU was found; use --device cpu"),
        (
            "cudaErrorInsufficientDriver: too old",
            0,
            (
                "--device cuda: no NVIDIA driver is running (cudaErrorInsufficientDriver: too "
                "old); use --device cpu"
            ),
        ),
        (
            "cudaErrorInsufficientDriver: too old",
            11080,
            (
                "--device cuda: the driver supports CUDA 11.8, but this CuPy is built for CUDA "
                "12.9 "
                "(cudaErrorInsufficientDriver: too old); install cupy-cuda11x instead, or a newer "
                "driver"
            ),
        ),
        (
            "cudaErrorNoDevice: none",
            12090,
            (
                "--device cuda: no GPU can be used: cudaErrorNoDevice: none; check nvidia-smi, "
                "or use --device cpu"
            ),
        ),
    ],
)
def test_a_missing_gpu_is_one_line(
    install: Install, gpus: int | str, driver: int, said: str
) -> None:
    install(gpus, driver=driver)
    with pytest.raises(RequestError) as caught:
        Cuda(0, 1)
    assert str(caught.value) == said


def test_a_missing_cupy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RequestError, match=r"CuPy is not installed; pip install 'memgauge\[cuda\]"):
        Cuda(0, 1)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("ModuleNotFoundError('No module named numpy', name='numpy')", "NumPy, which CuPy needs"),
        ("ImportError('\\n=====\\nlibcudart.so is\\nmore')", "cannot be loaded: libcudart.so is; "),
    ],
)
def test_a_cupy_that_cannot_be_loaded_says_why(
    raised: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cupy.py").write_text(f"raise {raised}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    with pytest.raises(RequestError, match=said):
        Cuda(0, 1)


def test_a_missing_cufft_is_one_line(install: Install) -> None:
    class Without:
        runtime = MadeUpCupy().cuda.runtime

        @property
        def cufft(self) -> Any:
            raise ImportError('Failure finding "libcufft.so.11": No such file\n more')

    install().cuda = Without()
    with pytest.raises(RequestError, match=r'cuFFT cannot be loaded: Failure finding "libcufft\S+'):
        Cuda(0, 1)
