"""`memgauge system`: what was found about this machine."""

from __future__ import annotations

import sys

import click
import msgspec

from memgauge import api


@click.command("system")
@click.option("--json", "as_json", is_flag=True, help="print one JSON document and nothing else")
def command(*, as_json: bool) -> None:
    """Show what was found about this machine and what is possible on it."""
    found = api.system()
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    from memgauge.reports.terminal import print_system

    print_system(found, sys.stdout)
