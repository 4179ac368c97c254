"""Commands of experiments, by their descriptors and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from memgauge.commands.shared.help import GroupedCommand
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import options_of, requested
from memgauge.commands.shared.repeat import refuse_with_repeat, repeat, repeat_option
from memgauge.experiments.registry import load
from memgauge.model.experiments import DESCRIPTORS
from memgauge.model.parameters import Parameters, RunOptions, words_for


def command_for(name: str) -> click.Command:
    """The command of an experiment that a survey runs too."""
    experiment = load(name)

    @experiment_command(name, experiment.parameters, help_=DESCRIPTORS[name].summary)
    @repeat_option
    def command(times: int | None, **values: Any) -> int:
        parameters = requested(experiment.parameters, values)
        options = requested(RunOptions, values)
        if times is None:
            return measure([(experiment, parameters)], options)
        refuse_with_repeat({"--json": options.json})
        structs = (experiment.parameters, RunOptions)
        words = [*DESCRIPTORS[name].words, *words_for(structs, values, leave_out={"output"})]
        return repeat(times, words, options.output, name)

    return command


def experiment_command(
    name: str,
    struct: type[Parameters],
    *,
    help_: str | None = None,
    run: type[RunOptions] = RunOptions,
    several: Sequence[str] = (),
) -> Callable[[Callable[..., int]], click.Command]:
    """Make a function the command of an experiment.

    Args:
        name: of the experiment.
        struct: declares the parameters that are options.
        help_: what --help prints; the docstring of the function if it is None.
        run: declares what applies to the whole run.
        several: names of parameters that are given any number of times, as a tuple of texts.
    """
    described = DESCRIPTORS[name]

    def decorate(function: Callable[..., int]) -> click.Command:
        made = click.command(
            described.words[-1],
            cls=GroupedCommand,
            context_settings={"allow_interspersed_args": not described.has_program},
            help=help_,
            epilog=f"See {described.page}.",
        )
        options = options_of(struct, run, several=several, measures_gpus=described.gpu is not None)
        return made(options(function))

    return decorate
