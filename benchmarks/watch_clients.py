"""Whether clients of `memgauge watch --listen`, many, slow or hostile, disturb its probe or others.

    python -m benchmarks.watch_clients [--seconds 10] [--rounds 3] [--output DIR]

A watch serves metrics while clients of one kind after the other are at work for some seconds each,
in an order that alternates; in between there are none. Meanwhile a scraper asks for the metrics
five times a second, with a new connection each time. Printed for each kind: how long its scrapes
took, what the probe found beside what it found without clients in the same round, the longest time
between two samples, and processor time by /proc/PID/stat. Clients run on another CPU than the
probe; with two CPUs they share theirs with the server, so that scrapes also wait for the clients.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.rounds import Ratios, table
from benchmarks.watch import cpu_s
from memgauge import _core
from memgauge.analysis.watch.moments import Moments
from memgauge.analysis.watch.rows import rows_of
from memgauge.model.storage.run_file import read_run

HOST = "127.0.0.1"
GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n"
SCRAPES_PER_S = 5
MANY_PER_S = 1000
CONNECTIONS = 200
PERIOD = "200ms"
TIMEOUT_S = 5.0
SETTLE_S = 1.0
"""After which clients of a kind are all at work."""

Spans = dict[str, list[tuple[int, int]]]


def connected(port: int) -> socket.socket:
    """A connection to the server."""
    return socket.create_connection((HOST, port), TIMEOUT_S)


def taken(connection: socket.socket) -> int:
    """Bytes of one answer, read to its end.

    Raises:
        OSError: it did not come whole.
    """
    answer = b""
    while b"\r\n\r\n" not in answer:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError("closed before the answer")
        answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise ConnectionResetError("refused")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"
    )
    while len(body) < length:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError("cut off")
        body += part
    return len(body)


def scrapes(port: int, ends_s: float) -> int:
    """A thousand scrapes a second, on one connection as long as the server keeps it."""
    done, due_s = 0, time.monotonic()
    connection = connected(port)
    while (now_s := time.monotonic()) < ends_s:
        if now_s < due_s:
            time.sleep(due_s - now_s)
        try:
            connection.sendall(GET)
            taken(connection)
        except OSError:
            connection.close()
            connection = connected(port)
            continue
        done += 1
        due_s += 1 / MANY_PER_S
    return done


def slow(port: int, ends_s: float) -> int:
    """Connections that send a byte a second of a request each, and open again when closed."""
    opened = 0
    held: list[tuple[socket.socket, int]] = []
    while time.monotonic() < ends_s:
        while len(held) < CONNECTIONS:
            held.append((connected(port), 0))
            opened += 1
        still = []
        for connection, sent in held:
            with suppress(OSError):
                connection.sendall(GET[sent : sent + 1])
                still.append((connection, (sent + 1) % (len(GET) - 4)))
        held = still
        time.sleep(1.0)
    return opened


def half_open(port: int, ends_s: float) -> int:
    """Connections that are opened one after the other, say nothing, and are never closed."""
    held: list[socket.socket] = []
    opened = 0
    while time.monotonic() < ends_s:
        held.append(connected(port))
        opened += 1
        held = held[-CONNECTIONS:]
    return opened


def sent_without_end(port: int, ends_s: float, begin: bytes, more: Callable[[], bytes]) -> int:
    """Connections on which bytes are sent until the server closes them."""
    opened = 0
    while time.monotonic() < ends_s:
        with suppress(OSError), connected(port) as connection:
            opened += 1
            connection.sendall(begin)
            while time.monotonic() < ends_s:
                connection.sendall(more())
    return opened


def headers(port: int, ends_s: float) -> int:
    """Requests whose header never ends."""
    return sent_without_end(port, ends_s, GET[:-2], lambda: b"X-More: " + b"x" * 4096 + b"\r\n")


def garbage(port: int, ends_s: float) -> int:
    """Random bytes."""
    draw = random.Random(1)
    return sent_without_end(port, ends_s, b"", lambda: draw.randbytes(4096))


def lazy(port: int, ends_s: float) -> int:
    """Requests one after the other, of which no answer is ever read."""
    return sent_without_end(port, ends_s, b"", lambda: GET)


KINDS: dict[str, Callable[[int, float], int]] = {
    "a thousand scrapes a second": scrapes,
    f"{CONNECTIONS} slow requests": slow,
    "connections that say nothing": half_open,
    "endless headers": headers,
    "garbage": garbage,
    "answers never read": lazy,
}
NONE = "none"


class Scraper(threading.Thread):
    """Asks for the metrics now and then, and notes how long it took."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.kind = NONE
        self.took_ms: dict[str, list[float]] = defaultdict(list)
        self.failed: dict[str, int] = defaultdict(int)
        self.ends = threading.Event()

    def run(self) -> None:
        """Until it is told to end."""
        while not self.ends.wait(1 / SCRAPES_PER_S):
            kind, began_s = self.kind, time.monotonic()
            try:
                with connected(self.port) as connection:
                    connection.sendall(GET)
                    taken(connection)
            except OSError:
                self.failed[kind] += 1
            else:
                self.took_ms[kind].append(1000 * (time.monotonic() - began_s))


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server((HOST, 0)) as found:
        return int(found.getsockname()[1])


def server_pid(pid: int) -> int:
    """The process that a watch serves by."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


def passes(directory: Path) -> Iterator[tuple[int, float | None, float | None]]:
    """When each pass of the probe was (CLOCK_MONOTONIC_RAW), its latency and its bandwidth."""
    run = read_run(directory)
    counters = run.counters["watch"]
    moments = Moments(counters, len(run.start.system.cpus))
    for row in rows_of(directory / run.lanes[0].file, counters.slots, []):
        values = moments.take(row.begin_ns, row.end_ns, row.values).values
        at_ns = row.begin_ns + run.start.clock.epoch_raw_ns
        yield at_ns, values["latency_ns"], values["bandwidth_bytes_per_s"]


def at_work(options: argparse.Namespace, watching: int, scraper: Scraper) -> tuple[Spans, dict]:  # type: ignore[type-arg]
    """Let each kind of client work in turn; when it did, and processor time over wall time."""
    spans: Spans = defaultdict(list)
    costs: dict[str, list[tuple[float, float]]] = defaultdict(list)
    pids = (watching, server_pid(watching))
    for round_ in range(options.rounds):
        kinds = [*KINDS] if round_ % 2 == 0 else [*reversed(KINDS)]
        for kind in (word for one in kinds for word in (NONE, one)):
            command = [sys.executable, "-m", "benchmarks.watch_clients", "--only", kind]
            command += ["--port", str(scraper.port), "--seconds", str(options.seconds + SETTLE_S)]
            client = None if kind == NONE else subprocess.Popen(command)
            time.sleep(SETTLE_S)
            scraper.kind = kind
            began_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
            before = [cpu_s(pid) for pid in pids]
            time.sleep(options.seconds)
            took = [cpu_s(pid) - begin for pid, begin in zip(pids, before, strict=True)]
            costs[kind].append((took[0] / options.seconds, took[1] / options.seconds))
            spans[kind].append((began_ns, time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)))
            if client is not None:
                client.wait()
    return spans, costs


def summary(directory: Path, spans: Spans, costs: dict, scraper: Scraper) -> str:  # type: ignore[type-arg]
    """One row for each kind of client."""
    found = [*passes(directory)]
    within = {
        kind: [[one for one in found if begin <= one[0] < end] for begin, end in of_kind]
        for kind, of_kind in spans.items()
    }
    rows = []
    for kind, stretches in within.items():
        cells = [kind]
        for column in (1, 2):
            ratios = Ratios()
            for number, stretch in enumerate(stretches):
                # The stretch without clients just before this one: the n-th kind of each round.
                at = spans[kind][number][0]
                rest = [
                    one
                    for (begin, end), one in zip(spans[NONE], within[NONE], strict=True)
                    if end <= at
                ][-1:] or within[NONE][:1]
                mine = [float(v) for one in stretch if (v := one[column]) is not None]
                base = [float(v) for one in rest[0] if (v := one[column]) is not None]
                if mine and base:
                    ratios.values.append(median(mine) / median(base))
            cells.append("-" if kind == NONE else ratios.text())
        gaps = [b[0] - a[0] for one in stretches for a, b in pairwise(one)]
        lost = sum(one[1] is None for stretch in stretches for one in stretch)
        took = sorted(scraper.took_ms[kind])
        cells += [
            f"{lost} of {sum(map(len, stretches))}",
            f"{max(gaps, default=0) * 1e-6:.0f} ms",
            f"{median(took):.1f} ms" if took else "-",
            f"{took[int(0.99 * len(took))]:.1f} ms" if took else "-",
            f"{scraper.failed[kind]} of {scraper.failed[kind] + len(took)}",
            f"{100 * median(one[0] for one in costs[kind]):.1f}%",
            f"{100 * median(one[1] for one in costs[kind]):.1f}%",
        ]
        rows.append(cells)
    header = [
        "clients", "latency, of none", "read burst, of none", "passes disturbed", "longest gap",
        "scrape, median", "99%", "failed", "watch, of a CPU", "server",
    ]  # fmt: skip
    return table(header, rows)


def measured(options: argparse.Namespace) -> None:
    """Watch, let clients work, print."""
    directory = Path(options.output or tempfile.mkdtemp(prefix="memgauge-clients-")) / "run"
    allowed = sorted(_core.allowed_cpus())
    port = free_port()
    command = [sys.executable, "-m", "memgauge", "watch", "--quiet", "--period", PERIOD]
    command += ["--learn", "5s", "--cpu", str(allowed[-1]), "--output", str(directory)]
    with ExitStack() as stack:
        watching = subprocess.Popen([*command, "--listen", f"{HOST}:{port}"])
        stack.callback(watching.wait)
        stack.callback(watching.terminate)
        # Clients inherit it.
        os.sched_setaffinity(0, set(allowed[:-1]) or set(allowed))
        time.sleep(10.0)
        scraper = Scraper(port)
        scraper.start()
        spans, costs = at_work(options, watching.pid, scraper)
        scraper.ends.set()
        scraper.join()
    print(summary(directory, spans, costs, scraper))
    print(f"\nrun: {directory}; {len(allowed)} CPUs; load {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Parse arguments; be clients of one kind, or measure all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output")
    parser.add_argument("--only", choices=[*KINDS], help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only is None:
        measured(options)
        return
    done = KINDS[options.only](options.port, time.monotonic() + options.seconds)
    print(f"{options.only}: {done / options.seconds:.0f} a second", file=sys.stderr)


if __name__ == "__main__":
    main()
