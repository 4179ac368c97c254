"""Builds the guest once and runs Python in it, with what this interpreter can import."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NEEDED = ("apt-get", "dpkg-deb", "make", "gcc", "xz")
BUILD_S = 300
RUN_S = 300


class Unavailable(Exception):
    """The guest cannot be built here; the message says why."""


def built() -> Path:
    """The folder of the guest, built when it is not there yet.

    `MEMGAUGE_GUEST` names another place than `build/guest` of the tree.

    Raises:
        Unavailable: no Debian, not root, or its packages cannot be had.
    """
    work = Path(os.environ.get("MEMGAUGE_GUEST", ROOT / "build" / "guest"))
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if missing:
        raise Unavailable(f"needs {', '.join(missing)} to build the guest")
    if os.geteuid() != 0 or os.uname().machine != "x86_64":
        raise Unavailable("needs root on x86-64, to share this machine's files with the guest")
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (work / "initrd.gz").exists():
            _step(["build", str(work)])
        _step(["module", str(work), str(HERE / "fake_imc")])
    return work


def _step(arguments: list[str]) -> None:
    try:
        subprocess.run(
            [HERE / "guest.sh", *arguments],
            check=True,
            capture_output=True,
            text=True,
            timeout=BUILD_S,
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no message"])[-1]
        raise Unavailable(f"the guest cannot be built: {last}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"the guest was not built in {BUILD_S} s") from error


def run(work: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Boot, run a shell command in the tree with the imports of this interpreter, power off."""
    paths = ":".join(path for path in sys.path if path)
    inside = f"export PYTHONPATH={shlex.quote(paths)}; cd {shlex.quote(str(ROOT))}; {command}"
    return subprocess.run(
        [HERE / "guest.sh", "run", work, ROOT, inside],
        capture_output=True,
        text=True,
        timeout=RUN_S + 60,
        env={**os.environ, "TIMEOUT": str(RUN_S)},
        check=False,
    )


def python(work: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the tree in the guest with this interpreter."""
    return run(work, shlex.join([sys.executable, "-m", module, *arguments]))
