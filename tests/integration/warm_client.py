"""The `memgauge` that a shell of tests finds: has `warm` fork a process, and ends as that ends.

Started for each command of a shell, so it imports little, and nothing of the tests. What an MPI
launcher started is started anew, since a launcher looks after its own processes.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from contextlib import suppress

ADDRESS = "MEMGAUGE_TESTS_WARM"
"""Variable that holds the path of the socket."""
LAUNCHED = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def main() -> int:
    """Exit code of the command."""
    if any(name in os.environ for name in LAUNCHED):
        os.execv(sys.executable, [sys.executable, "-m", "memgauge", *sys.argv[1:]])  # noqa: S606
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(os.environ[ADDRESS])
        request = json.dumps(
            [sys.argv[1:], os.getcwd(), dict(os.environ), sorted(os.sched_getaffinity(0))]  # noqa: PTH109
        ).encode()
        server.sendall(len(request).to_bytes(4, "little"))
        socket.send_fds(server, [request[:1]], [0, 1, 2])
        server.sendall(request[1:])
        pid = _number(server)
        for one in PASSED_ON:
            signal.signal(one, lambda number, _: os.kill(pid, number))
        code = _number(server)
    if code < 0:
        with suppress(OSError):  # SIGKILL is nothing to be set
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _number(server: socket.socket) -> int:
    return int.from_bytes(server.recv(8, socket.MSG_WAITALL), "little", signed=True)


if __name__ == "__main__":
    sys.exit(main())
