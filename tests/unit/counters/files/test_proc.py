"""The proc back end on real processes: one that forks, touches known pages, and is killed."""

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import Opening, opening, plant

from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.files.proc import FIGURES, Proc
from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent

PAGES = 3000
PAGE_BYTES = mmap.PAGESIZE
OVERHEAD_FAULTS = 400  # of the interpreter around the touching, and of a fork

PROGRAM = f"""
import mmap, os, sys, time

def touch():
    memory = mmap.mmap(-1, {PAGES} * {PAGE_BYTES}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), {PAGE_BYTES}):
        memory[at] = 1
    return memory

def fork():
    child = os.fork()
    if child == 0:
        kept = touch()
        os._exit(0)
    os.waitpid(child, 0)

def burn():
    until = time.process_time() + 0.2
    while time.process_time() < until: pass

held = []
for line in sys.stdin:
    order = line.strip()
    if order == "touch": held.append(touch())
    if order == "fork": fork()
    if order == "keep":
        if os.fork() == 0:
            kept = touch()
            time.sleep(60)
    if order == "burn": burn()
    if order == "nap":
        for _ in range(50): time.sleep(0.001)
    print(order, flush=True)
"""


class Process:
    """A program that does as it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid

    def tell(self, order: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{order}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == f"{order}\n"

    def kill(self) -> None:
        """It is a zombie afterwards, so that its group still exists."""
        self._process.kill()
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)


@pytest.fixture
def process() -> Iterator[Process]:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as popen:
        made = Process(popen)
        made.tell("ready")
        try:
            yield made
        finally:
            os.killpg(popen.pid, signal.SIGKILL)  # its children too


def follow(process: Process, *figures: str) -> Opening:
    return opening(Proc(Host()), figures, Target(pids=[process.pid]))


def difference(opened: Opening, process: Process, figure: str, act: Callable[[], None]) -> float:
    before = opened.read()
    act()
    found = opened.between(f"proc:{figure}@pid {process.pid}", before, opened.read())
    assert found is not None
    return found


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it comes true: the tree is looked through every 100 ms."""
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_the_slots_are_those_of_the_native_source() -> None:
    assert {figure.slot for figure in FIGURES} == set(_core.process_tree_slots())


@pytest.mark.parametrize("order", ["touch", "fork"])
def test_pages_touched_are_faults_in_the_process_and_in_a_child_that_ended(
    process: Process, order: str
) -> None:
    opened = follow(process, "minor_faults")
    faults = difference(opened, process, "minor_faults", lambda: process.tell(order))
    assert PAGES <= faults <= PAGES + OVERHEAD_FAULTS


def test_resident_memory_is_a_level_of_the_whole_tree(process: Process) -> None:
    opened = follow(process, "resident_bytes", "processes")

    def level(figure: str) -> float:
        reading = opened.read()
        return opened.between(f"proc:{figure}@pid {process.pid}", reading, reading) or 0.0

    first = level("resident_bytes")
    process.tell("touch")
    grown = PAGES * PAGE_BYTES
    assert eventually(lambda: level("resident_bytes") >= first + 0.95 * grown)
    process.tell("keep")
    assert eventually(lambda: level("processes") == 2)
    assert eventually(lambda: level("resident_bytes") >= first + 1.95 * grown)


def test_processor_time_is_in_seconds(process: Process) -> None:
    opened = follow(process, "cpu_time", "user_time", "system_time")
    before = opened.read()
    process.tell("burn")
    after = opened.read()
    found = {
        name: opened.between(f"proc:{name}@pid {process.pid}", before, after)
        for name in ("cpu_time", "user_time", "system_time")
    }
    cpu_s, user_s, system_s = found.values()
    assert cpu_s is not None
    assert user_s is not None
    assert system_s is not None
    assert 0.19 <= cpu_s <= 0.4
    assert abs(user_s + system_s - cpu_s) <= 0.03  # ticks of 10 ms


def test_waiting_is_counted_as_voluntary_switches(process: Process) -> None:
    opened = follow(process, "voluntary_switches")
    assert difference(opened, process, "voluntary_switches", lambda: process.tell("nap")) >= 50


def test_a_killed_process_keeps_its_sums_and_never_falls(process: Process) -> None:
    sums = [figure.name for figure in FIGURES if not figure.gauge]
    opened = follow(process, *sums)
    process.tell("touch")
    before = opened.read()
    process.kill()
    after = opened.read()
    for counter in opened.made.counters:
        found = opened.between(counter.name, before, after)
        assert found is None or found >= 0
    assert difference(opened, process, "minor_faults", lambda: None) == 0


def test_no_process_is_a_request_error_that_says_what_to_give() -> None:
    with pytest.raises(RequestError, match="proc:cpu_time: counts a process; give one"):
        opening(Proc(Host()), ["cpu_time"])


def test_nobodys_process_is_refused() -> None:
    ended = subprocess.run([sys.executable, "-S", "-c", "import os; print(os.getpid())"],
                           check=True, capture_output=True)  # fmt: skip
    with pytest.raises(CounterRefused, match="proc:cpu_time"):
        opening(Proc(Host()), ["cpu_time"], Target(pids=[int(ended.stdout)]))


def test_a_process_inside_another_ones_tree_is_told(process: Process) -> None:
    target = Target(pids=[os.getpid(), process.pid])
    opened = opening(Proc(Host()), ["threads"], target)
    assert [counter.instance for counter in opened.made.counters] == [
        f"pid {os.getpid()}",
        f"pid {process.pid}",
    ]
    (note,) = opened.made.notes
    assert note.startswith(f"pid {process.pid} descends from pid {os.getpid()}")
    assert None not in opened.read()[:1]


def test_without_procfs_it_is_absent(tmp_path: Path) -> None:
    back_end = Proc(plant(tmp_path, {}))
    assert back_end.probe().state == "absent"
    assert back_end.events() == []


def test_an_unknown_figure_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownEvent, match="did you mean proc:cpu_time"):
        Proc(Host()).find("cpu_tme")


@pytest.fixture
def rival(process: Process) -> Iterator[None]:
    """Another program that wants the one CPU on which the first may run."""
    cpu = min(os.sched_getaffinity(0))
    os.sched_setaffinity(process.pid, {cpu})
    with subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) as popen:
        os.sched_setaffinity(popen.pid, {cpu})
        try:
            yield
        finally:
            popen.kill()


@pytest.mark.usefixtures("rival")
def test_waiting_for_a_processor_is_no_idleness(process: Process) -> None:
    opened = follow(process, "run_delay")
    process.tell("burn")
    if opened.between(f"proc:run_delay@pid {process.pid}", opened.read(), opened.read()) is None:
        pytest.skip("the kernel keeps no account of it (CONFIG_SCHED_INFO)")
    assert difference(opened, process, "run_delay", lambda: process.tell("burn")) >= 0.02


def test_each_thread_is_in_the_ledger_and_the_peak_of_the_held_process_is_not(
    process: Process,
) -> None:
    figures = [Proc(Host())._event(one) for one in FIGURES]
    opened = Proc(Host()).open(figures, Target(pids=[process.pid]))
    (ledger,) = opened.ledgers
    reader = _core.Reader(opened.sources)
    reader.read()
    first = ledger.first_peak_bytes
    assert first > 0
    process.tell("touch")
    process.tell("burn")
    reader.read()
    assert ledger.later_peak_bytes >= first + 0.9 * PAGES * PAGE_BYTES
    assert ledger.first_peak_bytes == first
    (thread,) = ledger.threads()
    assert (thread.pid, thread.tid) == (process.pid, process.pid)
    assert thread.cpu_ns >= 190_000_000 or thread.cpu_ns == 0  # 0: no CONFIG_SCHED_INFO
    assert thread.name
    assert ledger.left_out == 0
