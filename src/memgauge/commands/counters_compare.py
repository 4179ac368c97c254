"""`memgauge counters compare`: two routes to the same counters."""

from __future__ import annotations

from typing import Any

import click

from memgauge.commands.measure import measure
from memgauge.commands.options import given, options_of
from memgauge.experiments.registry import load
from memgauge.experiments.routes import RoutesParameters
from memgauge.experiments.verify import LoadParameters
from memgauge.model.parameters import RunOptions, build


@click.command("compare", epilog="See docs/counters_verify.md.")
@click.argument("one", metavar="BACKEND")
@click.argument("other", metavar="BACKEND")
@options_of(LoadParameters, RunOptions)
def command(one: str, other: str, **values: Any) -> int:
    """Read the same regions by two back ends, and tell how far they differ.

    Such as 'memgauge counters compare perf pcp': is the route without privilege as accurate as the
    direct one?
    """
    asked = given(LoadParameters, values)
    parameters = build(RoutesParameters, routes=f"{one},{other}", **asked)
    options = build(RunOptions, **given(RunOptions, values))
    return measure([(load("routes"), parameters)], options)
