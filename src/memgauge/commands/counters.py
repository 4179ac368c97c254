"""`memgauge counters`: what can be counted here; its subcommands are files of their own."""

from __future__ import annotations

from importlib import import_module
from typing import get_args

import click
import msgspec

from memgauge.commands.shared.options import json_option
from memgauge.commands.shared.output import print_json
from memgauge.model.counting.events import BackEndState, Quantity
from memgauge.model.errors import RequestError
from memgauge.model.experiments import DESCRIPTORS
from memgauge.model.text import quoted

SUBCOMMANDS: dict[str, str] = {
    "explain": "Say what an event means, how it is encoded and what a count is worth.",
    "verify": DESCRIPTORS["counters_verify"].summary,
    "compare": DESCRIPTORS["counters_compare"].summary,
}


class Subcommands(click.Group):
    """Subcommand NAME is `command` of `memgauge.commands.counters_NAME`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        del ctx
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name; None when there is none."""
        del ctx
        if cmd_name not in SUBCOMMANDS:
            return None
        found: click.Command = import_module(f"memgauge.commands.counters_{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List names and summaries without loading them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(SUBCOMMANDS.items()))


@click.group("counters", cls=Subcommands, invoke_without_command=True)
@click.option(
    "--back-end",
    "names",
    metavar="NAME",
    multiple=True,
    help="list only this back end, such as perf; can be repeated",
)
@click.option(
    "--quantity",
    type=click.Choice(get_args(Quantity)),
    metavar="QUANTITY",
    help="list only events that count this, such as read_bytes",
)
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="list each event of cores, software and sensors on a line of its own",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    names: tuple[str, ...],
    quantity: str | None,
    whole: bool,
    as_json: bool,
) -> None:
    """List what can be counted here, from where, and what would be needed for the rest.

    \N{FORM FEED}

    Args:
        context: click's context, which tells whether a subcommand was given.
        names: Back ends to list, such as `perf`; empty lists all.
        quantity: A `Quantity`, such as `read_bytes`, that listed events must count; None lists all.
        whole: Whether events that are normally grouped on one line get a line each.
        as_json: Whether to print the JSON document instead of text.
    """
    if context.invoked_subcommand is not None:
        return
    from memgauge import api
    from memgauge.analysis.counters.events_document import counters_document
    from memgauge.counters.host import this_host
    from memgauge.counters.verdicts import kept_here

    chosen = [_only(one, quantity) for one in _named(api.events(), names)]
    host = this_host()
    known = kept_here(host)
    document = counters_document(
        chosen,
        known.of,
        tree=str(host.sysfs) if host.is_substituted else None,
        calibration=host.calibration,
        notes=[
            *([known.note] if known.note else []),
            *(f"{one.name}: {note}" for one in chosen for note in one.notes),
        ],
    )
    if as_json:
        print_json(document)
        return
    from memgauge.commands.shared.output import print_text
    from memgauge.reports.counters import render_list

    print_text(lambda look: render_list(document, look, whole=whole))


def _named(states: list[BackEndState], names: tuple[str, ...]) -> list[BackEndState]:
    known = [one.name for one in states]
    for name in names:
        if name not in known:
            raise RequestError(
                f"--back-end {quoted(name)}: no back end has this name; choose from "
                f"{', '.join(known)}"
            )
    return [one for one in states if not names or one.name in names]


def _only(one: BackEndState, quantity: str | None) -> BackEndState:
    if quantity is None:
        return one
    events = [event for event in one.events if event.quantity == quantity]
    return msgspec.structs.replace(one, events=events)
