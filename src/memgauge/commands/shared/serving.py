"""The process that serves what a watch renders: started, fed once a period, and ended.

Its clients cannot reach this process: bodies go through a pipe that is never waited for. A body for
which the pipe has no room yet is replaced by the next one of its path.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from memgauge.model.errors import RequestError
from memgauge.system.programs.interpreter import isolated

SERVER = "memgauge.reports.serving.server"
"""The module to run; its arguments are a descriptor and host names."""
_BACKLOG = 128
_NICE = 10
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_END_S = 2.0


class Served:
    """A running server; a context manager."""

    def __init__(self, host: str, port: int, *, avoid_cpu: int | None = None) -> None:
        """Listen, and start the server.

        Args:
            host: Name or address to listen at.
            port: Port; 0 takes a free one.
            avoid_cpu: CPU that the server keeps off, unless it is the only one.

        Raises:
            RequestError: the address cannot be listened at, or no process be started.
        """
        self._begun = memoryview(b"")
        self._queue: dict[tuple[str, bool], bytes] = {}
        with _listening(host, port) as listening:
            self.address: tuple[str, int] = listening.getsockname()[:2]
            loopback = self.address[0] in _LOOPBACK
            hosts = [*_LOOPBACK, host.lower()] if loopback else []
            descriptor = listening.fileno()
            try:
                self._process = subprocess.Popen(
                    isolated(SERVER, [str(descriptor), *hosts]),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[descriptor],
                    start_new_session=True,
                )
            except OSError as error:
                raise RequestError(f"the server cannot be started: {error}") from error
        if self._process.stdin is None:
            raise RequestError("the server cannot be started: it has no input")
        self._pipe = self._process.stdin.fileno()
        os.set_blocking(self._pipe, False)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
            others = os.sched_getaffinity(0) - {avoid_cpu}
            os.sched_setaffinity(self._process.pid, others or os.sched_getaffinity(0))

    @property
    def pid(self) -> int:
        """Process number of the server."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Where the page is."""
        host, port = self.address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def put(self, path: str, kind: str, content: bytes, *, variant: bool = False) -> None:
        """Have a body served from now on.

        Args:
            path: Such as `/metrics`.
            kind: Content type.
            content: The body.
            variant: Whether only those who accept the type are given it.
        """
        head = {"path": path, "type": kind, "bytes": len(content), "variant": variant}
        self._queue[path, variant] = json.dumps(head).encode() + b"\n" + content
        self._send()

    def close(self) -> None:
        """End the server; a second call does nothing."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self) -> None:
        with suppress(OSError):
            while self._begun or self._queue:
                if not self._begun:
                    self._begun = memoryview(self._queue.pop(next(iter(self._queue))))
                self._begun = self._begun[os.write(self._pipe, self._begun) :]


def _listening(host: str, port: int) -> socket.socket:
    try:
        found: Sequence[tuple[int, int, int, str, tuple[str, int]]] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )  # type: ignore[assignment]
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _refused(host, port, error) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise _refused(host, port, error) from error
    return made


def _refused(host: str, port: int, error: OSError) -> RequestError:
    return RequestError(
        f"{host}:{port}: cannot be listened at: {error.strerror or error}; name another address"
    )
