"""Each experiment is described once; all that a user sees of it follows from that."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest
from tests.documented.tables import ROOT, ROWS, expected

import memgauge
from memgauge.commands.root import COMMANDS, root
from memgauge.experiments.registry import BEHIND_COMMANDS, EXPERIMENTS, MEASURED, load
from memgauge.model.experiments import DESCRIPTORS, SURVEYED, title_of

OWN_API = {"fft3d"}
"""Without a function of the API: MPI starts its processes."""


def command_of(name: str) -> click.Command:
    context = click.Context(root)
    found: click.Command = root
    for word in DESCRIPTORS[name].words:
        assert isinstance(found, click.Group)
        command = found.get_command(context, word)
        assert command is not None, f"no command {word}"
        found = command
    return found


@pytest.mark.native
@pytest.mark.parametrize("name", DESCRIPTORS)
def test_it_has_a_command(name: str) -> None:
    described = DESCRIPTORS[name]
    command = command_of(name)
    assert command.name == described.words[-1]
    assert command.help
    if name in SURVEYED:
        assert command.help == described.summary
    if len(described.words) == 1:
        assert COMMANDS[described.words[0]] == described.summary


@pytest.mark.native
@pytest.mark.parametrize("name", MEASURED)
def test_its_command_has_the_options_of_its_parameters_and_names_its_page(name: str) -> None:
    command = command_of(name)
    assert command.epilog == f"See {DESCRIPTORS[name].page}."
    assert {"--budget", "--precision", "--output", "--json"} <= {
        flag for parameter in command.params for flag in parameter.opts
    }


@pytest.mark.native
@pytest.mark.parametrize("name", sorted(DESCRIPTORS.keys() - OWN_API))
def test_it_has_a_function_of_the_api(name: str) -> None:
    assert name in memgauge.__all__
    function = getattr(memgauge, name)
    assert getattr(memgauge, name) is function
    assert function.__name__ == name
    assert f"memgauge {' '.join(DESCRIPTORS[name].words)}" in function.__doc__


@pytest.mark.native
@pytest.mark.parametrize("name", MEASURED)
def test_its_class_has_its_name(name: str) -> None:
    assert load(name).name == name


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_it_has_an_analysis(name: str) -> None:
    assert callable(import_module(f"memgauge.analysis.{name}.section").analyse)


@pytest.mark.parametrize("name", DESCRIPTORS)
def test_it_has_a_page_that_shows_its_command_and_is_linked(name: str) -> None:
    described = DESCRIPTORS[name]
    page = ROOT / described.page
    assert f"memgauge {' '.join(described.words)}" in page.read_text(encoding="utf-8")
    for table in ROWS:
        assert f"({page.name})" in table.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ROWS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_the_pages_follow(page: Path) -> None:
    assert expected(page) in page.read_text(encoding="utf-8"), (
        "'python -m tests.documented.tables' writes these rows"
    )


def test_a_survey_makes_those_that_are_described_so_in_their_order() -> None:
    assert [*EXPERIMENTS] == [name for name, one in DESCRIPTORS.items() if one.in_survey]
    assert all(one.host for one in EXPERIMENTS.values())
    assert not any(one.in_survey for one in BEHIND_COMMANDS.values())


def test_what_one_says_of_itself_fits_a_line() -> None:
    for one in DESCRIPTORS.values():
        assert one.summary.endswith(".")
        assert one.question.endswith("?")
        assert len({one.title, one.summary, one.question}) == 3


def test_what_is_not_known_is_called_by_its_name() -> None:
    assert title_of("numa") == "NUMA matrices"
    assert title_of("of-tomorrow") == "of-tomorrow"
