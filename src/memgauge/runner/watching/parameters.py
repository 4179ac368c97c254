"""What a watch can be asked for."""

from __future__ import annotations

import re
from typing import Annotated

from memgauge.model import units
from memgauge.model.errors import RequestError
from memgauge.model.option import (
    Option,
    count_option,
    directory_option,
    duration_option,
    process_option,
    switch_option,
)
from memgauge.model.parameters import MAX_THREADS, Parameters
from memgauge.model.text import quoted

SHORTEST_PERIOD_S, LONGEST_PERIOD_S = 0.2, 3600.0
LOCALHOST = "127.0.0.1"
MOST_PORT = 65_535


def parse_period(text: str, option: str) -> float:
    """A time between two samples."""
    period_s = units.parse_duration(text, option)
    if not SHORTEST_PERIOD_S <= period_s <= LONGEST_PERIOD_S:
        raise RequestError(
            f"{option} {quoted(text)} is not between 0.2s and 1h; write a time such as 1s"
        )
    return period_s


def parse_address(text: str, option: str) -> tuple[str, int]:
    """`HOST:PORT`, `:PORT` on localhost, or `[ADDRESS]:PORT` of IPv6."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:\[\]/]*)):([0-9]{1,5})", text.strip())
    port = int(found[3]) if found else -1
    if found is None or port > MOST_PORT:
        raise RequestError(
            f"{option} {quoted(text)} is not HOST:PORT; write one, such as {LOCALHOST}:9465"
        )
    return found[1] or found[2] or LOCALHOST, port


def address_text(value: object) -> str:
    """As `parse_address` reads it."""
    if not isinstance(value, tuple):
        return str(value)
    host, port = value
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


def parse_group(text: str, option: str) -> str:
    """The path of a control group below the mount point of version 2."""
    path = "/" + text.strip().removeprefix("/sys/fs/cgroup").strip("/")
    if not text.strip() or "," in path or ".." in path.split("/"):
        raise RequestError(
            f"{option} {quoted(text)} is not a control group; write its path, such as "
            "/system.slice/postgresql.service"
        )
    return path


class WatchParameters(Parameters, frozen=True, kw_only=True):
    """How memory is watched."""

    period_s: Annotated[
        float,
        Option(
            help="time between two samples, each with a pass of the probe",
            metavar="TIME",
            parse=parse_period,
            write=lambda value: f"{value:g}s" if isinstance(value, int | float) else str(value),
            flag="--period",
        ),
    ] = 1.0
    duration_s: Annotated[
        float | None,
        duration_option("time after which the watch ends", flag="--for", automatic="until Ctrl-C"),
    ] = None
    learn_s: Annotated[
        float,
        duration_option(
            "length of the first minutes, of which the baseline is made", flag="--learn"
        ),
    ] = 120.0
    cpu: Annotated[
        int | None,
        count_option("CPU that the probe runs on", 0, MAX_THREADS - 1, automatic="the last one"),
    ] = None
    no_probe: Annotated[
        bool, switch_option("read counters only, and put no load of its own on memory")
    ] = False
    curves: Annotated[
        str | None,
        directory_option(
            "run of 'survey' or 'loaded' on this machine, whose peak and knee counted traffic is "
            "held against",
            automatic="none; traffic is shown without them",
        ),
    ] = None
    pid: Annotated[
        int | None,
        process_option(
            "process to show too, with all processes it starts", automatic="none; the machine alone"
        ),
    ] = None
    cgroup: Annotated[
        str | None,
        Option(
            help="control group (version 2) to show too, with those below it",
            metavar="GROUP",
            parse=parse_group,
            automatic="none; the machine alone",
        ),
    ] = None
    listen: Annotated[
        tuple[str, int] | None,
        Option(
            help="address to serve metrics (/metrics, OpenMetrics) and a page (/) at; without TLS "
            "and tokens, which a proxy adds",
            metavar="HOST:PORT",
            parse=parse_address,
            write=address_text,
            natives=(tuple,),
            automatic="none; nothing is served",
        ),
    ] = None
    browser: Annotated[
        bool,
        switch_option("serve the page alone, on a free port of localhost, and print its address"),
    ] = False
    record: Annotated[
        bool, switch_option("record a run, which 'memgauge report' draws; a day takes about 4 MB")
    ] = False
    output: Annotated[
        str | None,
        directory_option(
            "directory to write the run to, which --record is implied by",
            automatic="memgauge-runs/TIME-watch with --record, else none",
        ),
    ] = None
    remember: Annotated[
        bool,
        switch_option(
            "keep the baseline in the user's state directory, and take that of earlier watches "
            "made alike"
        ),
    ] = False
