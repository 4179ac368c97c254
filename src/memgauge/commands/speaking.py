"""Of many ranks one says what is wrong with all; the others give it the time to, in silence."""

from __future__ import annotations

import signal
import time
from typing import Any

import click

from memgauge.cluster.launch import speaks_for_all
from memgauge.model.errors import ExitCode

GRACE_S = 2.0
"""Many a launcher ends all ranks at the first that fails: the one that speaks must have spoken."""


def wait_for_the_speaker() -> None:
    """A signal of the launcher meanwhile ends this process without a word."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    time.sleep(GRACE_S)


class OneSpeaks(click.Command):
    """Of all ranks one says what is wrong with the command line."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse; the other ranks end with the same code."""
        try:
            return super().make_context(*args, **extra)
        except click.ClickException:
            if speaks_for_all():
                raise
            wait_for_the_speaker()
            raise click.exceptions.Exit(ExitCode.CANNOT_BE_MET) from None
