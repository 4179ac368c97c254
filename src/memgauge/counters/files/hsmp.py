"""`hsmp`: the memory bandwidth that AMD's EPYC processors report by themselves, for any user.

The system management unit of each socket gives, through the Host System Management Port, how many
GB/s its DDR moves, reads and writes together, and how many it could: whole numbers, each an average
over a time that AMD does not tell. They are rates at an instant, not counts: no difference of two
readings means anything, what lies between two readings is not known, and no region has bytes. So
they check the plausibility of other figures, and show a profile where nothing may be counted.

Source: Linux, Documentation/arch/x86/amd_hsmp.rst, "HSMP telemetry sysfs files", readable by all
(mode 0444): in `AMDI0097:0X` of the driver that firmware's tables describe, whose `uid` tells the
socket, and in `amd_hsmp/socketX` of the other. The unit, GB/s, stands there and in AMD's E-SMI
library (e_smi.h, struct ddr_bw_metrics). Reading asks the management unit, which answers within a
millisecond or so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event, Quantity
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/arch/x86/amd_hsmp.rst"
DEVICES = "/devices/platform"
REMEDY = (
    "on an AMD EPYC whose firmware has HSMP enabled, load the driver as root (modprobe hsmp_acpi, "
    "or amd_hsmp)"
)
_GB = 1e9
_ACPI = re.compile(r"AMDI0097:[0-9A-Fa-f]{2,4}")
_UID = re.compile(r"ID([0-9]{1,4})", re.ASCII)
_PITFALLS = (
    "a sampled rate, averaged over a time that AMD does not tell: no bytes follow from it",
    "whole GB/s only",
    "the kernel's header calls the unit Gbps; its documentation and AMD's library say GB/s",
)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A number that the driver shows for each socket."""

    file: str
    name: str
    quantity: Quantity
    unit: str
    scale: float
    meaning: str
    automatic: bool = False


FIGURES = (
    Figure(
        file="ddr_utilised_bw_input",
        name="ddr_bandwidth",
        quantity="bandwidth",
        unit="B/s",
        scale=_GB,
        meaning="bandwidth of the socket's DDR, reads and writes together, as its management unit "
        "samples it",
        automatic=True,
    ),
    Figure(
        file="ddr_max_bw",
        name="ddr_max_bandwidth",
        quantity="bandwidth",
        unit="B/s",
        scale=_GB,
        meaning="theoretical maximum of the bandwidth of the socket's DDR",
    ),
    Figure(
        file="ddr_utilised_bw_perc_input",
        name="ddr_utilisation",
        quantity="utilisation",
        unit="",
        scale=0.01,
        meaning="share of that maximum which is used, as the management unit samples it",
    ),
)


class Socket(msgspec.Struct, frozen=True, kw_only=True):
    """The directory of one socket's management unit."""

    directory: str
    number: int | None
    """None: firmware does not tell."""

    @property
    def instance(self) -> str:
        """Its socket, or what the kernel calls its device."""
        return self.directory.rpartition("/")[2] if self.number is None else f"socket {self.number}"


class Hsmp(FileBackEnd):
    """AMD's Host System Management Port."""

    name: ClassVar[str] = "hsmp"
    summary: ClassVar[str] = "DDR bandwidth of AMD EPYC sockets as they sample it, for any user"
    remedy = "run as root: these files are closed here, though the driver opens them to all"

    def probe(self) -> Probe:
        """Whether a socket shows its bandwidth."""
        events = self.events()
        if any(event.state == "ready" for event in events):
            return Probe(state="ready")
        if events:
            return Probe(state="refused", reason=events[0].reason, remedy=events[0].remedy)
        where = f"{self.host.sysfs}{DEVICES}"
        if sockets := list(_sockets(Tree(self.host.sysfs))):
            return Probe(
                state="absent",
                reason=f"{where}/{sockets[0].directory.removeprefix(f'{DEVICES}/')}: this kernel's "
                "HSMP driver shows no bandwidth",
                remedy="use a kernel whose driver has the telemetry files (2025 or later)",
            )
        return Probe(
            state="absent",
            reason=f"no HSMP device (AMDI0097, amd_hsmp) in {where}",
            remedy=REMEDY,
        )

    def listed(self) -> list[FileEvent]:
        """One event for each figure, read from each socket that shows it."""
        tree = Tree(self.host.sysfs)
        sockets = list(_sockets(tree))
        found = []
        for figure in FIGURES:
            shown = [one for one in sockets if tree.exists(f"{one.directory}/{figure.file}")]
            if shown:
                found.append(self._event(figure, shown))
        return found

    def _event(self, figure: Figure, sockets: list[Socket]) -> FileEvent:
        places = [
            Place(
                instance=one.instance,
                path=f"{self.host.sysfs}{one.directory}/{figure.file}",
                socket=one.number,
            )
            for one in sockets
        ]
        refused = next(
            (seen for one in places if (seen := access(one.path)).state != "ready"), None
        )
        event = Event(
            name=f"{self.name}:{figure.name}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="memory",
            scope="socket",
            unit=figure.unit,
            scale=figure.scale,
            scale_source=f"{'GB/s' if figure.unit else 'per cent'}: {SOURCE}",
            gauge=True,
            meaning=figure.meaning,
            encoding=figure.file,
            instances=[one.instance for one in places],
            source=SOURCE,
            certainty="confirmed",
            pitfalls=list(_PITFALLS),
            automatic=figure.automatic,
            state=refused.state if refused else "ready",
            reason=refused.reason if refused else None,
            remedy=self.remedy if refused else None,
        )
        return FileEvent(event=event, places=places)


def _sockets(tree: Tree) -> Iterator[Socket]:
    """Directories of management units: those of firmware's tables, else of the other driver."""
    for name in tree.names(DEVICES):
        if _ACPI.fullmatch(name):
            directory = f"{DEVICES}/{name}"
            uid = _UID.fullmatch(tree.text(f"{directory}/firmware_node/uid") or "")
            yield Socket(directory=directory, number=int(uid[1]) if uid else None)
    for number in tree.numbered(f"{DEVICES}/amd_hsmp", "socket"):
        yield Socket(directory=f"{DEVICES}/amd_hsmp/socket{number}", number=number)
