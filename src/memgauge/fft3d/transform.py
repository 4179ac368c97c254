"""One 3-D FFT over the ranks of a communicator, phase by phase.

The array lies as pencils of whole z, is transformed along z, turned within each row of the grid
into pencils of whole y, transformed, turned within each column into pencils of whole x, and
transformed. Between them its order in memory changes as docs/fft3d.md says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memgauge.analysis.fft3d.shape import ALL2ALL, Pencils, Resort
from memgauge.counters.marks import region
from memgauge.fft3d.devices import Device
from memgauge.fft3d.resorting import Resorting

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex


class Arrays:
    """Two arrays of one rank, for the largest transform it takes part in, every page touched."""

    def __init__(self, elements: int) -> None:
        import numpy as np

        self.one: Complex = np.full(elements, 1.0, np.complex128)
        self.other: Complex = np.full(elements, 1.0, np.complex128)


class Transform:
    """The same transform, as often as requested; `one` holds the input and then the result."""

    def __init__(
        self, comm: Any, pencils: Pencils, arrays: Arrays, device: Device, resorting: Resorting
    ) -> None:
        self.comm = comm
        self.pencils = pencils
        self.array: Complex = arrays.one[: pencils.local_elements]
        self._other: Complex = arrays.other[: pencils.local_elements]
        self._device = device
        self._resorting = resorting
        row, column = divmod(comm.Get_rank(), pencils.grid.columns)
        self._row = comm.Split(row, column)
        self._column = comm.Split(column, row)

    def run(self) -> None:
        """All nine phases, each marked."""
        first, second, third, fourth = self.pencils.resorts
        self._fft(self.array)
        self._resort(first, self.array, self._other)
        self._exchange(self._row, self._other, self.array)
        self._resort(second, self.array, self._other)
        self._fft(self._other)
        self._resort(third, self._other, self.array)
        self._exchange(self._column, self.array, self._other)
        self._resort(fourth, self._other, self.array)
        self._fft(self.array)

    def close(self) -> None:
        """Free the communicators."""
        self._row.Free()
        self._column.Free()

    def _fft(self, array: Complex) -> None:
        self._device.fft(array.reshape(-1, self.pencils.size))

    def _resort(self, resort: Resort, given: Complex, stored: Complex) -> None:
        with region(resort.name):
            self._resorting(resort, given, stored)

    def _exchange(self, comm: Any, given: Complex, stored: Complex) -> None:
        """Block k of what is given goes to rank k."""
        with region(ALL2ALL):
            comm.Alltoall(given, stored)
