"""The agent that counts the kernel's PMUs for everybody: perfevent. It needs root."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pcp_daemons.pmcd import Pmcd

if TYPE_CHECKING:
    from tests.pcp_daemons.install import Installation

DOMAIN = 127
NAMES = {
    "perfevent.version": f"{DOMAIN}:0:0",
    "perfevent.active": f"{DOMAIN}:0:1",
    "perfevent.hwcounters": f"{DOMAIN}:*:*",
    "perfevent.derived": f"{DOMAIN}:*:*",
}


def perfevent_daemon(installed: Installation, sysfs: Path, events: Sequence[str]) -> Pmcd:
    """A pmcd, not yet started, whose agent counts events of a tree that stands in for `/sys`.

    Args:
        events: such as `nest_mba0_imc.PM_MBA0_READ_BYTES`; what is not named has no value.
    """
    made = Pmcd(installed, NAMES, uid=0)
    program = made.installed.agent("perfevent/pmdaperfevent")
    launcher = made.folder / "perfevent-agent"
    launcher.write_text(f"#!/bin/sh\nSYSFS_PREFIX={sysfs}/ exec {program} -d {DOMAIN} -U root\n")
    launcher.chmod(0o755)
    configured = made.folder / "pmdas" / "perfevent"
    configured.mkdir()
    (configured / "perfevent.conf").write_text("[dynamic]\n" + "\n".join(events) + "\n")
    with (made.folder / "pmcd.conf").open("a") as file:
        file.write(f"perfevent {DOMAIN} pipe binary {launcher}\n")
    return made


def agent_of(daemon: Pmcd) -> int:
    """Process identifier of the agent."""
    assert daemon.process is not None
    pid = daemon.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    names = {int(child): Path(f"/proc/{child}/comm").read_text().strip() for child in children}
    return next(child for child, name in names.items() if name.startswith("pmdaperf"))


@contextmanager
def switched_off(daemon: Pmcd) -> Iterator[None]:
    """Hold the lock by which perfalloc(1) has the agent free the hardware."""
    path = daemon.folder / "pmdas" / "perfevent" / "perflock"
    with path.open("rb") as lock:
        fcntl.lockf(lock, fcntl.LOCK_SH, 1)
        yield
