"""The command group. Commands are imported when they are called, so that --help is quick."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from memgauge.commands.shared.completing import register
from memgauge.commands.shared.rank_errors import report_of_this_node
from memgauge.model.errors import MemgaugeError, ProfileFailed, RequestError, SimulationFailed
from memgauge.model.experiments import DESCRIPTORS, SURVEYED_COMMANDS
from memgauge.model.termination import unwinding
from memgauge.model.text import did_you_mean, quoted
from memgauge.system.limits.processor_time import notice_before_kill
from memgauge.system.native import refusal

GROUPS: dict[str, dict[str, str]] = {
    "Measure": {
        "survey": "Measure this machine's memory and write a report.",
        **{word: described.summary for word, described in SURVEYED_COMMANDS.items()},
        "traffic": DESCRIPTORS["traffic"].summary,
        "cluster": "Survey each node of an MPI job, and make one report of all.",
        "watch": DESCRIPTORS["watch"].summary,
        "system": "Show what was found about this machine and what is possible on it.",
    },
    "Profile": {
        "diagnose": DESCRIPTORS["diagnose"].summary,
        "profile": DESCRIPTORS["profile"].summary,
        "region": "Print how to build a program that marks its regions.",
        "fft3d": DESCRIPTORS["fft3d"].summary,
    },
    "Counters": {
        "counters": "List what can be counted here and what that needs; explain an event.",
    },
    "Model": {
        "simulate": "Simulate what a program reads from and writes to memory, by valgrind.",
        "machines": "List the machines whose caches can be simulated.",
    },
    "Runs": {
        "report": "Render a run again, on any machine.",
        "compare": "Compare runs with each other or with published results.",
        "trend": "Show what changed over many runs of a machine or a fleet, and when.",
        "figures": "Write the pictures of a run as SVG or PNG.",
        "export": "Write the samples of a run as CSV, JSON or Parquet.",
        "schema": "Print the JSON Schema of records or of --json documents.",
        "completion": "Print the script that makes a shell complete these commands.",
    },
}
"""The commands as --help lists them: a summary by name, under headings."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}

_OWN_ERRORS: dict[str, type[MemgaugeError]] = {
    "profile": ProfileFailed,
    "simulate": SimulationFailed,
}
"""Of commands that fail with a code of their own."""


@contextmanager
def _core_for(ctx: click.Context, loaded: str | None = None) -> Iterator[None]:
    """Say it in a line where the native core is what a command lacks that is loaded, or that runs.

    Of many ranks, one of each node does.
    """
    try:
        yield
    except ImportError as error:
        name = loaded or ctx.invoked_subcommand or ctx.command_path
        refused = refusal(name, error)
        if refused is None:
            raise
        report_of_this_node(_OWN_ERRORS.get(name, RequestError)(str(refused)))


class LazyGroup(click.Group):
    """Names and one-line help are known here; the rest is loaded on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; None when there is none."""
        if cmd_name not in COMMANDS:
            return None
        with _core_for(ctx, cmd_name):
            if cmd_name in SURVEYED_COMMANDS:
                measure = import_module("memgauge.commands.shared.experiment")
                made: click.Command = measure.command_for(SURVEYED_COMMANDS[cmd_name].name)
                return made
            module = import_module(f"memgauge.commands.{cmd_name}")
            found: click.Command = module.command
            return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, loaded. From now on there may be something to unwind when a signal comes."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = did_you_mean(name, COMMANDS, most=2, alike=0.6)
            ctx.fail(f"no such command {quoted(name)}{f'; {near}' if near else ''}")
        found = super().resolve_command(ctx, args)
        ctx.with_resource(unwinding())
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it needs is known here."""
        with _core_for(ctx):
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List names and summaries by group, without loading the commands."""
        del ctx
        for heading, summaries in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(list(summaries.items()))


register()


def _version() -> str:
    try:
        return version("memgauge")
    except PackageNotFoundError:
        return "unknown (not installed)"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(_version(), "-V", "--version", message="memgauge %(version)s")
@click.pass_context
def root(ctx: click.Context) -> None:
    """Measure how fast this computer's memory really is."""
    if ctx.invoked_subcommand not in _OWN_ERRORS:  # which start programs that inherit limits
        ctx.with_resource(notice_before_kill())
