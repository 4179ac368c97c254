"""`memgauge diagnose`: what limits a program or a running process, and what would help."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from memgauge.commands.shared.completing import files
from memgauge.commands.shared.experiment import experiment_command
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import given, requested
from memgauge.experiments.diagnose.parameters import (
    SEPARATOR,
    DiagnoseOptions,
    DiagnoseParameters,
    DiagnoseRunOptions,
)
from memgauge.experiments.registry import load
from memgauge.model.parameters import build
from memgauge.system.programs.program import candidates, check_startable

_HELP = """Find out whether memory limits a program, what of it, and what would help.

The program runs many times, in rounds: beside generators of a known pressure on CPUs that it does
not use, and started in other ways. Its slowdown over that of reference loops under the same
pressure, in the same rounds, is the share of its time for which it behaves like them. No counters
and no privilege are needed. Where pressure is too weak, or rounds are too few, it cannot be told.
With --pid a process that runs already, such as a server, is diagnosed without being started anew:
--metric-command prints what it achieves under each pressure.
"""


@experiment_command(
    "diagnose", DiagnoseOptions, help_=_HELP, run=DiagnoseRunOptions, several=["variants"]
)
@click.argument(
    "command",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[--] [COMMAND ...]",
    shell_complete=files,
)
def command(command: tuple[str, ...], **values: Any) -> int:
    """Run the program under each treatment, in rounds, and judge."""
    tried = values.pop("try", ())
    values["try"] = SEPARATOR.join(tried) or None
    parameters = build(
        DiagnoseParameters, command=shlex.join(command), **given(DiagnoseOptions, values)
    )
    parameters.check()
    if command:
        check_startable(command[0], candidates(command[0], os.environ.get("PATH", os.defpath)))
    return measure([(load("diagnose"), parameters)], requested(DiagnoseRunOptions, values))
