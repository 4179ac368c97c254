"""`memgauge system`: what was found about this machine."""

from __future__ import annotations

import click

from memgauge import api
from memgauge.commands.output import print_json, print_system


@click.command("system")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document and nothing else")
def command(*, as_json: bool) -> None:
    """Show what was found about this machine and what is possible on it."""
    found = api.system()
    if as_json:
        print_json(found)
    else:
        print_system(found)
