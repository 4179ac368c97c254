"""Assigns memory controllers to sockets by the addresses in their names.

Arm's DMC-620 need this: the CPU in their `cpumask` is where their interrupt goes, and does not
show the socket. On Ampere Altra the controllers of one socket follow each other in the order of
their addresses, eight to a socket (Ampere's public perf scripts for it).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_ADDRESS = re.compile(r"_([0-9a-fA-F]+)$")


def address_in(name: str) -> int | None:
    """The address at the end of a device's name, such as `arm_dmc620_10008c000`.

    None without one.
    """
    found = _ADDRESS.search(name)
    return int(found[1], 16) if found else None


def sockets_by_address(names: Sequence[str], sockets: int) -> list[int | None]:
    """The socket of each device, in the order given: equal shares in the order of addresses.

    None for all devices if a name has no address, or if they do not divide into equal shares.
    """
    shares = equal_shares([address_in(name) for name in names], sockets)
    return list(shares) if shares is not None else [None for _ in names]


def equal_shares(addresses: Sequence[int | None], shares: int) -> list[int] | None:
    """The share, from 0 on, that each address falls in when they are dealt out in rising order.

    None if an address is missing or occurs twice, or if they do not divide into equal shares.
    """
    rising = sorted({address for address in addresses if address is not None})
    if shares < 1 or len(rising) < len(addresses) or len(rising) % shares:
        return None
    each = len(rising) // shares
    return [rising.index(address) // each for address in addresses if address is not None]
