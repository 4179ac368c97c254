"""Devices that compute the 1-D FFTs: NumPy on the CPU, or a GPU (`cuda.py`).

NumPy's FFT works in place and is as fast as SciPy's, whose other 140 MB nothing here needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memgauge.analysis.fft3d.shape import FFT
from memgauge.counters.marks import region

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex


class Device(ABC):
    """Transforms the rows of an array in place, and marks the phases of that."""

    facts: str | None = None
    """Description of which device it is among several; None if there is no choice."""
    libraries: Mapping[str, str] = {}
    """Versions of the libraries that compute, by name."""
    notice: str | None = None
    """What readers of any figure must know; None: nothing."""

    def prepare(
        self,
        arrays: Sequence[Complex],  # noqa: ARG002 - for those that need to
        shapes: Sequence[tuple[int, int]],  # noqa: ARG002
    ) -> list[str]:
        """Prepare for transforms in `arrays` with these numbers of rows and elements per row.

        Returns:
            Notes for readers of the figures.

        Raises:
            RequestError: they cannot be computed here.
        """
        return []

    @abstractmethod
    def fft(self, pencils: Complex) -> None:
        """`pencils` has two dimensions; each row is a pencil."""

    def close(self) -> None:  # noqa: B027 - most have nothing to give back
        """Release what `prepare` allocated; a second call has no effect."""


class Cpu(Device):
    """NumPy, on the thread that calls."""

    def fft(self, pencils: Complex) -> None:
        """One phase."""
        import numpy as np

        with region(FFT):
            np.fft.fft(pencils, axis=-1, out=pencils)
