"""Chooses the MPI library for mpi4py: the one that belongs to the launcher.

By default, mpi4py prefers a library from a wheel in the virtual environment over the system's, even
if the system's mpirun started the process. Only the library that mpirun belongs to can communicate
with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "MPI4PY_LIBMPI"
"""Configures mpi4py (see its documentation, section Runtime configuration options)."""
OPEN_MPI = "libmpi.so.40"
"""Soname of Open MPI since version 2."""


def library_for(environment: Mapping[str, str], prefix: str) -> str | None:
    """The value for the variable: files to try, separated by colons; None to leave it unset.

    Wheels contain libraries of MPICH's family, which mpi4py finds by itself.
    """
    if "OMPI_COMM_WORLD_SIZE" not in environment:
        return None
    if {VARIABLE, "MPI4PY_MPIABI"} & environment.keys():
        return None
    own = Path(prefix) / "lib" / OPEN_MPI
    return os.pathsep.join([*([str(own)] if own.exists() else []), OPEN_MPI])


def choose_library() -> None:
    """Set the variable before this process imports mpi4py.MPI; a user's choice is kept."""
    library = library_for(os.environ, sys.exec_prefix)
    if library is not None:
        os.environ[VARIABLE] = library
