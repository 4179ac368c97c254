"""Checks the distributed transform: its error relative to a result that is known otherwise.

The error is that of all elements in the 2-norm, over the norm of the answer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from memgauge.analysis.fft3d.shape import Pencils
from memgauge.fft3d.decomposition import Block, block_of
from memgauge.fft3d.fields import Field, Noise, Waves, some_waves
from memgauge.model.errors import RequestError
from memgauge.model.records import ArrayCheck, Validation

if TYPE_CHECKING:
    from memgauge.fft3d.arrays import Complex

LARGEST_WHOLE = 256
"""Size up to which `auto` compares with a whole transform, made by one rank in a second or two."""
_UNIT_ROUNDOFF = 2.0**-53
_OTHER_LENGTHS = 8.0
"""Factor by which bounds are wider for lengths that are not a power of two."""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """Error of a result as sums of squares, which ranks can add up."""

    difference: float
    answer: float

    @property
    def relative(self) -> float:
        """Relative error; infinite if the result contains NaN."""
        if not math.isfinite(self.difference):
            return math.inf
        return math.sqrt(self.difference / self.answer) if self.answer else math.inf


def error_bound(size: int) -> float:
    """The largest relative error that rounding can cause in a correct result.

    Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2: a transform of n = 2^t
    elements has a relative error of at most t eta / (1 - t eta) in the 2-norm, where eta = mu +
    gamma_4 (sqrt 2 + mu), and the weights are known to mu, here taken as one rounding. Twice that,
    for both sides have it. Other lengths are computed otherwise and are given eight times as much:
    a wrong order of elements makes an error near 1.
    """
    gamma = 4 * _UNIT_ROUNDOFF / (1 - 4 * _UNIT_ROUNDOFF)
    eta = _UNIT_ROUNDOFF + gamma * (math.sqrt(2) + _UNIT_ROUNDOFF)
    steps = max(1.0, 3 * math.log2(size))
    power_of_two = size & (size - 1) == 0
    return 2 * steps * eta / (1 - steps * eta) * (1 if power_of_two else _OTHER_LENGTHS)


def whole_bytes(pencils: Pencils) -> int:
    """Bytes that a comparison with a whole transform needs on the first rank besides its arrays."""
    return 16 * pencils.size**3 + pencils.local_bytes


def is_whole(check: str, pencils: Pencils, spare_bytes: int) -> bool:
    """Whether to compare with a whole transform.

    Args:
        check: The request: `whole`, `waves`, or `auto` for whole up to size 256 if it fits.
        pencils: The transform to check.
        spare_bytes: Free bytes on the first rank's node, without its ranks' arrays.

    Raises:
        RequestError: it was requested and does not fit.
    """
    fits = whole_bytes(pencils) <= spare_bytes
    if check == "whole" and not fits:
        raise RequestError(
            f"--check whole: a whole transform of size {pencils.size} does not fit into memory of "
            "the first rank's node; use --check waves"
        )
    return fits and (check == "whole" or (check == "auto" and pencils.size <= LARGEST_WHOLE))


def field_for(size: int, *, whole: bool) -> Field:
    """The field to transform for this check."""
    return Noise(size) if whole else some_waves(size)


def compare(comm: Any, pencils: Pencils, field: Field, result: Complex) -> Error | None:
    """The error of this job on its first rank; None on other ranks.

    Args:
        comm: MPI communicator of the ranks that made the transform.
        pencils: The transform.
        field: What was transformed.
        result: This rank's part of the result, flat, in the order y, z, x; it may be overwritten.
    """
    if isinstance(field, Waves):
        return _compare_waves(comm, pencils, field, result)
    return _compare_whole(comm, pencils, field, result)


def validation(pencils: Pencils, error: Error, *, whole: bool) -> Validation:
    """The record of a check: the error and whether it is within its bound.

    Args:
        pencils: The transform that was checked.
        error: Error of the result over all ranks.
        whole: Whether the result was compared with a whole transform; otherwise with plane waves.
    """
    bound = error_bound(pencils.size)
    elements = pencils.size**3
    right = error.relative <= bound
    against = "a whole 3-D FFT" if whole else "plane waves in closed form"
    check = ArrayCheck(
        array="result",
        average_relative_error=error.relative,
        epsilon=bound,
        elements=elements,
        failed_elements=0 if right else elements,
        first_failed=-1 if right else 0,
        passed=right,
    )
    size = f"{pencils.size}^3 on {pencils.grid}"
    return Validation(experiment="fft3d", subject=f"{size} against {against}", checks=[check])


def _compare_whole(comm: Any, pencils: Pencils, field: Field, result: Complex) -> Error | None:
    """The first rank transforms the whole array and receives the parts of the others one by one."""
    import numpy as np

    if comm.Get_rank() != 0:
        comm.Send(result, dest=0)
        return None
    size = pencils.size
    whole = np.empty((size, size, size), np.complex128)
    field.fill(Block(range(size), range(size)), whole)
    np.fft.fftn(whole, out=whole)
    difference = answer = 0.0
    received = np.empty_like(result)
    for rank in range(comm.Get_size()):
        if rank:
            comm.Recv(received, source=rank)
        found = received if rank else result
        block = block_of(pencils, rank)
        # The indices of a result are y, z, x.
        part = whole[:, _slice(block.first), _slice(block.second)].transpose(1, 2, 0)
        for got, known in zip(found.reshape(part.shape), part, strict=True):
            difference += _square(got - known)
            answer += _square(known)
    return Error(difference=difference, answer=answer)


def _compare_waves(comm: Any, pencils: Pencils, field: Waves, result: Complex) -> Error | None:
    """Each rank knows its expected part: zero except for the waves that fall into it."""
    block = block_of(pencils, comm.Get_rank())
    part = result.reshape(len(block.first), len(block.second), pencils.size)
    answer = 0.0
    for wave in field.waves:
        if wave.ky in block.first and wave.kz in block.second:
            height = wave.amplitude * pencils.size**3
            part[wave.ky - block.first.start, wave.kz - block.second.start, wave.kx] -= height
            answer += abs(height) ** 2
    difference = sum(_square(plane) for plane in part)
    found = comm.gather((difference, answer), root=0)
    if found is None:
        return None
    return Error(difference=sum(one for one, _ in found), answer=sum(one for _, one in found))


def _slice(places: range) -> slice:
    return slice(places.start, places.stop)


def _square(values: Complex) -> float:
    import numpy as np

    return float(np.sum(values.real**2) + np.sum(values.imag**2))
