"""`proc`: what a process and all its descendants have used, by the kernel's own accounts.

Source: Linux, Documentation/filesystems/proc.rst; proc_pid_stat(5), proc_pid_io(5).

The sums never fall: what ended children had used stays in them, as wait(2) hands it to the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from memgauge import _core
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target, counter_of
from memgauge.counters.files.kept_files import ROUTE
from memgauge.counters.host import Host
from memgauge.model.counting.events import Domain, Event, Quantity
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.system.tree import Tree, whole_number

SOURCE = "Linux, Documentation/filesystems/proc.rst"
_ORPHANS = "an ended process that none of the tree waited for counts up to its last reading only"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A sum or level over the tree, and the slot of the native source that holds it."""

    name: str
    slot: str
    quantity: Quantity
    meaning: str
    unit: str = ""
    scale: float = 1.0
    gauge: bool = False
    domain: Domain = "process"
    by_thread: bool = False
    """Whether files of each thread are read for it."""
    pitfalls: tuple[str, ...] = (_ORPHANS,)


_TICKS = "counted by the kernel in ticks of 10 ms"
_SWITCHES = (
    "a lower bound: switches of a thread after its last reading, and of threads that lived "
    "between two looks (100 ms), are lost"
)
_STORAGE = "storage only: what the page cache answers is not in it; missing for another user's"

FIGURES = (
    Figure(
        name="cpu_time",
        slot="cpu_time_ns",
        quantity="time",
        meaning="processor time in user and kernel mode, by each process's CPU clock",
        unit="s",
        scale=1e-9,
        pitfalls=(
            "the clock moves at switches and scheduler ticks, each 1 to 10 ms",
            "that of ended children in ticks of 10 ms",
            _ORPHANS,
        ),
    ),
    Figure(
        name="user_time",
        slot="user_time_ns",
        quantity="time",
        meaning="processor time in user mode",
        unit="s",
        scale=1e-9,
        pitfalls=(_TICKS, _ORPHANS),
    ),
    Figure(
        name="system_time",
        slot="system_time_ns",
        quantity="time",
        meaning="processor time in kernel mode",
        unit="s",
        scale=1e-9,
        pitfalls=(_TICKS, _ORPHANS),
    ),
    Figure(
        name="minor_faults",
        slot="minor_faults",
        quantity="page_faults",
        meaning="page faults that needed no input: first touches, copies on write, shared pages",
    ),
    Figure(
        name="major_faults",
        slot="major_faults",
        quantity="page_faults",
        meaning="page faults that waited for storage",
    ),
    Figure(
        name="resident_bytes",
        slot="resident_bytes",
        quantity="used_bytes",
        meaning="memory resident now; a shared page counts once for each process that maps it",
        unit="B",
        gauge=True,
        pitfalls=("the kernel's count may lag by some dozen pages a thread",),
    ),
    Figure(
        name="voluntary_switches",
        slot="voluntary_switches",
        quantity="context_switches",
        meaning="context switches because a thread waited",
        by_thread=True,
        pitfalls=(_SWITCHES,),
    ),
    Figure(
        name="involuntary_switches",
        slot="involuntary_switches",
        quantity="context_switches",
        meaning="context switches because others ran in a thread's place",
        by_thread=True,
        pitfalls=(_SWITCHES,),
    ),
    Figure(
        name="run_delay",
        slot="run_delay_ns",
        quantity="run_delay",
        meaning="time for which threads could have run and waited for a processor",
        unit="s",
        scale=1e-9,
        by_thread=True,
        pitfalls=("added up by the kernel when a wait ends", _SWITCHES),
    ),
    Figure(
        name="threads",
        slot="threads",
        quantity="count",
        meaning="threads alive",
        gauge=True,
        pitfalls=(),
    ),
    Figure(
        name="processes",
        slot="processes",
        quantity="count",
        meaning="processes alive, without zombies",
        gauge=True,
        pitfalls=(),
    ),
    # Not read_bytes and write_bytes of the model: those are memory's.
    Figure(
        name="storage_read_bytes",
        slot="read_bytes",
        quantity="count",
        meaning="bytes read from storage",
        unit="B",
        pitfalls=(_STORAGE, _ORPHANS),
    ),
    Figure(
        name="storage_write_bytes",
        slot="write_bytes",
        quantity="count",
        meaning="bytes that were, or will be, written to storage",
        unit="B",
        pitfalls=(_STORAGE, _ORPHANS),
    ),
)
_BY_NAME = {figure.name: figure for figure in FIGURES}


def without_procfs(host: Host) -> Probe:
    """What a back end says whose files are of procfs, where there is none.

    Args:
        host: The machine.
    """
    return Probe(
        state="absent",
        reason=f"{host.procfs} is not the kernel's procfs",
        remedy=f"as root: mount -t proc proc {host.procfs}",
    )


class Proc(BackEnd):
    """Events of the process tree of each process of the target."""

    name: ClassVar[str] = "proc"
    summary: ClassVar[str] = "processor time, faults, memory and switches of a process tree"

    def probe(self) -> Probe:
        """Whether procfs is there."""
        if Tree(self.host.procfs).exists("/self/stat"):
            return Probe(state="ready")
        return without_procfs(self.host)

    def events(self) -> list[Event]:
        """The same figures for any process; none without procfs."""
        if self.probe().state == "absent":
            return []
        return [self._event(figure) for figure in FIGURES]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """Follow each process of the target and its descendants, from now on.

        Raises:
            RequestError: no process is given.
            CounterRefused: one does not exist or may not be looked at.
        """
        names = ", ".join(event.name for event in events)
        if not target.pids:
            raise RequestError(f"{names}: counts a process; give one (--pid, or a command to run)")
        figures = [_BY_NAME[event.name.partition(":")[2]] for event in events]
        switches = any(figure.by_thread for figure in figures)
        slots = _core.process_tree_slots()
        made = Opened(sources=[], counters=[], notes=nested(target.pids, Tree(self.host.procfs)))
        for number, pid in enumerate(dict.fromkeys(target.pids)):
            ledger = _core.ThreadLedger([one.native for one in target.by_thread])
            made.ledgers.append(ledger)
            made.sources.append(self._source(names, pid, ledger, switches=switches))
            made.counters += [
                counter_of(
                    event,
                    f"pid {pid}",
                    slot=number * len(slots) + slots.index(figure.slot),
                    route=ROUTE,
                )
                for event, figure in zip(events, figures, strict=True)
            ]
        return made

    def _source(
        self, names: str, pid: int, ledger: _core.ThreadLedger, *, switches: bool
    ) -> _core.CounterSource:
        try:
            return _core.open_process_tree(
                pid, procfs=str(self.host.procfs), switches=switches, ledger=ledger
            )
        except CounterRefused as error:
            raise CounterRefused(f"{names}: {error}") from error

    def _event(self, figure: Figure) -> Event:
        return Event(
            name=f"{self.name}:{figure.name}",
            back_end=self.name,
            quantity=figure.quantity,
            domain=figure.domain,
            scope="process",
            unit=figure.unit,
            scale=figure.scale,
            scale_source=SOURCE,
            gauge=figure.gauge,
            meaning=f"{figure.meaning}; of the process and all its descendants",
            encoding=f"{self.host.procfs}/PID/{{stat,status,io,task}}: {figure.slot}",
            instances=[],
            source=SOURCE,
            pitfalls=list(figure.pitfalls),
            state="ready",
        )


def nested(pids: Sequence[int], tree: Tree) -> list[str]:
    """A note for each process whose figures are in those of another one that was asked for."""
    notes = []
    for pid in pids:
        above = _ancestors(pid, tree)
        notes += [
            f"pid {pid} descends from pid {other}: its figures are in those too; do not add them"
            for other in pids
            if other in above
        ]
    return notes


def _ancestors(pid: int, tree: Tree) -> list[int]:
    found: list[int] = []
    while (stat := tree.text(f"/{pid}/stat")) and pid not in found[:-1]:
        # The command's name stands in brackets and may hold anything, brackets too.
        words = stat.rpartition(")")[2].split()
        parent = whole_number(words[1]) if len(words) > 1 else None
        if not parent:
            break
        pid = parent
        found.append(pid)
    return found
