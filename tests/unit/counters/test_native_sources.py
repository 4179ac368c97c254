"""The native counter sources through their bindings: perf, kept-open files, process trees."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memgauge.model.errors import CounterRefused, RequestError

if TYPE_CHECKING:
    from memgauge import _core as core
else:
    core = pytest.importorskip(
        "memgauge._core", reason="the native core is not built (make test builds it)"
    )

pytestmark = pytest.mark.native

SOFTWARE = 1
PAGE_FAULTS = 2
TASK_CLOCK = 1
MIB = 1 << 20
NO_PROCESS = 0x3FFFFFFF


def read(source: core.CounterSource) -> list[int | None]:
    return core.Reader([source]).read().values


def known(value: int | None) -> int:
    assert value is not None
    return value


@pytest.fixture
def faults() -> core.PerfEvent:
    event = core.PerfEvent(SOFTWARE, PAGE_FAULTS, exclude_kernel=True)
    refusal = core.perf_refusal(event, pid=0)
    if refusal:
        pytest.skip(f"perf_event_open: {os.strerror(refusal)}")
    return event


def test_a_group_gives_its_times_and_its_values(faults: core.PerfEvent) -> None:
    clock = core.PerfEvent(SOFTWARE, TASK_CLOCK, exclude_kernel=True)
    group = core.open_perf_group([faults, clock], pid=0)
    assert group.slots == 4
    with mmap(-1, MIB) as fresh:
        before = read(group)
        fresh.write(b"1" * MIB)
        after = read(group)
    enabled, running, counted, clocked = (
        known(a) - known(b) for a, b in zip(after, before, strict=True)
    )
    assert 0 < running <= enabled
    assert counted > 0
    assert clocked > 0


def test_a_single_event_has_three_slots(faults: core.PerfEvent) -> None:
    single = core.open_perf_single(faults, pid=0, inherit=True)
    assert single.slots == 3
    assert None not in read(single)


def test_a_refused_event_is_typed_with_errno_and_place(faults: core.PerfEvent) -> None:
    nobody = core.PerfEvent(0x7FFF0000, 0)
    with pytest.raises(CounterRefused, match=r"^perf event 1 cannot be opened: ") as refused:
        core.open_perf_group([faults, nobody], pid=0)
    assert refused.value.error_number == core.perf_refusal(nobody, pid=0) == errno.ENOENT
    assert refused.value.event_index == 1
    with pytest.raises(CounterRefused) as alone:
        core.open_perf_single(faults, pid=NO_PROCESS)
    assert alone.value.error_number == errno.ESRCH
    with pytest.raises(RequestError):
        core.open_perf_group([], pid=0)


@pytest.mark.parametrize(("pmu_type", "config"), [(-1, 0), (1 << 32, 0), (SOFTWARE, 1 << 64)])
def test_words_that_the_kernel_has_no_room_for_are_refused(pmu_type: int, config: int) -> None:
    with pytest.raises(TypeError):
        core.PerfEvent(pmu_type, config)


def test_files_give_a_number_or_none(tmp_path: Path) -> None:
    level = tmp_path / "level"
    table = tmp_path / "table"
    level.write_text("0x10\n")
    table.write_text("eth0: 1 2\n8:0 rbytes=3 wbytes=4\n")
    cells = [
        core.NumberCell("eth0", 1),
        core.NumberCell("8:0", field="wbytes"),
        core.NumberCell("eth1"),
    ]
    source = core.open_number_files(
        [core.NumberFile(os.fspath(level)), core.NumberFile(os.fspath(table), cells)]
    )
    assert source.slots == 4
    assert read(source) == [16, 2, 4, None]
    level.write_text("Unavailable\n")
    assert read(source) == [None, 2, 4, None]


def test_a_file_that_is_not_there_is_typed_with_errno_and_place(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_text("1\n")
    absent = tmp_path / "absent"
    files = [core.NumberFile(os.fspath(path)) for path in (good, absent)]
    with pytest.raises(CounterRefused) as refused:
        core.open_number_files(files)
    assert str(refused.value) == f"{absent} cannot be opened: No such file or directory"
    assert refused.value.error_number == errno.ENOENT
    assert refused.value.event_index == 1


def test_a_cell_without_a_row_is_a_bad_request(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="a cell names no row"):
        core.open_number_files([core.NumberFile(os.fspath(tmp_path), [core.NumberCell("")])])


def test_a_process_tree_has_named_slots_and_keeps_what_it_counted() -> None:
    names = core.process_tree_slots()
    with subprocess.Popen(
        [sys.executable, "-c", "input(); bytearray(64 << 20); print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        source = core.open_process_tree(child.pid, discovery_interval_ns=0)
        before = dict(zip(names, read(source), strict=True))
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        after = dict(zip(names, read(source), strict=True))
        child.send_signal(signal.SIGKILL)
    ended = dict(zip(names, read(source), strict=True))
    assert source.slots == len(names)
    assert known(after["minor_faults"]) > known(before["minor_faults"])
    assert after["processes"] == 1
    assert ended["processes"] == ended["threads"] == ended["resident_bytes"] == 0
    assert known(ended["minor_faults"]) >= known(after["minor_faults"])


def test_switches_are_missing_where_they_were_not_asked_for() -> None:
    figures = dict(
        zip(
            core.process_tree_slots(),
            read(core.open_process_tree(os.getpid(), switches=False)),
            strict=True,
        )
    )
    assert figures["voluntary_switches"] is None
    assert figures["involuntary_switches"] is None
    assert known(figures["threads"]) >= 1


def test_a_process_of_nobody_is_typed_with_errno() -> None:
    with pytest.raises(CounterRefused, match="cannot be read") as refused:
        core.open_process_tree(NO_PROCESS)
    assert refused.value.error_number == errno.ENOENT
    with pytest.raises(RequestError, match="needs a process identifier"):
        core.open_process_tree(0)
