"""The mark at the head of everything memgauge creates.

Only the mark identifies it, never the name.
"""

from __future__ import annotations

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.storage.codec import UNREADABLE
from memgauge.system.owner import Owner, this_process

MAGIC = b"memgauge area\n\0\0"
MARK_BYTES = 4096
VERSION = 1


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a file or device, and what may be done with it."""

    version: int = VERSION
    owner: Owner
    """The run that used it last."""
    kept: bool
    """Whether that run left it on purpose."""
    bytes: int
    """Bytes from the start that memgauge may have written; nothing is known of the rest."""


class _Versioned(msgspec.Struct):
    version: int


def marked_by_us(size: int, *, kept: bool) -> Mark:
    """A mark of this process."""
    return Mark(owner=this_process(), kept=kept, bytes=size)


def encode(mark: Mark) -> bytes:
    """The bytes at the head, `MARK_BYTES` of them."""
    return (MAGIC + msgspec.json.encode(mark) + b"\n").ljust(MARK_BYTES, b"\0")


def decode(head: bytes, what: str) -> Mark | None:
    """The mark in the first `MARK_BYTES`; None if memgauge did not create the thing.

    Raises:
        RequestError: a later version of memgauge created `what`.
    """
    if not head.startswith(MAGIC):
        return None
    text = head[len(MAGIC) : MARK_BYTES].partition(b"\n")[0]
    try:
        version = msgspec.json.decode(text, type=_Versioned).version
        if version == VERSION:
            return msgspec.json.decode(text, type=Mark)
    except UNREADABLE:
        return None
    raise RequestError(
        f"{what}: was made by another version of memgauge (its mark is of version {version}, this "
        f"one knows {VERSION}); remove it with that version, or name another"
    )
