"""What a launcher of MPI programs told this process through its environment.

Known before MPI is loaded, and whether or not it can be: which library to load, and which of many
processes speaks for all.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from memgauge.cluster.mpi import Launch, launch

# Rank by launcher: Open MPI, MPICH's Hydra and those derived from it, a PMIx server, Slurm. Of
# Slurm only in a step: a batch script's own commands are alone.
_RANKS = ("OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID")
OPEN_MPI = "libmpi.so.40"
"""Soname of Open MPI since version 2."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How this process was started."""

    launch: Launch | None
    """None: by no launcher that can be seen."""
    rank: int | None
    """None: not told."""
    by_open_mpi: bool = False

    @property
    def speaks(self) -> bool:
        """Whether this process prints what concerns all: the first one, or one started alone."""
        return not self.rank


def start_of(environment: Mapping[str, str] = os.environ) -> Start:
    """What an environment says; this process's unless another is given."""
    names = [*_RANKS, *(["SLURM_PROCID"] if "SLURM_STEP_NUM_TASKS" in environment else [])]
    texts = (environment.get(name, "") for name in names)
    ranks = (int(text) for text in texts if text.isascii() and text.isdecimal())
    return Start(
        launch=launch(environment),
        rank=next(ranks, None),
        by_open_mpi="OMPI_COMM_WORLD_SIZE" in environment,
    )


def library_for(start: Start, environment: Mapping[str, str], prefix: str) -> str | None:
    """What `MPI4PY_LIBMPI` must say for mpi4py to load the launcher's library; None: nothing.

    Left to itself mpi4py takes a library that a wheel put into the virtual environment before the
    system's, also where the system's mpirun started the process. Of the two only the one that
    mpirun belongs to can talk to it.
    """
    if not start.by_open_mpi or {"MPI4PY_LIBMPI", "MPI4PY_MPIABI"} & environment.keys():
        return None
    own = Path(prefix) / "lib" / OPEN_MPI
    return os.pathsep.join([*([str(own)] if own.exists() else []), OPEN_MPI])


def prepare_environment(start: Start) -> None:
    """Choose the library, and one thread for NumPy: the ranks are what runs side by side."""
    library = library_for(start, os.environ, sys.exec_prefix)
    if library is not None:
        os.environ["MPI4PY_LIBMPI"] = library
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
