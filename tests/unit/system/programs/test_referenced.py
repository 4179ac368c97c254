"""Pages that programs refer to: read from made-up trees, and forgotten in a real process."""

from __future__ import annotations

import errno
import gc
import mmap
import os
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.unit.system.trees import plant

pytest.importorskip("memgauge._core")

from memgauge.system.programs.referenced import forget, sizes_of

KIB = 1024
MIB = 1 << 20
PAGE = mmap.PAGESIZE


def process(root: Path, pid: int, rollup: str, children: str = "") -> Path:
    """A process in a made-up procfs."""
    folder = f"/proc/{pid}"
    files = {
        f"{folder}/task/{pid}/children": children,
        f"{folder}/smaps_rollup": rollup,
        f"{folder}/clear_refs": "",
    }
    plant(root, files)
    return root / folder[1:]


def rollup(referenced_kib: int, resident_kib: int) -> str:
    return (
        "55d0c0000000-7ffd00000000 ---p 00000000 00:00 0   [rollup]\n"
        f"Rss: {resident_kib} kB\nReferenced: {referenced_kib} kB\n"
    )


def test_sizes_are_those_of_all_processes(tmp_path: Path) -> None:
    process(tmp_path, 7, rollup(100, 400), "8 9")
    process(tmp_path, 8, rollup(20, 50))
    assert sizes_of(7, tmp_path) == (120 * KIB, 450 * KIB)
    process(tmp_path, 9, "")  # it has just ended
    assert sizes_of(7, tmp_path) == (120 * KIB, 450 * KIB)


@pytest.mark.parametrize("text", ["", "Rss: 5 kB\n", "Rss: x kB\nReferenced: 3 kB\n"])
def test_what_the_kernel_does_not_show_is_not_known(tmp_path: Path, text: str) -> None:
    process(tmp_path, 7, text)
    assert sizes_of(7, tmp_path) is None
    assert sizes_of(8, tmp_path) is None


def test_references_and_translations_are_forgotten_of_all_processes(tmp_path: Path) -> None:
    folders = [process(tmp_path, 7, rollup(1, 1), "8"), process(tmp_path, 8, rollup(1, 1))]
    forget(7, tmp_path)
    for folder in folders:
        assert (folder / "clear_refs").read_text(encoding="ascii") == "14"


def test_a_refusal_is_an_error_of_the_process_itself_only(tmp_path: Path) -> None:
    process(tmp_path, 7, rollup(1, 1), "8")
    process(tmp_path, 8, rollup(1, 1))
    (tmp_path / "proc/8/clear_refs").unlink()
    forget(7, tmp_path)
    (tmp_path / "proc/7/clear_refs").unlink()
    with pytest.raises(OSError, match="No such file") as refused:
        forget(7, tmp_path)
    assert refused.value.errno == errno.ENOENT


def test_a_real_process_is_seen_to_refer_to_what_it_touched_since() -> None:
    """Of 128 MiB, all, none and then half, beside what the interpreter itself refers to.

    A collection of garbage would refer to every object of the tests that ran before.
    """
    whole = 128 * MIB
    gc.disable()
    with ExitStack() as stack:
        stack.callback(gc.enable)
        memory = stack.enter_context(mmap.mmap(-1, whole))
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        touch(memory, whole)
        before = sizes_of(os.getpid())
        if before is None or not os.access("/proc/self/clear_refs", os.W_OK):
            pytest.skip("the kernel shows no references of processes")
        try:
            forget(os.getpid())
        except OSError as error:
            pytest.skip(f"the kernel forgets no references: {error.strerror}")
        idle = sizes_of(os.getpid())
        touch(memory, whole // 2)
        after = sizes_of(os.getpid())
    assert idle is not None
    assert after is not None
    assert before[0] - idle[0] >= whole * 3 // 4
    assert whole // 2 <= after[0] - idle[0] <= whole * 3 // 4
    assert after[0] <= after[1]


def touch(memory: mmap.mmap, size: int) -> None:
    for at in range(0, size, PAGE):
        memory[at] = 1
