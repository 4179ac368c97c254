"""What is known of each counter back end before its code is loaded: one entry for each.

What is planned, opened or read by the kind of back end goes by these properties; no other module
chooses by a back end's name. Modules are named here, not imported: most need the native core.
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Entry(msgspec.Struct, frozen=True):
    """A back end: where its code is, and its properties."""

    module: str
    """In `memgauge.counters`."""
    type_name: str
    memory_of: Literal["host", "gpu"] | None = None
    """Whether it is a source of memory traffic of the host or of a GPU."""
    components: tuple[str, ...] = ()
    """The components of a profile that it counts for."""
    highest_rate_hz: float | None = None
    """How often it is sampled at most, in a lane of its own. None: as often as requested, in the
    lane that all such back ends share."""
    overlaps: bool = False
    """Whether another back end of a component may count the same: then only one of those is
    taken."""
    per_process: bool = False
    """Whether it counts exactly the processes it is given. All others count the whole machine, or
    find the descendants of a process themselves."""
    has_terms: bool = False
    """Whether its events hold terms between slashes, and commas between those."""
    means_all: bool = False
    """Whether its name alone, without an event, means all of its events."""
    counts_ticks: bool = False
    """Whether processor time is counted in ticks of the kernel's clock."""
    none_when_ended: bool = False
    """Whether a gauge of a process reads 0 once that has ended, which is no level of its own."""
    has_other_processes: bool = False
    """Whether what it counts for a program may hold other processes' share."""
    unprivileged: bool = False
    """Whether it reads memory controllers without privileges of its reader."""
    gpus_by_bus_id: bool = False
    """Whether its events number GPUs in the order of their bus ids, as CUDA need not do."""
    is_model: bool = False
    """Whether it reports what a model expects, which cannot be verified."""


BACK_ENDS: dict[str, Entry] = {
    "perf": Entry(
        "perf.back_end",
        "PerfBackEnd",
        memory_of="host",
        components=("software", "core", "caches", "tlb", "flops", "energy"),
        overlaps=True,
        per_process=True,
        has_terms=True,
    ),
    # A daemon asks its agents anew.
    "pcp": Entry("pcp.back_end", "Pcp", memory_of="host", highest_rate_hz=10.0, unprivileged=True),
    # One interrupt for each last-level cache.
    "resctrl": Entry("files.resctrl", "Resctrl", memory_of="host", highest_rate_hz=50.0),
    # How often the processor renews the words is not documented.
    "pmt": Entry("files.pmt", "Pmt", memory_of="host", highest_rate_hz=10.0),
    # Each reading is a message to the socket's management unit, of up to a millisecond.
    "hsmp": Entry(
        "files.hsmp", "Hsmp", components=("memory",), highest_rate_hz=10.0, unprivileged=True
    ),
    "powercap": Entry("files.powercap", "Powercap", components=("energy",), overlaps=True),
    # Sensors are often behind a slow bus.
    "hwmon": Entry("files.hwmon", "Hwmon", components=("energy",), highest_rate_hz=10.0),
    # A reading may ask the adapter; hw_counters refresh each 10 ms.
    "infiniband": Entry(
        "files.infiniband", "Infiniband", components=("network",), highest_rate_hz=10.0
    ),
    "net": Entry("files.net", "Net", components=("network",)),
    # One reading for each process and thread.
    "proc": Entry(
        "files.proc",
        "Proc",
        components=("process",),
        highest_rate_hz=50.0,
        counts_ticks=True,
        none_when_ended=True,
    ),
    # The kernel first gathers a group's figures from all CPUs.
    "cgroup": Entry(
        "files.cgroup",
        "Cgroup",
        components=("cgroup",),
        highest_rate_hz=10.0,
        has_other_processes=True,
    ),
    # Nothing of a profile's components: what they tell of the machine, `Environment` records too.
    "kernel": Entry("files.kernel", "Kernel", highest_rate_hz=10.0),
    # Drivers refresh power and use some ten times a second.
    "nvml": Entry(
        "nvml.back_end", "Nvml", components=("gpu",), highest_rate_hz=10.0, gpus_by_bus_id=True
    ),
    # Each reading decodes what the GPU sampled: a millisecond or more.
    "cupti": Entry(
        "cupti.back_end", "Cupti", memory_of="gpu", components=("gpu",), highest_rate_hz=20.0
    ),
    "modelled": Entry("modelled", "Modelled", means_all=True, is_model=True),
}
"""By the name that stands before the colon of their events, best first. Adding a back end to
memgauge is one entry here."""

MEMORY_ORDER = tuple(name for name, one in BACK_ENDS.items() if one.memory_of == "host")
"""Back ends for memory traffic of the host, best first."""

GPU_MEMORY_ORDER = tuple(name for name, one in BACK_ENDS.items() if one.memory_of == "gpu")
"""The same of a GPU's memory."""


def of_component(component: str) -> list[str]:
    """The back ends that count for a component of a profile, those that may be read often first."""
    names = [name for name, one in BACK_ENDS.items() if component in one.components]
    return sorted(names, key=lambda name: -(BACK_ENDS[name].highest_rate_hz or float("inf")))


_UNKNOWN = Entry("", "")


def entry_of(name: str) -> Entry:
    """The properties of a back end; none of one that a record names and this version lacks."""
    return BACK_ENDS.get(name, _UNKNOWN)
