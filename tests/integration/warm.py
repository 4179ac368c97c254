"""Runs the command line tool in forks of a process that has imported it already.

Starting Python and importing memgauge takes longer than most commands that tests give. Each command
still has a process of its own, with its own exit code, streams, signals and memory; only the start
of the interpreter is shared, which `tests/integration/hostile/test_startup.py` and all tests that
start a process themselves test.

Run as a module, this is that process: a client sends one request at a time over the socket that is
its standard input, with the two streams of the command, and gets the process and its exit code. A
shell gets forks too, from a child of it: by the program `memgauge` of `path`, which sends its own
arguments and three streams over a socket that has an address.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import resource
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from tests.integration import warm_client

MOST_REQUEST_BYTES = 1 << 20
PR_SET_PDEATHSIG = 1
READ_AT_START = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "LANG", "LC_")
"""Variables that an interpreter or its libraries read once, by the beginnings of their names."""
NOT_IMPORTED = ("fft3d", "cluster_ranks", "__main__", "_core")
"""Parts of names of modules that start threads or MPI when they are imported, or are no module."""
SOCKET = "socket"
MEMGAUGE = "memgauge"
NO_LIMITS: Mapping[int, int] = {}
ALSO_IMPORTED = ("altair", "rich.console", "rich.progress", "rich.table")


def suits(environment: Mapping[str, str]) -> bool:
    """Whether a fork of the process that runs now behaves as a new process with this environment.

    It does not where a variable differs that is read while a process starts.
    """

    def read(variables: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if name.startswith(READ_AT_START)}

    return read(environment) == read(_server().started_with)


class Completed(subprocess.CompletedProcess[str]):
    """A command that has ended, and what it used."""

    cpu_s: float
    """Processor time, that of its own processes included."""
    peak_bytes: int
    """Memory, that of the process that it is a fork of included."""


def run(
    arguments: Sequence[str],
    cwd: Path | str | None,
    environment: Mapping[str, str],
    limit_s: float,
    *,
    module: str = MEMGAUGE,
    limits: Mapping[int, int] = NO_LIMITS,
) -> Completed:
    """Run a command to its end, as `subprocess.run` does with captured output as text.

    Args:
        arguments: of the command.
        cwd: the directory in which it runs; None: that of the tests.
        environment: all of it.
        limit_s: how long it may take.
        module: the command is `python -m module`, of one whose `main` takes no arguments.
        limits: resources of the process, by their numbers in `resource`.

    Raises:
        subprocess.TimeoutExpired: it did not end in `limit_s`; it was killed.
    """
    where = str(Path.cwd() if cwd is None else Path(cwd).absolute())
    request = [list(arguments), where, dict(environment), None, module, list(limits.items())]
    return _server().run(request, limit_s)


def shell_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """That environment with a `memgauge` first on PATH that is run in a fork, where that suits."""
    if not suits(environment):
        return dict(environment)
    place = _server().place
    path = os.pathsep.join([str(place), environment.get("PATH", os.defpath)])
    return dict(environment) | {"PATH": path, warm_client.ADDRESS: str(place / SOCKET)}


class Server:
    """The process whose forks run the commands, seen from the tests."""

    def __init__(self) -> None:
        self.started_with = dict(os.environ)
        self._socket, theirs = socket.socketpair()
        self._directory = tempfile.TemporaryDirectory(prefix="memgauge-warm-")
        self.place = Path(self._directory.name)
        self._write_program(self.place / "memgauge")
        with theirs, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.place / SOCKET))
            listener.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.warm", str(listener.fileno())],
                stdin=theirs.fileno(),
                pass_fds=[listener.fileno()],
                cwd=Path(__file__).parents[2],
            )
        atexit.register(self._end)

    def _write_program(self, path: Path) -> None:
        words = shlex.join([sys.executable, "-IS", str(warm_client.__file__)])
        path.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        path.chmod(0o755)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()
        self._directory.cleanup()

    def run(self, command: list[Any], limit_s: float) -> Completed:
        """As the function of this name."""
        arguments = command[0]
        request = json.dumps(command).encode()
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
            for _ in range(3):  # its exit code, and what it used
                self._number(limit_s)
            # Programs that it started may keep the streams open: nobody waits for them.
            raise subprocess.TimeoutExpired(arguments, limit_s) from late
        done = Completed(arguments, code, *(reader.whole() for reader in readers))
        done.cpu_s = self._number(limit_s) / 1e9
        done.peak_bytes = self._number(limit_s)
        return done

    def _number(self, limit_s: float) -> int:
        self._socket.settimeout(limit_s)
        got = self._socket.recv(8, socket.MSG_WAITALL)
        assert len(got) == 8, "the process that runs commands has ended"
        return int.from_bytes(got, "little", signed=True)


def _server() -> Server:
    """One that sees what this process has mounted: a test may enter a mount namespace."""
    return _server_within(str(Path("/proc/self/ns/mnt").readlink()))


@cache
def _server_within(_namespace: str) -> Server:
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
        with os.fdopen(self._descriptor, encoding="utf-8", errors="replace") as stream:
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
    with (
        socket.socket(fileno=os.dup(0)) as client,
        socket.socket(fileno=int(sys.argv[1])) as shells,
    ):
        devnull = os.open(os.devnull, os.O_RDONLY)
        os.dup2(devnull, 0)
        if os.fork() == 0:
            client.close()
            _serve_shells(shells)
        shells.close()
        while _answered(client):
            pass
    return 0


def _serve_shells(listener: socket.socket) -> NoReturn:
    """A process for each client, until the one that all are forks of has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    while True:
        client = listener.accept()[0]
        if os.fork() == 0:
            listener.close()
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, 0)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answered(client)
            os._exit(0)
        client.close()


def _answered(client: socket.socket) -> bool:
    """Run the command of a request to its end; whether there was one."""
    length = client.recv(4, socket.MSG_WAITALL)
    if not length:
        return False
    request, streams = _received(client, int.from_bytes(length, "little"))
    pid = os.fork()
    if pid == 0:
        client.close()
        _end(_command(request, streams))
    for stream in streams:
        os.close(stream)
    client.sendall(pid.to_bytes(8, "little"))
    _, status, used = os.wait4(pid, 0)
    cpu_ns = int((used.ru_utime + used.ru_stime) * 1e9)
    known = (os.waitstatus_to_exitcode(status), cpu_ns, used.ru_maxrss << 10)
    client.sendall(b"".join(number.to_bytes(8, "little", signed=True) for number in known))
    return True


def _received(client: socket.socket, length: int) -> tuple[bytes, list[int]]:
    first, streams, _, _ = socket.recv_fds(client, 1, 3)
    return first + client.recv(length - 1, socket.MSG_WAITALL), list(streams)


def _command(request: bytes, streams: Sequence[int]) -> int:
    """Become the process of a command, and run it."""
    arguments, where, environment, cpus, *others = json.loads(request)
    module, limits = others or (MEMGAUGE, ())
    for number, stream in enumerate(streams, start=3 - len(streams)):
        os.dup2(stream, number)
        os.close(stream)
    if cpus:
        os.sched_setaffinity(0, cpus)
    for which, most in limits:
        hard = resource.getrlimit(which)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (least, hard))
    os.chdir(where)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    return int(importlib.import_module(f"{module}.__main__").main() or 0)


def _end(code: int) -> NoReturn:
    """Leave as Python does, but do not take apart what was imported: that takes a third second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
