"""Chooses the MPI library for mpi4py: the one that belongs to the launcher.

By default, mpi4py prefers a library from a wheel in the virtual environment over the system's, even
if the system's mpirun started the process. Only the library that mpirun belongs to can communicate
with it. Without a launcher it takes what `libmpi.so` names, which can be a library that its wheels
are not made for: Debian's libmpich-dev makes it MPICH under another soname.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memgauge.system.loader import is_loadable

VARIABLE = "MPI4PY_LIBMPI"
"""Configures mpi4py (see its documentation, section Runtime configuration options)."""
OPEN_MPI = "libmpi.so.40"
"""Soname of Open MPI since version 2."""
MPICH = "libmpi.so.12"
"""Soname of the family of MPICH, by its agreement on a binary interface."""


def library_for(
    environment: Mapping[str, str],
    prefixes: Iterable[str],
    is_there: Callable[[str], bool] = is_loadable,
) -> str | None:
    """The value for the variable: files to try, separated by colons; None to leave it unset.

    Wheels contain libraries of MPICH's family, which mpi4py finds by itself.

    Args:
        environment: Of this process.
        prefixes: Installations of Python whose wheels mpi4py looks through; its own first.
        is_there: Whether a library can be loaded by its soname.
    """
    if {VARIABLE, "MPI4PY_MPIABI"} & environment.keys():
        return None
    folders = [Path(prefix) / "lib" for prefix in prefixes]
    if "OMPI_COMM_WORLD_SIZE" in environment:
        own = folders[0] / OPEN_MPI
        return os.pathsep.join([*([str(own)] if own.exists() else []), OPEN_MPI])
    is_launched = any(name.startswith(("PMI_", "PMIX_")) for name in environment)
    has_wheel = any(any(folder.glob("libmpi.so*")) for folder in folders)
    if is_launched or has_wheel or is_there(MPICH):
        return None
    return OPEN_MPI if is_there(OPEN_MPI) else None


def choose_library() -> None:
    """Set the variable before this process imports mpi4py.MPI; a user's choice is kept."""
    prefixes = [sys.exec_prefix, site.getuserbase(), sys.base_exec_prefix]
    library = library_for(os.environ, prefixes)
    if library is not None:
        os.environ[VARIABLE] = library
