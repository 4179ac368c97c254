"""`memgauge counters verify`: whether counters count what memory really moves."""

from __future__ import annotations

from typing import Any

import click

from memgauge import api
from memgauge.commands.shared.experiment import experiment_command
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import requested
from memgauge.experiments.counters_verify.host import CountersVerifyParameters
from memgauge.experiments.registry import load
from memgauge.model.parameters import RunOptions
from memgauge.model.text import plain
from memgauge.results import Result


@experiment_command("counters_verify", CountersVerifyParameters)
def command(**values: Any) -> int:
    """Give each counter of memory traffic a verdict: does it count what is known to be moved?

    Each node's CPUs read and write known amounts while the counters are read, and rest in between.
    The verdicts are kept for this machine and kernel, and stand beside later figures.
    """
    parameters = requested(CountersVerifyParameters, values)
    options = requested(RunOptions, values)
    return measure([(load("counters_verify"), parameters)], options, then=_keep)


def _keep(result: Result) -> None:
    path = api.keep_verdicts(result)
    if path is not None:
        click.echo(f"verdicts: {plain(str(path))}", err=True)
