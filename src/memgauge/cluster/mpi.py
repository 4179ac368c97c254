"""Whether MPI is there, and the little of it that memgauge uses.

A launcher (mpirun, srun) is seen in the environment, without loading MPI. `world` loads mpi4py,
which starts MPI, and refuses with one line that says what to install.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec

from memgauge.cluster.library import choose_library
from memgauge.model.errors import RequestError
from memgauge.model.text import plain

INSTALL = "pip install 'memgauge[mpi]' for this Python, on every node"


class Launch(msgspec.Struct, frozen=True):
    """What started this process as one rank of several."""

    launcher: str
    """As a person names it: `mpirun`, `srun`."""
    ranks: int | None
    """None: the environment does not tell."""


class World(msgspec.Struct, frozen=True):
    """All ranks of a job."""

    rank: int
    size: int
    library: str
    """Name and version of the MPI library."""
    communicator: Any
    """`mpi4py.MPI.COMM_WORLD`; its errors are exceptions."""
    mpi: Any
    """The module `mpi4py.MPI`."""

    def abort(self, code: int) -> None:
        """End every rank at once, this one too; nothing behind it runs."""
        self.communicator.Abort(code)


_SIZES = (
    ("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI"),
    ("MV2_COMM_WORLD_SIZE", "mpirun of MVAPICH"),
    # Of the step, not of the job: a batch script's own commands have SLURM_NTASKS, and are alone.
    ("SLURM_STEP_NUM_TASKS", "srun"),
    ("PMI_SIZE", "mpiexec"),
    ("PALS_SIZE", "mpiexec of PALS"),
)
"""Variable that holds the number of ranks, and whose it is. The first that is set is believed."""

_RANKS = (("PMIX_RANK", "a PMIx launcher"), ("PMI_RANK", "a PMI launcher"))
"""Of launchers that tell a rank and no number of them."""

LAUNCH_PREFIXES = (
    *("OMPI_", "ORTE_", "PRTE_", "PMIX_", "PMI_", "PMI2_"),
    *("HYDRA_", "HYDI_", "I_MPI_HYDRA_", "MPIR_", "MPI_LOCAL", "MV2_COMM_", "PALS_"),
)
"""Variables by which a launcher makes a process a rank. Slurm's own are not among them: a child
without PMI_ and PMIX_ variables is no rank to any MPI library."""


def launch(environment: Mapping[str, str] = os.environ) -> Launch | None:
    """The launcher that started this process; None: there is none to be seen."""
    for variable, name in _SIZES:
        text = environment.get(variable, "")
        if text.isdecimal() and len(text) < 10:
            return Launch(name, int(text))
    return next((Launch(name, None) for variable, name in _RANKS if variable in environment), None)


def without_launch(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of a child that is no rank."""
    made = {name: value for name, value in environment.items() if not _is_launch(name)}
    made.pop("SLURM_STEP_NUM_TASKS", None)
    return made


def _is_launch(name: str) -> bool:
    return name.startswith(LAUNCH_PREFIXES)


def world(
    what: str, environment: Mapping[str, str] = os.environ, *, finalize: bool = True
) -> World:
    """MPI, started. Call it once it is sure that ranks have to talk; `what` is for messages.

    It ends with the process, which then waits for all ranks; without `finalize` the caller ends it.

    Raises:
        RequestError: mpi4py or an MPI library is missing, or MPI sees fewer ranks than the
            launcher started, so that each would go its own way.
    """
    seen = launch(environment)
    mpi = _load(what, seen, finalize=finalize)
    communicator = mpi.COMM_WORLD
    communicator.Set_errhandler(mpi.ERRORS_RETURN)
    size, library = communicator.Get_size(), _library(mpi)
    if seen is not None and seen.ranks not in (None, size):
        raise RequestError(
            f"{what}: {seen.launcher} started {seen.ranks} ranks, but {library} sees {size}: it is "
            "not the launcher's MPI; start it with the mpirun of that library, or with another "
            "srun --mpi=..."
        )
    return World(communicator.Get_rank(), size, library, communicator, mpi)


def _load(what: str, seen: Launch | None, *, finalize: bool) -> Any:
    by = f": started by {seen.launcher}" if seen is not None else ""
    choose_library()
    try:
        # Ranks talk from one thread only; MPI need not guard itself, nor start threads for that.
        import_module("mpi4py").rc(thread_level="funneled", finalize=finalize)
        return import_module("mpi4py.MPI")
    except ModuleNotFoundError:
        raise RequestError(f"{what}{by}: mpi4py is not installed; {INSTALL}") from None
    except (ImportError, RuntimeError, OSError) as error:
        first = plain(str(error).splitlines()[0]) if str(error) else type(error).__name__
        raise RequestError(
            f"{what}{by}: mpi4py finds no MPI library ({first}); install one (pip install mpich, "
            "or Debian's openmpi-bin) or load the cluster's module of one"
        ) from error


def _library(mpi: Any) -> str:
    first: str = mpi.Get_library_version().strip("\0 \n").splitlines()[0]
    return " ".join(plain(first.partition(",")[0]).split())
