"""`memgauge traffic KERNEL`: expected, simulated and measured memory traffic of known kernels."""

from __future__ import annotations

from typing import Any

import click

from memgauge import api
from memgauge.commands.shared.completing import listed_values
from memgauge.commands.shared.experiment import experiment_command
from memgauge.commands.shared.measure import measure
from memgauge.commands.shared.options import given, requested
from memgauge.experiments.registry import for_memory, load
from memgauge.experiments.traffic.parameters import TrafficOptions, TrafficParameters
from memgauge.model.cache_machine import machine_name
from memgauge.model.nests import KINDS
from memgauge.model.parameters import RunOptions, build
from memgauge.model.storage.run_file import RunWriter, run_directory
from memgauge.model.units import format_duration, format_long
from memgauge.runner.fitting import planned_groups


def _kernels() -> str:
    """Names, by what a size is of them."""
    by_size: dict[str, list[str]] = {}
    for name, kind in KINDS.items():
        by_size.setdefault(kind.size, []).append(name)
    return "\n".join(f"{', '.join(names)}:\n  {size}" for size, names in by_size.items())


_HELP = f"""Compare what a kernel should read and write with what caches and counters make of it.

By size N: expected in closed form; simulated with the caches of this and other machines; measured
by counters of memory traffic, where there are some. Each execution finds nothing of the one before
in the caches, and so often as makes counters reliable it is repeated.

\b
KERNEL and what N is of it:
{_kernels()}
"""


@experiment_command("traffic", TrafficOptions, help_=_HELP)
@click.argument("kernel", metavar="KERNEL", shell_complete=listed_values(tuple(KINDS)))
def command(kernel: str, **values: Any) -> int:
    """Measure and simulate; what can be done is printed beforehand, with how long it may take."""
    parameters = build(TrafficParameters, kernel=kernel, **given(TrafficOptions, values))
    parameters.check()
    options = _options(parameters, requested(RunOptions, values))
    _check(parameters, options)
    click.echo(f"memgauge: {_announcement(parameters, options)}", err=True)
    return measure([(load("traffic"), parameters)], options)


def _options(parameters: TrafficParameters, options: RunOptions) -> RunOptions:
    """Where nothing is run, simulating has all the time there is."""
    if not parameters.simulate_only:
        return options
    return options.replace(budget_s=parameters.simulate_s)


def _check(parameters: TrafficParameters, options: RunOptions) -> None:
    """Refuse what cannot be done, before anything is said: the work, and where it is recorded."""
    affordable = parameters.for_budget(options.budget_s)
    planned_groups(for_memory(load("traffic"), affordable), affordable, api.system())
    with run_directory(options.output, "traffic") as directory, RunWriter(directory):
        pass  # one that nothing was written to leaves nothing


def _announcement(parameters: TrafficParameters, options: RunOptions) -> str:
    """How long it takes at most."""
    parts = []
    if not parameters.simulate_only:
        parts.append(f"measuring takes at most {format_duration(options.budget_s)} (--budget)")
    if parameters.machines and not parameters.memory.is_gpu:
        names = ", ".join(map(machine_name, parameters.machines))
        parts.append(
            f"simulating {names} about {format_duration(parameters.simulate_s)} at most "
            f"(--simulate-up-to)"
        )
        if parameters.simulate_only:
            parts.append(f"all sizes would take about {format_long(_simulation_s(parameters))}")
    return "; ".join(parts)


def _simulation_s(parameters: TrafficParameters) -> float:
    """By the speed of a small nest on each machine; nothing else runs meanwhile."""
    from memgauge.experiments.traffic.host import Traffic

    experiment, system = Traffic(), api.system()
    points = [point for group in experiment.plan(parameters, system) for point in group.points]
    return experiment.simulation_s(points, parameters, system)
