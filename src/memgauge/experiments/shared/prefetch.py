"""Distances of software prefetch as an option: `512`, or `512:4096` for near and far."""

from __future__ import annotations

import msgspec

from memgauge.model import units
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

LARGEST_BYTES = 1 << 30


class Prefetch(msgspec.Struct, frozen=True):
    """How far ahead of the access a prefetch is, in bytes."""

    near_bytes: int
    """Into the nearest cache; 0: none."""
    far_bytes: int = 0
    """Into the second level, farther ahead; 0: none."""

    def __str__(self) -> str:
        """As it is written: `512`, or `512:4096`."""
        far = f":{units.bytes_text(self.far_bytes)}" if self.far_bytes else ""
        return f"{units.bytes_text(self.near_bytes)}{far}"


def parse_prefetch(text: str, flag: str) -> Prefetch:
    """Parse one distance, or a near and a far one with a colon between them.

    Args:
        text: Such as `0`, `512`, `4KiB` or `512:4096`.
        flag: Option, for the message of an error.

    Raises:
        RequestError: no size, more than a GiB, or a far distance that is not beyond the near one.
    """
    near, colon, far = text.strip().partition(":")
    found = Prefetch(_distance(near, flag), _distance(far, flag) if colon else 0)
    if colon and not 0 < found.near_bytes < found.far_bytes:
        raise RequestError(
            f"{flag} {quoted(text)}: the far distance comes second and is larger than the near "
            "one, which is not 0; write NEAR:FAR, such as 512:4096"
        )
    return found


def _distance(text: str, flag: str) -> int:
    if text.strip() == "0":
        return 0
    size = units.parse_bytes(text, flag)
    if size > LARGEST_BYTES:
        raise RequestError(f"{flag} {quoted(text)}: is more than 1 GiB ahead; choose less")
    return size


def parse_distances(text: str, flag: str) -> tuple[Prefetch, ...]:
    """Parse distances between commas, each kept once.

    Args:
        text: Such as `0,512,512:4096`.
        flag: Option, for the message of an error.

    Raises:
        RequestError: as `parse_prefetch`.
    """
    return tuple(dict.fromkeys(parse_prefetch(part, flag) for part in text.split(",")))


def distance_label(distance: Prefetch) -> str:
    """In names of points, such as `p512` or `p512-f4096`."""
    return f"p{distance.near_bytes}" + (f"-f{distance.far_bytes}" if distance.far_bytes else "")
