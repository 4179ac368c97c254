"""`kernel`: what the kernel counts of memory on the whole machine: pressure, reclaim, swap, faults.

Sources: Linux, Documentation/filesystems/proc.rst (`/proc/stat`; `/proc/vmstat` by the names in
`mm/vmstat.c`), Documentation/accounting/psi.rst, Documentation/driver-api/edac.rst (the attributes
of memory controllers), Documentation/admin-guide/pm/cpufreq.rst, and
Documentation/driver-api/thermal/sysfs-api.rst.

A figure that this kernel lacks is absent, never zero. Stolen time that stayed zero since a virtual
machine started is absent too: many hypervisors do not report it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import (
    Cell,
    FileBackEnd,
    FileEvent,
    NumberField,
    Place,
    access,
)
from memgauge.counters.files.proc import without_procfs
from memgauge.model.counting.events import Event, Quantity
from memgauge.system.environment.virtualisation import read_virtualisation
from memgauge.system.tree import Tree, whole_number

STOLEN = "steal_time"
_STEAL_COLUMN = 7
"""Words after `cpu`: user, nice, system, idle, iowait, irq, softirq, steal (proc(5))."""
MOST_CPUS = 8
"""Whose clock is read: on many machines each reading interrupts the CPU."""
MOST_ZONES = 8

_PROC = "Linux, Documentation/filesystems/proc.rst"
_PSI = "Linux, Documentation/accounting/psi.rst"
_EDAC = "Linux, Documentation/driver-api/edac.rst"
_CPUFREQ = "Linux, Documentation/admin-guide/pm/cpufreq.rst"
_THERMAL = "Linux, Documentation/driver-api/thermal/sysfs-api.rst"
_WINDOW = "of the kernel since it started"


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number in a file below `/proc`."""

    name: str
    file: str
    cell: NumberField
    meaning: str
    source: str = _PROC
    quantity: Quantity = "count"
    unit: str = ""
    scale: float = 1.0


def _vmstat(name: str, row: str, meaning: str, quantity: Quantity = "count") -> Figure:
    return Figure(
        name=name, file="vmstat", cell=NumberField(row), meaning=meaning, quantity=quantity
    )


def _pressure(name: str, file: str, row: str, meaning: str) -> Figure:
    return Figure(
        name=name,
        file=f"pressure/{file}",
        cell=NumberField(row, "total"),
        meaning=meaning,
        source=_PSI,
        unit="s",
        scale=1e-6,
    )


FIGURES = (
    Figure(
        name=STOLEN,
        file="stat",
        cell=NumberField("cpu", column=_STEAL_COLUMN),
        meaning="processor time that the hypervisor gave to others, summed over CPUs",
        unit="s",
        scale=1 / os.sysconf("SC_CLK_TCK"),
    ),
    _pressure("memory_pressure", "memory", "some", "time in which some task waited for memory"),
    _pressure("memory_stall", "memory", "full", "time in which all tasks waited for memory"),
    _pressure("cpu_pressure", "cpu", "some", "time in which some task waited for a processor"),
    _vmstat("page_faults", "pgfault", "page faults, major ones included", "page_faults"),
    _vmstat("major_faults", "pgmajfault", "page faults that waited for storage", "page_faults"),
    _vmstat("swapped_in", "pswpin", "pages read from swap"),
    _vmstat("swapped_out", "pswpout", "pages written to swap"),
    _vmstat("reclaimed", "pgsteal_kswapd", "pages reclaimed in the background"),
    _vmstat("reclaimed_directly", "pgsteal_direct", "pages reclaimed by tasks that waited for it"),
    _vmstat("numa_migrations", "numa_pages_migrated", "pages moved between nodes by balancing"),
    _vmstat("thp_failures", "thp_fault_fallback", "faults that found no huge page"),
    _vmstat("compaction_stalls", "compact_stall", "tasks that waited for compaction"),
    _vmstat("oom_kills", "oom_kill", "processes killed because memory ran out"),
)


class Kernel(FileBackEnd):
    """Figures of the whole machine."""

    name: ClassVar[str] = "kernel"
    summary: ClassVar[str] = "memory pressure, reclaim, swap, faults and steal of the whole machine"
    remedy = "run as root"

    def probe(self) -> Probe:
        """Whether procfs is there."""
        if self.events():
            return Probe(state="ready")
        return without_procfs(self.host)

    def listed(self) -> list[FileEvent]:
        """What this kernel has, and what only a hypervisor could tell."""
        texts: dict[str, str | None] = {}
        found = [one for figure in FIGURES if (one := self._figure(figure, texts)) is not None]
        return [*found, *self._sensors()]

    def _figure(self, figure: Figure, texts: dict[str, str | None]) -> FileEvent | None:
        """None: the kernel has no such figure."""
        path = str(self.host.procfs / figure.file)
        if figure.file not in texts:
            texts[figure.file] = Tree(self.host.procfs).text(f"/{figure.file}")
        value = _value(texts[figure.file] or "", figure.cell)
        if value is None:
            return None
        event = self._event(
            figure.name,
            figure.meaning,
            encoding=f"{path}: {figure.cell.row}",
            source=figure.source,
            quantity=figure.quantity,
            unit=figure.unit,
            scale=figure.scale,
        )
        if figure.name == STOLEN and value == 0 and self._is_virtual():
            reason = "the hypervisor has reported no stolen time since this machine started"
            event = msgspec.structs.replace(event, state="absent", reason=reason)
            return FileEvent(event=event, places=[])
        place = Place(instance="machine", path=path, cell=figure.cell)
        return FileEvent(
            event=msgspec.structs.replace(event, instances=["machine"]), places=[place]
        )

    def _is_virtual(self) -> bool:
        return read_virtualisation(Tree()).hypervisor is not None

    def _sensors(self) -> Iterator[FileEvent]:
        tree = Tree(self.host.sysfs)
        controllers = "/devices/system/edac/mc"
        numbers = tree.numbered(controllers, "mc")
        for name, file, which in (
            ("ecc_corrected", "ce_count", "corrected"),
            ("ecc_uncorrected", "ue_count", "that could not be corrected"),
        ):
            files = {f"mc{n}": f"{controllers}/mc{n}/{file}" for n in numbers}
            event = self._event(
                name, f"memory errors {which}, by controller", encoding=file, source=_EDAC
            )
            yield from self._with_files(event, files)
        cpus = tree.numbered("/devices/system/cpu", "cpu")
        step = max(1, -(-len(cpus) // MOST_CPUS))
        clocks = {
            f"cpu{n}": f"/devices/system/cpu/cpu{n}/cpufreq/scaling_cur_freq" for n in cpus[::step]
        }
        clock = self._event(
            "clock",
            f"clock of at most {MOST_CPUS} CPUs, spread over the machine",
            encoding="scaling_cur_freq",
            source=_CPUFREQ,
            quantity="frequency",
            unit="Hz",
            scale=1e3,
            gauge=True,
        )
        yield from self._with_files(clock, clocks)
        zones = tree.numbered("/class/thermal", "thermal_zone")[:MOST_ZONES]
        temperature = self._event(
            "temperature",
            "temperature of a thermal zone",
            encoding="temp",
            source=_THERMAL,
            quantity="temperature",
            unit="°C",
            scale=1e-3,
            gauge=True,
        )
        files = {f"zone{n}": f"/class/thermal/thermal_zone{n}/temp" for n in zones}
        yield from self._with_files(temperature, files)

    def _with_files(self, event: Event, files: dict[str, str]) -> Iterator[FileEvent]:
        """The event where its files can be opened; nothing where the machine has none."""
        places = [
            Place(instance=instance, path=path)
            for instance, file in files.items()
            if access(path := f"{self.host.sysfs}{file}").state == "ready"
        ]
        if places:
            instances = [place.instance for place in places]
            yield FileEvent(
                event=msgspec.structs.replace(event, instances=instances), places=places
            )

    def _event(  # noqa: PLR0913 - what an event is made of
        self,
        name: str,
        meaning: str,
        *,
        encoding: str,
        source: str,
        quantity: Quantity = "count",
        unit: str = "",
        scale: float = 1.0,
        gauge: bool = False,
    ) -> Event:
        return Event(
            name=f"{self.name}:{name}",
            back_end=self.name,
            quantity=quantity,
            domain="software",
            scope="machine",
            unit=unit,
            scale=scale,
            scale_source=source,
            gauge=gauge,
            meaning=meaning if gauge else f"{meaning}; {_WINDOW}",
            encoding=encoding,
            instances=[],
            source=source,
            automatic=False,
            state="ready",
        )


def _value(text: str, cell: Cell) -> int | None:
    """The number that a cell holds; None where the file has none there."""
    if not isinstance(cell, NumberField):
        return None
    for line in text.splitlines():
        name, *words = line.split() or [""]
        if name != cell.row:
            continue
        if cell.field:
            start = f"{cell.field}="
            fields = [word.removeprefix(start) for word in words if word.startswith(start)]
            return whole_number(fields[0]) if fields else None
        return whole_number(words[cell.column]) if len(words) > cell.column else None
    return None
