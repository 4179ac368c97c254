"""Tables of the threads of a program: what each used, and what was counted in it."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.profile.totals import OF_CORES, ratio_unit
from memgauge.analysis.section import Cell, Column, Table
from memgauge.model.record_kinds.programs import CountedByThread, Process, ThreadUse
from memgauge.model.run import Run
from memgauge.model.text import plain
from memgauge.model.units import format_count

MOST_ROWS = 50
WHOLE = 0.999
"""Share of the time in which it was to count that a counter which took no turns did."""


def threads_table(run: Run) -> Table | None:
    """What each thread used; None where none was seen."""
    threads = [one for process in run.processes for one in process.threads]
    if not threads:
        return None
    left_out = sum(one.threads_left_out for one in run.processes)
    left_out += len(threads[MOST_ROWS:])
    several = _are_several(threads)
    rows: list[list[Cell]] = [
        [
            *_names(one, several=several),
            one.cpu_ns * 1e-9,
            one.run_delay_ns * 1e-9,
            one.voluntary_switches,
            one.involuntary_switches,
        ]
        for one in threads[:MOST_ROWS]
    ]
    note = (
        "By the kernel's accounts of each thread (/proc/PID/task/TID): at least, as what a thread "
        "did after its last reading is lost, and a thread that lived between two looks is not "
        "here. Waiting: could have run, and other threads did. Switches: because it waited for "
        "something, and because another thread took its processor."
    )
    note += _omitted(left_out)
    return Table(
        name="profile-threads",
        title="Threads",
        columns=[
            *_name_columns(several=several),
            Column(title="CPU time", unit="s", digits=3),
            Column(title="waiting for a processor", unit="s", digits=3),
            Column(title="voluntary switches"),
            Column(title="forced switches"),
        ],
        rows=rows,
        note=note,
    )


def counted_table(run: Run) -> Table | None:
    """One row a thread, those with most processor time first; None where nothing was counted.

    Args:
        run: Run of the profile.
    """
    processes = [one for one in run.processes if one.thread_events]
    rows = [(one, thread) for one in processes for thread in one.threads if any(thread.counts)]
    if not rows:
        return None
    events = processes[0].thread_events
    several = _are_several([thread for _, thread in rows])
    shown = rows[:MOST_ROWS]
    left_out = len(rows) - len(shown)
    note = (
        "Counted since memgauge found the thread, up to some ten ms after its start, and without "
        "what it started, so that the sum over threads is below the program's total. Threads that "
        "lived between two looks are not here."
    )
    if any(_is_estimate(thread) for _, thread in shown):
        note += (
            " Some counters took turns, with each other and with those of the whole program: these "
            "figures are estimates."
        )
    note += _omitted(left_out)
    return Table(
        name="profile-threads-counted",
        title="Threads: counted events",
        columns=[
            *_name_columns(several=several),
            *(column for event in events for column in _columns(event, events)),
        ],
        rows=[
            [
                *_names(thread, several=several),
                *_cells(thread, process),
            ]
            for process, thread in shown
        ],
        note=note,
    )


def _are_several(threads: Sequence[ThreadUse]) -> bool:
    """Whether they are of several processes."""
    return len({thread.pid for thread in threads}) > 1


def _name_columns(*, several: bool) -> list[Column]:
    return [
        Column(title="thread"),
        *([Column(title="process")] if several else []),
        Column(title="number"),
    ]


def _names(thread: ThreadUse, *, several: bool) -> list[Cell]:
    return [plain(thread.name), *([str(thread.pid)] if several else []), str(thread.tid)]


def _omitted(threads: int) -> str:
    return f" {format_count(threads, 'thread')} with less CPU time omitted." if threads else ""


def _columns(event: CountedByThread, events: Sequence[CountedByThread]) -> list[Column]:
    words = _related(event, events)
    title = plain(event.event.partition(":")[2])
    made = [Column(title=title, unit=event.unit or None, digits=3 if event.unit else 0)]
    if words is not None:
        made.append(Column(title=words[1], unit=ratio_unit(words[1]), digits=2))
    return made


def _cells(thread: ThreadUse, process: Process) -> list[Cell]:
    events = process.thread_events
    values = {event.event: value_of(thread, at, event) for at, event in enumerate(events)}
    cells: list[Cell] = []
    for event in events:
        value = values[event.event]
        cells.append(value)
        words = _related(event, events)
        if words is not None:
            whole = values[words[0]]
            cells.append(value / whole if value is not None and whole else None)
    return cells


def _related(event: CountedByThread, events: Sequence[CountedByThread]) -> tuple[str, str] | None:
    """The event that it is a share of, where that was counted too, and the share in words."""
    _, whole, words = OF_CORES.get(event.event, (None, None, ""))
    return (whole, words) if whole and any(one.event == whole for one in events) else None


def value_of(thread: ThreadUse, at: int, event: CountedByThread) -> float | None:
    """What was counted, scaled up where the counter took turns; None where it is not known.

    Args:
        thread: The thread.
        at: Place of the event among those counted.
        event: That event.
    """
    count = thread.counts[at] if at < len(thread.counts) else None
    if count is None or (count.enabled_ns and not count.running_ns):
        return None
    if not count.enabled_ns:  # the thread has not run since
        return count.value * event.scale
    return count.value * event.scale * max(1.0, count.enabled_ns / count.running_ns)


def _is_estimate(thread: ThreadUse) -> bool:
    return any(
        count is not None and count.running_ns < WHOLE * count.enabled_ns for count in thread.counts
    )
