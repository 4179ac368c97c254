"""What the mini-app can be asked for."""

from __future__ import annotations

from typing import Annotated

from memgauge.counters.components import NAMES
from memgauge.model.grid import Grid, grid_option
from memgauge.model.option import (
    choice_option,
    choices_option,
    count_option,
    directory_option,
)
from memgauge.model.parameters import Parameters
from memgauge.runner.profile_parameters import rate_option

LARGEST_SIZE = 65_536
"""4 PiB of complex doubles."""
MOST_REPETITIONS = 10_000

DEVICES = ("cpu", "cuda")
SCALINGS = ("strong", "weak")
CHECKS = ("auto", "whole", "waves")


class Fft3dParameters(Parameters, frozen=True, kw_only=True):
    """One job."""

    grid: Annotated[
        Grid | None,
        grid_option("rows and columns of ranks", automatic="the most square one of all ranks"),
    ] = None
    size: Annotated[
        int,
        count_option("points each way", 1, LARGEST_SIZE),
    ] = 128
    device: Annotated[str, choice_option("where the 1-D FFTs are computed", DEVICES)] = "cpu"
    tile: Annotated[
        int,
        count_option(
            "elements of a row that re-sort 1 and 3 read at a time: 4 to 16 use lines whole, which "
            "is faster where rows lie a power of two apart; 0: the study's order",
            0,
            LARGEST_SIZE,
        ),
    ] = 0
    repetitions: Annotated[
        int,
        count_option("transforms to time, after one that is not", 1, MOST_REPETITIONS),
    ] = 10
    scaling: Annotated[
        str | None,
        choice_option(
            "time 1, 2, 4, ... ranks: the same size, or the same work for each rank",
            SCALINGS,
            automatic="all ranks only",
        ),
    ] = None
    check: Annotated[
        str,
        choice_option(
            "what the result is compared with: a whole 3-D FFT, or plane waves, whose transform "
            "is known; auto: whole up to size 256 where it fits",
            CHECKS,
        ),
    ] = "auto"
    rate_hz: Annotated[
        float,
        rate_option("samples a second of each rank's timeline"),
    ] = 100.0
    components: Annotated[
        tuple[str, ...] | None,
        choices_option("what to watch beside each rank", NAMES, automatic="all"),
    ] = None
    output: Annotated[
        str | None,
        directory_option(
            "directory to write the run into, on a file system that all ranks see",
            automatic="memgauge-runs/TIME-fft3d",
        ),
    ] = None
