"""Opening the memory that arrays are put in, and how much of it there is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement
from memgauge.system.areas import devices as area_devices
from memgauge.system.areas.devices import Facts
from memgauge.system.detect import detect
from memgauge.system.limits.room import ORDINARY_POOL, room
from memgauge.system.memory.sources import Memories, opened

MIB = 1 << 20
SHM = MemoryPlacement("shm")

pytestmark = pytest.mark.native


def test_ordinary_memory_needs_no_opening() -> None:
    with opened({MemoryPlacement(): MIB, MemoryPlacement("node", (0,)): MIB}) as memories:
        assert memories.of(MemoryPlacement()).facts is None
        assert memories.of(MemoryPlacement("node", (0,))).nodes == [0]


def test_each_area_is_opened_once_and_closed_with_the_others(tmp_path: Path) -> None:
    file = MemoryPlacement("file", path=str(tmp_path))
    with opened({file: MIB, SHM: MIB}) as memories:
        memory = memories.of(file)
        assert memories.of(MemoryPlacement("file", path=str(tmp_path))) is memory
        assert memory.facts is not None
        assert (memory.facts.kind, memory.facts.path) == ("file", str(tmp_path))
        assert memory.facts.page_bytes == 0
        shared = memories.of(SHM)
    for closed in (memory, shared):
        with pytest.raises(RuntimeError, match="closed"):
            _ = closed.facts


def test_what_was_not_opened_is_an_error() -> None:
    with pytest.raises(RequestError, match="memory shm:: was not opened"):
        Memories().of(SHM)


def test_when_one_cannot_be_opened_the_others_are_closed(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    good = MemoryPlacement("file", path=str(tmp_path))
    bad = MemoryPlacement("file", path=str(tmp_path / "none" / "x"))
    with pytest.raises(RequestError, match="create its directory first"), opened({good: 1, bad: 1}):
        pytest.fail("it was opened")
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_file_system_is_the_pool_of_all_files_in_it(tmp_path: Path) -> None:
    system = detect()
    (tmp_path / "dir").mkdir()
    (pool, free), *others = room(system, MemoryPlacement("file", path=str(tmp_path / "x")))
    again = room(system, MemoryPlacement("pmemobj", path=str(tmp_path / "dir" / "y")))
    assert again[0][0] == pool
    assert isinstance(pool, MemoryPlacement)
    assert tmp_path.is_relative_to(pool.path)
    assert free > 0
    assert [name for name, _ in others] in ([], [ORDINARY_POOL])


def test_what_a_file_has_already_counts(tmp_path: Path) -> None:
    path = tmp_path / "arrays"
    with path.open("wb") as file:
        file.write(bytes(range(256)) * (8 * MIB // 256))
        file.flush()
        os.fsync(file.fileno())  # blocks are dealt out late
    ((_, with_it), *_), ((_, without), *_) = (
        room(detect(), MemoryPlacement("file", path=str(tmp_path / name)))
        for name in ("arrays", "other")
    )
    assert with_it > without


def test_memory_made_files_share_ordinary_memory() -> None:
    if not Path("/dev/shm").is_mount():  # noqa: S108
        pytest.skip("shared memory has no tmpfs of its own here")
    system = detect()
    pools = dict(room(system, MemoryPlacement("file", path="/dev/shm/x")))  # noqa: S108
    assert pools[ORDINARY_POOL] == system.available_bytes
    assert room(system, SHM) == room(system, MemoryPlacement())


def test_what_cannot_be_looked_at_has_no_room_and_no_error(tmp_path: Path) -> None:
    system = detect()
    for placement in (
        MemoryPlacement("file", path=str(tmp_path / "none" / "x")),
        MemoryPlacement("devdax", path="/dev/dax99.9"),
    ):
        assert room(system, placement) == []


def test_memory_of_a_node_is_the_nodes_and_the_machines() -> None:
    system = detect()
    (node, *_) = system.nodes
    on_node = MemoryPlacement("node", (node.node,))
    assert room(system, on_node) == [(ORDINARY_POOL, system.available_bytes), (on_node, node.bytes)]
    assert room(system, MemoryPlacement("node", (999,))) == room(system, MemoryPlacement())


def test_a_device_has_all_but_the_page_of_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(area_devices, "facts_of", lambda *_: Facts(64 * MIB, 2 * MIB, None))
    device = MemoryPlacement("devdax", path="/dev/dax0.0")
    assert room(detect(), device) == [(device, 62 * MIB)]
