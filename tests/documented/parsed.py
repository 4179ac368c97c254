"""Command lines that are read, but not run: names, options and values must exist."""

from __future__ import annotations

import shlex
from contextlib import suppress

import click

from memgauge.commands.root import root
from memgauge.commands.shared.options import given
from memgauge.experiments.registry import load
from memgauge.model.experiments import SURVEYED_COMMANDS
from memgauge.model.parameters import RunOptions, build

OPERATORS = ("|", ">", ">>", "<", "&&", ";")


def own_words(text: str) -> list[str]:
    """The words for memgauge of a line of a shell, one of the values where a page has `a|b`."""
    before, found, words = text.partition("memgauge ")
    assert found, f"no command of memgauge: {before}"
    kept: list[str] = []
    for word in shlex.split(words.replace(")", "")):
        if word in OPERATORS:
            break
        kept.append(word.split("|")[0])
    return kept


def require_understood(text: str) -> None:
    """Read a command line as the command would.

    Raises:
        click.ClickException: a command or an option that there is not.
        RequestError: a value that an experiment does not take.
    """
    words = own_words(text)
    context = click.Context(root)
    command: click.Command = root
    name = "memgauge"
    while words and isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        if found is None:
            assert command is not root, f"no command {words[0]!r}"
            break
        command, name, words = found, words[0], words[1:]
    with suppress(click.exceptions.Exit):  # of an option that prints and ends
        values = command.make_context(name, words).params
        if name in SURVEYED_COMMANDS:
            experiment = load(SURVEYED_COMMANDS[name].name).parameters
            build(experiment, **given(experiment, values))
            build(RunOptions, **given(RunOptions, values))
