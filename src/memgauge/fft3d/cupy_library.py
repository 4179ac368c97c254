"""CuPy as the mini-app uses it: loaded when a GPU is requested, with errors of one line each.

No Python package provides cuFFT alone; CuPy is maintained, has wheels, and is needed only here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any

from memgauge.model.errors import MemgaugeError, RequestError
from memgauge.model.text import plain

INSTALL = "pip install 'memgauge[cuda]', or the CuPy package for the installed CUDA version"


class CupyLibrary:
    """CuPy, with at least one GPU to use.

    Raises:
        RequestError: CuPy is missing or cannot work; the message states what to do.
    """

    def __init__(self) -> None:
        self.cupy = _cupy()
        self.runtime: Any = self.cupy.cuda.runtime
        self.gpus = self._count()
        self.cufft = _cufft(self.cupy)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of CuPy, of its CUDA, of the CUDA that the driver supports, and of cuFFT."""
        return {
            "cupy": str(self.cupy.__version__),
            "cuda": _cuda(self.runtime.runtimeGetVersion()),
            "cuda driver": _cuda(self.runtime.driverGetVersion()),
            "cufft": str(self.cufft.getVersion()),
        }

    def device(self, number: int) -> AbstractContextManager[Any]:
        """A context in which CuPy uses this GPU."""
        device: AbstractContextManager[Any] = self.cupy.cuda.Device(number)
        return device

    def facts(self, number: int) -> str:
        """Number, name and address of a GPU, such as `GPU 0, NVIDIA H100 PCIe, 0000:3B:00.0`."""
        name = self.runtime.getDeviceProperties(number)["name"]
        text = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
        place = self.runtime.deviceGetPCIBusId(number)
        return f"GPU {number}, {plain(text).replace(';', ',')}, {plain(str(place))}"

    def plan(self, size: int, rows: int) -> Any:
        """A plan of cuFFT for this many transforms of complex doubles, with its work area."""
        return self.cufft.Plan1d(size, self.cufft.CUFFT_Z2Z, rows)

    def free_unused(self) -> None:
        """Return the memory that CuPy caches to the driver."""
        self.cupy.get_default_memory_pool().free_all_blocks()

    @contextmanager
    def errors_of(self, what: str, kind: type[MemgaugeError] = RequestError) -> Iterator[None]:
        """Convert errors of CUDA to the given error type, with one line of text."""
        try:
            yield
        except (self.runtime.CUDARuntimeError, self.cufft.CuFFTError, MemoryError) as error:
            raise kind(
                f"--device cuda: {what}: {plain(str(error))}; check nvidia-smi and the kernel's log"
            ) from error

    def _count(self) -> int:
        try:
            count: int = self.runtime.getDeviceCount()
        except self.runtime.CUDARuntimeError as error:
            raise RequestError(f"--device cuda: {self._why_none(plain(str(error)))}") from error
        if count == 0:
            raise RequestError("--device cuda: no GPU was found; use --device cpu")
        return count

    def _why_none(self, error: str) -> str:
        """Why no GPU can be used: compares the driver's version with that of CuPy."""
        has, wants = self.runtime.driverGetVersion(), self.runtime.runtimeGetVersion()
        if has == 0:
            return f"no NVIDIA driver is running ({error}); use --device cpu"
        if has // 1000 < wants // 1000:
            return (
                f"the driver supports CUDA {_cuda(has)}, but this CuPy is built for CUDA "
                f"{_cuda(wants)} "
                f"({error}); install cupy-cuda{has // 1000}x instead, or a newer driver"
            )
        return f"no GPU can be used: {error}; check nvidia-smi, or use --device cpu"


def _cupy() -> Any:
    try:
        return import_module("cupy")
    except ModuleNotFoundError as error:
        if error.name == "numpy":
            raise RequestError(
                "--device cuda: NumPy, which CuPy needs, is not installed; pip install "
                "'memgauge[mpi]'"
            ) from error
        raise RequestError(f"--device cuda: CuPy is not installed; {INSTALL}") from error
    except ImportError as error:
        raise RequestError(
            f"--device cuda: CuPy cannot be loaded: {_first_line(error)}; {INSTALL}"
        ) from error


def _cufft(cupy: Any) -> Any:
    try:
        # As an attribute: that is when CuPy looks for the library.
        return cupy.cuda.cufft
    except ImportError as error:
        raise RequestError(
            f"--device cuda: cuFFT cannot be loaded: {_first_line(error)}; {INSTALL}"
        ) from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" =-")]
    return plain(lines[0]).rstrip(".") if lines else type(error).__name__


def _cuda(version: int) -> str:
    """Of 12090: 12.9."""
    return f"{version // 1000}.{version % 1000 // 10}"
