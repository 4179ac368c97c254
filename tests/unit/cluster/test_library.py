import os
from pathlib import Path

import pytest

from memgauge.cluster.library import (
    MPICH,
    OPEN_MPI,
    VARIABLE,
    choose_library,
    library_for,
)
from memgauge.system.loader import is_loadable

BY_OPEN_MPI = {"OMPI_COMM_WORLD_SIZE": "4"}


def test_open_mpis_ranks_load_open_mpi(tmp_path: Path) -> None:
    assert library_for(BY_OPEN_MPI, [str(tmp_path)]) == OPEN_MPI


def test_a_wheels_open_mpi_is_tried_first(tmp_path: Path) -> None:
    own = tmp_path / "lib" / OPEN_MPI
    own.parent.mkdir()
    own.touch()
    assert library_for(BY_OPEN_MPI, [str(tmp_path)]) == f"{own}:{OPEN_MPI}"


@pytest.mark.parametrize(
    "environment",
    [
        {"PMI_SIZE": "4"},
        {"PMIX_RANK": "0"},
        {VARIABLE: "/opt/mpi/libmpi.so"},
        BY_OPEN_MPI | {VARIABLE: "/opt/mpi/libmpi.so"},
        BY_OPEN_MPI | {"MPI4PY_MPIABI": "openmpi"},
    ],
)
def test_others_find_their_own_and_a_choice_stays(environment: dict[str, str]) -> None:
    assert library_for(environment, ["/nowhere"], lambda _: True) is None


@pytest.mark.parametrize(
    ("there", "chosen"),
    [({MPICH, OPEN_MPI}, None), ({MPICH}, None), ({OPEN_MPI}, OPEN_MPI), (set[str](), None)],
)
def test_one_process_loads_open_mpi_where_no_other_can_be(
    there: set[str], chosen: str | None
) -> None:
    assert library_for({}, ["/nowhere"], there.__contains__) == chosen


def test_one_process_loads_a_wheels_library_first(tmp_path: Path) -> None:
    own = tmp_path / "base" / "lib" / MPICH
    own.parent.mkdir(parents=True)
    own.touch()
    prefixes = [str(tmp_path / "venv"), str(tmp_path / "base")]
    assert library_for({}, prefixes, {OPEN_MPI}.__contains__) is None


def test_a_library_that_is_not_there_cannot_be_loaded() -> None:
    assert not is_loadable("libnothing-of-this-name.so.7")
    assert is_loadable("libc.so.6")


def test_the_choice_is_told_to_mpi4py(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MPI4PY_MPIABI", raising=False)
    monkeypatch.setenv(VARIABLE, "mine")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    choose_library()
    assert os.environ[VARIABLE] == "mine"
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("sys.exec_prefix", "/nowhere")
    choose_library()
    assert os.environ[VARIABLE] == OPEN_MPI
    monkeypatch.delenv(VARIABLE)
