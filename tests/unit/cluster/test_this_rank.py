"""Which rank this process is, and what it has in common with the others of its job."""

from __future__ import annotations

from pathlib import Path

import pytest

from memgauge.cluster import this_rank as module
from memgauge.cluster.launch import job_name, rank_of_node
from memgauge.cluster.this_rank import LaunchedRank, place_of, this_rank
from memgauge.system.tree import Tree

OPEN_MPI = {
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_MCA_orte_hnp_uri": "625803264.0;tcp://192.0.2.2:56469",
    "PMIX_NAMESPACE": "625803265",
}
MPICH = {"PMI_SIZE": "4", "MPI_LOCALRANKID": "0", "PMI_FD": "6"}
SLURM = {
    "SLURM_STEP_NUM_TASKS": "4",
    "SLURM_LOCALID": "0",
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "0",
}


def found(environment: dict[str, str], variable: str, rank: int) -> LaunchedRank:
    seen = this_rank(environment | {variable: str(rank)})
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("environment", "variable"),
    [(OPEN_MPI, "OMPI_COMM_WORLD_RANK"), (MPICH, "PMI_RANK"), (SLURM, "SLURM_PROCID")],
)
def test_ranks_of_a_job_have_one_digest(environment: dict[str, str], variable: str) -> None:
    ranks = [found(environment, variable, rank) for rank in range(4)]
    assert [one.rank for one in ranks] == [0, 1, 2, 3]
    assert {one.ranks for one in ranks} == {4}
    assert len({one.job for one in ranks}) == 1
    assert len(ranks[0].job) == 12
    # MPICH's launcher names its job to no rank: those of this host know each other by its process.
    assert bool(ranks[0].job_host) is (environment is MPICH)


@pytest.mark.parametrize(
    ("environment", "changes"),
    [
        (OPEN_MPI, {"PMIX_NAMESPACE": "625803266"}),
        (OPEN_MPI, {"OMPI_MCA_orte_hnp_uri": "625803264.0;tcp://192.0.2.2:56470"}),
        (SLURM, {"SLURM_STEP_ID": "1"}),
        (SLURM, {"SLURM_JOB_ID": "4712"}),
        (SLURM, {"SLURM_RESTART_COUNT": "1"}),
    ],
)
def test_other_jobs_have_other_names(environment: dict[str, str], changes: dict[str, str]) -> None:
    assert job_name(environment) is not None
    assert job_name(environment) != job_name(environment | changes)


def test_what_differs_between_ranks_and_nodes_is_not_in_the_name() -> None:
    further = {"SLURM_PROCID": "3", "SLURM_NODEID": "1", "SLURMD_NODENAME": "n1", "PMI_RANK": "3"}
    assert job_name(SLURM) == job_name(SLURM | further)
    # Daemons that srun started have a step's number, and those beside mpirun do not.
    there = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_JOB_ID": "7"}
    assert job_name(OPEN_MPI | {"SLURM_JOB_ID": "7"}) == job_name(OPEN_MPI | there)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        # Batch scripts, which srun did not start.
        {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"},
        {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
    ],
)
def test_a_process_alone_is_no_rank(environment: dict[str, str]) -> None:
    assert this_rank(environment) is None


def test_the_first_rank_of_a_node_leads() -> None:
    assert found(MPICH, "PMI_RANK", 2).leads
    assert not found(OPEN_MPI, "OMPI_COMM_WORLD_RANK", 1).leads
    # Without a word on it each counts what is counted of a node: better twice than never.
    assert found({"PMI_SIZE": "2"}, "PMI_RANK", 1).leads
    assert rank_of_node({"PMI_SIZE": "2", "PMI_RANK": "1"}) is None


def process(root: Path, pid: int, parent: int, start: int, **environment: str) -> None:
    place = root / "proc" / str(pid)
    place.mkdir(parents=True)
    fields = f"S {parent} " + "0 " * 17 + f"{start} 0\n"
    (place / "stat").write_text(f"{pid} (a (b) c) {fields}")
    words = "".join(f"{name}={value}\0" for name, value in environment.items())
    (place / "environ").write_text(words)


def test_the_launcher_is_the_nearest_ancestor_that_is_no_rank(tmp_path: Path) -> None:
    process(tmp_path, 1, 0, 1)
    process(tmp_path, 10, 1, 100, PATH="/bin")
    process(tmp_path, 20, 10, 200, PMI_RANK="3", PMI_SIZE="4")
    process(tmp_path, 21, 10, 201, PMI_RANK="2", PMI_SIZE="4")
    process(tmp_path, 30, 20, 300, PMI_RANK="3", PMI_SIZE="4")
    tree = Tree(tmp_path)
    by_shell, direct = (module._launcher_process(tree, parent) for parent in (30, 10))
    assert by_shell == direct == module._launcher_process(tree, 21)
    assert by_shell.endswith(" 10 100")


def test_a_launcher_of_another_start_is_another(tmp_path: Path) -> None:
    process(tmp_path / "a", 10, 1, 100)
    process(tmp_path / "b", 10, 1, 101)
    assert module._launcher_process(Tree(tmp_path / "a"), 10) != module._launcher_process(
        Tree(tmp_path / "b"), 10
    )


def test_a_place_holds_one_moment_on_both_clocks() -> None:
    first = place_of(1, 4, "srun", leads=False)
    second = place_of(1, 4, "srun", leads=False)
    assert (first.rank, first.ranks, first.leads) == (1, 4, False)
    assert (first.hostname, first.boot) == (second.hostname, second.boot)
    assert second.at_ns > first.at_ns
