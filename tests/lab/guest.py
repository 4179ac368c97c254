"""Builds the guest once and runs Python in it, with what this interpreter can import."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MADE_OF = (HERE / "guest.sh", HERE / "init")
NEEDED = ("apt-get", "dpkg-deb", "make", "gcc", "xz")
TIER_TOOLS = ("ndctl", "daxctl", "mkfs.xfs", "mkfs.ext4")
BUILD_S = 900
RUN_S = 600
"""Of what hangs: eight times what an idle machine needs, for one that is busy."""
NO_EXIT_CODE = 125
STALLED = "kthread starved for"


class Unavailable(Exception):
    """The guest cannot be built here; the message says why."""


def built(*, tiers: bool = False) -> Path:
    """The folder of the guest, built when it is not there yet.

    `MEMGAUGE_GUEST` names another place than `build/guest` of the tree. With `tiers`, the commands
    and libraries that make tiers of devices are there too.

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
        _build_guest(work)
        if tiers and not (_has_tier_tools() or (work / "tier-tools").exists()):
            _step(["tools", str(work)])
    return work


def _build_guest(work: Path) -> None:
    boots = work / "initrd.gz"
    if not boots.exists():
        _step(["build", str(work)])
    elif boots.stat().st_mtime < max(
        (HERE / name).stat().st_mtime for name in ("guest.sh", "init")
    ):
        _step(["initramfs", str(work)])
    _step(["module", str(work), str(HERE / "fake_imc")])


def _has_tier_tools() -> bool:
    return find_library("pmemobj") is not None and all(map(shutil.which, TIER_TOOLS))


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


def run(
    work: Path, command: str, settings: dict[str, str] | None = None, limit_s: int = RUN_S
) -> subprocess.CompletedProcess[str]:
    """Boot, run a shell command in the tree with the imports of this interpreter, power off.

    Settings are those at the head of guest.sh. A guest whose kernel said before it hung that its
    emulated clock had stopped is booted once more: that says nothing of what ran in it.
    """
    inside = f"{_exports(work)} cd {shlex.quote(str(ROOT))}; {command}"
    done = _boot(work, inside, settings, limit_s)
    if done.returncode == NO_EXIT_CODE and STALLED in done.stderr:
        done = _boot(work, inside, settings, limit_s)
    return done


def _boot(
    work: Path, inside: str, settings: dict[str, str] | None, limit_s: int
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [HERE / "guest.sh", "run", work, ROOT, inside],
        capture_output=True,
        text=True,
        timeout=limit_s + 60,
        env={**os.environ, **(settings or {}), "TIMEOUT": str(limit_s)},
        check=False,
    )


def _exports(work: Path) -> str:
    paths = ":".join(path for path in sys.path if path)
    made = f"export PYTHONPATH={shlex.quote(paths)};"
    tools = work / "tier-tools"
    if not tools.exists():
        return made
    # What is unpacked there is only what this machine lacks, so it hides nothing of it.
    found = (tools / name for name in ("usr/bin", "usr/sbin", "sbin", "bin"))
    libraries = (tools / name / "x86_64-linux-gnu" for name in ("usr/lib", "lib"))
    return (
        f"{made} export PATH={shlex.quote(':'.join(map(str, found)))}:$PATH"
        f" LD_LIBRARY_PATH={shlex.quote(':'.join(map(str, libraries)))};"
    )


def python(work: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the tree in the guest with this interpreter."""
    return run(work, shlex.join([sys.executable, "-m", module, *arguments]))
