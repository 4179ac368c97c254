"""FFTs on a GPU by cuFFT, through CuPy: copying in, transforming and copying out are three phases.

All memory and plans are allocated before the first transform, so that no transform waits for them
or runs out of memory. The GPU copies directly from and to the rank's arrays, which are page-locked
(CUDA Runtime API: cudaHostRegister); otherwise the driver copies through buffers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memgauge.analysis.fft3d.shape import COPY_IN, COPY_OUT, ELEMENT_BYTES, FFT
from memgauge.counters.marks import region
from memgauge.fft3d.cupy_library import CupyLibrary
from memgauge.fft3d.devices import Device
from memgauge.model.errors import RequestError, SystemFailure
from memgauge.model.units import format_bytes, format_count
from memgauge.system.gpu.untested import untested_on_gpu

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex

_SPARED = 0.9
"""Share of the free memory to use: contexts of ranks that start later take some hundred MB each."""


class Cuda(Device):
    """One GPU of this node, possibly shared with other ranks.

    Raises:
        RequestError: CuPy, cuFFT, a driver or a GPU is missing.
    """

    notice = untested_on_gpu("CuPy")

    def __init__(self, place: int, ranks: int) -> None:
        """`place` is this rank's index among the node's `ranks`, which use its GPUs in turn."""
        self._library = CupyLibrary()
        self._gpu = place % self._library.gpus
        self._sharing = len(range(self._gpu, ranks, self._library.gpus))
        self._runs = self._library.device(self._gpu)
        with self._library.errors_of(self._name), self._runs:
            self._free_bytes, self._gpu_bytes = self._library.runtime.memGetInfo()
            self._stream: Any = self._library.cupy.cuda.Stream(non_blocking=True)
            self.facts = self._library.facts(self._gpu)
        self.libraries = self._library.versions
        self._locked: list[Complex] = []
        self._kept: Any = None
        self._plans: dict[tuple[int, int], Any] = {}

    @property
    def _name(self) -> str:
        return f"GPU {self._gpu}"

    def prepare(self, arrays: Sequence[Complex], shapes: Sequence[tuple[int, int]]) -> list[str]:
        """Page-lock the arrays, take the GPU's memory and make cuFFT's plans.

        Raises:
            RequestError: the free memory cannot hold a single row.
        """
        with self._library.errors_of(self._name), self._runs:
            notes = [note for note in map(self._lock, arrays) if note][:1]
            self._take_memory(shapes)
        rows, size = max(shapes, key=math.prod)
        batches = -(-rows // self._rows_of(size))
        if batches > 1:
            notes.append(
                f"{self._name} has {format_bytes(self._free_bytes)} free for "
                f"{format_count(self._sharing, 'rank')}: an FFT of "
                f"{format_bytes(_bytes(rows, size))} is computed there in {batches} batches, one "
                "after the other"
            )
        return notes

    def fft(self, pencils: Complex) -> None:
        """Run three phases per batch, each ended by a synchronisation, because GPU work is queued.

        Raises:
            SystemFailure: the GPU failed.
        """
        rows, size = pencils.shape
        together = self._rows_of(size)
        with self._library.errors_of(self._name, SystemFailure), self._runs, self._stream:
            for first in range(0, rows, together):
                self._batch(pencils[first : first + together])

    def close(self) -> None:
        """Unlock the arrays and free the GPU's memory."""
        self._plans, self._kept = {}, None
        with self._library.errors_of(self._name, SystemFailure), self._runs:
            while self._locked:
                self._library.runtime.hostUnregister(self._locked.pop().ctypes.data)
            self._library.free_unused()

    def _batch(self, part: Complex) -> None:
        rows, size = part.shape
        plan = self._plans[size, rows]
        there = self._kept[: rows * size].reshape(rows, size)
        with region(COPY_IN):
            there.set(part, stream=self._stream)
            self._stream.synchronize()
        with region(FFT):
            plan.fft(there, there, self._library.cufft.CUFFT_FORWARD)
            self._stream.synchronize()
        with region(COPY_OUT):
            there.get(stream=self._stream, out=part)
            self._stream.synchronize()

    def _lock(self, array: Complex) -> str | None:
        """Page-lock an array for the GPU; return the reason if that fails."""
        if not array.nbytes:
            return None
        try:
            self._library.runtime.hostRegister(array.ctypes.data, array.nbytes, 0)
        except self._library.runtime.CUDARuntimeError as error:
            return (
                f"arrays could not be page-locked ({error}): copies to and from {self._name} are "
                "slower"
            )
        self._locked.append(array)
        return None

    def _take_memory(self, shapes: Sequence[tuple[int, int]]) -> None:
        """A plan for all rows if they fit beside cuFFT's work area, else for as many as fit."""
        elements = max(math.prod(shape) for shape in shapes)
        row = max(size for _, size in shapes)
        room_bytes = int(self._free_bytes * _SPARED / self._sharing)
        if 2 * elements * ELEMENT_BYTES > room_bytes:
            elements = max(row, room_bytes // (2 * ELEMENT_BYTES))
        while not self._taken(elements, shapes, last=elements <= row):
            elements = max(row, elements // 2)

    def _taken(self, elements: int, shapes: Sequence[tuple[int, int]], *, last: bool) -> bool:
        try:
            self._kept = self._library.cupy.empty(elements, "complex128")
            for rows, size in shapes:
                together = min(rows, elements // size)
                for batch in {together, rows % together} - {0}:
                    self._plans[size, batch] = self._library.plan(size, batch)
        except (MemoryError, self._library.cufft.CuFFTError) as error:
            self._plans, self._kept = {}, None
            self._library.free_unused()
            if last:
                raise RequestError(
                    f"--device cuda: {self._name} has {format_bytes(self._free_bytes)} free of "
                    f"{format_bytes(self._gpu_bytes)} for {format_count(self._sharing, 'rank')}, "
                    f"too little for one row of {elements} elements and cuFFT's work area "
                    f"({error}); stop other programs on that GPU, or start fewer ranks"
                ) from error
            return False
        return True

    def _rows_of(self, size: int) -> int:
        """Number of rows that are copied to the GPU at a time."""
        return max(batch for planned, batch in self._plans if planned == size)


def _bytes(rows: int, size: int) -> int:
    return rows * size * ELEMENT_BYTES
