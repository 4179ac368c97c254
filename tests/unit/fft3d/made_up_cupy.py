"""CuPy as far as the mini-app uses it, on memory of this machine: what it refuses is chosen.

Names, arguments and errors are those of CuPy 14; what it is asked for is kept in `log`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")


class CUDARuntimeError(RuntimeError):
    pass


class CuFFTError(RuntimeError):
    pass


class OutOfMemoryError(MemoryError):
    pass


class Array:
    """Of the GPU: `values` are not to be seen by who did not copy them."""

    def __init__(self, values: Any, at_copy: Callable[[], Any]) -> None:
        self.values = values
        self._at_copy = at_copy

    def __getitem__(self, part: slice) -> Array:
        return Array(self.values[part], self._at_copy)

    def reshape(self, *shape: int) -> Array:
        made = self.values.reshape(*shape)
        assert np.shares_memory(made, self.values)
        return Array(made, self._at_copy)

    def set(self, given: Any, stream: Any) -> None:
        assert given.flags.c_contiguous
        assert (given.shape, given.dtype) == (self.values.shape, self.values.dtype)
        stream.queue(lambda: self._copy(self.values, given))

    def get(self, stream: Any, out: Any) -> None:
        assert out.flags.c_contiguous
        stream.queue(lambda: self._copy(out, self.values))

    def _copy(self, into: Any, given: Any) -> None:
        with self._at_copy():
            np.copyto(into, given)


class Stream:
    """What is queued is done when it is synchronised, and not before."""

    current: Stream | None = None

    def __init__(self, *, non_blocking: bool) -> None:
        assert non_blocking
        self._queued: list[Callable[[], None]] = []

    def queue(self, work: Callable[[], None]) -> None:
        self._queued.append(work)

    def synchronize(self) -> None:
        while self._queued:
            self._queued.pop(0)()

    def __enter__(self) -> None:
        Stream.current = self

    def __exit__(self, *_: object) -> None:
        Stream.current = None


class MadeUpCupy(ModuleType):
    """`free_bytes` are each GPU's; `at_work` is entered for a transform, `at_copy` for a copy."""

    __version__ = "14.0.0"

    def __init__(
        self,
        gpus: int | str = 1,
        *,
        free_bytes: int = 1 << 30,
        driver: int = 13000,
        made_for: int = 12090,
        lockable: bool = True,
        largest_plan: int = 1 << 40,
        at_work: Callable[[], Any] = nullcontext,
        at_copy: Callable[[], Any] = nullcontext,
    ) -> None:
        super().__init__("cupy")
        self.log: list[str] = []
        self.taken_bytes = 0
        self._free_bytes = free_bytes
        self._gpus = gpus
        self._locked: dict[int, int] = {}
        self._lockable = lockable
        self._largest_plan = largest_plan
        self._at_work = at_work
        self._at_copy = at_copy
        self.cuda: Any = SimpleNamespace()
        self.cuda.Device = self._device
        self.cuda.Stream = Stream
        self.cuda.runtime = self._runtime(driver, made_for)
        self.cuda.cufft = self._cufft()

    def empty(self, elements: int, dtype: str) -> Array:
        self._take(np.dtype(dtype).itemsize * elements)
        self.log.append(f"empty {elements}")
        return Array(np.full(elements, np.nan, dtype), self._at_copy)

    def get_default_memory_pool(self) -> Any:
        pool: Any = SimpleNamespace()
        pool.free_all_blocks = self._free
        return pool

    def _free(self) -> None:
        self.taken_bytes = 0

    def _take(self, wanted_bytes: int) -> None:
        if self.taken_bytes + wanted_bytes > self._free_bytes:
            raise OutOfMemoryError(f"Out of memory allocating {wanted_bytes} bytes")
        self.taken_bytes += wanted_bytes

    def _device(self, number: int) -> Any:
        self.log.append(f"device {number}")
        return nullcontext()

    def _runtime(self, driver: int, made_for: int) -> Any:
        runtime: Any = SimpleNamespace()
        runtime.CUDARuntimeError = CUDARuntimeError
        runtime.getDeviceCount = self._count
        runtime.driverGetVersion = lambda: driver
        runtime.runtimeGetVersion = lambda: made_for
        runtime.memGetInfo = lambda: (self._free_bytes, 2 * self._free_bytes)
        runtime.getDeviceProperties = lambda number: {"name": f"Made-up {number}".encode()}
        runtime.deviceGetPCIBusId = lambda number: f"0000:{0x3A + number:02X}:00.0"
        runtime.hostRegister = self._lock
        runtime.hostUnregister = self._unlock
        return runtime

    def _count(self) -> int:
        if isinstance(self._gpus, str):
            raise CUDARuntimeError(self._gpus)
        return self._gpus

    def _lock(self, address: int, locked_bytes: int, flags: int) -> None:
        assert flags == 0
        assert address not in self._locked
        if not self._lockable:
            raise CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")
        self._locked[address] = locked_bytes

    def _unlock(self, address: int) -> None:
        del self._locked[address]

    @property
    def locked_bytes(self) -> list[int]:
        return list(self._locked.values())

    def _cufft(self) -> Any:
        cufft: Any = SimpleNamespace()
        cufft.CuFFTError = CuFFTError
        cufft.CUFFT_Z2Z, cufft.CUFFT_FORWARD = 0x69, -1
        cufft.getVersion = lambda: 11401
        cufft.Plan1d = self._plan
        return cufft

    def _plan(self, size: int, kind: int, rows: int) -> Any:
        assert kind == 0x69
        if size * rows > self._largest_plan:
            raise CuFFTError("CUFFT_ALLOC_FAILED")
        self._take(16 * size * rows)
        self.log.append(f"plan {rows} x {size}")

        def transform(given: Array, out: Array, direction: int) -> None:
            assert direction == -1
            assert given is out
            assert given.values.shape == (rows, size)
            assert Stream.current is not None
            Stream.current.queue(lambda: self._transform(out))

        plan: Any = SimpleNamespace()
        plan.fft = transform
        return plan

    def _transform(self, array: Array) -> None:
        with self._at_work():
            array.values[...] = np.fft.fft(array.values, axis=-1)
