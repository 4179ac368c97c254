"""A fetch of 32 values from Performance Co-Pilot's daemon, against a plain C client of libpcp.

    python -m benchmarks.pcp [--rounds 20]

The daemon is the tests' own, unpacked by `.ci/unpack_pcp`, and serves 16 metrics of two instances
each; a C compiler is needed. In each round the C client fetches some hundred times, then memgauge
does, of the same metrics from the same daemon and on the same processor; the daemon has another.
The second line adds to each counter the share of time it counted for, as the back end asks for it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from tests.pcp_daemons import mmv
from tests.pcp_daemons.install import MISSING, Installation, installation
from tests.pcp_daemons.pmcd import Pmcd

from benchmarks.rounds import Ratios, table
from memgauge import _core

METRICS = 16
INSTANCES = ("cpu0", "cpu88")
FETCHES = 400
CLIENT_CPU, DAEMON_CPU = 0, 1
LIBRARIES = ["libpcp.so.4", "libpcp.so.3"]
VALUES = [f"nest.m{number}.value" for number in range(METRICS)]
DUTIES = [f"nest.m{number}.dutycycle" for number in range(METRICS)]


class Serving(Pmcd):
    """A daemon with something to fetch."""

    def __init__(self, installed: Installation) -> None:
        super().__init__(installed)
        metrics = [mmv.Metric(name) for name in VALUES]
        metrics += [mmv.Metric(name, mmv.DOUBLE, mmv.INSTANT) for name in DUTIES]
        self.counters = mmv.MemoryMapped(self.mmv / "nest", metrics, INSTANCES)
        self.serve(self.counters.names())
        for name in DUTIES:
            for instance in INSTANCES:
                self.counters.set(name, instance, 1.0)


def built(installed: Installation, folder: Path) -> Path:
    """The C client, compiled against the library that memgauge loads."""
    client = folder / "client"
    source = Path(__file__).with_name("pcp_client.c")
    rpath = [f"-Wl,-rpath,{path}" for path in installed.libraries]
    unresolved = "-Wl,--allow-shlib-undefined"
    command = ["cc", "-O2", str(source), "-o", str(client), str(installed.library)]
    subprocess.run([*command, unresolved, *rpath], check=True)
    return client


def client_ns(client: Path, daemon: Serving, metrics: list[str]) -> float:
    """Median time of a fetch by the C client."""
    output = subprocess.run(
        [str(client), daemon.host, str(FETCHES), *metrics],
        env={**os.environ, **daemon.environment()},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return median(map(int, output.split()))


def memgauge_ns(reader: _core.Reader) -> float:
    """Median time of a reading, from stamp to stamp."""
    for _ in range(FETCHES // 8):
        reader.read()
    readings = [reader.read() for _ in range(FETCHES)]
    if any(value is None for value in readings[-1].values):
        raise RuntimeError("a value is missing")
    return median(reading.end_ns - reading.begin_ns for reading in readings)


def reader_of(library: _core.PcpLibrary, daemon: Serving, *, with_duty: bool) -> _core.Reader:
    """One source of all values."""
    columns: list[_core.PcpColumn] = []
    for value, duty in zip(VALUES, DUTIES, strict=True):
        for instance in INSTANCES:
            at = len(columns) + 1 if with_duty else None
            columns.append(_core.PcpColumn(value, instance, counts=True, duty=at))
            if with_duty:
                columns.append(_core.PcpColumn(duty, instance, counts=False, fraction_bits=20))
    return _core.Reader([_core.PcpSource(library, daemon.host, columns)])


def compared(
    client: Path, daemon: Serving, library: _core.PcpLibrary, rounds: int, *, with_duty: bool
) -> list[str]:
    """One line of the table."""
    reader = reader_of(library, daemon, with_duty=with_duty)
    metrics = VALUES + DUTIES if with_duty else VALUES
    ratios, theirs, ours = Ratios(), list[float](), list[float]()
    for number in range(rounds):
        if number % 2:
            ours.append(memgauge_ns(reader))
            theirs.append(client_ns(client, daemon, metrics))
        else:
            theirs.append(client_ns(client, daemon, metrics))
            ours.append(memgauge_ns(reader))
        ratios.values.append(ours[-1] / theirs[-1])
    name = "values with their share of time" if with_duty else "values"
    return [name, f"{median(theirs) / 1e3:.1f}", f"{median(ours) / 1e3:.1f}", ratios.text()]


def main() -> None:
    """Parse arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    installed = installation()
    if installed is None:
        raise SystemExit(MISSING)
    installed.preload()
    with Serving(installed) as daemon, tempfile.TemporaryDirectory() as folder:
        os.environ.update(daemon.environment())
        os.sched_setaffinity(daemon.pid, {DAEMON_CPU})
        os.sched_setaffinity(0, {CLIENT_CPU})
        client = built(daemon.installed, Path(folder))
        library = _core.PcpLibrary(LIBRARIES)
        rows = [
            compared(client, daemon, library, rounds, with_duty=with_duty)
            for with_duty in (False, True)
        ]
    print(table(["fetch of 32", "C client, us", "memgauge, us", "memgauge / C"], rows))


if __name__ == "__main__":
    main()
