"""A combined run of nodes, and the messages of its ranks, in one archive.

Parts are files below its directory, and `RANK.message`: what rank 0 hears from that rank.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, cast

import msgspec
from tests.fuzz.archive import packed, parts_of
from tests.fuzz.invariants import check_refusal, check_shown
from tests.fuzz.planted import Planted, scratch
from tests.unit.analysis.cluster import nodes as cluster_nodes
from tests.unit.model import build

from memgauge.cluster.combined import load_combined
from memgauge.cluster.gatherer import Gatherer
from memgauge.cluster.mailbox import decoded
from memgauge.cluster.messages import AnyMessage, Finished, Hello, Piece, Ready
from memgauge.model.errors import RunFileError
from memgauge.model.storage.cluster import MANIFEST_NAME
from memgauge.model.storage.codec import encode

if TYPE_CHECKING:
    from memgauge.cluster.mailbox import Mailbox

IS_JSON = True
RANKS = 3
_MESSAGE = ".message"


def seeds() -> Iterator[bytes]:
    """Three nodes, of which one left records alone and one nothing; and what ranks say."""
    manifest = cluster_nodes.manifest(
        ["a", "b", "c"],
        nodes=[
            cluster_nodes.manifest_node("a", 0),
            cluster_nodes.manifest_node("b", 1, state="measuring"),
            cluster_nodes.manifest_node("c", 2, state="failed", why="no memory"),
        ],
    )
    figures = cluster_nodes.alike(2)
    records = b"".join(map(encode, build.records(3)))
    files = [
        (MANIFEST_NAME, msgspec.json.encode(manifest)),
        ("nodes/a/figures.json", msgspec.json.encode(figures["node0"])),
        ("nodes/b/figures.json", msgspec.json.encode(figures["node1"])),
        ("nodes/c/records.jsonl", records),
        ("logs/b.log", b"cluster: measuring\n"),
    ]
    yield packed(files)
    yield packed(files[:2])
    yield packed([(f"{rank}{_MESSAGE}", msgspec.msgpack.encode(m)) for rank, m in _conversation()])


def _conversation() -> Iterator[tuple[int, AnyMessage]]:
    for rank in range(RANKS):
        yield rank, Hello(hostname=f"host{rank}", boot=f"boot{rank}", cpus=[0, 1])
    yield 1, Ready(cpus=2, cpus_why="all", sees_directory=False, directory="/scratch")
    yield 1, Piece(file="records.jsonl", data=zlib.compress(b"{}"), is_first=True)
    yield 1, Finished(state="done", why=None, exit_code=0, elapsed_s=1.5)
    yield 2, Finished(state="failed", why="no memory", exit_code=2, elapsed_s=0.5)


def run(data: bytes) -> None:
    """Read and combine what is there; hear what ranks say."""
    parts = parts_of(data)
    said = [(name, content) for name, content in parts if name.endswith(_MESSAGE)]
    if said:
        _hear(scratch("heard"), said)
    if len(said) < len(parts):
        _combine(scratch("combined"), dict(parts))


def _combine(place: Planted, files: dict[str, bytes]) -> None:
    place.plant(files)
    try:
        found = load_combined(place.root)
    except RunFileError as error:
        check_refusal(error)
        return
    check_shown(found.report)
    msgspec.json.encode(found.document())


class _Mailbox:
    """Rank 0's, from which nothing goes anywhere."""

    rank, size = 0, RANKS

    def send(self, to: int, message: AnyMessage) -> None:
        assert 0 <= to < RANKS
        msgspec.msgpack.encode(message)


def _hear(place: Planted, said: list[tuple[str, bytes]]) -> None:
    place.clear()
    ticks = count()
    lines: list[str] = []
    gatherer = Gatherer(
        cast("Mailbox", _Mailbox()),
        cluster_nodes.manifest([], grace_s=20.0),
        place.root,
        lines.append,
        clock=lambda: float(next(ticks)),
    )
    for name, content in said:
        digits = name.removesuffix(_MESSAGE)
        rank = int(digits) % RANKS if digits.isascii() and digits.isdigit() else 0
        message = decoded(content)
        if message is not None:
            gatherer.hear(rank, message)
        gatherer.step()
    gatherer.close("the job ended")
