"""`pmt`: what Intel processors count of memory traffic in their telemetry, without perf.

Intel's Platform Monitoring Technology lays words of 64 bits out in regions, each of which says by a
GUID which layout it has; the kernel shows a region as a binary file. Two layouts count what the
memory controllers move: Panther Lake's in units of 32 bytes, Granite Rapids' and Clearwater
Forest's, for each channel of a compute die, in a unit that Intel does not state.

Sources: Linux, Documentation/ABI/testing/sysfs-class-intel_pmt, for the files; for the layouts
Intel-PMT, Intel's collection of them (xml/PTL/0, xml/GNR/PUNIT/CDIE, xml/CWF/PUNIT/CDIE), in which
the word of a container stands at eight times its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Literal

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, Word, access
from memgauge.model.counting.events import Certainty, Event
from memgauge.system.tree import Tree, whole_number

REGIONS = "/class/intel_pmt"
REMEDY = (
    "run as root, or let a group read the file (as root: chgrp GROUP FILE; the kernel has set it "
    "to 0440)"
)
_RENEWAL = (
    "how often the processor renews the words is not documented: short regions may count nothing"
)
_NO_UNIT = "bytes per count are documented nowhere: counts only, until verified"
_REGION = re.compile(r"telem[0-9]{1,5}", re.ASCII)
_WORD_BYTES = 8


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """Where in a region its counts stand."""

    guid: int
    region_bytes: int
    title: str
    file: str
    """In Intel-PMT's folder `xml`."""
    reads: range
    """Numbers of the containers, one for each channel, or one for all."""
    writes: range
    bytes_per_count: int | None
    """None: not stated."""

    @property
    def of_channels(self) -> bool:
        """Whether each channel has a count of its own."""
        return len(self.reads) > 1


LAYOUTS = (
    Layout(
        guid=0x0308_6000,
        region_bytes=3352,
        title="Panther Lake",
        file="PTL/0/ptl_aggregator.xml",
        reads=range(259, 260),
        writes=range(258, 259),
        bytes_per_count=32,
    ),
    Layout(
        guid=0x2280_6802,
        region_bytes=1648,
        title="Granite Rapids",
        file="GNR/PUNIT/CDIE/gnr_aggregator.xml",
        reads=range(183, 191),
        writes=range(191, 199),
        bytes_per_count=None,
    ),
    Layout(
        guid=0x2485_9395,
        region_bytes=8192,
        title="Clearwater Forest",
        file="CWF/PUNIT/CDIE/cwf_aggregator.xml",
        reads=range(183, 191),
        writes=range(191, 199),
        bytes_per_count=None,
    ),
)


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """A region of telemetry whose layout is known."""

    name: str
    layout: Layout


class Pmt(FileBackEnd):
    """Telemetry of Intel processors."""

    name: ClassVar[str] = "pmt"
    summary: ClassVar[str] = "memory traffic that Intel processors count in their telemetry"
    remedy = REMEDY

    def probe(self) -> Probe:
        """Whether a region of known layout can be read."""
        events = self.events()
        if any(event.state == "ready" for event in events):
            return Probe(state="ready")
        if events:
            return Probe(state="refused", reason=events[0].reason, remedy=events[0].remedy)
        where = f"{self.host.sysfs}{REGIONS}"
        if found := list(_guids(Tree(self.host.sysfs))):
            guids = {"unreadable" if guid is None else f"{guid:#010x}" for _, guid in found}
            return Probe(
                state="absent",
                reason=f"{where}: no region whose layout counts memory traffic "
                f"(GUID {', '.join(sorted(guids))})",
            )
        return Probe(state="absent", reason=f"no telemetry of an Intel processor in {where}")

    def listed(self) -> list[FileEvent]:
        """Reads and writes of each layout that is here."""
        regions = list(_regions(Tree(self.host.sysfs)))
        return [
            self._event(layout, direction, mine)
            for layout in LAYOUTS
            if (mine := [one for one in regions if one.layout is layout])
            for direction in ("read", "write")
        ]

    def _event(
        self, layout: Layout, direction: Literal["read", "write"], regions: list[Region]
    ) -> FileEvent:
        containers = layout.reads if direction == "read" else layout.writes
        places = [
            Place(
                instance=f"{region.name} channel {channel}" if layout.of_channels else region.name,
                path=f"{self.host.sysfs}{REGIONS}/{region.name}/telem",
                cell=Word(container * _WORD_BYTES),
            )
            for region in regions
            for channel, container in enumerate(containers)
        ]
        refused = next(
            (
                seen
                for path in dict.fromkeys(one.path for one in places)
                if (seen := access(path)).state != "ready"
            ),
            None,
        )
        source = f"Intel-PMT, xml/{layout.file}"
        size = layout.bytes_per_count
        sized = size is not None
        certainty: Certainty = "confirmed" if sized else "none"
        done = "reads" if direction == "read" else "writes"
        event = Event(
            name=f"{self.name}:{direction}_{'bytes' if sized else 'count'}",
            back_end=self.name,
            quantity=("read_bytes" if direction == "read" else "write_bytes") if sized else "count",
            domain="memory",
            scope="controller" if layout.of_channels else "socket",
            unit="B" if sized else "",
            scale=float(size or 1),
            scale_source=f"{size} B a count: {source}" if sized else "not stated",
            meaning=f"{done} of the memory controllers"
            + ("" if sized else ", in a unit that Intel does not state")
            + "; those of devices and graphics too",
            encoding=f"GUID {layout.guid:#010x}, words {containers[0]}"
            + (f" to {containers[-1]}" if layout.of_channels else ""),
            instances=[one.instance for one in places],
            source=source,
            certainty=certainty,
            traffic="dram",
            way="pmt",
            automatic=sized,
            pitfalls=[_RENEWAL] if sized else [_RENEWAL, _NO_UNIT],
            state=refused.state if refused else "ready",
            reason=refused.reason if refused else None,
            remedy=self.remedy if refused else None,
        )
        return FileEvent(event=event, places=places)


def _guids(tree: Tree) -> Iterator[tuple[str, int | None]]:
    """Names of regions and the GUID of each; None: it cannot be read."""
    for name in tree.names(REGIONS):
        if _REGION.fullmatch(name):
            text = tree.text(f"{REGIONS}/{name}/guid") or ""
            yield name, whole_number(text.removeprefix("0x"), 16)


def _regions(tree: Tree) -> Iterator[Region]:
    """Regions of a layout that is known, and of its size: else its words may stand elsewhere."""
    known = {layout.guid: layout for layout in LAYOUTS}
    for name, guid in _guids(tree):
        layout = known.get(guid) if guid is not None else None
        size = whole_number(tree.text(f"{REGIONS}/{name}/size") or "")
        if layout is not None and size == layout.region_bytes:
            yield Region(name=name, layout=layout)
