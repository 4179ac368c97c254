"""What the command says when nothing can be done, and who says it."""

import sys

import pytest

from memgauge.__main__ import main
from memgauge.commands.shared import rank_errors as speaking
from memgauge.fft3d.world import open_world
from memgauge.model.errors import RequestError


@pytest.fixture
def rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """One rank of two that is not the first."""
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setattr(speaking, "GRACE_S", 0.0)
    monkeypatch.setattr("signal.signal", lambda *_: None)


def test_without_the_extra_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(["fft3d"]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("memgauge: fft3d: NumPy is not installed; pip install 'memgauge[mpi]'")
    assert err.count("\n") == 1


def test_a_missing_mpi4py_is_told_with_its_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy", reason="NumPy is not installed (pip install 'memgauge[mpi]')")
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setenv("PMI_SIZE", "2")
    with pytest.raises(RequestError, match="fft3d: started by mpiexec: mpi4py is not installed"):
        open_world()


@pytest.mark.usefixtures("rank")
@pytest.mark.parametrize(
    "arguments", [["--nothing"], ["--grid", "x"], ["--size", "-1"], ["--scaling", "odd"]]
)
def test_other_ranks_than_the_first_end_in_silence(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fft3d", *arguments]) == 2
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--nothing"], "no such option '--nothing'"),
        (["--grid", "x"], "--grid 'x' is not a grid of ranks; write rows and columns, such as 2x4"),
        (["--repetitions", "0"], "--repetitions '0' is not a whole number from 1 to 10000"),
    ],
)
def test_the_first_says_it(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fft3d", *arguments]) == 2
    _, err = capfd.readouterr()
    assert said in err
    assert err.count("\n") == 1


def test_help_needs_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fft3d", "--help"]) == 0
    out, _ = capfd.readouterr()
    for option in ("--grid RxC", "--size LIST", "--device", "--scaling", "--check", "--rate HZ"):
        assert option in out
