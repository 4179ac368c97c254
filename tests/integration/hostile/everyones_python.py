"""Another user's memgauge: an interpreter and modules that user 65534 may read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import memgauge
from memgauge import _core

NOBODY = 65534


class EveryonesPython(NamedTuple):
    """How another user starts it."""

    executable: str
    environment: Mapping[str, str]
    """What it needs to find memgauge and all that this interpreter finds."""


def everyones_python(place: Path) -> EveryonesPython | None:
    """An interpreter that user 65534 may run and that finds memgauge; None where there is none.

    A development install keeps what was compiled away from its Python files, and compiles it again
    on import: `place` is given a directory in which copies of both lie together.
    """
    modules = place / "modules"
    for part in (memgauge.__file__, _core.__file__):
        shutil.copytree(Path(str(part)).parent, modules / "memgauge", dirs_exist_ok=True)
    paths = [str(modules), *(path for path in sys.path if path and not _is_standard(path))]
    environment = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    for executable in (sys.executable, "/usr/bin/python3"):
        if _works(executable, environment):
            return EveryonesPython(executable, environment)
    return None


def _is_standard(path: str) -> bool:
    """Whether it is of the standard library, which each interpreter has of its own."""
    return path.startswith(sys.base_prefix) and not path.endswith("-packages")


def _works(executable: str, environment: Mapping[str, str]) -> bool:
    try:
        subprocess.run(
            [executable, "-c", "import memgauge._core, msgspec, click"],
            check=True,
            capture_output=True,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env=dict(environment),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True
