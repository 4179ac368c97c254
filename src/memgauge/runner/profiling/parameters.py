"""What a profile can be asked for."""

from __future__ import annotations

import math
from typing import Annotated

from memgauge.counters.components import NAMES, USUAL
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.errors import RequestError
from memgauge.model.option import (
    Option,
    choices_option,
    directory_option,
    list_text,
    process_option,
    switch_option,
)
from memgauge.model.parameters import Parameters
from memgauge.model.text import quoted

LOWEST_RATE_HZ = 0.1
HIGHEST_RATE_HZ = 1000.0


def parse_rate(text: str, option: str) -> float:
    """Samples a second, such as `100` or `0.5Hz`."""
    try:
        rate_hz = float(text.strip().removesuffix("Hz"))
    except ValueError:
        rate_hz = math.nan
    if not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
        raise RequestError(
            f"{option} {quoted(text)} is not a number of samples a second from "
            f"{LOWEST_RATE_HZ:g} to {HIGHEST_RATE_HZ:g}; write one, such as 100"
        )
    return rate_hz


def rate_option(help: str) -> Option:  # noqa: A002
    """`--rate`; native value `float`."""
    return Option(help=help, metavar="HZ", parse=parse_rate, write=_number, flag="--rate")


def parse_events(text: str, option: str) -> tuple[str, ...]:
    """Events between commas; a comma between slashes, as in perf's terms, belongs to its event.

    Each is checked where it is opened.
    """
    events: list[str] = []
    inside = False
    for part in text.split(","):
        if inside:
            events[-1] += f",{part}"
        else:
            events.append(part.lstrip())
        inside ^= part.count("/") % 2 == 1 and _has_terms(events[-1])
    stripped = tuple(dict.fromkeys(event.strip() for event in events))
    if not all(stripped):
        raise RequestError(f"{option} {quoted(text)} names an empty event; write BACKEND:EVENT,...")
    return stripped


def _has_terms(event: str) -> bool:
    known = BACK_ENDS.get(event.partition(":")[0])
    return known is not None and known.has_terms


def _number(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:g}" if is_number else str(value)


class ProfileParameters(Parameters, frozen=True, kw_only=True):
    """How a profile is made, whatever it watches."""

    pid: Annotated[
        int | None,
        process_option(
            "process to attach to, including all processes it starts; the profile ends when it "
            "exits, or on Ctrl-C",
            automatic="none; the command is started",
        ),
    ] = None
    rate_hz: Annotated[
        float,
        rate_option("samples per second; slow sources are sampled less often"),
    ] = 100.0
    components: Annotated[
        tuple[str, ...] | None,
        choices_option(
            "components to watch",
            NAMES,
            automatic="all but caches, tlb and flops; none with --counters",
        ),
    ] = None
    counters: Annotated[
        tuple[str, ...] | None,
        Option(
            help="events to watch, named as 'memgauge counters' lists them, or routes to memory "
            "traffic such as perf,pcp",
            metavar="auto|ROUTE|EVENT,...",
            parse=parse_events,
            write=list_text,
            repeatable=True,
            automatic="those of the components",
        ),
    ] = None
    by_thread: Annotated[
        bool,
        switch_option(
            "count the program's perf events for each thread too; beside those of the whole "
            "program they can need more counters than the processor has"
        ),
    ] = False
    output: Annotated[
        str | None,
        directory_option("directory to write the run to", automatic="memgauge-runs/TIME-profile"),
    ] = None

    @property
    def chosen_components(self) -> tuple[str, ...]:
        """Those to watch: the usual ones where nothing was chosen."""
        if self.components is not None:
            return self.components
        return () if self.counters else USUAL
