import os

import pytest

from memgauge.cluster.mpi import Launch
from memgauge.fft3d.launcher import one_thread_each, start_of


@pytest.mark.parametrize(
    ("environment", "rank", "launch"),
    [
        ({}, None, None),
        (
            {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"},
            3,
            Launch("mpirun of Open MPI", 4),
        ),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, 0, Launch("mpiexec", 2)),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8"}, 5, Launch("srun", 8)),
        # A batch script's own command is no rank, whatever Slurm calls it.
        ({"SLURM_PROCID": "0", "SLURM_JOB_ID": "7"}, None, None),
        ({"PMI_RANK": "no"}, None, Launch("a PMI launcher", None)),
    ],
)
def test_rank_and_launcher_are_seen(
    environment: dict[str, str], rank: int | None, launch: Launch | None
) -> None:
    start = start_of(environment)
    assert (start.rank, start.launch) == (rank, launch)
    assert start.speaks is (rank in (None, 0))


def test_numpy_starts_no_threads_unless_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    one_thread_each()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
