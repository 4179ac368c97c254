"""Fields the kernel publishes open, such as `chip=?`, filled with every value they can have here.

Only the chips of hv_24x7 (POWER under PowerVM) can be determined; others are for the user to give.

Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-hv_24x7 of Linux.
"""

from __future__ import annotations

import msgspec

from memgauge.counters.host import Host
from memgauge.counters.perf.encoding import Term
from memgauge.counters.perf.pmu import DEVICES, Pmu, tree_of


class Filling(msgspec.Struct, frozen=True):
    """Terms with one choice for what was open."""

    terms: list[Term]
    label: str = ""
    socket_index: int | None = None
    """Of the sockets in their order."""


def filled(host: Host, pmu: Pmu, terms: list[Term]) -> list[Filling]:
    """One filling for each chip; the terms as they are where nothing is open or known.

    Args:
        host: Machine whose sysfs tells the numbers of sockets and chips.
        pmu: PMU that publishes the event.
        terms: Terms of one event, filled only if `chip` is the one that is open.
    """
    if [term.name for term in terms if term.is_open] != ["chip"]:
        return [Filling(terms)]
    tree = tree_of(host)
    sockets = tree.integer(f"{DEVICES}/{pmu.name}/interface/sockets")
    per_socket = tree.integer(f"{DEVICES}/{pmu.name}/interface/chipspersocket")
    if not sockets or not per_socket or not 0 < sockets * per_socket <= 1 << 10:
        return [Filling(terms)]
    return [
        Filling(
            [Term("chip", chip) if term.is_open else term for term in terms],
            f"chip {chip}",
            chip // per_socket,
        )
        for chip in range(sockets * per_socket)
    ]
