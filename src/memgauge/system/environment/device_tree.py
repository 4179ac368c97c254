"""The memory's theoretical bandwidth from a device tree, as far as one describes the memory.

Sources: Linux, Documentation/devicetree/bindings/memory-controllers/ddr: `jedec,*-channel` (pins of
a channel), `jedec,lpddr2-timings` and `jedec,lpddr3-timings` (fastest clock of a speed bin). Of
LPDDR4 and later and of DDR the bindings describe channels, but no clock. skiboot, doc/device-tree:
the DDR ports of a POWER9 and their modules, but no clock that is defined as one of the memory.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

from memgauge.model.units import format_count
from memgauge.system.environment.data_sheet import DataSheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memgauge.system.tree import Tree

BASE = "/sys/firmware/devicetree/base"
_CHANNEL = re.compile(r"jedec,(?P<kind>(?:lp)?ddr\d+)-channel")
_TIMINGS = re.compile(r"jedec,lpddr[23]-timings")
_TRANSFERS_PER_CLOCK = 2
"""Of LPDDR2 and LPDDR3: on both edges (JEDEC JESD209-2, JESD209-3)."""
_PORT = ("xscom@", "mcbist@", "mcs@", "mca@", "dimm@")
"""The way to a module of a POWER9; `mca` is one DDR port."""


class Channel(NamedTuple):
    """A memory channel; what is not stated is None."""

    kind: str
    data_bits: int | None
    clock_hz: int | None
    """Fastest that all its ranks have timings for."""


def read_device_tree(tree: Tree) -> DataSheet | None:
    """Sum the channels; None if the device tree does not describe the memory."""
    channels = list(_channels(tree))
    if not channels:
        return _power(tree)
    rates = [_bytes_per_s(channel) for channel in channels]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(channels):
        missing = "width" if None in {channel.data_bits for channel in channels} else "clock"
        return DataSheet(
            None, f"unknown: the device tree lists {_named(channels)}, but not the {missing} of all"
        )
    total = sum(known)
    return DataSheet(
        total,
        f"{total / 1e9:.1f} GB/s over {_named(channels)}, at the fastest clock in the device tree",
        source="device tree",
    )


def _named(channels: list[Channel]) -> str:
    kinds = "/".join(sorted({channel.kind.upper() for channel in channels}))
    return f"{format_count(len(channels), 'channel')} of {kinds}"


def _bytes_per_s(channel: Channel) -> float | None:
    if channel.data_bits is None or channel.clock_hz is None:
        return None
    return channel.data_bits / 8 * channel.clock_hz * _TRANSFERS_PER_CLOCK


def _channels(tree: Tree) -> Iterator[Channel]:
    """Channels are children of the root: that is where firmware puts them."""
    for name in tree.names(BASE):
        directory = f"{BASE}/{name}"
        found = _CHANNEL.search(tree.text(f"{directory}/compatible") or "")
        if found is not None:
            ranks = [one for one in tree.names(directory) if one.startswith("rank")]
            clocks = [_clock_hz(tree, f"{directory}/{rank}") for rank in ranks]
            known = [clock for clock in clocks if clock is not None]
            yield Channel(
                found["kind"],
                _cell(tree, f"{directory}/io-width"),
                min(known) if known and len(known) == len(ranks) else None,
            )


def _clock_hz(tree: Tree, rank: str) -> int | None:
    """Fastest clock of the speed bins of a rank; the bindings name it in two ways."""
    clocks = []
    for name in tree.names(rank):
        if _TIMINGS.search(tree.text(f"{rank}/{name}/compatible") or ""):
            clock = _cell(tree, f"{rank}/{name}/max-freq") or _cell(tree, f"{rank}/{name}/reg")
            clocks += [clock] if clock else []
    return max(clocks, default=None)


def _cell(tree: Tree, path: str) -> int | None:
    """A property of one 32-bit number above zero."""
    raw = tree.raw(path)
    if raw is None or len(raw) != struct.calcsize(">I"):
        return None
    return int(struct.unpack(">I", raw)[0]) or None


def _power(tree: Tree) -> DataSheet | None:
    modules = [BASE]
    for start in _PORT:
        modules = [
            f"{directory}/{name}"
            for directory in modules
            for name in tree.names(directory)
            if name.startswith(start)
        ]
    if not modules:
        return None
    ports = {module.rpartition("/")[0] for module in modules}
    return DataSheet(
        None,
        f"unknown: the device tree lists {format_count(len(modules), 'module')} on "
        f"{format_count(len(ports), 'DDR port')}, but no speed",
    )
