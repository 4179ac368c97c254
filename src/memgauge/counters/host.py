"""Where counters are looked for: the roots of the kernel's trees, which tests replace.

The environment variable `MEMGAUGE_SYSFS` names a directory that stands in for `/sys`, as
`SYSFS_PREFIX` does for Performance Co-Pilot's agent; what was read from such a tree says so.
`MEMGAUGE_CALIBRATION` states which factors that `counters verify` found are applied.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import msgspec

from memgauge.model.counting.calibration import (
    CALIBRATION_VARIABLE,
    CALIBRATIONS,
    Calibration,
)
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

SYSFS_VARIABLE = "MEMGAUGE_SYSFS"


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The machine as counters see it."""

    sysfs: Path = Path("/sys")
    procfs: Path = Path("/proc")
    architecture: str = msgspec.field(default_factory=platform.machine)
    calibration: Calibration = "known"
    """Which factors that `counters verify` found are applied to counters when they are opened."""

    @property
    def is_substituted(self) -> bool:
        """Whether another tree stands in for `/sys`: encodings may then be of another machine."""
        return self.sysfs != Path("/sys")


def this_host() -> Host:
    """This machine, with the tree that the environment asks for.

    Raises:
        RequestError: it names something that is not a directory, or no kind of calibration.
    """
    calibration = _calibration(os.environ.get(CALIBRATION_VARIABLE) or "known")
    substitute = os.environ.get(SYSFS_VARIABLE)
    if not substitute:
        return Host(calibration=calibration)
    if not Path(substitute).is_dir():
        raise RequestError(
            f"{SYSFS_VARIABLE}={quoted(substitute)}: is not a readable directory; name a copy "
            "of another machine's /sys, or unset it"
        )
    return Host(sysfs=Path(substitute), calibration=calibration)


def _calibration(text: str) -> Calibration:
    found = next((one for one in CALIBRATIONS if one == text), None)
    if found is None:
        raise RequestError(
            f"{CALIBRATION_VARIABLE}={quoted(text)}: is none of {', '.join(CALIBRATIONS)}; "
            "set one of them, or unset it"
        )
    return found
