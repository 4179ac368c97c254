"""Runs the command line tool in forks of a process that has imported it already.

Starting Python and importing memgauge takes longer than most commands that tests give. Each command
still has a process of its own, with its own exit code, streams, signals and memory; only the start
of the interpreter is shared, which `tests/integration/hostile/test_startup.py` and all tests that
start a process themselves test.

Run as a module, this is that process: a client sends one request at a time over the socket that is
its standard input, with the two streams of the command, and gets the process and its exit code.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

MOST_REQUEST_BYTES = 1 << 20
READ_AT_START = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "LANG", "LC_")
"""Variables that an interpreter or its libraries read once, by the beginnings of their names."""
NOT_IMPORTED = ("fft3d", "cluster_ranks", "__main__", "_core")
"""Parts of names of modules that start threads or MPI when they are imported, or are no module."""
ALSO_IMPORTED = ("altair", "rich.console", "rich.progress", "rich.table")


def suits(environment: Mapping[str, str]) -> bool:
    """Whether a fork of the process that runs now behaves as a new process with this environment.

    It does not where a variable differs that is read while a process starts.
    """

    def read(variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name.startswith(READ_AT_START)}

    return read(environment) == read(_server().started_with)


def run(
    arguments: Sequence[str], cwd: Path | str | None, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as `subprocess.run` does with captured output as text.

    Raises:
        subprocess.TimeoutExpired: it did not end in `limit_s`; it was killed.
    """
    return _server().run(arguments, cwd, environment, limit_s)


class Server:
    """The process whose forks run the commands, seen from the tests."""

    def __init__(self) -> None:
        self.started_with = dict(os.environ)
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.warm"],
                stdin=theirs.fileno(),
                cwd=Path(__file__).parents[2],
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()

    def run(
        self,
        arguments: Sequence[str],
        cwd: Path | str | None,
        environment: Mapping[str, str],
        limit_s: float,
    ) -> subprocess.CompletedProcess[str]:
        """As the function of this name."""
        where = str(Path.cwd() if cwd is None else Path(cwd).absolute())
        request = json.dumps([list(arguments), where, dict(environment)]).encode()
        assert len(request) < MOST_REQUEST_BYTES
        (out, out_end), (error, error_end) = os.pipe(), os.pipe()
        try:
            self._socket.sendall(len(request).to_bytes(4, "little"))
            socket.send_fds(self._socket, [request[:1]], [out_end, error_end])
            self._socket.sendall(request[1:])
        finally:
            os.close(out_end)
            os.close(error_end)
        pid = self._number(limit_s)
        readers = [_Reader(descriptor) for descriptor in (out, error)]
        try:
            code = self._number(limit_s)
        except TimeoutError as late:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self._number(limit_s)
            # Programs that it started may keep the streams open: nobody waits for them.
            raise subprocess.TimeoutExpired(list(arguments), limit_s) from late
        return subprocess.CompletedProcess(
            list(arguments), code, *(reader.whole() for reader in readers)
        )

    def _number(self, limit_s: float) -> int:
        self._socket.settimeout(limit_s)
        got = self._socket.recv(8, socket.MSG_WAITALL)
        assert len(got) == 8, "the process that runs commands has ended"
        return int.from_bytes(got, "little", signed=True)


@cache
def _server() -> Server:
    return Server()


class _Reader(threading.Thread):
    """Reads a pipe to its end, beside another."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True)
        self._descriptor = descriptor
        self._text = ""
        self.start()

    def run(self) -> None:
        """As the thread."""
        with os.fdopen(self._descriptor, encoding="utf-8") as stream:
            self._text = stream.read()

    def whole(self) -> str:
        """All that was written, once nobody can write any more."""
        self.join()
        return self._text


def _modules() -> Iterator[str]:
    """All that commands may import of memgauge, and what takes long of others."""
    import memgauge

    for module in pkgutil.walk_packages(memgauge.__path__, "memgauge."):
        if not any(part in module.name for part in NOT_IMPORTED):
            yield module.name
    yield from ALSO_IMPORTED


def main() -> int:
    """Serve until the client leaves."""
    for name in _modules():
        with suppress(ImportError):  # without the native core, as the command itself says
            __import__(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a fork would lack the other threads"
    gc.collect()
    gc.freeze()  # what is there now is neither looked through again nor copied for that
    with socket.socket(fileno=os.dup(0)) as client:
        devnull = os.open(os.devnull, os.O_RDONLY)
        os.dup2(devnull, 0)
        while length := client.recv(4, socket.MSG_WAITALL):
            request, streams = _received(client, int.from_bytes(length, "little"))
            pid = os.fork()
            if pid == 0:
                client.close()
                _end(_command(request, streams))
            for stream in streams:
                os.close(stream)
            client.sendall(pid.to_bytes(8, "little"))
            status = os.waitpid(pid, 0)[1]
            client.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "little", signed=True))
    return 0


def _received(client: socket.socket, length: int) -> tuple[bytes, list[int]]:
    first, streams, _, _ = socket.recv_fds(client, 1, 2)
    return first + client.recv(length - 1, socket.MSG_WAITALL), list(streams)


def _command(request: bytes, streams: Sequence[int]) -> int:
    """Become the process of a command, and run it."""
    arguments, where, environment = json.loads(request)
    for number, stream in enumerate(streams, start=1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(where)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["memgauge", *arguments]
    from memgauge.__main__ import main as memgauge

    return memgauge()


def _end(code: int) -> NoReturn:
    """Leave as Python does, but do not take apart what was imported: that takes a third second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
