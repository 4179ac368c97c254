"""`counters compare perf pcp`: the kernel's counters and a real daemon's, by the same regions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.integration.counters.verify_here import Settings, plant
from tests.pcp_daemons.install import MISSING, installation
from tests.pcp_daemons.perfevent import perfevent_daemon

pytestmark = pytest.mark.whole_machine

if TYPE_CHECKING:
    from tests.pcp_daemons.pmcd import Pmcd

ROOT = Path(__file__).parents[3]
EVENTS = [f"nest_mba{n}_imc.PM_MBA{n}_{kind}_BYTES" for n in range(2) for kind in ("READ", "WRITE")]


class Compared:
    """The command, on a tree that both routes read."""

    def __init__(self, directory: Path, daemon: Pmcd) -> None:
        self.directory = directory
        self.daemon = daemon

    def run(self, settings: Settings) -> str:
        """What it prints."""
        file = self.directory / "settings.json"
        file.write_bytes(msgspec.json.encode(settings))
        environment = {
            **os.environ,
            **self.daemon.environment(),
            "XDG_STATE_HOME": str(self.directory / "state"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        }
        words = ["counters", "compare", "perf", "pcp", "--region", "20ms", "--budget", "60s"]
        words += ["--sizes", "64"]
        done = subprocess.run(
            [sys.executable, "-m", "tests.integration.counters.verify_here", str(file), *words],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return " ".join(done.stdout.split())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    reason = tracepoints.missing() or (None if os.geteuid() == 0 else "the agent needs root")
    if reason:
        pytest.skip(reason)
    return Settings(tree="power9", root=str(tmp_path / "tree"), scaled=False)


@pytest.fixture
def compared(settings: Settings, tmp_path: Path) -> Iterator[Compared]:
    found = installation()
    if found is None:
        pytest.skip(MISSING)
    with perfevent_daemon(found, plant(settings).sysfs, EVENTS) as daemon:
        yield Compared(tmp_path, daemon)


@pytest.mark.parametrize("scaled", [True, False])
def test_the_unprivileged_route_agrees_with_the_direct_one(
    compared: Compared, settings: Settings, *, scaled: bool
) -> None:
    """With the kernel's `.scale`, which the agent leaves out, and without one."""
    said = compared.run(msgspec.structs.replace(settings, scaled=scaled))
    for what in ("reads", "writes", "reads of socket 1", "writes of socket 0"):
        agreed = f"Of {what}, the unprivileged route (pcp) agrees with the route perf within 0.00%."
        assert agreed in said
    for what in ("reads", "writes"):
        assert (
            f"Of {what} of loop nests, the unprivileged route (pcp) agrees with the route perf "
            "within 0.00%: gemm, N = 64; gemv, N = 64."
        ) in said
