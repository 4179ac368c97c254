"""`memgauge system`: what was found about this machine."""

from __future__ import annotations

from collections.abc import Callable

import click

from memgauge import api
from memgauge.commands.shared.options import json_option
from memgauge.commands.shared.output import print_json, print_system
from memgauge.model.text import plain


@click.command("system")
@json_option
@click.option("--clean", is_flag=True, help="remove what killed runs left behind, and exit")
@click.option(
    "--remembered", is_flag=True, help="list of which machines --remember keeps runs, and exit"
)
@click.option("--forget", is_flag=True, help="remove all runs that --remember keeps, and exit")
def command(*, as_json: bool, clean: bool, remembered: bool, forget: bool) -> None:
    """Show what was found about this machine and what is possible on it.

    \N{FORM FEED}

    Args:
        as_json: Whether to print the JSON document instead of text.
        clean: Whether to remove what killed runs left behind instead.
        remembered: Whether to list what is kept of earlier runs instead.
        forget: Whether to remove what is kept of earlier runs instead.

    Raises:
        UsageError: several of these were given, or one with --json.
    """
    from memgauge.system import earlier_runs, leftovers

    lines = {
        "--clean": leftovers.clean if clean else None,
        "--remembered": earlier_runs.remembered if remembered else None,
        "--forget": earlier_runs.forget if forget else None,
    }
    chosen = {flag: make for flag, make in lines.items() if make is not None}
    if chosen:
        _print_lines(chosen, as_json=as_json)
        return
    found = api.system()
    if as_json:
        print_json(found)
    else:
        print_system(found)


def _print_lines(chosen: dict[str, Callable[[], list[str]]], *, as_json: bool) -> None:
    (flag, make), *others = chosen.items()
    if others:
        raise click.UsageError(f"{flag} and {others[0][0]} are mutually exclusive")
    if as_json:
        raise click.UsageError(f"{flag} prints lines of text: leave --json out")
    for line in make():
        click.echo(plain(line))
