"""`memgauge machines`: whose caches can be simulated."""

from __future__ import annotations

import click

from memgauge import api
from memgauge.commands.output import print_json
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.text import plain


@click.command("machines")
@click.argument("names", nargs=-1, metavar="[NAME|FILE ...]")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document and nothing else")
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """List the machines whose caches can be simulated; of those named, sources and assumptions.

    A TOML file of one's own is taken wherever a name is; docs/machines.md says what is in it.
    """
    machines = [api.machine(name) for name in names] if names else _all()
    if as_json:
        print_json(machines)
    elif names:
        for machine in machines:
            _tell(machine)
    else:
        _list(machines)


def _all() -> list[CacheMachine]:
    """This one is left out where the system does not show its caches."""
    from memgauge.machines.library import NAMES

    machines = []
    for name in NAMES:
        try:
            machines.append(api.machine(name))
        except RequestError as error:
            click.echo(f"memgauge: {plain(str(error))}", err=True)
    return machines


def _list(machines: list[CacheMachine]) -> None:
    from memgauge.analysis.simulated_program import level_words

    for machine in machines:
        click.echo(f"{machine.name}: {plain(machine.title)}")
        for level in machine.levels:
            click.echo(f"    {plain(level.name):4} {level_words(level)}")


def _tell(machine: CacheMachine) -> None:
    from memgauge.analysis.simulated_program import level_words

    _list([machine])
    lines = f"lines of {machine.line_bytes} bytes"
    if machine.sector_bytes != machine.line_bytes:
        lines += f" in sectors of {machine.sector_bytes}"
    click.echo(f"    {lines}; one core may hold {machine.cached_bytes:,} bytes")
    click.echo(f"    cores: {machine.cores} at work of {machine.machine_cores}")
    click.echo(f"source: {plain(machine.source)}")
    for level in machine.levels:
        if level.source:
            click.echo(f"  {plain(level.name)} {level_words(level)}: {plain(level.source)}")
    if machine.store_streams.lines:
        click.echo(
            f"  stores bypass the caches after {machine.store_streams.lines} whole lines: "
            f"{plain(machine.store_streams.source)}"
        )
    for assumption in machine.assumptions:
        click.echo(f"assumed: {plain(assumption)}")
