"""All ranks of a job: MPI as loaded, where each rank runs, and how they agree.

Every function here is called by the MPI thread.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import msgspec

from memgauge.fft3d.launcher import Start, prepare_environment
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError, SystemFailure

INSTALL = "install what it needs with: pip install 'memgauge[mpi]'"
_POLL_S = 0.002
"""Of ranks that wait without a core of their own to burn."""


class AgreedError(RequestError):
    """What all ranks know of and end with; one of them tells."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of the job; numbers are those of all ranks on it."""

    name: str
    ranks: list[int]

    @property
    def key(self) -> str:
        """Name and ranks, as records keep them: `node17:4-7`."""
        return f"{self.name}:{format_cpu_list(self.ranks)}"

    @property
    def in_words(self) -> str:
        """Such as `node17 (ranks 4-7)`."""
        return f"{self.name} (rank{'s' * (len(self.ranks) > 1)} {format_cpu_list(self.ranks)})"


class World:
    """The ranks of this job; `mpi` is the module mpi4py.MPI."""

    def __init__(self, mpi: Any, nodes: Sequence[Node]) -> None:
        self.mpi = mpi
        self.comm: Any = mpi.COMM_WORLD
        self.rank: int = self.comm.Get_rank()
        self.ranks: int = self.comm.Get_size()
        self.nodes = list(nodes)

    @property
    def node(self) -> Node:
        """The one this rank is on."""
        return next(node for node in self.nodes if self.rank in node.ranks)

    @property
    def library(self) -> str:
        """Name and version of the MPI library, in one line."""
        told: str = self.mpi.Get_library_version()
        return " ".join(told.replace("\0", " ").split("\n")[0].split(",")[0].split())

    def agree(self, problem: str | None) -> None:
        """Go on if no rank has a problem.

        Raises:
            AgreedError: on all ranks, with the problem of the first that has one.
        """
        problems = [one for one in self.comm.allgather(problem) if one is not None]
        if problems:
            raise AgreedError(problems[0])

    def wait_for_all(self) -> None:
        """A barrier that sleeps: MPI's own would burn the cores that others compute on."""
        request = self.comm.Ibarrier()
        while not request.Test():
            time.sleep(_POLL_S)

    def part(self, ranks: int) -> Any | None:
        """A communicator of the first so many; None: this rank is none of them."""
        inside = self.rank < ranks
        made = self.comm.Split(0 if inside else self.mpi.UNDEFINED, self.rank)
        return made if inside else None

    def leave(self) -> None:
        """End MPI; waits for all ranks."""
        self.wait_for_all()
        self.mpi.Finalize()

    def end_all(self) -> None:
        """End every rank at once, this one too: for what one rank alone can no longer do."""
        self.comm.Abort(1)


def open_world(start: Start) -> World:
    """Load and initialise MPI.

    Raises:
        RequestError: something is not installed, or the library is not the launcher's.
    """
    prepare_environment(start)
    mpi = _loaded()
    try:
        mpi.Init_thread(mpi.THREAD_FUNNELED)
        here = mpi.COMM_WORLD.Split_type(mpi.COMM_TYPE_SHARED)
        named = (mpi.Get_processor_name(), here.allgather(mpi.COMM_WORLD.Get_rank()))
        told = mpi.COMM_WORLD.allgather(named)
    except mpi.Exception as error:
        raise SystemFailure(
            f"MPI cannot be initialised: {error}; try a smaller program under the same mpirun"
        ) from error
    world = World(mpi, _nodes(told))
    launch = start.launch
    if launch is not None and launch.ranks not in (None, world.ranks):
        raise RequestError(
            f"fft3d: {launch.launcher} started {launch.ranks} ranks, but {world.library} sees "
            f"{world.ranks}: it is not the launcher's MPI; use the mpirun of that library, or name "
            "the launcher's library in MPI4PY_LIBMPI"
        )
    return world


def _nodes(told: Sequence[tuple[str, list[int]]]) -> list[Node]:
    """Each once, in the order of their first rank."""
    found = {tuple(ranks): name for name, ranks in told}
    return [Node(name=name, ranks=list(ranks)) for ranks, name in sorted(found.items())]


def _loaded() -> Any:
    try:
        import_module("numpy")
    except ImportError as error:
        raise RequestError(f"fft3d: NumPy is not installed; {INSTALL}") from error
    try:
        settings = import_module("mpi4py").rc
    except ImportError as error:
        raise RequestError(f"fft3d: mpi4py is not installed; {INSTALL}") from error
    settings.initialize = settings.finalize = False
    try:
        return import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise RequestError(
            "fft3d: mpi4py finds no MPI library; load your cluster's MPI or install one with: "
            "pip install mpich"
        ) from error
