"""`memgauge counters compare`: two routes to the same counters."""

from __future__ import annotations

from typing import Any

import click

from memgauge.commands.shared.help import GroupedCommand
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import given, options_of
from memgauge.experiments.counters_compare.host import CountersCompareParameters
from memgauge.experiments.counters_verify.host import LoadParameters
from memgauge.experiments.registry import load
from memgauge.model.parameters import RunOptions, build


@click.command(
    "compare",
    cls=GroupedCommand,
    epilog="See docs/counters_verify.md.",
)
@click.argument("one", metavar="BACKEND")
@click.argument("other", metavar="BACKEND")
@options_of(LoadParameters, RunOptions)
def command(one: str, other: str, **values: Any) -> int:
    """Read the same regions by two back ends, and tell how far they differ.

    Such as 'memgauge counters compare perf pcp': is the route without privilege as accurate as the
    direct one?
    """
    requested = given(LoadParameters, values)
    parameters = build(CountersCompareParameters, back_ends=f"{one},{other}", **requested)
    options = build(RunOptions, **given(RunOptions, values))
    return measure([(load("counters_compare"), parameters)], options)
