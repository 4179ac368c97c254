"""The agent that counts the kernel's PMUs for everybody: perfevent. It needs root."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pcp_daemons.pmcd import Pmcd

if TYPE_CHECKING:
    from tests.pcp_daemons.install import Installation

DOMAIN = 127
NAMES = {"perfevent": f"{DOMAIN}:*:*"}


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
