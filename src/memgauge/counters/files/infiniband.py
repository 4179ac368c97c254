"""`infiniband`: data of InfiniBand, RoCE and EFA ports, which network interfaces do not show.

Source: Linux, Documentation/ABI/stable/sysfs-class-infiniband: port data is counted in words of 4
bytes. InfiniBand Architecture Specification, PortCounters: the 32-bit counters of old adapters stop
at their largest value.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event, Quantity
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/ABI/stable/sysfs-class-infiniband"
_DEVICES = "/class/infiniband"


class Figure(msgspec.Struct, frozen=True):
    """A counter of a port."""

    directory: str
    file: str
    quantity: Quantity
    bytes_per_count: int


FIGURES = (
    Figure("counters", "port_rcv_data", "received_bytes", 4),
    Figure("counters", "port_xmit_data", "sent_bytes", 4),
    # Adapters without the InfiniBand counters, such as EFA, count bytes.
    Figure("hw_counters", "rx_bytes", "received_bytes", 1),
    Figure("hw_counters", "tx_bytes", "sent_bytes", 1),
)


class Infiniband(FileBackEnd):
    """One event for each port and direction."""

    name: ClassVar[str] = "infiniband"
    summary: ClassVar[str] = "data received and sent by InfiniBand, RoCE and EFA ports"
    remedy = "run as root"

    def probe(self) -> Probe:
        """Whether an adapter is there."""
        if self.events():
            return Probe(state="ready")
        return Probe(
            state="absent",
            reason=f"no adapter with data counters in {self.host.sysfs}{_DEVICES}",
        )

    def listed(self) -> list[FileEvent]:
        """Events of all ports; of a port that has both kinds of counters, the first."""
        tree = Tree(self.host.sysfs)
        found: list[FileEvent] = []
        for device in tree.names(_DEVICES):
            for port in tree.names(f"{_DEVICES}/{device}/ports"):
                known: dict[Quantity, FileEvent] = {}
                for figure in FIGURES:
                    path = f"{_DEVICES}/{device}/ports/{port}/{figure.directory}/{figure.file}"
                    if figure.quantity not in known and tree.exists(path):
                        known[figure.quantity] = self._event(tree, device, port, figure)
                found += known.values()
        return found

    def _event(self, tree: Tree, device: str, port: str, figure: Figure) -> FileEvent:
        below = f"{_DEVICES}/{device}/ports/{port}"
        path = f"{self.host.sysfs}{below}/{figure.directory}/{figure.file}"
        seen = access(path)
        link = tree.text(f"{below}/link_layer") or "unknown"
        words = "words of 4 bytes" if figure.bytes_per_count == 4 else "bytes"
        instance = f"{device}/{port}"
        event = Event(
            name=f"{self.name}:{instance}/{figure.file}",
            back_end=self.name,
            quantity=figure.quantity,
            domain="network",
            scope="device",
            unit="B",
            scale=float(figure.bytes_per_count),
            scale_source=f"{words}: {SOURCE}",
            meaning=(
                f"data {'received' if figure.quantity == 'received_bytes' else 'sent'} by the "
                f"port, counted in {words}; link layer {link}"
            ),
            encoding=path,
            instances=[instance],
            source=SOURCE,
            pitfalls=_pitfalls(tree, below, figure),
            state=seen.state,
            reason=seen.reason,
            remedy=self.remedy if seen.state == "refused" else None,
        )
        return FileEvent(event=event, places=[Place(instance=instance, path=path)])


def _pitfalls(tree: Tree, port: str, figure: Figure) -> list[str]:
    if figure.directory == "hw_counters":
        lifespan_ms = tree.integer(f"{port}/hw_counters/lifespan")
        life = "some" if lifespan_ms is None else str(lifespan_ms)
        return [f"the driver asks the adapter at most every {life} ms (lifespan): steps"]
    return [
        "each read may ask the adapter: sample no faster than needed",
        "an old adapter stops at 4294967295 counts (32 bits) until it is reset",
    ]
