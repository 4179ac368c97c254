"""Answers, limits, and clients that misbehave."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from memgauge.reports.serving import server
from memgauge.reports.serving.server import Bodies, Message, Server

METRICS = Message(path="/metrics", type="text/plain", bytes=4)
VARIANT = Message(path="/metrics", type="application/openmetrics-text", bytes=4, variant=True)
PAGE = Message(path="/", type="text/html", bytes=4)


def bodies(hosts: frozenset[str] = frozenset()) -> Bodies:
    made = Bodies(hosts)
    for message, content in ((METRICS, b"text"), (VARIANT, b"open"), (PAGE, b"page")):
        made.put(message, content)
    return made


def ask(head: str, of: Bodies | None = None) -> tuple[int, bytes, bool]:
    answer, stays = (of or bodies()).answer(head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
    first, _, content = answer.partition(b"\r\n\r\n")
    return int(first.split()[1]), content, stays


def test_the_format_follows_what_is_accepted() -> None:
    get = "GET /metrics HTTP/1.1\nHost: a"
    assert ask(get) == (200, b"text", True)
    assert ask(f"{get}\nAccept: application/openmetrics-text;version=1.0.0")[1] == b"open"
    assert ask(get.replace("GET", "HEAD"))[1] == b""
    assert ask(get.replace("/metrics", "/metrics?x=1"))[1] == b"text"


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ("POST /metrics HTTP/1.1", 405),
        ("GET /etc/passwd HTTP/1.1", 404),
        ("GET /../../etc/passwd HTTP/1.1", 404),
        ("GET /now.json HTTP/1.1", 503),
        ("GET  / HTTP/1.1", 400),
        ("\x00\xff", 400),
        ("GET / HTTP/9", 400),
    ],
)
def test_anything_else_is_refused(head: str, code: int) -> None:
    assert ask(head)[0] == code


def test_connections_stay_open_only_if_both_may() -> None:
    assert ask("GET / HTTP/1.0")[2] is False
    assert ask("GET / HTTP/1.1\nConnection: Close")[2] is False
    assert ask("POST / HTTP/1.1")[2] is False


def test_pages_on_localhost_are_answered_to_local_names_only() -> None:
    guarded = bodies(frozenset({"localhost", "127.0.0.1", "::1"}))
    for host in ("localhost:9465", "127.0.0.1", "[::1]:9465"):
        assert ask(f"GET / HTTP/1.1\nHost: {host}", guarded)[0] == 200
    assert ask("GET / HTTP/1.1\nHost: rebound.example", guarded)[0] == 421
    assert ask("GET / HTTP/1.1", guarded)[0] == 421
    assert ask("GET /metrics HTTP/1.1\nHost: prometheus.example", guarded)[0] == 200


def test_answers_forbid_what_a_page_does_not_need() -> None:
    answer, _ = bodies().answer(b"GET / HTTP/1.1\r\n\r\n")
    assert b"Content-Security-Policy: default-src 'none'; script-src 'self'" in answer
    assert b"X-Content-Type-Options: nosniff" in answer


def served(client: Callable[[tuple[str, int]], Awaitable[None]], whole: Bodies) -> None:
    """Run a client beside a server whose source ends when the client has."""

    async def run() -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setblocking(False)
        source = asyncio.StreamReader()
        serving = asyncio.create_task(Server(whole).serve(listening, source))
        try:
            await client(listening.getsockname()[:2])
        finally:
            source.feed_eof()
            await asyncio.wait_for(serving, 10)

    asyncio.run(run())


GET = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"


async def answered(address: tuple[str, int], request: bytes = GET) -> bytes:
    reader, writer = await asyncio.open_connection(*address)
    writer.write(request)
    found = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    writer.close()
    return found


def test_many_idle_clients_do_not_keep_others_out() -> None:
    async def client(address: tuple[str, int]) -> None:
        idle = [
            await asyncio.open_connection(*address) for _ in range(server.MOST_CONNECTIONS + 20)
        ]
        for _, writer in idle:
            writer.write(b"GET /metr")
        assert (await answered(address)).startswith(b"HTTP/1.1 200")
        for _, writer in idle:
            writer.close()

    served(client, bodies())


def test_a_flood_of_silent_connections_closes_no_scraper_that_asked() -> None:
    async def client(address: tuple[str, int]) -> None:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(GET)
        await asyncio.wait_for(reader.readexactly(len(expected)), 10)
        silent = [
            await asyncio.open_connection(*address) for _ in range(3 * server.MOST_CONNECTIONS)
        ]
        writer.write(GET)
        assert await asyncio.wait_for(reader.readexactly(len(expected)), 10) == expected
        for _, one in silent:
            one.close()
        writer.close()

    expected, _ = bodies().answer(GET)
    served(client, bodies())


def test_an_endless_request_is_cut_off() -> None:
    async def client(address: tuple[str, int]) -> None:
        endless = b"GET /metrics HTTP/1.1\r\nX: " + b"x" * (4 * server.MOST_REQUEST_BYTES)
        # What is left unread may reset the connection before its answer is taken.
        with suppress(OSError, asyncio.IncompleteReadError):
            assert (await answered(address, endless)).startswith(b"HTTP/1.1 431")
        assert (await answered(address)).startswith(b"HTTP/1.1 200")

    served(client, bodies())


def test_a_client_that_takes_no_answer_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ANSWER_S", 0)
    large = bodies()
    large.put(METRICS, b"x" * (32 << 20))

    async def client(address: tuple[str, int]) -> None:
        with socket.create_connection(address) as lazy:
            lazy.sendall(GET)
            page = b"GET / HTTP/1.1\r\n\r\n"
            assert (await answered(address, page)).startswith(b"HTTP/1.1 200")
            # Whoever is left finds the connection reset, or ended before all came.
            lazy.setblocking(False)
            loop = asyncio.get_running_loop()
            taken = 0
            with suppress(OSError):
                while part := await asyncio.wait_for(loop.sock_recv(lazy, 1 << 20), 10):
                    taken += len(part)
            assert taken < 32 << 20

    served(client, large)
