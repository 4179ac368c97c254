"""Parameters of the mini-app."""

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
        grid_option(
            "grid of ranks, as ROWSxCOLUMNS", automatic="the most nearly square grid of all ranks"
        ),
    ] = None
    size: Annotated[
        int,
        count_option("number of points in each dimension", 1, LARGEST_SIZE),
    ] = 128
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
            "number of timed transforms, after one that is not timed", 1, MOST_REPETITIONS
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
