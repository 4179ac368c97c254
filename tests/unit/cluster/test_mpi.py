import sys
import warnings
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from memgauge.cluster import mpi
from memgauge.cluster.mpi import start_mpi
from memgauge.model.errors import RequestError


def communicator(size: int) -> SimpleNamespace:
    made = SimpleNamespace(Get_size=lambda: size, Get_rank=lambda: size - 1, handlers=[])
    made.Set_errhandler = made.handlers.append
    return made


def install(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    fake: Any = ModuleType("mpi4py.MPI")
    fake.COMM_WORLD = communicator(size)
    fake.ERRORS_RETURN = "return"
    fake.Get_library_version = lambda: "Open MPI v9.8.7, package: made up\0"
    package: Any = ModuleType("mpi4py")
    package.rc = lambda **options: None
    package.MPI = fake
    monkeypatch.setitem(sys.modules, "mpi4py", package)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", fake)


def test_the_world_is_what_mpi_says(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, 4)
    found = start_mpi("survey", {"OMPI_COMM_WORLD_SIZE": "4"})
    assert (found.rank, found.size, found.library) == (3, 4, "Open MPI v9.8.7")
    assert found.communicator.handlers == ["return"]


def test_mpi4pys_warning_of_a_wrong_launcher_is_left_to_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, 1)
    found = import_module

    def warning(name: str) -> object:
        if name == "mpi4py.MPI":
            warnings.warn("suspicious MPI execution environment", RuntimeWarning, stacklevel=1)
        return found(name)

    monkeypatch.setattr(mpi, "import_module", warning)
    with pytest.raises(RequestError, match="the library does not belong to the launcher"):
        start_mpi("fft3d", {"PMI_SIZE": "8"})


def test_ranks_that_do_not_see_each_other_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, 1)
    with pytest.raises(RequestError, match=r"^survey: srun started 4 ranks, but Open MPI v9"):
        start_mpi("survey", {"SLURM_STEP_NUM_TASKS": "4"})


def test_without_mpi4py_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(RequestError) as refused:
        start_mpi("survey", {"OMPI_COMM_WORLD_SIZE": "2"})
    assert str(refused.value) == (
        "survey: started by mpirun of Open MPI: mpi4py is not installed; "
        "pip install 'memgauge[mpi]' for this Python, on every node"
    )


def test_without_a_library_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    package = SimpleNamespace(rc=lambda **options: None)

    def missing(name: str) -> object:
        if name == "mpi4py":
            return package
        raise RuntimeError("cannot load MPI library\nlibmpi.so.40: cannot open\nlibmpi.so.12")

    monkeypatch.setattr(mpi, "import_module", missing)
    with pytest.raises(RequestError) as refused:
        start_mpi("fft3d", {})
    assert "\n" not in str(refused.value)
    assert "finds no MPI library (cannot load MPI library); install one" in str(refused.value)
