"""Flags made from parameter structs: each parameter has one, with its help and default."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from memgauge.commands.root import COMMANDS, root
from memgauge.commands.shared.options import given, options_of
from memgauge.experiments.registry import EXPERIMENTS, MEASURED, load
from memgauge.model.errors import RequestError
from memgauge.model.experiments import DESCRIPTORS, SURVEYED_COMMANDS
from memgauge.model.memory import memory_option
from memgauge.model.parameters import CommonParameters, RunOptions, build, fields_of


def parsed(*arguments: str) -> dict[str, object]:
    got: dict[str, object] = {}

    @click.command()
    @options_of(CommonParameters, RunOptions)
    def command(**values: object) -> None:
        got.update(values)

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return got


def test_nothing_given_is_nothing_passed_on() -> None:
    values = parsed()
    assert given(CommonParameters, values) == {}
    assert given(RunOptions, values) == {}


def test_a_flag_given_twice_is_one_list() -> None:
    requested = given(CommonParameters, parsed("--threads", "1,2", "--threads", "4-5"))
    assert build(CommonParameters, **requested).threads == (1, 2, 4, 5)


def test_an_empty_list_is_passed_on_to_be_refused() -> None:
    with pytest.raises(RequestError, match="--threads ''"):
        build(CommonParameters, **given(CommonParameters, parsed("--threads", "")))


@pytest.mark.native
@pytest.mark.parametrize("name", ["latency", "workingset", "stride", "pages", "misses"])
def test_help_offers_one_thread_only_where_one_measures(name: str) -> None:
    parameters: type[CommonParameters] = load(name).parameters
    (threads,) = (field for field in fields_of(parameters) if field.name == "threads")
    assert threads.default_text == "1"


def test_each_struct_gets_its_own_values() -> None:
    values = parsed("--pages", "4k", "--budget", "2m", "--json")
    assert given(CommonParameters, values) == {"pages": "4k"}
    assert build(RunOptions, **given(RunOptions, values)).budget_s == 120.0
    assert build(RunOptions, **given(RunOptions, values)).json


@pytest.mark.native
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_help_of_an_experiment_names_every_parameter_that_it_accepts(name: str) -> None:
    words = [*DESCRIPTORS[name].words, "--help"]
    text = CliRunner().invoke(root, words, terminal_width=200).output
    parameters: type[CommonParameters] = load(name).parameters
    accepted = [one for one in fields_of(parameters) if one.name not in parameters.unlisted]
    for field in (*accepted, *fields_of(RunOptions)):
        assert f"{field.flag} " in text
        if field.option.help != memory_option.help or DESCRIPTORS[name].gpu:
            assert field.option.help in " ".join(text.split())


@pytest.mark.native
@pytest.mark.parametrize("name", MEASURED)
def test_help_of_an_experiment_names_nothing_that_it_refuses_or_ignores(name: str) -> None:
    words = [*DESCRIPTORS[name].words, "--help"]
    text = CliRunner().invoke(root, words, terminal_width=200).output
    for unlisted in load(name).parameters.unlisted:
        assert f"--{unlisted} " not in text
    assert ("cuda:" in text) == bool(DESCRIPTORS[name].gpu)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_listed_command_exists(name: str) -> None:
    if name in SURVEYED_COMMANDS:
        pytest.importorskip("memgauge._core")
    command = root.get_command(click.Context(root), name)
    assert command is not None
    assert command.help


def test_an_unknown_experiment_names_those_there_are() -> None:
    with pytest.raises(RequestError, match="choose from stream, latency, workingset"):
        load("straem")
