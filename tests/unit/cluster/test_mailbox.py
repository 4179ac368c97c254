"""Messages over a made-up MPI whose messages are late, and whose ranks die."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from memgauge.cluster.mailbox import Mailbox
from memgauge.cluster.messages import Alive, AnyMessage, Begin, Hello, Piece
from memgauge.cluster.mpi import StartedMpi


class MpiError(Exception):
    pass


class Request:
    """Done after it was asked so often; None: its peer is dead."""

    def __init__(self, requested: int | None) -> None:
        self.left = requested

    def Test(self) -> bool:  # noqa: N802
        if self.left is None:
            raise MpiError
        self.left -= 1
        return self.left < 0


class Network:
    """The messages under way between two ranks."""

    def __init__(self, late: int | None) -> None:
        self.late = late
        self.under_way: deque[tuple[int, int, bytes]] = deque()

    def world(self, rank: int) -> StartedMpi:
        status = {"source": 0, "size": 0}
        mpi = SimpleNamespace(
            BYTE="byte",
            ANY_SOURCE=-1,
            Exception=MpiError,
            Status=lambda: SimpleNamespace(
                Get_count=lambda _: status["size"], Get_source=lambda: status["source"]
            ),
        )

        def isend(buffer: list[Any], dest: int, tag: int) -> Request:
            self.under_way.append((rank, dest, bytes(buffer[0])))
            return Request(self.late)

        def improbe(source: int, tag: int, status: object) -> SimpleNamespace | None:
            return offered()

        def offered() -> SimpleNamespace | None:
            for message in self.under_way:
                if message[1] == rank:
                    self.under_way.remove(message)
                    status["source"], status["size"] = message[0], len(message[2])
                    return SimpleNamespace(Irecv=receiver(message[2]))
            return None

        def receiver(data: bytes) -> Callable[[list[Any]], Request]:
            def receive(buffer: list[Any]) -> Request:
                buffer[0][:] = data
                return Request(self.late)

            return receive

        communicator = SimpleNamespace(Isend=isend, Improbe=improbe)
        return StartedMpi(rank=rank, size=2, library="made up", communicator=communicator, mpi=mpi)


def test_messages_come_whole_in_order_and_however_late() -> None:
    network = Network(late=2)
    one, other = Mailbox(network.world(0)), Mailbox(network.world(1))
    sent: list[AnyMessage] = [
        Hello(hostname="a", boot="b", cpus=[1, 2]),
        Piece(file="f", data=bytes(range(256)) * 100, is_first=True),
        Alive(),
    ]
    for message in sent:
        one.send(1, message)
    assert one.unsent == 3
    assert other.receive() == []
    assert other.receive() == []
    assert other.receive() == [(0, message) for message in sent]
    for _ in range(3):
        one.receive()
    assert one.unsent == 0


def test_a_rank_hears_itself() -> None:
    mailbox = Mailbox(Network(late=0).world(0))
    mailbox.send(0, Begin())
    assert mailbox.receive() == [(0, Begin())]
    assert mailbox.receive() == []


def test_a_dead_peer_stops_nobody() -> None:
    network = Network(late=None)
    one, other = Mailbox(network.world(0)), Mailbox(network.world(1))
    one.send(1, Alive())
    assert other.receive() == []
    assert other.receive() == []
    assert one.receive() == []
    assert one.unsent == 0
