"""What ranks tell each other. Rank 0 gathers; the first rank of each node leads it."""

from __future__ import annotations

import zlib

import msgspec

from memgauge.model.storage.cluster import FIGURES_NAME, State
from memgauge.model.storage.run_file import RECORDS_NAME

SENT_FILES = (RECORDS_NAME, FIGURES_NAME, "summary.txt")
"""Of a node's run, what is sent to rank 0 where that does not share its directory. The page is made
again of the records."""
PIECE_BYTES = 1 << 20
"""Of a file, at most, in one piece, before it is compressed."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all messages."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """The first thing every rank says: where it is."""

    hostname: str
    boot: str
    """Digest of the boot it runs under; empty: not known."""
    cpus: list[int]
    """That its launcher bound it to."""


class Role(Message, frozen=True, kw_only=True, tag="role"):
    """What a rank is to do until it is ordered to leave."""

    leads: bool
    name: str
    """Of its node."""
    bound: list[int]
    """CPUs that the ranks of its node are bound to, together."""
    directory: str
    """Of the combined run, as rank 0 sees it."""
    cluster_id: str
    alive_every_s: float
    """How often a leader says that it is alive: the more nodes, the more seldom."""
    give_up_s: float
    """Longest that the job may take from now on: who hears nothing of rank 0 until then leaves."""


class Ready(Message, frozen=True, kw_only=True, tag="ready"):
    """A leader knows where its node's files go, and with which CPUs it measures."""

    cpus: int
    cpus_why: str
    sees_directory: bool
    directory: str | None
    """Its own, where it does not see that of rank 0."""


class Begin(Message, frozen=True, kw_only=True, tag="begin"):
    """A leader is to begin its node's survey."""


class Alive(Message, frozen=True, kw_only=True, tag="alive"):
    """A leader's survey goes on."""


class Piece(Message, frozen=True, kw_only=True, tag="piece"):
    """Some of a file, compressed, of a node that does not see the directory of rank 0."""

    file: str
    data: bytes
    is_first: bool


class Finished(Message, frozen=True, kw_only=True, tag="finished"):
    """A node's survey ended, and all its files are where they belong."""

    state: State
    why: str | None
    exit_code: int | None
    elapsed_s: float


class Leave(Message, frozen=True, kw_only=True, tag="leave"):
    """All is done, or nothing can be: a rank ends."""


class Bye(Message, frozen=True, kw_only=True, tag="bye"):
    """A rank has heard that it is to leave, and does."""


AnyMessage = Hello | Role | Ready | Begin | Alive | Piece | Finished | Leave | Bye


def unpacked(piece: Piece) -> bytes | None:
    """What a piece holds of its file; None: it is damaged, or holds more than any piece."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(piece.data, PIECE_BYTES + 1)
    except zlib.error:
        return None
    return data if unpacking.eof and len(data) <= PIECE_BYTES else None
