"""Of many ranks one says what is wrong with all; the others give it the time to, in silence."""

from __future__ import annotations

import signal
import time
from typing import Any, NoReturn

import click

from memgauge.cluster.launch import reports_for_all, reports_for_node
from memgauge.commands.shared.help import GroupedCommand
from memgauge.model.errors import ExitCode, MemgaugeError

GRACE_S = 2.0
"""Many a launcher ends all ranks at the first that fails: the one that speaks must have spoken."""


def wait_for_the_reporting_rank() -> None:
    """A signal of the launcher meanwhile ends this process without a word."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(GRACE_S)


def report_of_this_node(error: MemgaugeError) -> NoReturn:
    """Raise what may be so on this node alone, or end with its code.

    The first of all ranks says it at once; if the launcher then leaves the others the time, the
    first of each other node does, and the rest end in silence.
    """
    if not reports_for_all():
        wait_for_the_reporting_rank()
        if not reports_for_node():
            raise click.exceptions.Exit(error.exit_code)
    raise error


class OneRankReports(GroupedCommand):
    """Of all ranks one says what is wrong with the command line."""

    usage_code: ExitCode = ExitCode.CANNOT_BE_MET

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse; the other ranks end with the same code."""
        try:
            return super().make_context(*args, **extra)
        except click.ClickException:
            if reports_for_all():
                raise
            wait_for_the_reporting_rank()
            raise click.exceptions.Exit(self.usage_code) from None
