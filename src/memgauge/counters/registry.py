"""All counter back ends. Adding one is one line here.

The modules are loaded when one is asked for: most need the native core.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import msgspec

from memgauge.counters.base import BackEnd, Probe, unknown
from memgauge.counters.host import Host
from memgauge.model.counting.events import BackEndState, Event


class Entry(msgspec.Struct, frozen=True):
    """Where a back end is."""

    module: str
    type_name: str


BACK_ENDS: dict[str, Entry] = {
    "perf": Entry("perf.back_end", "PerfBackEnd"),
    "pcp": Entry("pcp.back_end", "Pcp"),
    "resctrl": Entry("files.resctrl", "Resctrl"),
    "powercap": Entry("files.powercap", "Powercap"),
    "hwmon": Entry("files.hwmon", "Hwmon"),
    "infiniband": Entry("files.infiniband", "Infiniband"),
    "net": Entry("files.net", "Net"),
    "proc": Entry("files.proc", "Proc"),
    "cgroup": Entry("files.cgroup", "Cgroup"),
    "nvml": Entry("nvml.back_end", "Nvml"),
    "cupti": Entry("cupti.back_end", "Cupti"),
    "modelled": Entry("modelled", "Modelled"),
}

MEMORY_ORDER = ("perf", "pcp", "resctrl")
"""Who is asked for memory traffic, best first."""

GPU_MEMORY_ORDER = ("cupti",)
"""The same of a GPU's memory."""


def load(name: str, host: Host) -> BackEnd:
    """The back end of that name.

    Raises:
        UnknownEvent: no such back end.
    """
    if name not in BACK_ENDS:
        raise unknown(f"{name}:", [f"{known}:" for known in BACK_ENDS])
    entry = BACK_ENDS[name]
    module = import_module(f"memgauge.counters.{entry.module}")
    made: BackEnd = getattr(module, entry.type_name)(host)
    return made


def back_ends(host: Host) -> list[BackEnd]:
    """All of them, in the order of the registry."""
    return [load(name, host) for name in BACK_ENDS]


def states(host: Host) -> list[BackEndState]:
    """What `memgauge counters` lists: each back end, whether it works, and its events."""
    return [_state(one) for one in back_ends(host)]


def state_with(name: str, host: Host, events: Sequence[Event]) -> BackEndState:
    """A back end with events that were found in it, listed or not."""
    one = load(name, host)
    return _with(one, one.probe(), events)


def _state(one: BackEnd) -> BackEndState:
    probe = one.probe()
    return _with(one, probe, one.events() if probe.state != "absent" else [])


def _with(one: BackEnd, probe: Probe, events: Sequence[Event]) -> BackEndState:
    return BackEndState(
        name=one.name,
        summary=one.summary,
        state=probe.state,
        reason=probe.reason,
        remedy=probe.remedy,
        events=list(events),
    )
