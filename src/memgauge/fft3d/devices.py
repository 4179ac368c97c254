"""Where the 1-D FFTs are computed: by NumPy, or by cuFFT through CuPy.

NumPy's FFT works in place and is as fast as SciPy's, whose other 140 MB nothing here needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from memgauge.analysis.fft3d_shape import COPY_IN, COPY_OUT, FFT
from memgauge.counters.marks import region
from memgauge.model.errors import RequestError
from memgauge.model.units import format_bytes

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex


class Device(Protocol):
    """Transforms the rows of an array in place, and marks the phases of that."""

    def fft(self, pencils: Complex) -> None:
        """`pencils` has two dimensions; each row is a pencil."""


class Cpu:
    """NumPy, on the thread that calls."""

    def fft(self, pencils: Complex) -> None:
        """One phase."""
        import numpy as np

        with region(FFT):
            np.fft.fft(pencils, axis=-1, out=pencils)


class Cuda:
    """CuPy, on one GPU: copying in and out are phases of their own.

    Raises:
        RequestError: CuPy or a device is missing, or the array does not fit the device.
    """

    def __init__(self, place: int, ranks: int, local_bytes: int) -> None:
        """`place` is this rank's among the `ranks` of its node, which share its GPUs in turn."""
        self._cupy: Any = _loaded_cupy()
        self._fft: Any = import_module("cupyx.scipy.fft")
        gpus = _gpus(self._cupy)
        self._device = self._cupy.cuda.Device(place % gpus)
        sharing = len(range(place % gpus, ranks, gpus))
        with self._device:
            _, gpu_bytes = self._cupy.cuda.runtime.memGetInfo()
        # The array, and as much again for what cuFFT works in.
        needed_bytes = 2 * local_bytes * sharing
        if needed_bytes > gpu_bytes:
            raise RequestError(
                f"--device cuda: {format_bytes(needed_bytes)} are needed on GPU {place % gpus} by "
                f"{sharing} ranks and it has {format_bytes(gpu_bytes)}; ask for a smaller --size "
                "or for more GPUs"
            )

    def fft(self, pencils: Complex) -> None:
        """Three phases, each ended by a synchronisation: what is queued is not yet done."""
        with self._device:
            stream = self._cupy.cuda.get_current_stream()
            with region(COPY_IN):
                array = self._cupy.asarray(pencils)
                stream.synchronize()
            with region(FFT):
                array = self._fft.fft(array, axis=-1, overwrite_x=True)
                stream.synchronize()
            with region(COPY_OUT):
                array.get(out=pencils)
                stream.synchronize()


def _loaded_cupy() -> Any:
    try:
        return import_module("cupy")
    except ImportError as error:
        raise RequestError(
            "--device cuda: CuPy is not installed; install the one for your CUDA, such as: pip "
            "install cupy-cuda12x"
        ) from error


def _gpus(cupy: Any) -> int:
    try:
        count: int = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RequestError(
            f"--device cuda: no GPU can be used: {error}; look at nvidia-smi, or use --device cpu"
        ) from error
    if count == 0:
        raise RequestError("--device cuda: there is no GPU; use --device cpu")
    return count
