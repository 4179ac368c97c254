"""CPUs of a process are those of all threads of all that it started."""

from __future__ import annotations

import os
from pathlib import Path

from memgauge.system.programs.affinity import cpus_of


def process(root: Path, pid: int, parent: int, *lists: str) -> None:
    """A process whose threads may use these CPUs."""
    place = root / "proc" / str(pid)
    for number, cpus in enumerate(lists):
        thread = place / "task" / str(pid + number)
        thread.mkdir(parents=True)
        status = f"Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{cpus}\nMems_allowed_list:\t0\n"
        (thread / "status").write_text(status, encoding="ascii")
    rest = " ".join(["0"] * 17)
    (place / "stat").write_text(f"{pid} (a) b) S {parent} {rest} 77 0\n", encoding="ascii")


def test_threads_and_children_count_and_others_do_not(tmp_path: Path) -> None:
    process(tmp_path, 10, 1, "0-1", "4")
    process(tmp_path, 20, 10, "6")
    process(tmp_path, 30, 20, "9-10")
    process(tmp_path, 40, 1, "12")
    assert cpus_of(10, tmp_path) == [0, 1, 4, 6, 9, 10]
    assert cpus_of(40, tmp_path) == [12]


def test_a_process_that_is_hidden_has_none(tmp_path: Path) -> None:
    assert cpus_of(10, tmp_path) == []
    process(tmp_path, 10, 1, "nonsense")
    assert cpus_of(10, tmp_path) == []


def test_the_kernel_says_what_this_process_may_use() -> None:
    assert set(os.sched_getaffinity(0)) <= set(cpus_of(os.getpid()))
