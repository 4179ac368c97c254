"""One 3-D FFT over the ranks of a communicator, phase by phase.

The array lies as pencils of whole z, is transformed along z, turned within each row of the grid
into pencils of whole y, transformed, turned within each column into pencils of whole x, and
transformed. Between them its order in memory changes as docs/fft3d.md says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memgauge.analysis.fft3d.shape import ALL2ALL, Pencils, Resort
from memgauge.counters.marks import region
from memgauge.fft3d.devices import Device
from memgauge.fft3d.resorting import Resorting

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex


class Arrays:
    """Two arrays of one rank, for the largest transform it takes part in, every page touched.

    A third lies between two loop nests of a re-sort, where there are two.
    """

    def __init__(self, elements: int, arrays: int = 2) -> None:
        import numpy as np

        self.one: Complex = np.full(elements, 1.0, np.complex128)
        self.other: Complex = np.full(elements, 1.0, np.complex128)
        self.between: Complex = np.full(elements * (arrays > 2), 1.0, np.complex128)


class Transform:
    """The same transform, as often as requested; `one` holds the input and then the result."""

    def __init__(
        self, comm: Any, pencils: Pencils, arrays: Arrays, device: Device, resorting: Resorting
    ) -> None:
        self.comm = comm
        self.pencils = pencils
        self.array: Complex = arrays.one[: pencils.local_elements]
        self._other: Complex = arrays.other[: pencils.local_elements]
        self._between: Complex = arrays.between[: pencils.local_elements]
        self._device = device
        self._resorting = resorting
        row, column = divmod(comm.Get_rank(), pencils.grid.columns)
        self._row = comm.Split(row, column)
        self._column = comm.Split(column, row)

    def run(self) -> None:
        """All phases, each marked: nine, and one more for each re-sort of two loop nests."""
        first, second, third, fourth = self.pencils.routines
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

    def _resort(self, nests: Sequence[Resort], given: Complex, stored: Complex) -> None:
        *before, last = nests
        for nest in before:
            with region(nest.name):
                self._resorting(nest, given, self._between)
            given = self._between
        with region(last.name):
            self._resorting(last, given, stored)

    def _exchange(self, comm: Any, given: Complex, stored: Complex) -> None:
        """Block k of what is given goes to rank k."""
        with region(ALL2ALL):
            comm.Alltoall(given, stored)
