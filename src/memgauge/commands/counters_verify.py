"""`memgauge counters verify`: whether counters count what memory really moves."""

from __future__ import annotations

from typing import Any

import click

from memgauge import api
from memgauge.analysis.counters_verify.section import event_verdicts
from memgauge.commands.shared.experiment import experiment_command
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import requested
from memgauge.experiments.counters_verify.host import CountersVerifyParameters
from memgauge.experiments.registry import load
from memgauge.model.errors import ExitCode
from memgauge.model.parameters import RunOptions
from memgauge.model.text import plain
from memgauge.results import Result


@experiment_command("counters_verify", CountersVerifyParameters)
def command(**values: Any) -> int:
    """Give each counter of memory traffic a verdict: does it count what is known to be moved?

    Each node's CPUs read and write known amounts while the counters are read, and rest in between.
    The verdicts are kept for this machine and kernel, and stand beside later figures. A factor that
    agrees with a known cause corrects later figures, which are then marked as calibrated. The exit
    code is 5 unless every event was verified.
    """
    parameters = requested(CountersVerifyParameters, values)
    options = requested(RunOptions, values)
    verdicts: list[str] = []

    def keep(result: Result) -> None:
        verdicts.extend(_keep(result))

    code = measure([(load("counters_verify"), parameters)], options, then=keep)
    all_verified = bool(verdicts) and set(verdicts) == {"verified"}
    return code if code or all_verified else ExitCode.NOT_VERIFIED


def _keep(result: Result) -> list[str]:
    """Keep the verdicts, state where, and return their words."""
    path = api.keep_verdicts(result)
    if path is not None:
        click.echo(f"verdicts: {plain(str(path))}", err=True)
    return [one.verdict for one in event_verdicts(result.run)]
