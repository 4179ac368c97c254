"""Events that the kernel itself declares in bytes, of memory's PMUs that the tables do not know.

A `.unit` file of bytes says what a count is worth; which way the bytes go stands in the event's
name, and that they are memory's in the PMU's. What such a PMU leaves out or counts twice nobody has
written down here, so `auto` never chooses its events: they are to be verified, and named.
"""

from __future__ import annotations

import re

import msgspec

from memgauge.counters.perf.data import families
from memgauge.counters.perf.pmu import Pmu, PublishedEvent
from memgauge.counters.perf.scale import BYTE_UNITS, Worth
from memgauge.model.counting.events import Quantity

_MEMORY = re.compile(r"(?:^|_)(?:mem|memory|l?p?ddr[0-9]*|dram|hbm|imc|dmc|umc|mcu?)(?=_|[0-9]|$)")
_BETWEEN = re.compile(r"[^a-z]+")
_READS = frozenset({"rd", "read", "reads"})
_WRITES = frozenset({"wr", "write", "writes"})
_BOTH = frozenset({"rw", "rdwr", "total"})


def declared_bytes(pmu: Pmu, published: PublishedEvent | None, value: Worth) -> Worth:
    """What an event is worth that no table knows: bytes of memory, where the kernel says so.

    Args:
        pmu: The PMU that publishes it.
        published: The event; None: it is a raw encoding.
        value: What its `.scale` and `.unit` files say.
    """
    if published is None or not _in_bytes(published) or not _is_unknown_memory(pmu):
        return value
    quantity = _quantity(published.name)
    return value if quantity is None else msgspec.structs.replace(value, quantity=quantity)


def declares_bytes(pmu: Pmu) -> bool:
    """Whether a PMU that no table knows publishes bytes of memory one way or both."""
    return _is_unknown_memory(pmu) and any(
        _in_bytes(one) and _quantity(one.name) is not None for one in pmu.events.values()
    )


def _is_unknown_memory(pmu: Pmu) -> bool:
    """Whether it is of memory and of no family that the tables describe."""
    return bool(_MEMORY.search(pmu.name)) and not any(
        one.number(pmu.name) is not None for one in families()
    )


def _in_bytes(published: PublishedEvent) -> bool:
    return published.scale is not None and (published.unit or "").lower() in BYTE_UNITS


def _quantity(name: str) -> Quantity | None:
    words = set(_BETWEEN.split(name.lower()))
    reads, writes = bool(words & _READS), bool(words & _WRITES)
    if words & _BOTH or (reads and writes):
        return "traffic_bytes"
    if reads:
        return "read_bytes"
    return "write_bytes" if writes else None
