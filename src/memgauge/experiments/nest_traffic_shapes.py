"""What a size N means for each kernel: the extents of its loop nest, and which N are possible.

- gemv: y has N elements. A is square up to the cap P; beyond, A stays P x P and is walked again,
  row i being i % P, as in the study's capped GEMV.
- gemm: three N x N matrices. transpose: two.
- copy, scale, add, triad: N elements. strided-copy: N elements, `--stride` doubles apart.
- The re-sorting routines: an N x N x N FFT on an r x c grid of processes, of which each has
  N/r x N/c x N elements: PLANES = N/r and COLS = N (planewise: PLANES = N and COLS = N/r) with
  ROWS = N/c. Of S2CF and S2PF, whose extents are not told by the study, N is cut in Y = c blocks,
  one from each process of a row of the grid, of X = N/c; that is an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from memgauge.experiments.nest_traffic_parameters import (
    DEFAULT_GRID,
    DEFAULT_STRIDE,
    TrafficParameters,
    is_resort,
)
from memgauge.experiments.nest_traffic_sizes import WHOLE_LINES, SizeRange, expand
from memgauge.model.errors import RequestError

CAP_MULTIPLE = 2.5
"""Bytes of the capped matrix over what one core may keep of it: 1280 x 1280 doubles, at which the
study caps it, are 2.5 times its 5 MiB. Of less, rows would still be cached when they come again."""
CAP_STEP = 64
DOUBLE_BYTES = 8

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
_RESORT = (64, 768)
"""Past 724, where the study's second loop nest leaves its caches."""


def sizes_of(parameters: TrafficParameters) -> list[int]:
    """The sizes asked for, or the kernel's own, rising.

    Raises:
        RequestError: a grid does not divide one; the message names the nearest that it does.
    """
    kernel = parameters.kernel
    if not is_resort(kernel):
        return expand(parameters.sizes or (_default(kernel),), WHOLE_LINES)
    grid = parameters.grid or DEFAULT_GRID
    divisor = math.lcm(*grid)
    between = divisor if WHOLE_LINES % divisor else WHOLE_LINES
    sizes = expand(parameters.sizes or (_default_of(divisor),), between)
    for size in sizes:
        if size % divisor:
            raise RequestError(_undivided(size, grid, divisor))
    return sizes


def extents_of(parameters: TrafficParameters, size: int, cap: int | None) -> dict[str, int]:
    """Of the loop nest of this size, as `_core.NestSpec` takes them; those that it has."""
    kernel = parameters.kernel
    if is_resort(kernel):
        return _resort(kernel, size, parameters.grid or DEFAULT_GRID)
    if kernel == "gemv":
        width = min(size, cap or size)
        return {"m": size, "n": width, "cap": width}
    if kernel == "transpose":
        return {"m": size, "n": size}
    if kernel == "strided-copy":
        return {"n": size, "stride": parameters.stride or DEFAULT_STRIDE}
    return {"n": size}


def probe_size(parameters: TrafficParameters) -> int:
    """A size of which executing the kernel takes milliseconds at most."""
    kernel = parameters.kernel
    if not is_resort(kernel):
        return 256 if kernel in {"gemv", "transpose"} else 96 if kernel == "gemm" else 1 << 16
    divisor = math.lcm(*(parameters.grid or DEFAULT_GRID))
    return max(1, 64 // divisor) * divisor


def cap_for(cached_bytes: Sequence[int]) -> int:
    """Rows and columns of GEMV's matrix, for caches of which one core may hold so many bytes."""
    side = math.sqrt(CAP_MULTIPLE * max(cached_bytes) / DOUBLE_BYTES)
    return math.ceil(side / CAP_STEP) * CAP_STEP


def _resort(kernel: str, size: int, grid: tuple[int, int]) -> dict[str, int]:
    part, rows = size // grid[0], size // grid[1]
    if kernel == "s2cf":
        return {"planes": part, "rows": rows, "x": size // grid[1], "y": grid[1]}
    if kernel == "s2pf":
        return {"cols": part, "rows": rows, "x": size // grid[1], "y": grid[1]}
    if kernel.startswith("s1pf"):
        return {"planes": size, "rows": rows, "cols": part}
    return {"planes": part, "rows": rows, "cols": size}


def _default(kernel: str) -> SizeRange:
    return SizeRange(*_DEFAULTS.get(kernel, _MATRIX))


def _default_of(divisor: int) -> SizeRange:
    first, last = _RESORT
    return SizeRange(-(-first // divisor) * divisor, -(-last // divisor) * divisor)


def _undivided(size: int, grid: tuple[int, int], divisor: int) -> str:
    shown = "x".join(map(str, grid))
    below, above = size // divisor * divisor, (size // divisor + 1) * divisor
    near = f"{below} or {above}" if below else str(above)
    return (
        f"--sizes {size}: is not divided by the {shown} grid, N/{grid[0]} and N/{grid[1]} must be "
        f"whole; the nearest that is: {near}"
    )
