"""`memgauge machines`: whose caches can be simulated."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click

from memgauge import api
from memgauge.commands.shared.completing import machine_or_file
from memgauge.commands.shared.options import json_option
from memgauge.commands.shared.output import print_json, print_text
from memgauge.model.cache_machine import CacheMachine
from memgauge.model.errors import RequestError
from memgauge.model.text import plain

if TYPE_CHECKING:
    from memgauge.reports.terminal.report import Look

_HANGING = "    "


@click.command("machines")
@click.argument("names", nargs=-1, metavar="[NAME|FILE ...]", shell_complete=machine_or_file)
@json_option
def command(names: tuple[str, ...], *, as_json: bool) -> None:
    """List the machines whose caches can be simulated; of those named, sources and assumptions.

    A TOML file of one's own is taken wherever a name is; docs/machines.md says what is in it.
    """
    machines = [api.machine(name) for name in names] if names else _all()
    if as_json:
        print_json(machines)
        return
    known = chain.from_iterable(map(_tell, machines)) if names else _list(machines)
    print_text(lambda look: _fitted(known, look))


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


def _list(machines: Iterable[CacheMachine]) -> Iterator[str]:
    """Names, titles and levels."""
    from memgauge.analysis.simulated_program import level_text

    for machine in machines:
        yield f"{machine.name}: {machine.title}"
        for level in machine.levels:
            yield f"    {level.name:4} {level_text(level)}"


def _tell(machine: CacheMachine) -> Iterator[str]:
    """All of one: its sources, and what is assumed."""
    yield from _list([machine])
    lines = f"lines of {machine.line_bytes} bytes"
    if machine.sector_bytes != machine.line_bytes:
        lines += f" in sectors of {machine.sector_bytes}"
    yield f"    {lines}; one core may hold {machine.cached_bytes:,} bytes"
    yield f"    cores: {machine.cores} at work of {machine.machine_cores}"
    yield f"source: {machine.source}"
    yield from _sources(machine)
    yield from (f"assumed: {assumption}" for assumption in machine.assumptions)


def _sources(machine: CacheMachine) -> Iterator[str]:
    """Of levels and of stores past the caches, where they have their own."""
    from memgauge.analysis.simulated_program import level_text

    for level in machine.levels:
        if level.source:
            yield f"    {level.name} {level_text(level)}: {level.source}"
    stores = machine.store_streams
    if stores.lines:
        yield f"    stores bypass the caches after {stores.lines} whole lines: {stores.source}"


def _fitted(lines: Iterable[str], look: Look) -> str:
    """Lines no wider than the output, what is wrapped indented below its beginning."""
    text = "".join(f"{part}\n" for line in lines for part in _wrapped(line, look.columns))
    return text.encode(look.encoding, "replace").decode(look.encoding)


def _wrapped(line: str, columns: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    return textwrap.wrap(
        plain(line).strip(),
        columns,
        initial_indent=indent,
        subsequent_indent=indent + _HANGING,
        break_on_hyphens=False,
    )
