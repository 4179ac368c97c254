"""Looks at files, pools and devices of the guest that hold arrays, and at what is left of them."""

from __future__ import annotations

import mmap
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab import devices
from tests.lab.measuring import DISK, Seen, as_nobody, measured, said, seen

PRECIOUS = b"precious" * 512
Look = Callable[[Path], Seen]


def not_dax() -> Seen:
    """Files where MAP_SYNC is refused, and memory without a name."""
    return {
        "root": measured(memory=f"file:{DISK}/arrays", text=True),
        "tmpfs": measured(memory="file:/dev/shm/arrays"),
        "pool": measured(memory=f"pmemobj:{DISK}/pool"),
        "shm": measured(memory="shm:"),
    }


def permissions() -> Seen:
    """What a user without rights is told."""
    for memory in ("file:/dev/shm/arrays", "pmemobj:/dev/shm/pool"):
        measured(memory=memory)  # imports what that user may not read
    secret = Path("/run/secret")
    secret.mkdir(mode=0o700, exist_ok=True)
    return {
        "file": as_nobody(lambda: measured(memory=f"file:{secret}/arrays")),
        "pool": as_nobody(lambda: measured(memory=f"pmemobj:{secret}/pool")),
    }


def ext4() -> Seen:
    """All looks at an ext4 with DAX; then one at the same without."""
    device = devices.fsdax()
    devices.make_file_system(device, "ext4")
    looks: tuple[Look, ...] = (_file, _strangers, _pool, _killed)
    with devices.mounted(device, "dax") as mount:
        found = {look.__name__[1:]: _at(look, mount) for look in looks}
    with devices.mounted(device, "dax=never") as mount:
        return found | {"dax_never": _at(_file, mount)}


def xfs() -> Seen:
    """An xfs with DAX, then full."""
    device = devices.fsdax()
    devices.make_file_system(device, "xfs")
    with devices.mounted(device, "dax=always") as mount:
        return {"file": _at(_file, mount), "full": _at(_full, mount)}


def _at(look: Look, mount: Path) -> Seen:
    return seen(lambda: look(mount))


def _names(mount: Path) -> list[str]:
    return sorted(path.name for path in mount.iterdir() if path.name != "lost+found")


def _file(mount: Path) -> Seen:
    found = measured(memory=f"file:{mount}/arrays", text=True)
    return found | {"left": _names(mount)}


def _full(mount: Path) -> Seen:
    """3 MiB free."""
    free = os.statvfs(mount)
    with (mount / "users").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize - (3 << 20))
    before = (mount / "users").stat().st_size
    found = {memory: measured(memory=f"{memory}:{mount}/arrays") for memory in ("file", "pmemobj")}
    return found | {
        "left": _names(mount),
        "unchanged": (mount / "users").stat().st_size == before,
    }


def _strangers(mount: Path) -> Seen:
    """A user's file in the way."""
    users = mount / "users"
    users.write_bytes(PRECIOUS)
    found = {memory: measured(memory=f"{memory}:{users}") for memory in ("file", "pmemobj")}
    unchanged = users.read_bytes() == PRECIOUS
    users.unlink()
    return found | {"unchanged": unchanged}


def _pool(mount: Path) -> Seen:
    """A pool for one run; one that is kept and used again."""
    pool = mount / "pool"
    memory = f"pmemobj:{pool}"
    passing = measured(memory=memory)
    passed = _names(mount)
    first = measured(memory=memory, keep=True)
    made = pool.stat() if pool.exists() else None
    again = measured(memory=memory, keep=True, text=True)
    return {
        "passing": passing,
        "passed": passed,
        "first": first,
        "kept_bytes": made and made.st_size,
        "again": again,
        "same_file": made is not None and pool.exists() and pool.stat().st_ino == made.st_ino,
        "translated": measured(memory=memory, keep=True, access="translated"),
        "smaller": measured(memory=memory, array_bytes="64KiB"),
        "larger": measured(memory=memory, array_bytes="32MiB"),
        "left": _names(mount),
    }


def _killed(mount: Path) -> Seen:
    """kill -9 while a file that is to be kept is in use; then cleaning, beside a user's file."""
    (mount / "users").write_bytes(PRECIOUS)
    child = os.fork()
    if child == 0:
        try:
            measured(memory=f"file:{mount}/arrays", keep=True, seconds=60)
        finally:
            os._exit(0)
    end = time.monotonic() + 30
    while not (mount / "arrays").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = _names(mount)
    cleaned = said("system", "--clean")
    unchanged = (mount / "users").read_bytes() == PRECIOUS
    return {"left": left, "clean": cleaned, "after": _names(mount), "unchanged": unchanged}


def keep_pool() -> Seen:
    """Half of a look over two boots: a pool that is kept."""
    device = devices.fsdax()
    devices.make_file_system(device, "ext4")
    with devices.mounted(device, "dax") as mount:
        found = measured(memory=f"pmemobj:{mount}/pool", keep=True)
        return found | {"left": _names(mount), "inode": (mount / "pool").stat().st_ino}


def kept_pool() -> Seen:
    """The other half: the pool of the boot before."""
    with devices.mounted(devices.fsdax(), "dax") as mount:
        before = (mount / "pool").stat().st_ino
        found = measured(memory=f"pmemobj:{mount}/pool", keep=True)
        return found | {"inode": before, "inode_after": (mount / "pool").stat().st_ino}


def device() -> Seen:
    """A devdax device that holds a user's data: refused, until it may be overwritten."""
    path = devices.devdax()
    memory = f"devdax:{path}"
    with Path(path).open("r+b", buffering=0) as file:
        with mmap.mmap(file.fileno(), 2 << 20) as view:
            view[: len(PRECIOUS)] = PRECIOUS
        refused = measured(memory=memory)
        with mmap.mmap(file.fileno(), 2 << 20) as view:
            unchanged = view[: len(PRECIOUS)] == PRECIOUS
    return {
        "refused": refused,
        "unchanged": unchanged,
        "nobody": as_nobody(lambda: measured(memory=memory, overwrite=True)),
        "overwritten": measured(memory=memory, overwrite=True, text=True),
    }
