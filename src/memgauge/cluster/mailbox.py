"""Messages between ranks that never block: a dead rank must not stop a living one.

Every message is a non-blocking send and a matched non-blocking receive, polled now and then. No
collective operation is used, because it would wait for all ranks. Between two polls a rank sleeps,
so that idle ranks take no CPU from what is measured.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import msgspec

from memgauge.cluster.messages import AnyMessage
from memgauge.cluster.mpi import StartedMpi
from memgauge.model.storage.codec import UNREADABLE

_TAG = 6
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[AnyMessage] = msgspec.msgpack.Decoder(AnyMessage)


def decoded(data: bytes | bytearray) -> AnyMessage | None:
    """Decode a message; None if malformed, as from another version of memgauge."""
    try:
        return _decoder.decode(data)
    except UNREADABLE:
        return None


class Mailbox:
    """Sends and receives messages of this rank."""

    def __init__(self, world: StartedMpi) -> None:
        self.rank, self.size = world.rank, world.size
        self._communicator = world.communicator
        self._mpi = world.mpi
        self._outgoing: list[tuple[Any, bytes]] = []
        self._incoming: list[tuple[Any, bytearray, int]] = []
        self._own: deque[AnyMessage] = deque()

    def send(self, to: int, message: AnyMessage) -> None:
        """Queue a message; it is sent when its receiver polls."""
        if to == self.rank:
            self._own.append(message)
            return
        data = _encoder.encode(message)
        # The buffer is kept with its request, because MPI reads it until the request is done.
        request = self._communicator.Isend([data, self._mpi.BYTE], dest=to, tag=_TAG)
        self._outgoing.append((request, data))

    def receive(self) -> list[tuple[int, AnyMessage]]:
        """Complete messages that have arrived, with the rank that sent each.

        Messages that cannot be read, or whose sender died, are left out; silent ranks are detected
        elsewhere.
        """
        found: list[tuple[int, AnyMessage]] = []
        while self._own:
            found.append((self.rank, self._own.popleft()))
        self._accept()
        waiting = []
        for request, buffer, source in self._incoming:
            try:
                if not request.Test():
                    waiting.append((request, buffer, source))
                elif (message := decoded(buffer)) is not None:
                    found.append((source, message))
            except self._mpi.Exception:
                continue  # its sender died while sending
        self._incoming = waiting
        self._outgoing = [(sent, data) for sent, data in self._outgoing if not self._is_done(sent)]
        return found

    @property
    def unsent(self) -> int:
        """Number of messages that have not been sent yet."""
        return len(self._outgoing)

    def _is_done(self, request: Any) -> bool:
        """Whether a message was sent, or never will be."""
        try:
            return bool(request.Test())
        except self._mpi.Exception:
            return True

    def _accept(self) -> None:
        """Start receiving all messages that are available."""
        status = self._mpi.Status()
        while True:
            offered = self._communicator.Improbe(
                source=self._mpi.ANY_SOURCE, tag=_TAG, status=status
            )
            if offered is None:
                return
            buffer = bytearray(status.Get_count(self._mpi.BYTE))
            request = offered.Irecv([buffer, self._mpi.BYTE])
            self._incoming.append((request, buffer, status.Get_source()))
