"""`memgauge watch`: memory over time, live, on record and as metrics."""

from __future__ import annotations

import platform
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from memgauge import api
from memgauge.analysis.watch.rules import Alert
from memgauge.analysis.watch.status import Status
from memgauge.commands.shared.keys import Keys
from memgauge.commands.shared.options import options_of, requested
from memgauge.commands.shared.serving import Served
from memgauge.model.errors import ExitCode, RequestError
from memgauge.model.storage.run_file import run_directory
from memgauge.model.text import plain
from memgauge.reports.html import watch as web
from memgauge.reports.metrics import OPENMETRICS, TEXT, exposition, require
from memgauge.reports.terminal.watch import Heading, WatchScreen
from memgauge.runner.watching.parameters import (
    LOCALHOST,
    LONGEST_PERIOD_S,
    SHORTEST_PERIOD_S,
    WatchParameters,
)
from memgauge.runner.watching.watch import NAME, Facts, View, WatchRequest, probe_cpu, watch
from memgauge.system.environment.software import memgauge_version

PAGE_HISTORY = 300
"""Samples of each figure that the page shows."""
_SURVEY_KEY = "memory latency"


@click.command("watch")
@options_of(WatchParameters)
@click.option("--quiet", is_flag=True, help="print nothing but errors and the place of the record")
def command(*, quiet: bool, **values: Any) -> int:
    """Watch memory for as long as wanted: latency and bandwidth now, and what disturbs them.

    Each period a probe on one CPU chases pointers and reads a little, about a millisecond, and is
    held against this machine's own baseline, so that a neighbour that takes the memory of a
    virtual machine is seen without any privilege. Beside it stand steal, memory pressure, reclaim,
    swap, faults, memory errors and, where counters may be read, the traffic of memory. Alerts
    follow stated rules. What watching itself costs is measured and shown.

    On a terminal it redraws itself; in a pipe it prints a line for each sample. It ends on Ctrl-C,
    q, or after --for.

    \N{FORM FEED}

    Args:
        quiet: Whether to show nothing.
        **values: Text of each `WatchParameters` option by keyword; None for an option not given.

    Raises:
        RequestError: the probe, a process, an address or the record cannot be had.
    """
    parameters = requested(WatchParameters, values)
    if parameters.listen is not None:
        require()
    system = api.system()
    cpu = probe_cpu(parameters, system)
    with ExitStack() as stack:
        directory = stack.enter_context(_directory(parameters))
        served = _served(parameters, cpu, stack)
        keys = stack.enter_context(Keys()) if not quiet else Keys()
        view = _Views(parameters, keys, served, quiet=quiet)
        request = WatchRequest(
            parameters=parameters,
            system=system,
            cpu=cpu,
            directory=directory,
            curves=api.watched_curves(parameters.curves, system),
            children=[] if served is None else [served.pid],
        )
        done = watch(request, view)
    if directory is not None:
        click.echo(f"memgauge: run: {plain(str(directory.absolute()))}", err=True)
    if done.failure is not None:
        click.echo(f"memgauge: watch: {plain(done.failure)}", err=True)
        return ExitCode.FAILED
    return ExitCode.DONE


@contextmanager
def _directory(parameters: WatchParameters) -> Iterator[Path | None]:
    if not parameters.record and parameters.output is None:
        yield None
        return
    with run_directory(parameters.output, NAME) as directory:
        yield directory


def _served(parameters: WatchParameters, cpu: int | None, stack: ExitStack) -> Served | None:
    if parameters.listen is None and not parameters.browser:
        return None
    if parameters.listen is not None and parameters.browser:
        raise RequestError("--listen and --browser are mutually exclusive; --listen has the page")
    host, port = parameters.listen or (LOCALHOST, 0)
    served = stack.enter_context(Served(host, port, avoid_cpu=cpu))
    served.put("/", "text/html; charset=utf-8", web.page(platform.node()))
    served.put(f"/{web.SCRIPT}", "text/javascript; charset=utf-8", web.asset(web.SCRIPT))
    served.put(f"/{web.STYLE}", "text/css; charset=utf-8", web.asset(web.STYLE))
    return served


class _Views(View):
    """The terminal, and whoever asks the server."""

    def __init__(
        self, parameters: WatchParameters, keys: Keys, served: Served | None, *, quiet: bool
    ) -> None:
        self._parameters = parameters
        self._keys = keys
        self._served = served
        self._quiet = quiet
        self._screen: WatchScreen | None = None
        self._heading: Heading | None = None
        self._version = memgauge_version()
        self._history: dict[str, deque[float | None]] = {}

    def begins(self, facts: Facts) -> None:
        """Open the screen; say what is not watched."""
        heading = Heading(facts.when, [*self._notes(facts)], has_keys=self._keys.are_read)
        heading.period_s = self._parameters.period_s
        self._heading = heading
        if self._quiet:
            return
        if not sys.stdout.isatty():
            for note in heading.notes:
                click.echo(f"memgauge: {note}", err=True)
        self._screen = WatchScreen(sys.stdout, heading)
        self._screen.__enter__()

    def show(self, status: Status, changes: Sequence[Alert]) -> None:
        """Draw, and have it served."""
        if self._screen is not None:
            self._screen.show(status, changes)
        if self._served is not None and self._heading is not None:
            self._publish(self._served, status, self._heading)

    def wait(self, seconds: float, period_s: float) -> float | None:
        """Wait for a key, and do what it stands for."""
        key = self._keys.wait(seconds)
        heading = self._heading
        if heading is None or not key:
            return period_s
        match key:
            case "q" | "\x04":
                return None
            case "p" | " ":
                heading.is_paused = not heading.is_paused
            case "+":
                period_s = min(LONGEST_PERIOD_S, period_s * 2)
            case "-":
                period_s = max(SHORTEST_PERIOD_S, period_s / 2)
        heading.period_s = period_s
        if self._screen is not None:
            self._screen.redraw()
        return period_s

    def ends(self) -> None:
        """Leave the terminal as it was."""
        if self._screen is not None:
            self._screen.__exit__(None, None, None)

    def _notes(self, facts: Facts) -> Iterator[str]:
        if self._served is not None:
            yield f"page: {self._served.url}"
            if self._parameters.listen is not None:
                yield f"metrics: {self._served.url}metrics"
        for run in facts.start.earlier:
            for key, value in run.figures.items():
                if key.startswith(_SURVEY_KEY):
                    when = run.started_at[:10]
                    yield f"survey of {when}: {key.partition(', ')[2]}: {value:.1f} ns (other ring)"
        for warning in facts.warnings:
            yield f"not watched: {warning.message}"

    def _publish(self, served: Served, status: Status, heading: Heading) -> None:
        for figure in status.figures:
            values = self._history.setdefault(figure.name, deque(maxlen=PAGE_HISTORY))
            values.append(status.moment.values.get(figure.name))
        served.put("/now.json", "application/json", web.now(status, heading, self._history))
        if self._parameters.listen is not None:
            made = exposition(status, self._version, heading.period_s)
            served.put("/metrics", TEXT, made.text)
            served.put("/metrics", OPENMETRICS, made.openmetrics, variant=True)
