"""Parameters of the mini-app."""

from __future__ import annotations

from typing import Annotated

from memgauge.analysis.fft3d.shape import FUSED, TWO_NESTS
from memgauge.counters.components import NAMES
from memgauge.model.grid import Grid, grid_option
from memgauge.model.option import (
    choice_option,
    choices_option,
    count_option,
    counts_option,
    directory_option,
)
from memgauge.model.parameters import Parameters
from memgauge.runner.profiling.parameters import rate_option

LARGEST_SIZE = 65_536
"""4 PiB of complex doubles."""
MOST_REPETITIONS = 10_000

DEVICES = ("cpu", "cuda")
SCALINGS = ("strong", "weak")
NESTS = (FUSED, TWO_NESTS)
CHECKS = ("auto", "whole", "waves")


class Fft3dParameters(Parameters, frozen=True, kw_only=True):
    """One job."""

    grid: Annotated[
        Grid | None,
        grid_option(
            "grid of ranks, as ROWSxCOLUMNS", automatic="the most nearly square grid of all ranks"
        ),
    ] = None
    size: Annotated[
        tuple[int, ...],
        counts_option(
            "number of points in each dimension; several, such as 256,512,1024, are measured in "
            "turn",
            1,
            LARGEST_SIZE,
        ),
    ] = (128,)
    nests: Annotated[
        str,
        choice_option(
            "how re-sorts 1 and 3 are written: one fused loop nest, or two, through a third array",
            NESTS,
        ),
    ] = FUSED
    device: Annotated[str, choice_option("device that computes the 1-D FFTs", DEVICES)] = "cpu"
    tile: Annotated[
        int,
        count_option(
            "elements of a row that re-sorts 1 and 3 read at a time: 4 to 16 use whole "
            "lines, which is faster if rows are a power of two apart; 0: the order of the"
            " study",
            0,
            LARGEST_SIZE,
        ),
    ] = 0
    repetitions: Annotated[
        int,
        count_option(
            "number of timed transforms of each size, after one that is not timed, such as the "
            "study's 50",
            1,
            MOST_REPETITIONS,
        ),
    ] = 10
    scaling: Annotated[
        str | None,
        choice_option(
            "repeat with 1, 2, 4, ... ranks: strong scaling keeps the size, weak scaling "
            "the work per rank",
            SCALINGS,
            automatic="all ranks only",
        ),
    ] = None
    check: Annotated[
        str,
        choice_option(
            "reference for the result: a whole 3-D FFT, or plane waves, whose transform "
            "is known; auto: whole up to size 256 if it fits",
            CHECKS,
        ),
    ] = "auto"
    rate_hz: Annotated[
        float,
        rate_option("samples per second of each rank's timeline"),
    ] = 100.0
    components: Annotated[
        tuple[str, ...] | None,
        choices_option("components to watch beside each rank", NAMES, automatic="all"),
    ] = None
    output: Annotated[
        str | None,
        directory_option(
            "directory to write the run to, on a file system that all ranks share",
            automatic="memgauge-runs/TIME-fft3d",
        ),
    ] = None
