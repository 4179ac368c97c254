"""A profile in the Chrome trace format, which Perfetto and chrome://tracing open.

Source: "Trace Event Format" (Duffy et al., Google, 2016): an object with `traceEvents`; `C` counter
events, `X` complete events, `M` metadata, `i` instants; stamps and durations in microseconds. Each
track is a counter whose value holds from the reading at its stamp to the next event of its name, so
that one event stands for a block of readings over which a counter stood still; where it is not
known, an instant named `gap: TRACK` marks the begin, for a counter cannot be empty. Tracks of the
program and its regions stand under its pid, those of the whole machine under a made-up process
`machine`, whose number no Linux process can have. Made block by block.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise

from memgauge.analysis.profile.lanes import OpenLane, lanes_of
from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.rates import Stretch, stretches
from memgauge.analysis.profile.section import profile_of
from memgauge.analysis.profile.verdicts import command_of
from memgauge.model.errors import RunFileError
from memgauge.model.run import Run
from memgauge.model.text import plain

MACHINE_PID = (1 << 22) + 1
"""Beyond the largest pid of Linux (PID_MAX_LIMIT, 4 Mi)."""

Event = dict[str, object]


def chrome_trace(run: Run) -> Iterator[bytes]:
    """The file in pieces.

    Raises:
        RunFileError: the run holds no timeline.
    """
    lanes, _ = lanes_of(run)
    if not lanes:
        raise RunFileError(
            f"{run.directory}: holds no readings over time; export a run of 'memgauge profile'"
        )
    yield b'{"displayTimeUnit":"ms","otherData":'
    yield _json({"run": run.start.run_id, "memgauge": run.start.memgauge_version})
    yield b',"traceEvents":[\n'
    for at, event in enumerate(_events(run, lanes)):
        yield (b",\n" if at else b"") + _json(event)
    yield b"\n]}\n"


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _events(run: Run, lanes: list[OpenLane]) -> Iterator[Event]:
    pid = run.processes[0].pid if run.processes else MACHINE_PID
    yield _named("process_name", MACHINE_PID, 0, "machine")
    for process in run.processes:
        yield _named("process_name", process.pid, 0, command_of(process))
    yield from _phases(run)
    yield from _regions(run)
    for lane in lanes:
        yield from _counters(lane, pid)


def _named(what: str, pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": plain(name)}}


def _us(ns: int) -> float:
    return ns / 1000


def _phases(run: Run) -> Iterator[Event]:
    found = profile_of(run)
    if found.timeline is None:
        return
    yield _named("thread_name", MACHINE_PID, 1, "phases")
    for at, phase in enumerate(found.phases):
        begin_ns = found.timeline.begin_ns + round(phase.begin_s * 1e9)
        said = looks_like(found.phases, at)
        yield {
            "ph": "X",
            "cat": "phase",
            "name": f"phase {phase.number}",
            "pid": MACHINE_PID,
            "tid": 1,
            "ts": _us(begin_ns),
            "dur": phase.duration_s * 1e6,
            "args": {"looks like": said} if said else {},
        }


def _regions(run: Run) -> Iterator[Event]:
    last_ns = max((process.end_ns or 0 for process in run.processes), default=0)
    for region in run.regions:
        end_ns = max(region.begin_ns, last_ns) if region.end_ns is None else region.end_ns
        yield {
            "ph": "X",
            "cat": "region",
            "name": plain(region.name),
            "pid": region.pid,
            "tid": region.tid,
            "ts": _us(region.begin_ns),
            "dur": _us(end_ns - region.begin_ns),
            "args": {} if region.end_ns is not None else {"ended": False},
        }


def _counters(lane: OpenLane, pid: int) -> Iterator[Event]:
    of_program = {"process"}
    pids = {t.name: pid if t.domain in of_program else MACHINE_PID for t in lane.tracks}
    units = {track.name: track.unit or "value" for track in lane.tracks}
    in_gap = dict.fromkeys(pids, False)
    for stretch in stretches(lane.reader, lane.tracks):
        for track in lane.tracks:
            name = track.name
            base: Event = {"name": plain(name), "pid": pids[name], "tid": 0}
            for begin_ns, rate in _rates(stretch, name):
                if rate is not None:
                    args = {units[name]: float(f"{rate:.7g}")}
                    yield base | {"ph": "C", "ts": _us(begin_ns), "args": args}
                elif not in_gap[name]:
                    gap = {"name": f"gap: {plain(name)}", "ph": "i", "s": "p", "ts": _us(begin_ns)}
                    yield base | gap
                in_gap[name] = rate is None


def _rates(stretch: Stretch, name: str) -> Iterator[tuple[int, float | None]]:
    """From when on a track went on at which rate; None: not known."""
    if name in stretch.steady:
        yield stretch.times_ns[0], stretch.steady[name]
        return
    amounts = stretch.amounts[name]
    for (begin, end), amount in zip(pairwise(stretch.times_ns), amounts, strict=True):
        yield begin, None if amount is None else amount / ((end - begin) * 1e-9)
