"""Which socket a memory controller belongs to, by the rule of its own platform.

On most, it is the package of the CPU in the PMU's `cpumask`. Not on all: the cpumask of a DMC-620
is the CPU its interrupt goes to, and others carry socket or die in their name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from memgauge.counters.perf.pmu import Pmu
from memgauge.model.addresses import equal_shares
from memgauge.system.tree import whole_number

SocketRule = Literal["cpumask", "associated", "address", "number", "die", "die_prefix", "none"]
"""cpumask: package of the CPU it is opened on. associated: of the first CPU in `associated_cpus`.
address: order of the controllers' addresses in their names. number: the number in the name is the
socket's. die, die_prefix: dies in the order of the number, or of an address's upper digits, so many
to a socket. none: not known."""

ADDRESSED = frozenset({"address", "die_prefix"})
"""Rules by which the number in the name is a hexadecimal address."""
_PREFIX_BITS = 20
"""Of an ali_drw address: what lies above tells the die (alibaba_pmu.rst)."""


class Layout(msgspec.Struct, frozen=True):
    """Sockets of the machine."""

    package_of: dict[int, int]
    """By CPU."""

    @property
    def sockets(self) -> list[int]:
        """Package numbers, rising: they may be sparse."""
        return sorted(set(self.package_of.values()))


def sockets_of(
    pmus: Sequence[Pmu], numbers: Sequence[str], rule: SocketRule, layout: Layout, dies: int | None
) -> list[int | None]:
    """The socket of each PMU of a family, or None where the rule is about the CPU or fails.

    Args:
        pmus: All PMUs of the family on this machine.
        numbers: The number or address in the name of each PMU, as text; empty where it has none.
        rule: How the family's sockets are found.
        layout: Sockets of the machine.
        dies: Dies of each socket, for the rules about dies; None divides the dies found equally.
    """
    if rule == "associated":
        return [_package_of_first(pmu.associated_cpus, layout) for pmu in pmus]
    if rule == "number":
        return [nth_socket(layout, whole_number(number)) for number in numbers]
    if rule == "address":
        return _by_address([whole_number(number, 16) for number in numbers], layout)
    if rule == "die":
        return _by_die([whole_number(number) for number in numbers], layout, dies)
    if rule == "die_prefix":
        addresses = [whole_number(number, 16) for number in numbers]
        prefixes = [None if one is None else one >> _PREFIX_BITS for one in addresses]
        return _by_die(prefixes, layout, dies)
    return [None for _ in pmus]


def _package_of_first(cpus: Sequence[int] | None, layout: Layout) -> int | None:
    return layout.package_of.get(cpus[0]) if cpus else None


def nth_socket(layout: Layout, index: int | None) -> int | None:
    """The package number of the n-th socket."""
    known = layout.sockets
    return known[index] if index is not None and index < len(known) else None


def _by_address(addresses: Sequence[int | None], layout: Layout) -> list[int | None]:
    """Equal shares of the controllers in the order of their addresses; else split at the gaps."""
    known = sorted({address for address in addresses if address is not None})
    sockets = len(layout.sockets)
    if not known or not sockets or len(known) < len(addresses) or len(known) < sockets:
        return [layout.sockets[0] if sockets == 1 else None for _ in addresses]
    shares = equal_shares(addresses, sockets)
    if shares is not None:
        return [nth_socket(layout, share) for share in shares]
    firsts = _after_gaps(known, sockets)
    return [
        nth_socket(layout, sum(first <= address for first in firsts) - 1)
        for address in addresses
        if address is not None
    ]


def _after_gaps(rising: Sequence[int], groups: int) -> list[int]:
    """The first of each group when split at the widest gaps."""
    after = sorted(range(1, len(rising)), key=lambda at: rising[at - 1] - rising[at])
    return sorted([rising[0], *(rising[at] for at in after[: groups - 1])])


def _by_die(dies: Sequence[int | None], layout: Layout, per_socket: int | None) -> list[int | None]:
    """Dies in the order of their numbers, equally many to each socket."""
    known = sorted({die for die in dies if die is not None})
    sockets = len(layout.sockets)
    share = per_socket or (len(known) // sockets if sockets else 0)
    if not known or not share or len(known) != share * sockets:
        only = layout.sockets[0] if sockets == 1 else None
        return [only for _ in dies]
    return [None if die is None else nth_socket(layout, known.index(die) // share) for die in dies]
