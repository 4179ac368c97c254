"""Messages between ranks. Rank 0 gathers results; the first rank of each node leads its node."""

from __future__ import annotations

import zlib

import msgspec

from memgauge.model.storage.cluster import FIGURES_NAME, State
from memgauge.model.storage.run_file import RECORDS_NAME

SENT_FILES = (RECORDS_NAME, FIGURES_NAME, "summary.txt")
"""Files of a node's run that are sent to rank 0 if it does not share the directory. The HTML page
is rendered again from the records."""
PIECE_BYTES = 1 << 20
"""Most bytes of a file in one message, before compression."""


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all messages."""


class Hello(Message, frozen=True, kw_only=True, tag="hello"):
    """The first message of every rank: where it runs."""

    hostname: str
    boot: str
    """Digest of the boot it runs under; empty if unknown."""
    cpus: list[int]
    """CPUs that its launcher bound it to."""


class Role(Message, frozen=True, kw_only=True, tag="role"):
    """The role of a rank until it is ordered to leave."""

    leads: bool
    name: str
    """Of its node."""
    bound: list[int]
    """CPUs that the ranks of its node are bound to, together."""
    directory: str
    """Of the combined run, as rank 0 sees it."""
    cluster_id: str
    alive_every_s: float
    """Seconds between two messages of a leader that it is alive; longer with more nodes."""
    give_up_s: float
    """Most seconds the job may still take; ranks without a message from rank 0 until then leave."""


class Ready(Message, frozen=True, kw_only=True, tag="ready"):
    """Sent by a leader: where its node's files are written, and which CPUs its survey uses."""

    cpus: int
    cpus_why: str
    sees_directory: bool
    directory: str | None
    """Its own directory, if it does not share that of rank 0."""


class Begin(Message, frozen=True, kw_only=True, tag="begin"):
    """Orders a leader to begin its node's survey."""


class Alive(Message, frozen=True, kw_only=True, tag="alive"):
    """Reports that a leader's survey continues."""


class Piece(Message, frozen=True, kw_only=True, tag="piece"):
    """A compressed piece of a file, from a node that does not share rank 0's directory."""

    file: str
    data: bytes
    is_first: bool


class Finished(Message, frozen=True, kw_only=True, tag="finished"):
    """Reports that a node's survey ended and all its files are delivered."""

    state: State
    why: str | None
    exit_code: int | None
    elapsed_s: float


class Leave(Message, frozen=True, kw_only=True, tag="leave"):
    """Orders a rank to end, because everything is done or nothing can be."""


class Bye(Message, frozen=True, kw_only=True, tag="bye"):
    """Acknowledges the order to leave."""


AnyMessage = Hello | Role | Ready | Begin | Alive | Piece | Finished | Leave | Bye


def unpacked(piece: Piece) -> bytes | None:
    """The decompressed data of a piece; None if it is damaged or too large."""
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(piece.data, PIECE_BYTES + 1)
    except zlib.error:
        return None
    return data if unpacking.eof and len(data) <= PIECE_BYTES else None
