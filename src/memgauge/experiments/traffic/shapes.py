"""Which sizes N of a kernel are measured, and the extents of its loop nest of one.

What a size means for each kernel is described in `memgauge.model.nests`. GEMV's matrix is square up
to a cap; beyond, it stays that large and its rows are walked again, as in the study's capped GEMV.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memgauge.experiments.traffic.parameters import (
    DEFAULT_STRIDE,
    TrafficParameters,
)
from memgauge.experiments.traffic.sizes import WHOLE_LINES, SizeRange, expand
from memgauge.model.grid import check_divides
from memgauge.model.nests import KINDS, REAL_BYTES, STUDY_GRID, Extents
from memgauge.model.nests import extents_of as extents_of_size

CAP_MULTIPLE = 2.5
"""Bytes of the capped matrix over what one core may keep of it: 1280 x 1280 doubles, at which the
study caps it, are 2.5 times its 5 MiB. Of less, rows would still be cached when they come again."""
CAP_STEP = 64

_MATRIX = (64, 2048)
_STREAMS = (1024, 1 << 24)
_DEFAULTS = {
    "gemv": (64, 16384),
    "gemm": (64, 1024),
    "strided-copy": (1024, 1 << 20),
    "transpose": (64, 4096),
    "copy": _STREAMS,
    "scale": _STREAMS,
    "add": _STREAMS,
    "triad": _STREAMS,
}
_PROBES = {"gemm": 96, "gemv": 256, "transpose": 256}
_RESORT = (64, 768)
"""Past 724, where the study's second loop nest leaves its caches."""


def sizes_of(parameters: TrafficParameters) -> list[int]:
    """The sizes requested, or the kernel's own, rising.

    Raises:
        RequestError: a grid does not divide one; the message names the nearest that it does.
    """
    kernel = parameters.kernel
    if not KINDS[kernel].is_resort:
        ranges = parameters.sizes or (_default(kernel),)
        return expand(ranges, WHOLE_LINES, parameters.steps)
    grid = parameters.grid or STUDY_GRID
    divisor = grid.divisor
    between = divisor if WHOLE_LINES % divisor else WHOLE_LINES
    sizes = expand(
        parameters.sizes or (resort_range(parameters, *_RESORT),), between, parameters.steps
    )
    for size in sizes:
        check_divides(grid, size, "--sizes")
    return sizes


def extents_of(parameters: TrafficParameters, size: int, cap: int | None) -> Extents:
    """Extents of the kernel's loop nest by name, in elements; only those that it has.

    Args:
        parameters: As requested, but for the sizes.
        size: Size N of the kernel, see `memgauge.model.nests`.
        cap: Limit on rows and columns of GEMV's matrix; None: no limit. Other kernels ignore it.
    """
    return extents_of_size(
        parameters.kernel,
        size,
        grid=parameters.grid or STUDY_GRID,
        cap=cap,
        stride=parameters.stride or DEFAULT_STRIDE,
    )


def probe_size(parameters: TrafficParameters) -> int:
    """A size of which executing the kernel takes milliseconds at most."""
    kernel = parameters.kernel
    if KINDS[kernel].is_resort:
        divisor = (parameters.grid or STUDY_GRID).divisor
        return max(1, 64 // divisor) * divisor
    return _PROBES.get(kernel, 1 << 16)


def cap_for(cached_bytes: Sequence[int]) -> int:
    """Rows and columns of GEMV's matrix, for caches of which one core may hold so many bytes."""
    side = math.sqrt(CAP_MULTIPLE * max(cached_bytes) / REAL_BYTES)
    return math.ceil(side / CAP_STEP) * CAP_STEP


def _default(kernel: str) -> SizeRange:
    return SizeRange(*_DEFAULTS.get(kernel, _MATRIX))


def resort_range(parameters: TrafficParameters, first: int, last: int) -> SizeRange:
    """Range of sizes of a re-sorting routine whose ends its grid divides.

    Args:
        parameters: As requested, for the grid.
        first: Smallest size N, rounded up to one that the grid divides.
        last: Largest size N, rounded up alike.
    """
    return SizeRange(divisible(parameters, first), divisible(parameters, last))


def divisible(parameters: TrafficParameters, size: int) -> int:
    """The size, or the next larger one that the grid divides."""
    divisor = (parameters.grid or STUDY_GRID).divisor
    return -(-size // divisor) * divisor
