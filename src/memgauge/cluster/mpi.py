"""MPI as memgauge uses it; `start_mpi` loads mpi4py, which starts MPI."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from memgauge.cluster.launch import Launch, launch
from memgauge.cluster.library import choose_library
from memgauge.model.errors import RequestError
from memgauge.model.text import plain

INSTALL = "pip install 'memgauge[mpi]' for this Python, on every node"


class NodeLacks(RequestError):
    """Something is not installed, perhaps on this node only, so that other ranks may not know."""


class StartedMpi(msgspec.Struct, frozen=True):
    """This rank and its job."""

    rank: int
    size: int
    library: str
    """Name and version of the MPI library."""
    communicator: Any
    """`mpi4py.MPI.COMM_WORLD`; its errors are exceptions."""
    mpi: Any
    """The module `mpi4py.MPI`."""

    def abort(self, code: int) -> None:
        """End every rank at once, including this one; does not return."""
        self.communicator.Abort(code)


def start_mpi(
    what: str, environment: Mapping[str, str] = os.environ, *, finalize: bool = True
) -> StartedMpi:
    """Start MPI. Call this only when ranks must communicate.

    Args:
        what: Name of the command, with which error messages begin.
        environment: Environment variables, which show how many ranks a launcher started.
        finalize: Whether MPI ends with the process, which then waits for all ranks; if not, the
            caller ends MPI.

    Raises:
        NodeLacks: mpi4py or an MPI library is missing.
        RequestError: MPI sees fewer ranks than the launcher started, so they would not communicate.
    """
    seen = launch(environment)
    mpi = _load(what, seen, finalize=finalize)
    communicator = mpi.COMM_WORLD
    communicator.Set_errhandler(mpi.ERRORS_RETURN)
    size, library = communicator.Get_size(), _library(mpi)
    if seen is not None and seen.ranks not in (None, size):
        raise RequestError(
            f"{what}: {seen.launcher} started {seen.ranks} ranks, but {library} sees {size}: the "
            "library does not belong to the launcher; start the ranks with that library's mpirun, "
            "or with another srun --mpi=..."
        )
    return StartedMpi(communicator.Get_rank(), size, library, communicator, mpi)


def _load(what: str, seen: Launch | None, *, finalize: bool) -> Any:
    by = f": started by {seen.launcher}" if seen is not None else ""
    choose_library()
    try:
        # Only one thread of a rank uses MPI, which need not lock or start threads for that.
        import_module("mpi4py").rc(thread_level="funneled", finalize=finalize)
        with warnings.catch_warnings():
            # A mismatch of launcher and library, which is reported below in one line.
            warnings.simplefilter("ignore", RuntimeWarning)
            return import_module("mpi4py.MPI")
    except ModuleNotFoundError:
        raise NodeLacks(f"{what}{by}: mpi4py is not installed; {INSTALL}") from None
    except (ImportError, RuntimeError, OSError) as error:
        first = plain(str(error).splitlines()[0]) if str(error) else type(error).__name__
        raise NodeLacks(
            f"{what}{by}: mpi4py finds no MPI library ({first}); install one (pip install mpich, "
            "or Debian's openmpi-bin) or load the cluster's MPI module"
        ) from error


def _library(mpi: Any) -> str:
    first: str = mpi.Get_library_version().strip("\0 \n").splitlines()[0]
    return " ".join(plain(first.partition(",")[0]).split())
