"""What directions of transfers are called: in sentences, and at the head of a column."""

from __future__ import annotations

TEXTS = {
    "host-to-device": "host to device",
    "device-to-host": "device to host",
    "both": "both ways",
    "to-peer": "to the peer",
    "from-peer": "from the peer",
}
SHORT = {
    "host-to-device": "to GPU",
    "device-to-host": "from GPU",
    "to-peer": "to peer",
    "from-peer": "from peer",
}


def way_text(direction: str) -> str:
    """Such as `host to device`."""
    return TEXTS.get(direction, direction)


def short_way(direction: str) -> str:
    """Such as `to GPU`."""
    return SHORT.get(direction, way_text(direction))
