"""A pmcd of the test's own: private directories, a socket, no port, no root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from tests.pcp_daemons.install import Installation

NOBODY = 65534
FOLDERS = ("tmp/mmv", "run", "log", "pmdas")


class Pmcd:
    """A daemon that can be started, killed, stopped and started again under the same socket.

    Args:
        names: metrics, and what the name space says of them, such as `70:5:0` or `127:*:*`.
        agents: further lines of its configuration; the mmv agent is always there.
        uid: who it runs as; another than this process's only as root.
    """

    def __init__(
        self,
        installed: Installation,
        names: Mapping[str, str] = {},
        agents: Sequence[str] = (),
        uid: int | None = None,
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="memgauge-pmcd-"))
        self.folder.chmod(0o755)
        self.installed = installed.copied_to(self.folder)
        self.uid = uid if uid is not None else NOBODY if os.geteuid() == 0 else os.geteuid()
        self.agents = list(agents)
        self.process: subprocess.Popen[bytes] | None = None
        self.socket = self.folder / "run" / "pmcd.socket"
        self.log = self.folder / "log" / "pmcd.log"
        self.configuration = self.folder / "pcp.conf"
        for name in FOLDERS:
            folder = self.folder / name
            folder.mkdir(parents=True)
            if os.geteuid() == 0:
                os.chown(folder, self.uid, -1)
        self._write_configuration()
        self.serve(names)

    @property
    def host(self) -> str:
        """How clients name it."""
        return f"unix:/{self.socket}"

    @property
    def pid(self) -> int:
        """Of the running daemon."""
        assert self.process is not None
        return self.process.pid

    @property
    def mmv(self) -> Path:
        """Where files of the mmv agent stand."""
        return self.folder / "tmp" / "mmv"

    def environment(self) -> dict[str, str]:
        """What a client needs to reach it, beside its own environment."""
        return {
            "PCP_CONF": str(self.configuration),
            "MEMGAUGE_PCP_HOST": self.host,
            **self.installed.environment(),
        }

    def serve(self, names: Mapping[str, str]) -> None:
        """Replace the name space; a running daemon keeps the one it has."""
        tree: dict[str, dict[str, str]] = {}
        for name, identifier in {"pmcd.numagents": "2:0:2", **names}.items():
            nodes = name.split(".")
            for depth, node in enumerate(nodes):
                inner = tree.setdefault(".".join(nodes[:depth]) or "root", {})
                inner[node] = identifier if depth == len(nodes) - 1 else ""
        lines = [
            f"{node} {{\n" + "".join(f"  {name} {inner[name]}\n" for name in inner) + "}\n"
            for node, inner in tree.items()
        ]
        (self.folder / "names").write_text("".join(lines))

    def start(self) -> None:
        """Start it and wait until it answers on its socket."""
        environment = {**os.environ, **self.environment()}
        # Not to outlive a test that is killed.
        leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        command = [*leash, str(self.installed.daemon), "-f", "-A", "-p", "0"]
        command += ["-c", str(self.folder / "pmcd.conf"), "-n", str(self.folder / "names")]
        command += ["-s", str(self.socket), "-l", str(self.log), "-x", "/dev/null"]
        user = self.uid if os.geteuid() == 0 else None
        if user == 0:
            command += ["-U", "root"]
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=user,
            group=user,
            extra_groups=None if user is None else [],
        )
        self._wait()

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End it at once, its agents with it."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None
        self.socket.unlink(missing_ok=True)

    def restart(self) -> None:
        """Kill it and start another in its place."""
        self.kill()
        self.start()

    def stop(self) -> None:
        """Keep it from answering, alive."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it answer again."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it and remove what it had."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self) -> None:
        """Until it greets who connects; it opens its socket before its agents are ready."""
        until = time.monotonic() + 20
        while time.monotonic() < until:
            assert self.process is not None
            if self.process.poll() is not None:
                break
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
                    client.settimeout(5)
                    client.connect(str(self.socket))
                    if client.recv(1):
                        return
            except OSError:
                time.sleep(0.01)
        log = self.log.read_text() if self.log.exists() else "no log"
        raise RuntimeError(f"pmcd did not start: {log}")

    def _write_configuration(self) -> None:
        root, folder = self.installed.root, self.folder
        private = {
            "PCP_TMP_DIR": folder / "tmp",
            "PCP_TMPFILE_DIR": folder / "tmp",
            "PCP_RUN_DIR": folder / "run",
            "PCP_LOG_DIR": folder / "log",
            "PCP_PMDAS_DIR": folder / "pmdas",
        }
        lines = []
        for line in (root / "etc" / "pcp.conf").read_text().splitlines():
            name, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                moved = f"{root}{value}" if value.startswith("/") else value
                lines.append(f"{name}={private.get(name, moved)}\n")
        self.configuration.write_text("".join(lines))
        agents = [
            f"pmcd 2 dso pmcd_init {self.installed.agent('pmcd/pmda_pmcd.so')}",
            f"mmv 70 dso mmv_init {self.installed.agent('mmv/pmda_mmv.so')}",
            *self.agents,
        ]
        (folder / "pmcd.conf").write_text("\n".join(agents) + "\n")
