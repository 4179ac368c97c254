"""The command line tool as tests run it: of this interpreter, its output as text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

LIMIT_S = 120


def command(*arguments: object) -> list[str]:
    """The words that start it."""
    return [sys.executable, "-m", "memgauge", *map(str, arguments)]


def memgauge(
    *arguments: object,
    cwd: Path | str | None = None,
    before: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> subprocess.CompletedProcess[str]:
    """Run it to its end. `before`: what starts it, such as setpriv; `environment`: all of it."""
    return subprocess.run(
        [*before, *command(*arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


def without_core(place: Path) -> dict[str, str]:
    """An environment in which the native core cannot be imported; `place` is written into."""
    (place / "sitecustomize.py").write_text(
        "import sys\nsys.modules['memgauge._core'] = None\n", encoding="utf-8"
    )
    paths = [str(place), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
