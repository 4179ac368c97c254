"""Tries in another process whether a package works within the limits of this one.

The JavaScript engine in vl-convert reserves 64 GiB of addresses and starts threads. If either
fails, it ends the process, which cannot be caught. polars panics if it cannot start a thread. So if
a limit is low, a process of the same size tries the same first.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from memgauge.model.errors import RequestError
from memgauge.reports.charts.script_cache import snippet

Task = Literal["picture", "script", "parquet"]

LIMIT_S = 120

_DO: dict[Task, str] = {
    "parquet": "polars.DataFrame({'a': [1]}).write_parquet(io.BytesIO())",
    "picture": "vl_convert.vegalite_to_svg({'mark': 'bar', 'data': {'values': [{'a': 1}]}, "
    "'encoding': {'x': {'field': 'a', 'type': 'quantitative'}}})",
    "script": "vl_convert.javascript_bundle(snippet)",
}

_PACKAGES: dict[Task, str] = {
    "parquet": "polars",
    "picture": "vl_convert",
    "script": "vl_convert",
}
"""That each task needs, as it is imported."""

_PROGRAM = """
import sys
sys.path.append({place!r})
import io, mmap, os, {package}
spare = [mmap.mmap(-1, {bytes})] if {bytes} else []
held = [os.dup(2) for _ in range({files})]
snippet = {snippet!r}
{do}
"""


class _Limit(NamedTuple):
    number: int
    ample: int
    """Limits from here on need no trial."""
    name: str
    option: str
    """Of the shell's `ulimit`, which counts in `unit_bytes`."""
    unit_bytes: int


_UNLIMITED = 1 << 62
_LIMITS = (
    _Limit(resource.RLIMIT_AS, _UNLIMITED, "address space", "-v", 1024),
    _Limit(resource.RLIMIT_DATA, _UNLIMITED, "data size", "-d", 1024),
    _Limit(resource.RLIMIT_STACK, 1 << 20, "stack", "-s", 1024),
    _Limit(resource.RLIMIT_NPROC, 256, "processes", "-u", 1),
    _Limit(resource.RLIMIT_NOFILE, 64, "open files", "-n", 1),
)


@cache
def obstacle(task: Task) -> str | None:
    """Which limits prevent the package from working; None if it works or no limit is low."""
    low = [one for one in _LIMITS if 0 <= resource.getrlimit(one.number)[0] < one.ample]
    if not low or _works(task):
        return None
    named = ", ".join(
        f"{one.name} {resource.getrlimit(one.number)[0] // one.unit_bytes} (ulimit {one.option})"
        for one in low
    )
    package = _PACKAGES[task].replace("_", "-")
    return f"{package} does not work within the limits of this process: {named}"


def _place_of(package: str) -> str:
    """The directory in which this process finds the package; the trial searches only there."""
    found = find_spec(package)
    return str(Path(found.origin).absolute().parents[1]) if found and found.origin else ""


def require_parquet() -> None:
    """Refuse Parquet if polars is installed but cannot work.

    Raises:
        RequestError: a limit of this process is too low; the message names it.
    """
    reason = obstacle("parquet") if find_spec("polars") else None
    if reason is not None:
        raise RequestError(
            f"parquet cannot be written: {reason}; raise them, or export csv or json"
        )


def _works(task: Task) -> bool:
    program = _PROGRAM.format(
        package=_PACKAGES[task],
        place=_place_of(_PACKAGES[task]),
        bytes=_mapped_bytes(),
        files=_open_files(),
        snippet=snippet(),
        do=_DO[task],
    )
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _mapped_bytes() -> int:
    """What this process has mapped beyond what a new one starts with; 0 where that is not known."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return 0
    return max(0, pages * resource.getpagesize() - _NEW_BYTES)


_NEW_BYTES = 128 << 20
"""Of a new process with vl-convert loaded, about."""


def _open_files() -> int:
    """Descriptors of this process beyond the three that a new one has."""
    try:
        return max(0, len(list(Path("/proc/self/fd").iterdir())) - 4)
    except OSError:
        return 0
