"""`memgauge system`: what was found about this machine."""

from __future__ import annotations

import click

from memgauge import api
from memgauge.commands.shared.options import json_option
from memgauge.commands.shared.output import print_json, print_system
from memgauge.model.text import plain


@click.command("system")
@json_option
@click.option("--clean", is_flag=True, help="remove what killed runs left behind, and exit")
def command(*, as_json: bool, clean: bool) -> None:
    """Show what was found about this machine and what is possible on it."""
    if clean:
        _clean(as_json=as_json)
        return
    found = api.system()
    if as_json:
        print_json(found)
    else:
        print_system(found)


def _clean(*, as_json: bool) -> None:
    from memgauge.system import leftovers

    if as_json:
        raise click.UsageError("--clean prints lines of text: leave --json out")
    for line in leftovers.clean():
        click.echo(plain(line))
