"""How much of each kind of memory is still available, so that a run plans to use no more."""

from __future__ import annotations

import os
from pathlib import Path

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.model.system import System

ORDINARY_POOL = "memory"

Room = tuple[object, int]
"""What a placement allocates from, and how many bytes of that are available."""


def room(system: System, placement: MemoryPlacement) -> list[Room]:
    """Everything that a placement allocates from; empty if unknown.

    Memory of one node also counts as memory of the machine, and files of an in-memory file system
    count as both. What cannot be checked here is refused when it is opened, as are huge pages that
    are not free.
    """
    if placement.is_gpu:
        return _gpu(system, placement)
    if placement.kind == "devdax":
        return _device(placement)
    if placement.kind in {"file", "pmemobj"}:
        return _file(system, placement.path)
    of_node = [(placement, one.bytes) for one in system.nodes if one.node == placement.node]
    return [(ORDINARY_POOL, system.available_bytes), *of_node]


def _gpu(system: System, placement: MemoryPlacement) -> list[Room]:
    """The free memory that the driver reports; for an integrated GPU, the machine's own memory."""
    from memgauge.system.gpu.driver import opened_gpu

    gpu = opened_gpu(placement)
    own: list[Room] = [(placement, gpu.free_bytes)]
    return [*own, (ORDINARY_POOL, system.available_bytes)] if gpu.facts.integrated else own


def _device(placement: MemoryPlacement) -> list[Room]:
    from memgauge.system.areas import devices as area_devices

    try:
        facts = area_devices.facts_of(placement.path)
    except RequestError:
        return []
    return [(placement, max(0, facts.bytes - facts.page_bytes))]


def _file(system: System, path: str) -> list[Room]:
    from memgauge import _core

    place = Path(path)
    try:
        directory = place if place.is_dir() else place.parent
        had = place.stat().st_blocks * 512 if place.is_file() else 0
        descriptor = os.open(directory, os.O_PATH | os.O_CLOEXEC)
    except (OSError, ValueError):
        return []
    try:
        kind = _core.file_system_of(descriptor)
        pool = MemoryPlacement(kind="file", path=str(_mount_point(directory)))
        return _of_file_system(system, kind, os.fstatvfs(descriptor), pool, had)
    except OSError:
        return []
    finally:
        os.close(descriptor)


def _of_file_system(
    system: System, kind: str, facts: os.statvfs_result, pool: MemoryPlacement, had: int
) -> list[Room]:
    rooms: list[Room] = []
    if facts.f_blocks:  # else the mount sets no limit
        rooms.append((pool, facts.f_bavail * facts.f_frsize + had))
    if kind in {"tmpfs", "ramfs"}:
        rooms.append((ORDINARY_POOL, system.available_bytes))
    return rooms


def _mount_point(directory: Path) -> Path:
    """The highest directory of the same file system: one name for all files in it."""
    here = directory.resolve()
    device = here.stat().st_dev
    while here.parent != here and here.parent.stat().st_dev == device:
        here = here.parent
    return here
