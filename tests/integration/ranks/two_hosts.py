"""Two hosts on this machine, as network and host-name name spaces, with mpirun between them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[3]
NETWORK = "10.77.{}.0/24"


def missing_for_ranks() -> str | None:
    """What this machine lacks for a job of several ranks; None: nothing."""
    if shutil.which("mpirun") is None:
        return "no mpirun (Debian: apt-get install openmpi-bin)"
    if find_spec("mpi4py") is None:
        return "no mpi4py (pip install mpi4py)"
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False)
    return None if "Open MPI" in version.stdout else "mpirun is not Open MPI's, whose options it is"


def missing_for_hosts() -> str | None:
    """What it lacks for two hosts."""
    if os.geteuid() != 0:
        return "network name spaces are root's to make"
    for tool in ("ip", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            return f"no {tool} (Debian: apt-get install iproute2 util-linux)"
    try:
        with two_hosts(Path()) as hosts:
            subprocess.run(
                hosts.inside("true"), check=True, capture_output=True, text=True, timeout=60
            )
    except subprocess.CalledProcessError as error:
        return f"two hosts cannot be made here: {shlex.join(error.cmd)}: {error.stderr.strip()}"
    return None


def environment() -> dict[str, str]:
    """Of a job: the package as it is here, and Open MPI as root."""
    paths = [str(ROOT), *os.environ.get("PYTHONPATH", "").split(":")]
    return os.environ | {
        "PYTHONPATH": ":".join(filter(None, paths)),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }


def mpirun(ranks: int, *options: str) -> list[str]:
    """The beginning of a command of so many ranks on this host."""
    return ["mpirun", "-q", "--oversubscribe", *options, "-n", str(ranks)]


class TwoHosts:
    """Hosts called `mga` and `mgb`, which the launcher reaches by address."""

    def __init__(self, directory: Path, number: int) -> None:
        self._directory = directory
        self._spaces = [f"mg{number}a", f"mg{number}b"]
        self._link = [f"mgv{number}a"[-15:], f"mgv{number}b"[-15:]]
        subnet = number % 250
        self._addresses = [f"10.77.{subnet}.1", f"10.77.{subnet}.2"]
        self._network = NETWORK.format(subnet)
        self._names = [directory / "uts-a", directory / "uts-b"]

    def open(self) -> None:
        """Make the name spaces and the link between them."""
        for space in self._spaces:
            _do("ip", "netns", "add", space)
            _do("ip", "-n", space, "link", "set", "lo", "up")
        _do("ip", "link", "add", self._link[0], "netns", self._spaces[0], "type", "veth", "peer",
            "name", self._link[1], "netns", self._spaces[1])  # fmt: skip
        for space, link, address in zip(self._spaces, self._link, self._addresses, strict=True):
            _do("ip", "-n", space, "addr", "add", f"{address}/24", "dev", link)
            _do("ip", "-n", space, "link", "set", link, "up")

    def close(self) -> None:
        """Remove them, with whatever still runs in them."""
        for space in self._spaces:
            pids = subprocess.run(
                ["ip", "netns", "pids", space], capture_output=True, text=True, check=False
            )
            for pid in pids.stdout.split():
                subprocess.run(["kill", "-9", pid], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def command(
        self, ranks: int, program: Sequence[str], *, options: Sequence[str] = (), hide: str = ""
    ) -> list[str]:
        """The program with its ranks dealt out to both hosts in turn.

        `hide` is a directory that the second host has one of its own for.
        """
        agent = self._directory / "agent"
        private = f"mount -t tmpfs none {hide};" if hide else ""
        agent.write_text(
            "#!/bin/sh\nshift\n"
            f"exec ip netns exec {self._spaces[1]} unshare --uts --mount sh -c "
            f'"hostname mgb; {private} $*"\n',
            encoding="utf-8",
        )
        agent.chmod(0o755)
        network = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", self._network]
        network += ["--mca", "oob_tcp_if_include", self._network]
        words = ["mpirun", "-q", "--mca", "plm_rsh_agent", str(agent), *network]
        words += ["--host", ",".join(f"{one}:8" for one in self._addresses), "--map-by", "node"]
        words += ["--oversubscribe", *options, "-n", str(ranks), *program]
        return self.inside(*words)

    def inside(self, *words: str) -> list[str]:
        """A command on the first host."""
        started = 'hostname mga; exec "$@"'
        space = ["ip", "netns", "exec", self._spaces[0], "unshare", "--uts"]
        return [*space, "sh", "-c", started, "sh", *words]


@contextmanager
def two_hosts(directory: Path) -> Iterator[TwoHosts]:
    """Two hosts, removed again at the end."""
    hosts = TwoHosts(directory, os.getpid() % 100_000)
    try:
        hosts.open()
        yield hosts
    finally:
        hosts.close()


def survey(*arguments: str, made_up: bool = False) -> list[str]:
    """The command that each rank runs; `made_up`: with a survey that measures nothing."""
    module = "tests.integration.ranks.made_up_survey" if made_up else "memgauge"
    return [sys.executable, "-m", module, *arguments]


def _do(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)
