"""`resctrl`: memory bandwidth monitoring, the traffic beyond each last-level cache.

Source: Linux, Documentation/filesystems/resctrl.rst (before 6.16: arch/x86/resctrl.rst). What is
counted lies beyond the L3: memory of all sockets and what else is not cached, reads and writes
together. The kernel corrects the processors of errata SKX99 and BDF102, and extends the hardware's
24 and more bits to 64 by reading it each second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe, Target, unknown
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event, Quantity
from memgauge.model.errors import CounterRefused, RequestError
from memgauge.model.text import quoted
from memgauge.system.resctrl.tree import MONITORED, MOUNT, ROOT, control_groups, is_mounted
from memgauge.system.tree import Tree, whole_number

SOURCE = "Linux, Documentation/filesystems/resctrl.rst"
_PITFALLS = [
    "traffic beyond the L3, not of the memory controllers: what devices move is not in it",
    "tasks are counted by the group they are in: events of one group leave others out",
    "a cache that has no counter to give reads `Unavailable`, `Unassigned` or `Error`: missing",
]


class Figure(msgspec.Struct, frozen=True):
    """What each cache counts."""

    file: str
    quantity: Quantity
    meaning: str
    automatic: bool


FIGURES = (
    Figure(
        "mbm_total_bytes",
        "traffic_bytes",
        "bytes read and written beyond the last-level cache, to local and remote memory",
        automatic=True,
    ),
    # Not a quantity of memory traffic of its own: it is in the total.
    Figure(
        "mbm_local_bytes",
        "count",
        "bytes of mbm_total_bytes that went to the same socket's memory; never add the two",
        automatic=False,
    ),
)


class Resctrl(FileBackEnd):
    """All tasks by default; a group's tasks as `GROUP/mbm_total_bytes`."""

    name: ClassVar[str] = "resctrl"
    summary: ClassVar[str] = "traffic beyond each L3, reads and writes together (resctrl MBM)"
    remedy = "run as root"

    def probe(self) -> Probe:
        """Whether resctrl is in the kernel, mounted, and monitors bandwidth."""
        tree = Tree(self.host.sysfs)
        if not tree.exists(ROOT):
            return Probe(
                state="absent",
                reason="the kernel has no resctrl file system, or the processor nothing for it",
            )
        if not is_mounted(tree):
            flags = Tree(self.host.procfs).text("/cpuinfo") or ""
            if "cqm_mbm_total" in flags.split() or self.host.architecture == "aarch64":
                return Probe(state="refused", reason="resctrl is not mounted", remedy=MOUNT)
            return Probe(
                state="absent", reason="the processor does not monitor bandwidth (cqm_mbm_total)"
            )
        features = (tree.text(f"{ROOT}/info/L3_MON/mon_features") or "").split()
        if "mbm_total_bytes" not in features:
            return Probe(state="absent", reason="resctrl monitors no bandwidth (mon_features)")
        events = self.events()
        if not events:
            return Probe(state="absent", reason=f"no cache in {self.host.sysfs}{ROOT}/mon_data")
        return Probe(state=events[0].state, reason=events[0].reason, remedy=events[0].remedy)

    def listed(self) -> list[FileEvent]:
        """Events of the whole machine: the tasks of all control groups."""
        tree = Tree(self.host.sysfs)
        groups = ["", *control_groups(tree)]
        return [one for figure in FIGURES for one in self._events(tree, figure, "", groups)]

    def resolved(self, events: Sequence[Event], target: Target) -> list[FileEvent]:
        """The files of events of the machine and of groups."""
        tree = Tree(self.host.sysfs)
        return [
            self._of_group(tree, event) if "/" in event.name else self._of_machine(event, target)
            for event in events
        ]

    def _of_machine(self, event: Event, target: Target) -> FileEvent:
        return super().resolved([event], target)[0]

    def _of_group(self, tree: Tree, event: Event) -> FileEvent:
        group, _, file = event.name.removeprefix(f"{self.name}:").rpartition("/")
        figures = [figure for figure in FIGURES if figure.file == file]
        found = [one for figure in figures for one in self._events(tree, figure, group, [group])]
        if not found:
            raise CounterRefused(f"{event.name}: the group no longer exists")
        return found[0]

    def find(self, text: str) -> list[Event]:
        """An event of the machine; or of a group, by its path or, if that is plain, its name."""
        named, _, file = text.rpartition("/")
        if not named:
            return super().find(text)
        tree = Tree(self.host.sysfs)
        groups = all_groups(tree)
        chosen = [one for one in groups if one == named] or [
            one for one in groups if one.rpartition("/")[2] == named
        ]
        if len(chosen) > 1:
            raise RequestError(
                f"event {quoted(f'{self.name}:{text}')}: several groups have that name; give the "
                f"path of one: {', '.join(chosen)}"
            )
        if chosen:
            for figure in FIGURES:
                if figure.file == file:
                    return [one.event for one in self._events(tree, figure, chosen[0], chosen)]
        known = [f"{group}/{figure.file}" for group in groups for figure in FIGURES]
        raise unknown(f"{self.name}:{text}", [f"{self.name}:{one}" for one in known])

    def _events(
        self, tree: Tree, figure: Figure, group: str, counted_in: list[str]
    ) -> list[FileEvent]:
        places = [
            place for one in counted_in for place in self._places(tree, one, figure.file, group)
        ]
        if not places:
            return []
        seen = access(places[0].path)
        event = Event(
            name=f"{self.name}:{group}/{figure.file}" if group else f"{self.name}:{figure.file}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="memory",
            scope="l3",
            unit="B",
            scale=1.0,
            scale_source=f"bytes: {SOURCE}",
            meaning=figure.meaning + (f"; of the tasks of group {group} only" if group else ""),
            encoding=places[0].path,
            instances=[place.instance for place in places],
            source=SOURCE,
            traffic="beyond L3",
            automatic=figure.automatic and not group,
            pitfalls=_PITFALLS,
            state=seen.state,
            reason=seen.reason,
            remedy=self.remedy if seen.state == "refused" else None,
        )
        return [FileEvent(event=event, places=places)]

    def _places(self, tree: Tree, group: str, file: str, named: str) -> list[Place]:
        directory = "/".join(filter(None, (ROOT, group, MONITORED)))
        sockets = socket_of_cache(tree)
        found = []
        for domain in tree.names(directory):
            kind, _, number = domain.rpartition("_")
            path = f"{directory}/{domain}/{file}"
            cache = whole_number(number)
            if kind == "mon_L3" and cache is not None and tree.exists(path):
                shown = group if group != named else ""
                found.append(
                    Place(
                        instance="/".join(filter(None, (shown, f"L3_{number}"))),
                        path=f"{self.host.sysfs}{path}",
                        socket=sockets.get(cache),
                    )
                )
        return found


def all_groups(tree: Tree) -> list[str]:
    """Paths of control groups and monitoring groups below the mount."""
    found = control_groups(tree)
    for control in ["", *found]:
        below = "/".join(filter(None, (control, "mon_groups")))
        found += [f"{below}/{name}" for name in tree.names(f"{ROOT}/{below}")]
    return found


def socket_of_cache(tree: Tree) -> dict[int, int]:
    """The socket of each last-level cache, by the kernel's number of the cache."""
    found: dict[int, int] = {}
    cpus = "/devices/system/cpu"
    for cpu in tree.numbered(cpus, "cpu"):
        cache = tree.integer(f"{cpus}/cpu{cpu}/cache/index3/id")
        socket = tree.integer(f"{cpus}/cpu{cpu}/topology/physical_package_id")
        if cache is not None and socket is not None and socket >= 0:
            found[cache] = socket
    return found
