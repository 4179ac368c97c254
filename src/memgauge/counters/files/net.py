"""`net`: bytes received and sent by network interfaces.

Source: Linux, Documentation/networking/statistics.rst; 64-bit on 64-bit kernels.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.files.kept_files import FileBackEnd, FileEvent, Place, access
from memgauge.model.counting.events import Event, Quantity
from memgauge.system.tree import Tree

SOURCE = "Linux, Documentation/networking/statistics.rst"
_INTERFACES = "/class/net"
_LOOPBACK = 772  # ARPHRD_LOOPBACK of include/uapi/linux/if_arp.h
_PITFALLS = [
    "some drivers refresh the numbers only now and then: steps in a fine timeline",
    "RDMA and RoCE pass by these numbers: see the infiniband events",
]


class Interface(msgspec.Struct, frozen=True):
    """A network interface, and what kind it is."""

    name: str
    kind: str
    """`loopback`, `virtual` (bridges, bonds, VLANs, tunnels, veth) or `device`."""


def interfaces(tree: Tree) -> list[Interface]:
    """All of them, by name."""
    return [
        Interface(name, _kind(tree, f"{_INTERFACES}/{name}"))
        for name in tree.names(_INTERFACES)
        if tree.exists(f"{_INTERFACES}/{name}/statistics")
    ]


def _kind(tree: Tree, interface: str) -> str:
    if tree.integer(f"{interface}/type") == _LOOPBACK:
        return "loopback"
    return "device" if tree.exists(f"{interface}/device") else "virtual"


class Net(FileBackEnd):
    """Two events for each interface."""

    name: ClassVar[str] = "net"
    summary: ClassVar[str] = "bytes received and sent by network interfaces"

    def probe(self) -> Probe:
        """Whether there is any interface."""
        if interfaces(Tree(self.host.sysfs)):
            return Probe(state="ready")
        return Probe(
            state="absent", reason=f"no network interface in {self.host.sysfs}{_INTERFACES}"
        )

    def listed(self) -> list[FileEvent]:
        """Events of all interfaces.

        Virtual interfaces carry what others carry too. Where there is no other, as in a container,
        they are the network.
        """
        known = interfaces(Tree(self.host.sysfs))
        counting = {one.kind for one in known}
        best = "device" if "device" in counting else "virtual"
        return [
            self._event(one, file, quantity, automatic=one.kind == best)
            for one in known
            for file, quantity in _FIGURES
        ]

    def _event(
        self, one: Interface, file: str, quantity: Quantity, *, automatic: bool
    ) -> FileEvent:
        path = f"{self.host.sysfs}{_INTERFACES}/{one.name}/statistics/{file}"
        seen = access(path)
        event = Event(
            name=f"{self.name}:{one.name}/{file}",
            back_end=self.name,
            quantity=quantity,
            domain="software" if one.kind == "loopback" else "network",
            scope="device",
            unit="B",
            scale=1.0,
            scale_source=f"bytes: {SOURCE}",
            meaning=_meaning(one, quantity),
            encoding=path,
            instances=[_instance(one)],
            source=SOURCE,
            automatic=automatic,
            pitfalls=[] if one.kind == "loopback" else _PITFALLS,
            state=seen.state,
            reason=seen.reason,
        )
        return FileEvent(event=event, places=[Place(instance=_instance(one), path=path)])


_FIGURES: tuple[tuple[str, Quantity], ...] = (
    ("rx_bytes", "received_bytes"),
    ("tx_bytes", "sent_bytes"),
)


def _instance(one: Interface) -> str:
    return one.name if one.kind == "device" else f"{one.name} ({one.kind})"


def _meaning(one: Interface, quantity: Quantity) -> str:
    what = f"bytes {quantity.removesuffix('_bytes')} by {one.name}"
    if one.kind == "loopback":
        return f"{what}: IP packets copied within this machine's memory; no network"
    frames = f"{what}: of Ethernet, whole frames without checksum"
    if one.kind == "virtual":
        return f"{frames}; a virtual interface: the same bytes may pass another one too"
    return frames
