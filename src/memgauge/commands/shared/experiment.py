"""One command for each experiment, made from its parameters."""

from __future__ import annotations

from typing import Any

import click

from memgauge.commands.shared.help import GroupedCommand
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import given, options_of
from memgauge.experiments.registry import EXPERIMENTS, load
from memgauge.model.parameters import RunOptions, build


def command_for(name: str) -> click.Command:
    """The command of the experiment `name`."""
    experiment = load(name)

    @click.command(
        name,
        cls=GroupedCommand,
        help=EXPERIMENTS[name].summary,
        epilog=f"See docs/{name}.md.",
    )
    @options_of(experiment.parameters, RunOptions)
    def command(**values: Any) -> int:
        parameters = build(experiment.parameters, **given(experiment.parameters, values))
        options = build(RunOptions, **given(RunOptions, values))
        return measure([(experiment, parameters)], options)

    return command
