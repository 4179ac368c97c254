"""The memory's theoretical bandwidth from whatever states channels, width and speed; never guessed.

What firmware claims of a node's bandwidth (ACPI HMAT) is not among it: the table does not say
whether that is a peak or was measured. It is a claim of its own, see `system/tiers/hmat.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memgauge.model.units import format_count
from memgauge.system.environment.data_sheet import DataSheet, read_data_sheet
from memgauge.system.environment.device_tree import read_device_tree

if TYPE_CHECKING:
    from memgauge.model.system import MemoryHardware
    from memgauge.system.environment.virtualisation import Virtualisation
    from memgauge.system.tree import Tree

_GIVE = "give it with --peak"


def read_theoretical_peak(
    tree: Tree,
    virtualisation: Virtualisation,
    sockets: int,
    hardware: MemoryHardware | None,
) -> DataSheet:
    """The bandwidth and its source, or what is known and what is missing.

    Args:
        tree: Root of the sysfs to read.
        virtualisation: If it has a hypervisor, nothing is known: its memory is virtual.
        sockets: Number of sockets.
        hardware: Controllers and modules; None if unknown.
    """
    listed = hardware if hardware is not None and hardware.source == "edac" else None
    sheet = read_data_sheet(tree, virtualisation, sockets, listed)
    if sheet.bytes_per_s is not None or virtualisation.hypervisor is not None:
        return sheet
    stated = read_device_tree(tree)
    if stated is not None and (stated.bytes_per_s is not None or sheet.remedy is None):
        return stated._replace(remedy=None if stated.bytes_per_s is not None else _GIVE)
    return DataSheet(
        None,
        sheet.detail + _listed_channels(listed),
        _GIVE if sheet.remedy is None else f"{sheet.remedy}, or {_GIVE}",
    )


def _listed_channels(hardware: MemoryHardware | None) -> str:
    """What EDAC contributes: populated channels and the kind of memory, which is no speed."""
    if hardware is None or hardware.channels is None:
        return ""
    kinds = sorted({one.type for one in hardware.modules if one.type is not None})
    of = f" of {', '.join(kinds)}" if kinds else ""
    return f"; EDAC lists {format_count(hardware.channels, 'channel')}{of}, but no speed"
