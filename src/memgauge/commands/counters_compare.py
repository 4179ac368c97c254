"""`memgauge counters compare`: two routes to the same counters."""

from __future__ import annotations

from typing import Any

import click

from memgauge.commands.shared.experiment import experiment_command
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import given, requested
from memgauge.experiments.counters_compare.host import CompareLoads, CountersCompareParameters
from memgauge.experiments.registry import load
from memgauge.model.parameters import RunOptions, build


@experiment_command("counters_compare", CompareLoads)
@click.argument("one", metavar="BACKEND")
@click.argument("other", metavar="BACKEND")
def command(one: str, other: str, **values: Any) -> int:
    """Read the same regions through two back ends, and report how far they differ.

    For example, 'memgauge counters compare perf pcp' shows whether the route without
    privileges is as accurate as the direct one.
    """
    loads = given(CompareLoads, values)
    parameters = build(CountersCompareParameters, back_ends=f"{one},{other}", **loads)
    return measure([(load("counters_compare"), parameters)], requested(RunOptions, values))
