"""`cgroup`: figures of a control group of version 2: memory, faults, processor time, storage.

A group is that of the target's process, or named: `cgroup:/system.slice/x.service/memory.current`.

Source: Linux, Documentation/admin-guide/cgroup-v2.rst. A group's figures hold those of all groups
below it. What a group had used before it was opened is in its sums: differences count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from memgauge.counters.base import MACHINE, Opened, Probe, Target
from memgauge.counters.files.cgroup_mount import Mount, find_mount, group_of
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, NumberField, Place, access
from memgauge.model.counting.events import Event, Quantity
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent
from memgauge.model.text import quoted
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/admin-guide/cgroup-v2.rst"
UNIFIED = "boot with the unified hierarchy (systemd.unified_cgroup_hierarchy=1)"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number in a file of a group."""

    file: str
    key: str = ""
    """The line of the file; of io.stat the word of each device's line."""
    controller: str
    quantity: Quantity
    meaning: str
    unit: str = ""
    scale: float = 1.0
    gauge: bool = False

    @property
    def text(self) -> str:
        """As it is asked for, without a group."""
        return f"{self.file}/{self.key}" if self.key else self.file


def _memory(key: str, meaning: str) -> Figure:
    return Figure(
        file="memory.stat" if key else "memory.current",
        key=key,
        controller="memory",
        quantity="used_bytes",
        meaning=meaning,
        unit="B",
        gauge=True,
    )


def _faults(key: str, meaning: str) -> Figure:
    return Figure(
        file="memory.stat",
        key=key,
        controller="memory",
        quantity="page_faults",
        meaning=meaning,
    )


def _time(key: str, meaning: str) -> Figure:
    return Figure(
        file="cpu.stat",
        key=key,
        controller="",  # every group has it, whatever its controllers
        quantity="time",
        meaning=meaning,
        unit="s",
        scale=1e-6,
    )


def _storage(key: str, meaning: str) -> Figure:
    return Figure(
        file="io.stat", key=key, controller="io", quantity="count", meaning=meaning, unit="B"
    )


FIGURES = (
    _memory("", "memory in use: of processes, page cache and kernel"),
    _memory("anon", "anonymous memory in use"),
    _memory("file", "page cache in use, tmpfs and shared memory included"),
    _faults("pgfault", "page faults, major ones included"),
    _faults("pgmajfault", "page faults that waited for storage"),
    _time("usage_usec", "processor time in user and kernel mode"),
    _time("user_usec", "processor time in user mode"),
    _time("system_usec", "processor time in kernel mode"),
    _storage("rbytes", "bytes read from one block device"),
    _storage("wbytes", "bytes written to one block device"),
)
_PITFALLS = {
    "memory.stat": ["gathered from all CPUs: small changes may show up to 2 seconds late"],
    "io.stat": ["devices that were first used after the start are left out"],
}


class Cgroup(FileBackEnd):
    """Events of one control group."""

    name: ClassVar[str] = "cgroup"
    summary: ClassVar[str] = "memory, faults, processor time and storage of a control group (v2)"
    remedy = "run as root"

    def probe(self) -> Probe:
        """Whether a hierarchy of version 2 is mounted."""
        if self._mount() is None:
            return Probe(
                state="absent",
                reason="no control groups of version 2 are mounted",
                remedy=f"{UNIFIED}, or as root: mount -t cgroup2 none /sys/fs/cgroup",
            )
        return Probe(state="ready")

    def listed(self) -> list[FileEvent]:
        """The figures of any group: which group is given when they are opened."""
        mount = self._mount()
        if mount is None:
            return []
        controllers = mount.controllers()
        return [self._any_group(figure, controllers) for figure in FIGURES]

    def find(self, text: str) -> list[Event]:
        """A figure of the target's group, or of a group named by its path."""
        for figure in FIGURES:
            if text.startswith("/") and text.endswith(f"/{figure.text}"):
                mount = self._mount()
                group = text.removesuffix(f"/{figure.text}") or "/"
                if mount is None or not mount.holds(group):
                    where = "of version 2" if mount is None else f"below {mount.point}"
                    raise UnknownEvent(
                        f"event {quoted(f'{self.name}:{text}')}: there is no control group "
                        f"{quoted(group)} {where}"
                    )
                return [self._of_group(figure, mount, group, text).event]
        return super().find(text)

    def resolved(self, events: Sequence[Event], target: Target) -> list[FileEvent]:
        """The files of events, in their groups or the target's."""
        return [self._resolved(event, target) for event in events]

    def _resolved(self, event: Event, target: Target) -> FileEvent:
        text = event.name.partition(":")[2]
        figure = next(one for one in FIGURES if text == one.text or text.endswith(f"/{one.text}"))
        mount = self._mount()
        if mount is None:
            raise CounterRefused(f"{event.name}: no control groups of version 2 are mounted")
        if text.startswith("/"):
            return self._of_group(figure, mount, text.removesuffix(f"/{figure.text}") or "/", text)
        if not target.pids:
            raise RequestError(
                f"{event.name}: counts the group of a process; give one (--pid, or a command to "
                f"run), or a group: {self.name}:/GROUP/{figure.text}"
            )
        groups = dict.fromkeys(group_of(mount, self.host, pid) for pid in target.pids)
        found = [self._of_group(figure, mount, group, text) for group in groups]
        return FileEvent(
            event=found[0].event, places=[place for one in found for place in one.places]
        )

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """Open the group's files; a note tells where the group is the whole machine."""
        made = super().open(events, target)
        if any(counter.instance.split(" ")[0] == "/" for counter in made.counters):
            made.notes.append("cgroup: group / holds all processes of the machine, or container")
        return made

    def _mount(self) -> Mount | None:
        return find_mount(self.host)

    def _any_group(self, figure: Figure, controllers: Sequence[str]) -> FileEvent:
        there = not figure.controller or figure.controller in controllers
        event = self._event(figure, figure.text)
        if not there:
            event = msgspec.structs.replace(
                event,
                state="absent",
                reason=f"the {figure.controller} controller is not in the hierarchy of version 2",
                remedy=UNIFIED,
            )
        return FileEvent(event=event, places=[])

    def _of_group(self, figure: Figure, mount: Mount, group: str, text: str) -> FileEvent:
        path = mount.file(group, figure.file)
        seen = access(path)
        places = _places(figure, group, path)
        reason, state = seen.reason, seen.state
        if not places and seen.state == "ready":
            reason, state = f"{path}: no device was used yet", "absent"
        if seen.state == "absent":
            reason = f"group {group} has no {figure.file}" + (
                f": its {figure.controller} controller is off" if figure.controller else ""
            )
        event = msgspec.structs.replace(
            self._event(figure, text),
            instances=[place.instance for place in places],
            encoding=path,
            state=state,
            reason=reason,
            remedy=_remedy(figure, group) if state == "absent" else None,
        )
        return FileEvent(event=event, places=places if state == "ready" else [])

    def _event(self, figure: Figure, text: str) -> Event:
        return Event(
            name=f"{self.name}:{text}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="process",
            scope="process",
            unit=figure.unit,
            scale=figure.scale,
            scale_source=SOURCE,
            gauge=figure.gauge,
            meaning=f"{figure.meaning}; of all processes of the group and of those below it",
            encoding=figure.text,
            instances=[],
            source=SOURCE,
            automatic=False,  # what a group counts, the process tree counts too
            pitfalls=_PITFALLS.get(figure.file, []),
            state="ready",
        )


def _remedy(figure: Figure, group: str) -> str:
    if group == "/":
        return "the root group has none: start the program in a group (systemd-run --scope)"
    return f"as root: echo +{figure.controller} > cgroup.subtree_control of the group above"


def _places(figure: Figure, group: str, path: str) -> list[Place]:
    if figure.file != "io.stat":
        cell = NumberField(figure.key) if figure.key else None
        return [Place(instance=group, path=path, cell=cell)]
    lines = (Tree().text(path) or "").splitlines()
    devices = [line.split()[0] for line in lines if line.split()[1:]]
    return [
        Place(instance=f"{group} {device}", path=path, cell=NumberField(device, figure.key))
        for device in devices
    ]
