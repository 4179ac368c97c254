"""`powercap`: energy by the kernel's power-capping zones, such as Intel's and AMD's RAPL.

Source: Linux, Documentation/power/powercap/powercap.rst; drivers/powercap/powercap_sys.c. What a
zone includes: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, section
"RAPL domains": cores and uncore are parts of the package, memory is not, psys is the platform.

A zone's number starts at zero after `max_energy_range_uj`: one such step is undone, more between
two readings cannot be seen. At 200 W the usual range of 262 kJ lasts 22 minutes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from memgauge.counters.base import MACHINE, Opened, Probe, Target
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event, Scope
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/power/powercap/powercap.rst"
REMEDY = (
    "run as root, or as root: chmod a+r /sys/class/powercap/*/energy_uj "
    "(closed since CVE-2020-8694: fine power readings leak secrets)"
)
_ZONES = "/class/powercap"
_PACKAGE = re.compile(r"package-([0-9]{1,9})(?![0-9])", re.ASCII)


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """One zone: what it is called, and which zone it lies in."""

    key: str
    """Its directory: `intel-rapl:0`, and `intel-rapl:0:2` within it."""
    name: str
    parent: Zone | None
    range_uj: int | None

    @property
    def place(self) -> str:
        """Its name, and that of the zone it lies in."""
        return self.name if self.parent is None else f"{self.parent.name}/{self.name}"

    @property
    def package(self) -> int | None:
        """The socket it belongs to."""
        match = _PACKAGE.match(self.name)
        if match:
            return int(match[1])
        return self.parent.package if self.parent else None


def zones(tree: Tree) -> list[Zone]:
    """All zones that count energy; outer ones first."""
    found: dict[str, Zone] = {}
    for key in sorted(tree.names(_ZONES), key=lambda key: (key.count(":"), key)):
        if ":" in key and tree.exists(f"{_ZONES}/{key}/energy_uj"):
            found[key] = Zone(
                key=key,
                name=tree.text(f"{_ZONES}/{key}/name") or key,
                parent=found.get(key.rpartition(":")[0]),
                range_uj=tree.integer(f"{_ZONES}/{key}/max_energy_range_uj"),
            )
    return list(found.values())


def part_of(zone: Zone, among: Sequence[Zone]) -> str | None:
    """What counts the zone's energy too, in words; None: it may be added to other such zones."""
    if _is_copy(zone):
        for one in among:
            if not _is_copy(one) and one.place == zone.place:
                return f"the same as {one.key} through another register"
    if zone.parent is not None and zone.name != "dram":
        return f"a part of {zone.parent.key}"
    if zone.name.startswith("psys") and any(_PACKAGE.match(one.name) for one in among):
        return "the whole platform, packages included"
    return None


def _is_copy(zone: Zone) -> bool:
    return zone.key.startswith("intel-rapl-mmio:")


class Powercap(FileBackEnd):
    """Energy of packages, memory and platform, in microjoules."""

    name: ClassVar[str] = "powercap"
    summary: ClassVar[str] = "energy of packages, memory and platform (RAPL), by the kernel's zones"
    remedy = REMEDY

    def probe(self) -> Probe:
        """Whether there are zones, and whether they may be read."""
        events = self.events()
        if not events:
            return Probe(
                state="absent",
                reason=f"no energy zone in {self.host.sysfs}{_ZONES}",
                remedy="load intel_rapl_msr as root; virtual machines have no zones",
            )
        ready = [event for event in events if event.state == "ready"]
        worst = (ready or events)[0]
        return Probe(state=worst.state, reason=worst.reason, remedy=worst.remedy)

    def listed(self) -> list[FileEvent]:
        """One event for each zone."""
        known = zones(Tree(self.host.sysfs))
        return [self._event(zone, known) for zone in known]

    def _event(self, zone: Zone, known: Sequence[Zone]) -> FileEvent:
        path = f"{self.host.sysfs}{_ZONES}/{zone.key}/energy_uj"
        seen = access(path)
        also = part_of(zone, known)
        event = Event(
            name=f"{self.name}:{zone.key}",
            back_end=self.name,
            quantity="energy",
            domain="energy",
            scope=_scope(zone),
            unit="J",
            scale=1e-6,
            scale_source=f"microjoules: {SOURCE}",
            meaning=f"energy of {zone.place}" + (f": {also}; never add both" if also else ""),
            encoding=path,
            instances=[zone.place],
            source=SOURCE,
            automatic=also is None,
            pitfalls=["starts at zero again after max_energy_range_uj; updated about each ms"],
            state=seen.state,
            reason=seen.reason,
            remedy=REMEDY if seen.state == "refused" else None,
        )
        place = Place(
            instance=zone.place,
            path=path,
            socket=zone.package,
            wraps_at=zone.range_uj if zone.range_uj and zone.range_uj > 0 else None,
        )
        return FileEvent(event=event, places=[place])

    def find(self, text: str) -> list[Event]:
        """The events of a zone, or of all zones of a name that may be added up.

        `package`, `dram`, `core` and `psys` mean that zone of every socket.
        """
        known = zones(Tree(self.host.sysfs))
        alike = {
            f"{self.name}:{zone.key}"
            for zone in known
            if re.fullmatch(rf"{re.escape(text)}(-\d+)?", zone.name) and "-mmio" not in zone.key
        }
        return [event for event in self.events() if event.name in alike] or super().find(text)

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        """Open zones; a note tells of those that count the same energy."""
        made = super().open(events, target)
        made.notes += [f"{event.name}: {event.meaning}" for event in events if not event.automatic]
        return made


def _scope(zone: Zone) -> Scope:
    if zone.name.startswith("psys"):
        return "machine"
    return "socket" if zone.package is not None and zone.name != "core" else "device"
