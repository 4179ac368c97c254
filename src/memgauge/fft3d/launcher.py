"""What a launcher of MPI programs told this process through its environment.

Known before MPI is loaded, and whether or not it can be: which of many processes speaks for all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from memgauge.cluster.mpi import Launch, launch

# Rank by launcher: Open MPI, MVAPICH, MPICH's Hydra and those derived from it, a PMIx server, PALS.
_RANKS = ("OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID")


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """How this process was started."""

    launch: Launch | None
    """None: by no launcher that can be seen."""
    rank: int | None
    """None: not told."""

    @property
    def speaks(self) -> bool:
        """Whether this process prints what concerns all: the first one, or one started alone."""
        return not self.rank


def start_of(environment: Mapping[str, str] = os.environ) -> Start:
    """What an environment says; this process's unless another is given."""
    # Of Slurm only in a step: a batch script's own commands are alone.
    names = [*_RANKS, *(["SLURM_PROCID"] if "SLURM_STEP_NUM_TASKS" in environment else [])]
    texts = (environment.get(name, "") for name in names)
    ranks = (int(text) for text in texts if text.isascii() and text.isdecimal())
    return Start(launch=launch(environment), rank=next(ranks, None))


def one_thread_each() -> None:
    """Keep NumPy from starting threads of its own: the ranks are what runs side by side."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
