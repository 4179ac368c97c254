"""All ranks of a job: MPI as loaded, where each rank runs, and how they agree.

Every function here is called by the MPI thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import msgspec

from memgauge.cluster.mpi import INSTALL, NodeLacks, StartedMpi, start_mpi
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import RequestError

_POLL_S = 0.002
"""Seconds between polls of waiting ranks, which must not use a core."""


class AgreedError(RequestError):
    """An error that all ranks know of and end with; one of them reports it."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of the job; numbers are those of all ranks on it."""

    name: str
    ranks: list[int]

    @property
    def key(self) -> str:
        """Name and ranks, as records keep them: `node17:4-7`."""
        return f"{self.name}:{format_cpu_list(self.ranks)}"

    @property
    def description(self) -> str:
        """Such as `node17 (ranks 4-7)`."""
        noun = "rank" if len(self.ranks) == 1 else "ranks"
        return f"{self.name} ({noun} {format_cpu_list(self.ranks)})"


class World:
    """The ranks of this job; `mpi` is the module mpi4py.MPI."""

    def __init__(self, started: StartedMpi, nodes: Sequence[Node]) -> None:
        self.mpi = started.mpi
        self.comm = started.communicator
        self.rank = started.rank
        self.ranks = started.size
        self.library = started.library
        self.nodes = list(nodes)

    @property
    def node(self) -> Node:
        """The one this rank is on."""
        return next(node for node in self.nodes if self.rank in node.ranks)

    def agree(self, problem: str | None) -> None:
        """Go on if no rank has a problem.

        Raises:
            AgreedError: on all ranks, with the problem of the first that has one.
        """
        problems = [one for one in self.comm.allgather(problem) if one is not None]
        if problems:
            raise AgreedError(problems[0])

    def wait_for_all(self) -> None:
        """A barrier that sleeps: MPI's own would use cores on which others compute."""
        request = self.comm.Ibarrier()
        while not request.Test():
            time.sleep(_POLL_S)

    def part(self, ranks: int) -> Any | None:
        """A communicator of the first ranks; None if this rank is not among them."""
        inside = self.rank < ranks
        made = self.comm.Split(0 if inside else self.mpi.UNDEFINED, self.rank)
        return made if inside else None

    def leave(self) -> None:
        """End MPI; waits for all ranks."""
        self.wait_for_all()
        self.mpi.Finalize()

    def end_all(self) -> None:
        """End every rank at once, including this one, if one rank alone cannot continue."""
        self.comm.Abort(1)


def open_world() -> World:
    """Load and start MPI, in the thread that calls.

    Raises:
        NodeLacks: something is not installed.
        RequestError: the library is not the launcher's.
    """
    one_thread_each()
    try:
        import_module("numpy")
    except ImportError as error:
        raise NodeLacks(f"fft3d: NumPy is not installed; {INSTALL}") from error
    started = start_mpi("fft3d", finalize=False)
    here = started.communicator.Split_type(started.mpi.COMM_TYPE_SHARED)
    own = (started.mpi.Get_processor_name(), here.allgather(started.rank))
    return World(started, _nodes(started.communicator.allgather(own)))


def one_thread_each() -> None:
    """Keep NumPy from starting threads, because the ranks already run in parallel."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def _nodes(known: Sequence[tuple[str, list[int]]]) -> list[Node]:
    """Each once, in the order of their first rank."""
    found = {tuple(ranks): name for name, ranks in known}
    return [Node(name=name, ranks=list(ranks)) for ranks, name in sorted(found.items())]
