"""A small HTTP server for bodies that another process renders once a period.

It runs as a process of its own: `python -m memgauge.reports.serving.server DESCRIPTOR HOST...`,
with the descriptor of a listening socket and bodies on its standard input, and it ends when that is
closed.
So no client, however slow or hostile, can hold up the process that measures: a request is answered
from memory, and everything that a client does is bounded: the length and time of its request, the
time in which it must take the answer, and how many connections there are. Beyond that number one is
closed, of those that have not asked for anything yet the oldest: so floods of connections that say
nothing close each other, and no scraper that keeps its own open.

A message on standard input: one line of JSON (`path`, `type`, `variant`, `bytes`), then so many
bytes. The `variant` of a path is chosen where the request accepts its type.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress

import msgspec

MOST_CONNECTIONS = 64
MOST_REQUEST_BYTES = 8192
MOST_REQUESTS = 1000
"""Of one connection."""
REQUEST_S = 30.0
"""For a request to arrive whole; also how long a connection may idle."""
ANSWER_S = 5.0
"""For an answer to be taken."""
ACCEPT_AGAIN_S = 0.1
"""After the kernel had no descriptor for a connection."""
END_S = 1.0
"""For connections to be closed at the end."""
MOST_BODY_BYTES = 16 << 20
UNGUARDED = "/metrics"
"""Answered whatever host name it is asked by: scrapers and proxies use any."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a body."""

    path: str
    type: str
    bytes: int
    variant: bool = False
    """Whether it is given only to those who accept its type."""


class Body(msgspec.Struct, frozen=True):
    """What is answered."""

    type: str
    content: bytes


class Bodies:
    """The latest of each path."""

    def __init__(self, hosts: frozenset[str] = frozenset()) -> None:
        """Answer pages only to requests for these host names; empty: to all."""
        self._hosts = hosts
        self._plain: dict[str, Body] = {}
        self._variants: dict[str, Body] = {}

    def put(self, message: Message, content: bytes) -> None:
        """Take a body in the place of the one before."""
        bodies = self._variants if message.variant else self._plain
        bodies[message.path] = Body(message.type, content)

    def answer(self, request: bytes, *, is_last: bool = False) -> tuple[bytes, bool]:
        """The answer to a request, and whether the connection stays open.

        Args:
            request: Its head, with the empty line.
            is_last: Whether the connection is closed in any case.
        """
        lines = request.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return _response(400, b"not a request\n"), False
        method, target, version = words
        fields = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): text.strip() for name, colon, text in fields if colon}
        stays = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        stays = stays and not is_last
        if method not in {"GET", "HEAD"}:
            return _response(405, b"only GET and HEAD\n"), False
        path = target.partition("?")[0]
        if path != UNGUARDED and self._hosts and _name(headers.get("host", "")) not in self._hosts:
            return _response(421, b"another host name\n"), False
        body = self._body(path, headers.get("accept", ""))
        if body is None:
            waits = path in {UNGUARDED, "/now.json"}
            found = (503, b"no sample yet\n") if waits else (404, b"nothing here\n")
            return _response(*found, stays=stays), stays
        return _response(200, body.content, body.type, head=method == "HEAD", stays=stays), stays

    def _body(self, path: str, accept: str) -> Body | None:
        variant = self._variants.get(path)
        if variant is not None and variant.type.partition(";")[0] in accept:
            return variant
        return self._plain.get(path)


_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    421: "Misdirected Request",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _response(
    code: int,
    content: bytes,
    kind: str = "text/plain; charset=utf-8",
    *,
    head: bool = False,
    stays: bool = False,
) -> bytes:
    lines = [
        f"HTTP/1.1 {code} {_REASONS[code]}",
        f"Content-Type: {kind}",
        f"Content-Length: {len(content)}",
        f"Content-Security-Policy: {_POLICY}",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
        f"Connection: {'keep-alive' if stays else 'close'}",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if head else content)


def _name(host: str) -> str:
    """A host name without its port."""
    if host.startswith("["):
        return host.partition("]")[0].removeprefix("[").lower()
    return host.partition(":")[0].lower()


class Server:
    """Answers from the bodies until standard input ends."""

    def __init__(self, bodies: Bodies) -> None:
        """Answer from these."""
        self._bodies = bodies
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}
        self._silent: dict[asyncio.StreamWriter, None] = {}
        """Of these, those whose first request has not come yet, oldest first."""

    async def serve(self, listening: socket.socket, source: asyncio.StreamReader) -> None:
        """Serve until the source of bodies ends."""
        accepting = asyncio.create_task(self._accept(listening))
        try:
            await self._take(source)
        finally:
            accepting.cancel()
            tasks = [accepting, *self._open.values()]
            for writer in self._open:
                writer.transport.abort()
            listening.close()
            await asyncio.wait(tasks, timeout=END_S)

    async def _take(self, source: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError, msgspec.MsgspecError):
            while True:
                message = msgspec.json.decode(await source.readuntil(b"\n"), type=Message)
                if message.bytes > MOST_BODY_BYTES:
                    return
                self._bodies.put(message, await source.readexactly(message.bytes))

    async def _accept(self, listening: socket.socket) -> None:
        """Take one connection at a time, between which those that are open are served."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listening)
            except OSError:  # the client has gone, or there are too many open files
                await asyncio.sleep(ACCEPT_AGAIN_S)
                continue
            with suppress(OSError):
                await self._begin(accepted)

    async def _begin(self, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=MOST_REQUEST_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        if len(self._open) >= MOST_CONNECTIONS:
            self._leave(next(iter(self._silent or self._open)))
        self._silent[writer] = None
        self._open[writer] = asyncio.create_task(self._connection(reader, writer))

    def _leave(self, writer: asyncio.StreamWriter) -> None:
        self._silent.pop(writer, None)
        if self._open.pop(writer, None) is not None:
            writer.transport.abort()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await self._requests(reader, writer)
        finally:
            self._open.pop(writer, None)
            self._silent.pop(writer, None)
            if writer.transport.get_write_buffer_size():
                writer.transport.abort()  # whoever does not take an answer
            else:
                writer.close()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for number in range(1, MOST_REQUESTS + 1):
            try:
                request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), REQUEST_S)
            except asyncio.LimitOverrunError:
                answer, stays = _response(431, b"too long\n"), False
            else:
                self._silent.pop(writer, None)
                # The one that asked last is the last to be closed.
                if writer in self._open:
                    self._open[writer] = self._open.pop(writer)
                answer, stays = self._bodies.answer(request, is_last=number == MOST_REQUESTS)
            writer.write(answer)
            await asyncio.wait_for(writer.drain(), ANSWER_S)
            if not stays:
                return


async def _run(descriptor: int, hosts: frozenset[str]) -> None:
    loop = asyncio.get_running_loop()
    source = asyncio.StreamReader(limit=MOST_BODY_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    listening = socket.socket(fileno=descriptor)
    listening.setblocking(False)
    await Server(Bodies(hosts)).serve(listening, source)


def main() -> None:
    """Serve; the arguments are the descriptor and the host names that pages are answered to."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_run(int(sys.argv[1]), frozenset(sys.argv[2:])))


if __name__ == "__main__":
    main()
