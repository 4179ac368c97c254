import pytest

from memgauge.cluster.launch import (
    Launch,
    launch,
    reports_for_all,
    reports_for_node,
    without_launch,
)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        (
            {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"},
            Launch("mpirun of Open MPI", 4, 3),
        ),
        (
            {"MV2_COMM_WORLD_RANK": "1", "MV2_COMM_WORLD_SIZE": "2"},
            Launch("mpirun of MVAPICH", 2, 1),
        ),
        ({"PMI_SIZE": "8", "PMI_RANK": "0"}, Launch("mpiexec", 8, 0)),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8"}, Launch("srun", 8, 5)),
        (
            {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1", "PMI_SIZE": "2", "PMI_RANK": "1"},
            Launch("srun", 2, 1),
        ),
        # Eight ranks of MPICH's mpirun, which a step of one task on each of two nodes started.
        (
            {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1", "PMI_SIZE": "8", "PMI_RANK": "6"},
            Launch("mpiexec", 8, 6),
        ),
        ({"PMIX_RANK": "0"}, Launch("a PMIx launcher", None, 0)),
        ({"PMI_RANK": "no"}, Launch("a PMI launcher", None, None)),
        ({"OMPI_COMM_WORLD_SIZE": "many"}, None),
        # A batch script's own commands, which srun did not start, have these.
        ({"SLURM_NTASKS": "32", "SLURM_PROCID": "0", "SLURM_JOB_ID": "7"}, None),
    ],
)
def test_a_launcher_is_seen_in_the_environment(
    environment: dict[str, str], expected: Launch | None
) -> None:
    assert launch(environment) == expected
    assert reports_for_all(environment) is (expected is None or not expected.rank)


@pytest.mark.parametrize(
    ("environment", "speaks"),
    [
        ({}, True),
        ({"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}, True),
        ({"OMPI_COMM_WORLD_RANK": "6", "OMPI_COMM_WORLD_LOCAL_RANK": "2"}, False),
        ({"PMI_RANK": "4", "MPI_LOCALRANKID": "1"}, False),
        ({"PMI_RANK": "4"}, True),
        ({"SLURM_STEP_NUM_TASKS": "8", "SLURM_PROCID": "5", "SLURM_LOCALID": "1"}, False),
        # A batch script's own commands.
        ({"SLURM_PROCID": "0", "SLURM_LOCALID": "1"}, True),
    ],
)
def test_the_first_of_a_node_reports_for_it(environment: dict[str, str], speaks: bool) -> None:
    assert reports_for_node(environment) is speaks


def test_a_child_is_no_rank() -> None:
    environment = {
        "PATH": "/bin",
        "OMPI_COMM_WORLD_SIZE": "4",
        "PMIX_RANK": "1",
        "PMI_FD": "5",
        "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_JOB_ID": "7",
        "OMP_NUM_THREADS": "2",
    }
    child = without_launch(environment)
    assert launch(child) is None
    assert child == {"PATH": "/bin", "SLURM_JOB_ID": "7", "OMP_NUM_THREADS": "2"}
