from pathlib import Path

import pytest

from memgauge.cluster.library import OPEN_MPI, VARIABLE, choose_library, library_for

BY_OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": "4"}


def test_open_mpis_ranks_load_open_mpi(tmp_path: Path) -> None:
    assert library_for(BY_OPEN_MPI, str(tmp_path)) == OPEN_MPI


def test_a_wheels_open_mpi_is_tried_first(tmp_path: Path) -> None:
    own = tmp_path / "lib" / OPEN_MPI
    own.parent.mkdir()
    own.touch()
    assert library_for(BY_OPEN_MPI, str(tmp_path)) == f"{own}:{OPEN_MPI}"


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"PMI_SIZE": "4"},
        BY_OPEN_MPI | {VARIABLE: "/opt/mpi/libmpi.so"},
        BY_OPEN_MPI | {"MPI4PY_MPIABI": "openmpi"},
    ],
)
def test_others_find_their_own_and_a_choice_stays(environment: dict[str, str]) -> None:
    assert library_for(environment, "/nowhere") is None


def test_the_choice_is_told_to_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPI4PY_MPIABI", raising=False)
    monkeypatch.setenv(VARIABLE, "mine")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    choose_library()
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("sys.exec_prefix", "/nowhere")
    choose_library()
    import os

    assert os.environ[VARIABLE] == OPEN_MPI
    monkeypatch.delenv(VARIABLE)
