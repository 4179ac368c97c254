"""The PCI Express link of a device and its NUMA node, as sysfs reports them.

Source: the kernel's Documentation/ABI/testing/sysfs-bus-pci; PCI Express Base Specification 6.0:
lanes at 2.5 and 5 GT/s carry 8 bits in 10 (8b/10b), from 8 GT/s on 128 in 130, and at 64 GT/s flits
of 256 bytes, 242 of which are packets (the rest: check and correction).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_DEVICES = "/sys/bus/pci/devices"
_SPEED = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,2})?) GT/s")
_BUS_ID = re.compile(r"([0-9a-f]{1,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])")
_MOST_LANES = 32

ENCODINGS: dict[float, tuple[str, Fraction]] = {
    2.5: ("8b/10b", Fraction(8, 10)),
    5.0: ("8b/10b", Fraction(8, 10)),
    8.0: ("128b/130b", Fraction(128, 130)),
    16.0: ("128b/130b", Fraction(128, 130)),
    32.0: ("128b/130b", Fraction(128, 130)),
    64.0: ("flits of 242 in 256 bytes", Fraction(242, 256)),
}
"""By GT/s per lane: the encoding, and the share of the bits that remains for packets."""


class PciLink(msgspec.Struct, frozen=True):
    """One direction of a link."""

    gt_per_s: float
    """Speed of a lane in 1e9 encoded bits per second."""
    lanes: int

    @property
    def bytes_per_s(self) -> float:
        """Bytes a second that remain for packets, including their headers."""
        return float(self.gt_per_s * 1e9 * self.lanes / 8 * ENCODINGS[self.gt_per_s][1])

    def __str__(self) -> str:
        """Such as `16 GT/s x16, 128b/130b`."""
        return f"{self.gt_per_s:g} GT/s x{self.lanes}, {ENCODINGS[self.gt_per_s][0]}"


class PciPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a device is attached; fields are None if sysfs does not report them."""

    node: int | None = None
    """The NUMA node that is nearest."""
    current: PciLink | None = None
    """The link as it runs now: idle devices slow their links down."""
    most: PciLink | None = None
    """The fastest link that the device supports, regardless of its slot."""


def pci_place(tree: Tree, bus_id: str) -> PciPlace:
    """The place of the device at an address such as `0000:3b:00.0`.

    Empty for a malformed address.
    """
    match = _BUS_ID.fullmatch(bus_id.strip().lower())
    if match is None:
        return PciPlace()
    domain, bus, device, function = match.groups()
    at = f"{_DEVICES}/{int(domain, 16):04x}:{bus}:{device}.{function}"
    node = tree.integer(f"{at}/numa_node")
    return PciPlace(
        node=node if node is not None and node >= 0 else None,
        current=_link(tree, at, "current"),
        most=_link(tree, at, "max"),
    )


def _link(tree: Tree, at: str, which: str) -> PciLink | None:
    """The link; None if speed or width are unknown or not in the standard."""
    speed = _SPEED.match(tree.text(f"{at}/{which}_link_speed") or "")
    lanes = tree.quantity(f"{at}/{which}_link_width")
    if speed is None or not lanes or lanes > _MOST_LANES or float(speed[1]) not in ENCODINGS:
        return None
    return PciLink(float(speed[1]), lanes)
