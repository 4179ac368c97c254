"""How --help lists options: under headings that say what they are about."""

from __future__ import annotations

from typing import Any

import click

from memgauge.model.option import Group

HEADINGS: dict[Group | None, str] = {
    "what": "What to measure",
    "where": "Where",
    "effort": "How long, and how precisely",
    "output": "Output",
    None: "Other options",
}


class GroupedOption(click.Option):
    """An option that is listed under the heading of its group."""

    def __init__(self, *args: Any, group: Group, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose options are listed under headings, in the order of `HEADINGS`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List each option under the heading of its group, those without a group last."""
        for group, heading in HEADINGS.items():
            records = [
                record
                for parameter in self.get_params(ctx)
                if getattr(parameter, "group", None) == group
                and (record := parameter.get_help_record(ctx)) is not None
            ]
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
