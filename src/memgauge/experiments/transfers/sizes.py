"""How many bytes one transfer moves, and how often it is repeated in a sampling pass."""

from __future__ import annotations

from memgauge.experiments.shared.powers_of_two import power_below
from memgauge.experiments.transfers.parameters import TransfersParameters

SMALLEST_BYTES = 1 << 10
FINE_SMALLEST_BYTES = 64
LARGEST_BYTES = 256 << 20
FINE_LARGEST_BYTES = 1 << 30

BUFFERS = 2
"""Of the largest size at either end: one for each direction."""
MEMORY_SHARE = 0.25
"""Of what either memory has left, that buffers sized by default may take at most."""

PASS_BYTES = 16 << 20
"""Of small transfers in one pass, half a millisecond of a fast link."""
STAMP_BYTES = 256 << 10
"""Between two stamps, some ten microseconds of a fast link: events resolve about half of one."""
MOST_REPEATS = 16
MOST_STAMPS = 16
"""Together 256 transfers each way, which a stream takes without holding up who queues them."""
LEAST_AT_ONCE = 4
"""Stamps each way, where both are at work: the slower one's last is then a small part."""


def transfer_sizes(
    parameters: TransfersParameters, device_bytes: int, host_bytes: int
) -> tuple[int, ...]:
    """Bytes of one transfer, rising.

    Args:
        parameters: what was requested.
        device_bytes: free in the GPU's memory.
        host_bytes: that may still be allocated on the host.
    """
    if parameters.sizes is not None:
        return tuple(sorted(parameters.sizes))
    smallest = FINE_SMALLEST_BYTES if parameters.is_fine else SMALLEST_BYTES
    largest = parameters.largest_bytes
    if largest is None:
        wanted = FINE_LARGEST_BYTES if parameters.is_fine else LARGEST_BYTES
        room = buffer_room(device_bytes, host_bytes)
        largest = max(smallest, power_below(min(wanted, room)))
    steps = [smallest << step for step in range(largest.bit_length())]
    return (*(size for size in steps if size < largest), largest)


def buffer_room(device_bytes: int, host_bytes: int) -> int:
    """Bytes that one buffer, sized by default, may take at most.

    Args:
        device_bytes: free in the GPU's memory.
        host_bytes: that may still be allocated on the host.
    """
    return int(min(device_bytes, host_bytes) * MEMORY_SHARE) // BUFFERS


def repeats_of(size: int) -> int:
    """Transfers between two stamps."""
    return max(1, min(MOST_REPEATS, STAMP_BYTES // size))


def iterations_of(size: int, *, at_once: bool) -> int:
    """Stamps of one pass, each way."""
    least = LEAST_AT_ONCE if at_once else 1
    return max(least, min(MOST_STAMPS, PASS_BYTES // (size * repeats_of(size))))
