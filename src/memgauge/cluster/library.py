"""Which MPI library mpi4py is to load: the one that belongs to the launcher.

Left to itself mpi4py takes a library that a wheel put into the virtual environment before the
system's, also where the system's mpirun started the process. Of the two only the one that mpirun
belongs to can talk to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "MPI4PY_LIBMPI"
"""By which mpi4py is configured (its documentation, section Runtime configuration options)."""
OPEN_MPI = "libmpi.so.40"
"""Soname of Open MPI since version 2."""


def library_for(environment: Mapping[str, str], prefix: str) -> str | None:
    """What the variable must say, files to try between colons; None: nothing.

    MPICH's family is what wheels hold, and is found without being named.
    """
    if "OMPI_COMM_WORLD_SIZE" not in environment:
        return None
    if {VARIABLE, "MPI4PY_MPIABI"} & environment.keys():
        return None
    own = Path(prefix) / "lib" / OPEN_MPI
    return os.pathsep.join([*([str(own)] if own.exists() else []), OPEN_MPI])


def choose_library() -> None:
    """For this process, before it imports mpi4py.MPI; what the user chose stays."""
    library = library_for(os.environ, sys.exec_prefix)
    if library is not None:
        os.environ[VARIABLE] = library
