"""Looks at experiments that use several memories of the guest at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.lab import devices
from tests.lab.measuring import Seen, measured, said

SAVED = Path("/lab/saved")
PRESETS = ("nvm-nvm", "nvm-dram", "dram-nvm")
VISITS_OF_A_MEDIAN = 6
TINY: dict[str, Any] = {"threads": "2", "array_bytes": "2MiB"}


def competition() -> Seen:
    """Both groups on nodes, without a word on where the second memory is: there is one NVDIMM."""
    node = devices.node_of(devices.NVDIMM)
    return {
        "node": node,
        "named": measured(
            "tiers",
            a="dram:dram",
            b=f"node:{node}",
            seconds=2,
            text=True,
            visits=VISITS_OF_A_MEDIAN,
            **TINY,
        ),
        "found": measured("tiers", preset="nvm-dram", seconds=2, **TINY),
        "probed": measured("tiers", seconds=2, latency=True, **(TINY | {"threads": "1"})),
        "no_hbm": measured("tiers", b="hbm:hbm", seconds=2, **TINY),
    }


def matrices() -> Seen:
    """Every node with a CPU against every node with memory."""
    return measured("numa", text=True, seconds=3, array_bytes="2MiB")


def weights() -> Seen:
    """Interleave weights of two nodes."""
    return measured(
        "interleave", text=True, seconds=3, array_bytes="4MiB", tiers="0,1", up_to=2, pages="4k"
    )


def presets() -> Seen:
    """The presets as a user runs them, on a pool of a DAX file system; what they leave is saved."""
    device = devices.fsdax()
    devices.make_file_system(device, "ext4")
    with devices.mounted(device, "dax") as mount:
        return {preset: _preset(preset, f"pmemobj:{mount}/pool") for preset in PRESETS}


def _preset(preset: str, nvm: str) -> Seen:
    output = SAVED / preset
    done = said(
        *("tiers", "--preset", preset, "--nvm", nvm, "--threads", "2"),
        *("--array-bytes", "2MiB", "--budget", "20s", "--output", str(output)),
    )
    files = sorted(path.name for path in output.iterdir()) if output.exists() else []
    return done | {"files": files}
