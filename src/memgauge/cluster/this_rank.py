"""This process as one rank of a job, by its environment and its launcher's process; without MPI."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Mapping

import msgspec

from memgauge.cluster.launch import job_name, launch, rank_of_node, shows_rank
from memgauge.cluster.nodes import boot_digest
from memgauge.model.records import RankPlace
from memgauge.system.environment.clock import stamp_clock
from memgauge.system.programs.program import parent_of, start_ticks_of
from memgauge.system.tree import Tree

_MOST_ANCESTORS = 64


class LaunchedRank(msgspec.Struct, frozen=True, kw_only=True):
    """A rank of a job that a launcher started."""

    rank: int
    ranks: int | None
    """None if the environment does not state it."""
    launcher: str
    leads: bool
    """Whether it is the first of its node, or its launcher does not state this."""
    job: str
    """Digest of what the ranks of the job have in common."""
    job_host: str
    """Host whose ranks alone have that digest; empty where all nodes have the same."""

    def place(self) -> RankPlace:
        """What its run records."""
        return place_of(self.rank, self.ranks, self.launcher, leads=self.leads)


def this_rank(environment: Mapping[str, str] = os.environ) -> LaunchedRank | None:
    """This process as a rank of several; None where no launcher shows, or it started one alone."""
    seen = launch(environment)
    if seen is None or seen.rank is None or seen.ranks == 1:
        return None
    name = job_name(environment)
    common = _launcher_process(Tree(), os.getppid()) if name is None else name
    return LaunchedRank(
        rank=seen.rank,
        ranks=seen.ranks,
        launcher=seen.launcher,
        leads=not rank_of_node(environment),
        job=hashlib.sha256(f"{common} {seen.ranks}".encode()).hexdigest()[:12],
        job_host=socket.gethostname() if name is None else "",
    )


def place_of(rank: int, ranks: int | None, launcher: str, *, leads: bool) -> RankPlace:
    """A rank's place, with one moment on both clocks.

    Args:
        rank: Its number.
        ranks: How many there are; None if unknown.
        launcher: What started them.
        leads: Whether its run holds what is counted of the whole node.
    """
    return RankPlace(
        rank=rank,
        ranks=ranks,
        launcher=launcher,
        hostname=socket.gethostname(),
        boot=boot_digest(),
        leads=leads,
        at_ns=stamp_clock()(),
        wall_ns=time.time_ns(),
    )


def _launcher_process(tree: Tree, parent: int) -> str:
    """The nearest ancestor that is no rank itself: shells between it and a rank inherit the rank.

    Args:
        tree: Where /proc is.
        parent: Number of this process's parent.
    """
    pid = parent
    for _ in range(_MOST_ANCESTORS):
        above = parent_of(pid, tree)
        if not above or not shows_rank(_environment(tree, pid)):
            break
        pid = above
    return f"{socket.gethostname()} {boot_digest()} {pid} {start_ticks_of(pid, tree)}"


def _environment(tree: Tree, pid: int) -> dict[str, str]:
    """As it was at its start; empty where it may not be read."""
    words = (tree.raw(f"/proc/{pid}/environ") or b"").decode("utf-8", "replace").split("\0")
    return dict(word.partition("=")[::2] for word in words)
