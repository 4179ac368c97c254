import signal
import time

import click
import pytest

from memgauge.__main__ import main
from memgauge.commands.cluster_ranks import is_one_of_several, node_arguments
from memgauge.commands.root import root
from memgauge.commands.shared import rank_errors as speaking
from memgauge.commands.shared.options import given
from memgauge.commands.survey import one_memory
from memgauge.model.parameters import CommonParameters, RunOptions, build

LAUNCH = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK", "SLURM_STEP_NUM_TASKS")


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LAUNCH:
        monkeypatch.delenv(name, raising=False)


def values_of(words: list[str]) -> dict[str, object]:
    """What click makes of a command line of `memgauge cluster`."""
    command = root.get_command(click.Context(root), "cluster")
    assert command is not None
    return dict(command.make_context("cluster", words).params)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--budget", "5m", "--precision", "2%"],
        ["--threads", "1,2-4", "--cpus", "compact", "--keep", "--memory", "node:1"],
        ["--only", "stream,latency", "--sweep", "fine"],
    ],
)
def test_a_nodes_survey_is_asked_for_what_all_were(words: list[str]) -> None:
    requested = values_of(
        [*words, "--output", "x", "--json", "--nodes-at-once", "1", "--grace", "5s"]
    )
    name, *passed = node_arguments(requested)
    assert name == "survey"
    command = root.get_command(click.Context(root), "survey")
    assert command is not None
    again = dict(command.make_context("survey", passed).params)
    again["memory"] = one_memory(again["memory"])
    for struct in (CommonParameters, RunOptions):
        mine, theirs = (build(struct, **given(struct, one)) for one in (requested, again))
        if isinstance(mine, RunOptions):
            mine = mine.replace(output=None, json=False)
        assert mine == theirs
    assert again["only"] == requested["only"]
    assert again["output"] is None
    assert again["json"] is None


@pytest.mark.parametrize(
    ("variable", "value", "several"),
    [
        ("OMPI_COMM_WORLD_SIZE", "1", False),
        ("OMPI_COMM_WORLD_SIZE", "2", True),
        ("SLURM_STEP_NUM_TASKS", "1", False),
        ("SLURM_STEP_NUM_TASKS", "64", True),
        ("SLURM_NTASKS", "64", False),
    ],
)
def test_a_survey_is_one_of_several_where_a_launcher_says_so(
    variable: str, value: str, several: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert is_one_of_several() is several


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["cluster"], "no launcher started it"),
        (["cluster", "--nodes-at-once", "0"], "--nodes-at-once"),
        (
            ["cluster", "--nodes-at-once", "1,2"],
            "--nodes-at-once '1,2' is not a whole number from 1 to 1000000",
        ),
        (["cluster", "--grace", "-1s"], "--grace '-1s' is negative"),
        (["cluster", "--only", "strem"], "--only 'strem' is not known; did you mean stream?"),
        (["survey", "--only", "cluster"], "--only 'cluster' is not known"),
        (["cluster", "--budget", "soon"], "--budget 'soon' is not"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert said in error


def test_a_survey_is_resumed_without_a_launcher(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    assert main(["survey", "--resume", "run"]) == 2
    assert "memgauge survey --resume DIR/nodes/NAME" in capsys.readouterr().err


def test_what_the_first_rank_refuses_the_others_leave_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    for rank, waits in (("0", 0), ("1", 1)):
        slept.clear()
        monkeypatch.setenv("OMPI_COMM_WORLD_RANK", rank)
        assert main(["survey", "--only", "nothing"]) == 2
        assert len(slept) == waits


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", "--nothing"],
        ["survey", "--nothing"],
        ["cluster", "--budget", "1x"],
        ["cluster", "--nodes-at-once", "0"],
        ["survey", "--only", "nothing"],
        ["survey", "--resume", "run"],
    ],
)
def test_other_ranks_than_the_first_leave_what_all_refuse_to_it(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(speaking, "GRACE_S", 0.0)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("PMI_RANK", "1")
    assert main(words) == 2
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("PMI_RANK", "0")
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
