"""The exit code of `memgauge trend --fail-if-slower`, with a line on stderr that says why."""

from __future__ import annotations

import click

from memgauge.analysis.trend.changes import LEAST_RUNS
from memgauge.analysis.trend.gate import Slower
from memgauge.analysis.trend.names import figure_label, named, ratio_text, time_text
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.text import few, plain
from memgauge.store.trended import Trended

MOST_NAMED = 8
"""Figures named in one line."""


def gate(trended: Trended, share: float, within_s: float, *, keys_only: bool) -> int:
    """Decide, and say on stderr what was slower and which machines could not be judged.

    Args:
        trended: What was found.
        share: Such as 0.05.
        within_s: Time before the newest run in which a change counts.
        keys_only: Only the pace and the figures that matter most, if one of them was tested.

    Raises:
        RequestError: nothing could be judged.
    """
    trend = trended.trend
    left = {one.machine: one.runs for one in trend.too_few if one.is_latest}
    if len(left) == len(trend.histories):
        most = max(left.values(), default=0)
        raise RequestError(
            f"--fail-if-slower: too few runs to tell: {most} of the {LEAST_RUNS} that are needed "
            "on unchanged hardware; add runs, and use 'memgauge compare' until "
            "there are enough"
        )
    if left:
        machines = [f"{machine} ({runs} runs)" for machine, runs in left.items()]
        click.echo(
            f"memgauge: --fail-if-slower: too few runs to tell: {plain(named(machines))}", err=True
        )
    slower = trended.slower_than(share, within_s=within_s, keys_only=keys_only)
    if not slower:
        return ExitCode.DONE
    several = len(trend.histories) > 1
    said = few([_text(one, with_machine=several) for one in slower], MOST_NAMED)
    click.echo(f"memgauge: slower by more than {100 * share:g}%: {plain(said)}", err=True)
    return ExitCode.SLOWER


def _text(one: Slower, *, with_machine: bool) -> str:
    where = f"{one.machine}: " if with_machine else ""
    first = one.changes[0]
    when = time_text(first.after, one.changes[-1].until)
    return f"{where}{figure_label(one.key)} {ratio_text(one.speed)} {when}"
