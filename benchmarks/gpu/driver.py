"""The CUDA driver's own copies, called as any program would: a peer, apart from memgauge's core.

Source: NVIDIA, CUDA Driver API (cuMemAlloc, cuMemHostAlloc, cuMemcpy*Async, cuEvent*).
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_float, c_int, c_size_t, c_uint64, c_void_p


class DriverError(RuntimeError):
    """A call that did not succeed, or that the driver has not."""


class Driver:
    """One device's primary context, current on this thread, and a stream of its own."""

    def __init__(self, device: int) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", 0)
        number, context, self._stream = c_int(), c_void_p(), c_void_p()
        self._call("cuDeviceGet", byref(number), device)
        self._call("cuDevicePrimaryCtxRetain", byref(context), number)
        self._call("cuCtxSetCurrent", context)
        self._call("cuStreamCreate", byref(self._stream), 1)
        self._events = [self._event(), self._event()]

    def memory(self, size_bytes: int) -> c_uint64:
        """Of the device."""
        pointer = c_uint64()
        self._call("cuMemAlloc_v2", byref(pointer), c_size_t(size_bytes))
        return pointer

    def pinned(self, size_bytes: int) -> c_void_p:
        """Of the host, page-locked."""
        pointer = c_void_p()
        self._call("cuMemHostAlloc", byref(pointer), c_size_t(size_bytes), 0)
        return pointer

    def within(self, into: c_uint64, given: c_uint64, size_bytes: int, times: int) -> float:
        """ns of that many copies from device memory to device memory."""
        return self._timed("cuMemcpyDtoDAsync_v2", into, given, size_bytes, times)

    def to_device(self, into: c_uint64, given: c_void_p, size_bytes: int, times: int) -> float:
        """ns of that many copies from the host."""
        return self._timed("cuMemcpyHtoDAsync_v2", into, given, size_bytes, times)

    def to_host(self, into: c_void_p, given: c_uint64, size_bytes: int, times: int) -> float:
        """ns of that many copies to the host."""
        return self._timed("cuMemcpyDtoHAsync_v2", into, given, size_bytes, times)

    def _timed(self, call: str, into: object, given: object, size_bytes: int, times: int) -> float:
        begin, end = self._events
        self._call("cuEventRecord", begin, self._stream)
        for _ in range(times):
            self._call(call, into, given, c_size_t(size_bytes), self._stream)
        self._call("cuEventRecord", end, self._stream)
        self._call("cuEventSynchronize", end)
        elapsed_ms = c_float()
        self._call("cuEventElapsedTime", byref(elapsed_ms), begin, end)
        return elapsed_ms.value * 1e6

    def _event(self) -> c_void_p:
        event = c_void_p()
        self._call("cuEventCreate", byref(event), 0)
        return event

    def _call(self, name: str, *arguments: object) -> None:
        try:
            entry = getattr(self._library, name)
        except AttributeError as error:
            raise DriverError(f"this driver has no {name}") from error
        code = entry(*arguments)
        if code != 0:
            raise DriverError(f"{name} failed: CUDA error {code}")
