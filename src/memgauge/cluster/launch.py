"""Launchers of MPI programs (mpirun, srun), as the environment shows them; no MPI is loaded.

All of this is known even without a working MPI, above all which rank reports errors for all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec


class Launch(msgspec.Struct, frozen=True):
    """What started this process as one rank of several."""

    launcher: str
    """Name of the launcher for messages: `mpirun`, `srun`."""
    ranks: int | None
    """None if the environment does not state it."""
    rank: int | None = None
    """Rank of this process; None if unknown."""


_STEP_RANKS = "SLURM_STEP_NUM_TASKS"
"""Counts of the step, not of the job: a batch script's commands have SLURM_NTASKS and run alone."""

_SIZES = (
    ("OMPI_COMM_WORLD_SIZE", "mpirun of Open MPI"),
    ("MV2_COMM_WORLD_SIZE", "mpirun of MVAPICH"),
    ("PMI_SIZE", "mpiexec"),
    ("PALS_SIZE", "mpiexec of PALS"),
    # Checked last: MPICH's mpirun may start one helper on each node through a step of srun.
    (_STEP_RANKS, "srun"),
)
"""Variables that contain the number of ranks, with their launcher. The first that is set counts."""

_RANKS = (
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "PALS_RANKID",
)
_STEP_RANK = "SLURM_PROCID"

_RANKS_OF_NODE = (
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "PALS_LOCAL_RANKID",
)
_STEP_RANK_OF_NODE = "SLURM_LOCALID"

_UNCOUNTED = (("PMIX_RANK", "a PMIx launcher"), ("PMI_RANK", "a PMI launcher"))
"""Variables of launchers that provide a rank but not the number of ranks."""

_JOBS: tuple[tuple[str, ...], ...] = (
    ("PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "SLURM_JOB_ID"),
    ("PALS_APID",),
)
"""Variables that together name a job and have the same values on all of its ranks. The first of
each must be set."""
_STEP_JOB: tuple[str, ...] = (
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT",
    "SLURM_CLUSTER_NAME",
)

LAUNCH_PREFIXES = (
    *("OMPI_", "ORTE_", "PRTE_", "PMIX_", "PMI_", "PMI2_"),
    *("HYDRA_", "HYDI_", "I_MPI_HYDRA_", "MPIR_", "MPI_LOCAL", "MV2_COMM_", "PALS_"),
)
"""Variables by which a launcher makes a process a rank. Slurm's own are not among them: a child
without PMI_ and PMIX_ variables is no rank to any MPI library."""


def launch(environment: Mapping[str, str] = os.environ) -> Launch | None:
    """The launcher that started this process; None if the environment shows none."""
    rank = _rank(environment)
    for variable, name in _SIZES:
        ranks = _number(environment, variable)
        if ranks is not None:
            is_step = ranks == _number(environment, _STEP_RANKS)
            return Launch("srun" if is_step and variable == "PMI_SIZE" else name, ranks, rank)
    uncounted = (name for variable, name in _UNCOUNTED if variable in environment)
    return next((Launch(name, None, rank) for name in uncounted), None)


def reports_for_all(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process reports what concerns all ranks: it is the first rank, or runs alone."""
    return not _rank(environment)


def reports_for_node(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether it is the first rank of its node, or its launcher does not state this."""
    return not rank_of_node(environment)


def rank_of_node(environment: Mapping[str, str] = os.environ) -> int | None:
    """The number of this rank among those of its node; None if its launcher does not state it."""
    return _first_number(environment, _RANKS_OF_NODE, _STEP_RANK_OF_NODE)


def job_name(environment: Mapping[str, str] = os.environ) -> str | None:
    """What all ranks of this job have in common, on all nodes, and no other job has.

    None if its launcher states nothing of the kind, as MPICH's does.
    """
    known = [names for names in _JOBS if environment.get(names[0])]
    if _number(environment, _STEP_RANKS) is not None and environment.get(_STEP_JOB[0]):
        known.append(_STEP_JOB)
    if not known:
        return None
    return " ".join(f"{name}={environment[name]}" for name in known[0] if environment.get(name))


def shows_rank(environment: Mapping[str, str]) -> bool:
    """Whether a process of this environment is a rank, or was started by one."""
    return _rank(environment) is not None


def without_launch(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment for a child process that is not a rank."""
    return {
        name: value
        for name, value in environment.items()
        if not name.startswith(LAUNCH_PREFIXES) and name != _STEP_RANKS
    }


def _rank(environment: Mapping[str, str]) -> int | None:
    return _first_number(environment, _RANKS, _STEP_RANK)


def _first_number(environment: Mapping[str, str], names: Sequence[str], of_step: str) -> int | None:
    """The number in the first variable that contains one; Slurm's counts only inside a step."""
    steps = [of_step] if _STEP_RANKS in environment else []
    known = (_number(environment, name) for name in [*names, *steps])
    return next((rank for rank in known if rank is not None), None)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
