"""Names for NumPy's arrays, for annotations only: NumPy is loaded by the functions that use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Complex: TypeAlias = NDArray[np.complex128]
    Integers: TypeAlias = NDArray[np.uint64]
