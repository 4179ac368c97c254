"""Really opened: tracepoints that stand for controllers, the msr PMU, threads, limits.

The trees are counted by the kernel itself: a known number of calls on a known CPU must be counted
exactly there and nowhere else.
"""

import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.counters_trees import tracepoints
from tests.counters_trees.sysfs import FakePmu, plant
from tests.counters_trees.tracepoints import CountingTree

from memgauge.counters.base import Opened, Target
from memgauge.counters.host import Host
from memgauge.counters.opening import find, opened
from memgauge.counters.perf.access import access
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.opening import GROUP, SINGLE
from memgauge.model.errors import CounterRefused, RequestError

pytestmark = [pytest.mark.native, pytest.mark.whole_machine]
core = pytest.importorskip("memgauge._core")

READS, WRITES = 1000, 300
MSR = Path("/sys/bus/event_source/devices/msr/events/tsc")


def needs_tracepoints() -> None:
    reason = tracepoints.missing()
    if reason:
        pytest.skip(reason)


def needs_own_counters() -> None:
    refusal = core.perf_refusal(core.PerfEvent(1, 9, exclude_kernel=True), 0)
    if refusal:
        pytest.skip(f"perf_event_open is refused here: {os.strerror(refusal)}")


@pytest.fixture(params=tracepoints.TREES)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CountingTree]:
    needs_tracepoints()
    made = tracepoints.TREES[request.param](tmp_path)
    if made is None:
        pytest.skip("no two of the system calls have numbers that differ in one bit")
    with tracepoints.alone():
        yield made


def traffic(back_end: PerfBackEnd) -> Opened:
    wanted = {"read_bytes", "write_bytes"}
    return back_end.open([event for event in back_end.events() if event.quantity in wanted])


def differences(made: Opened, before: list[int | None], after: list[int | None]) -> list[int]:
    pairs = ((before[counter.slot], after[counter.slot]) for counter in made.counters)
    return [b - a for a, b in pairs if a is not None and b is not None]


def test_calls_are_counted_exactly_on_their_cpu(tree: CountingTree) -> None:
    made = traffic(PerfBackEnd(tree.host_as_we_are))
    reader = core.Reader(made.sources)
    before = reader.read()
    for cpu in (0, 1):
        tree.read(READS + cpu, cpu)
        tree.write(WRITES + cpu, cpu)
    after = reader.read()
    counted = differences(made, before.values, after.values)
    expected = [
        (READS if counter.quantity == "read_bytes" else WRITES) + (counter.cpu or 0)
        for counter in made.counters
    ]
    assert counted == expected
    for counter in made.counters:
        assert counter.enabled_slot is not None
        assert counter.running_slot is not None
        enabled, running = (
            (after.values[slot] or 0) - (before.values[slot] or 0)
            for slot in (counter.enabled_slot, counter.running_slot)
        )
        assert enabled == running > 0


def test_counters_say_where_they_are_and_how_they_are_read(tree: CountingTree) -> None:
    made = traffic(PerfBackEnd(tree.host_as_we_are))
    slots = sum(source.slots for source in made.sources)
    used = [
        slot
        for one in made.counters
        for slot in (one.slot, one.enabled_slot, one.running_slot)
        if slot is not None
    ]
    assert sorted(set(used)) == list(range(slots))
    assert len({one.slot for one in made.counters}) == len(made.counters)
    assert len({one.name for one in made.counters}) == len(made.counters)
    dmc = any("dmc620" in one.event for one in made.counters)
    assert {one.route for one in made.counters} == {SINGLE if dmc else GROUP}
    for one in made.counters:
        assert one.cpu in {0, 1}
        if not dmc:
            assert one.socket == one.cpu
    if dmc:
        assert [one.socket for one in made.counters] == [0] * 16 + [1] * 16
        assert any("16" in note or "13 more" in note for note in made.notes)
    assert any("not of this machine" in note for note in made.notes)


def test_auto_opens_one_way_to_count(tmp_path: Path) -> None:
    needs_tracepoints()
    tree = tracepoints.intel_server(tmp_path)
    events = find(["auto"], tree.host_as_we_are)
    assert [event.name for event in events] == [
        "perf:uncore_imc/cas_count_read/", "perf:uncore_imc/cas_count_write/",
    ]  # fmt: skip
    with tracepoints.alone(), opened(events, name="x", host=tree.host_as_we_are) as one:
        before = one.reader.read().values
        tree.read(READS, 1)
        after = one.reader.read().values
        counted = {c.instance: (after[c.slot] or 0) - (before[c.slot] or 0)
                   for c in one.set.of if c.quantity == "read_bytes"}  # fmt: skip
    assert counted == {
        "uncore_imc_0@cpu0": 0, "uncore_imc_0@cpu1": READS,
        "uncore_imc_1@cpu0": 0, "uncore_imc_1@cpu1": READS,
    }  # fmt: skip
    assert one.set.slots == 4 * (2 + 2)


def test_the_msr_pmu_counts_time_stamps() -> None:
    if not MSR.exists() or not access(Host()).machine:
        pytest.skip("no msr PMU, or no right to count the machine")
    back_end = PerfBackEnd(Host())
    made = back_end.open(back_end.find("msr/tsc/"))
    reader = core.Reader(made.sources)
    before, after = reader.read().values, reader.read().values
    assert all(ticks > 0 for ticks in differences(made, before, after))
    assert {one.cpu for one in made.counters} == set(PerfBackEnd(Host())._catalogue.online)


def test_page_faults_of_a_thread_are_its_own() -> None:
    needs_own_counters()
    back_end = PerfBackEnd(Host())
    started, go, done = threading.Event(), threading.Event(), threading.Event()
    seen: list[int] = []

    def toucher() -> None:
        seen.append(threading.get_native_id())
        started.set()
        go.wait()
        for _ in range(50):
            block = core_block()
            del block
        done.set()

    other = threading.Thread(target=toucher)
    other.start()
    started.wait()
    target = Target(threads=[seen[0], threading.get_native_id()])
    made = back_end.open(back_end.find("page-faults"), target)
    reader = core.Reader(made.sources)
    before = reader.read().values
    go.set()
    done.wait()
    after = reader.read().values
    other.join()
    mine, idle = differences(made, before, after)
    assert mine >= 50 * 256
    assert idle < 1000
    assert [one.scope for one in made.counters] == ["thread", "thread"]
    assert [one.cpu for one in made.counters] == [None, None]


def core_block() -> bytearray:
    """1 MiB that the kernel maps anew."""
    import mmap

    area = mmap.mmap(-1, 1 << 20)
    area.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, 1 << 20, 4096):
        area[at] = 1
    area.close()
    return bytearray()


def test_what_a_process_starts_is_counted_with_inherit() -> None:
    needs_own_counters()
    back_end = PerfBackEnd(Host())
    made = back_end.open(
        back_end.find("page-faults"), Target(threads=[threading.get_native_id()], inherit=True)
    )
    reader = core.Reader(made.sources)
    before = reader.read().values
    subprocess.run([sys.executable, "-c", "x = bytearray(20 << 20)"], check=True, timeout=60)
    after = reader.read().values
    assert differences(made, before, after)[0] > 100
    assert {one.route for one in made.counters} == {SINGLE}


def test_a_process_that_is_not_there_is_refused() -> None:
    back_end = PerfBackEnd(Host())
    events = back_end.find("page-faults")
    with pytest.raises(RequestError, match="process 4194304: does not exist"):
        back_end.open(events, Target(pids=[4194304]))


def test_a_thread_that_has_ended_is_left_out_unless_it_was_the_only_one() -> None:
    needs_own_counters()
    gone: list[int] = []
    thread = threading.Thread(target=lambda: gone.append(threading.get_native_id()))
    thread.start()
    thread.join()
    while Path(f"/proc/self/task/{gone[0]}").exists():  # join() returns before the kernel is done
        time.sleep(0.001)
    back_end = PerfBackEnd(Host())
    events = back_end.find("page-faults")
    made = back_end.open(events, Target(threads=[threading.get_native_id(), gone[0]]))
    assert len(made.counters) == 1
    assert any("has ended and is left out" in note for note in made.notes)
    with pytest.raises(CounterRefused, match="the process or thread has ended"):
        back_end.open(events, Target(threads=gone))


def test_too_few_descriptors_are_counted_and_nothing_stays_open(tmp_path: Path) -> None:
    needs_tracepoints()
    back_end = PerfBackEnd(tracepoints.intel_server(tmp_path, channels=40).host_as_we_are)
    events = [event for event in back_end.events() if event.quantity == "read_bytes"]
    directory = Path("/proc/self/fd")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(list(directory.iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 20, hard))
    try:
        with pytest.raises(CounterRefused) as caught:
            back_end.open(events)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert "80 descriptors are needed and this process may have" in str(caught.value)
    assert "ulimit -n 144" in str(caught.value)
    assert len(list(directory.iterdir())) == before


def test_a_pmu_that_moved_is_found_on_its_new_cpu(tmp_path: Path) -> None:
    """A PMU whose CPUs are all offline is looked for once more before it is refused."""
    needs_tracepoints()
    tree = tracepoints.client(tmp_path)
    mask = tree.device("uncore_imc") / "cpumask"
    mask.write_text("4095\n")
    back_end = PerfBackEnd(tree.host_as_we_are)
    events = back_end.find("uncore_imc/data_reads/")
    with pytest.raises(CounterRefused, match=r"only CPUs that are not online \(4095\)"):
        back_end.open(events)
    back_end = PerfBackEnd(tree.host_as_we_are)
    assert back_end.find("uncore_imc/data_reads/") == events
    mask.write_text("1\n")
    made = back_end.open(events)
    assert [one.cpu for one in made.counters] == [1]
    assert any("its cpumask was read again" in note for note in made.notes)


def test_a_die_that_lacks_a_unit_is_left_out_and_said(tmp_path: Path) -> None:
    needs_tracepoints()
    tree = tracepoints.client(tmp_path)
    (tree.device("uncore_imc") / "cpumask").write_text("0,4095\n")
    back_end = PerfBackEnd(tree.host_as_we_are)
    made = back_end.open(back_end.find("uncore_imc/data_reads/"))
    assert [one.cpu for one in made.counters] == [0]
    assert any("uncore_imc@cpu4095" in note and "left out" in note for note in made.notes)


def test_an_encoding_the_kernel_does_not_take_is_refused_by_name(tmp_path: Path) -> None:
    if not access(Host()).machine:
        pytest.skip("no right to count the machine")
    unit = FakePmu(name="uncore_x", type=1, cpumask="0", format={"event": "config:0-63"})
    tree = plant(tmp_path, [unit], {0: [0]})
    back_end = PerfBackEnd(tree.host_as_we_are)
    with pytest.raises(CounterRefused) as caught:
        back_end.open(back_end.find("uncore_x/event=0xffff/"))
    assert str(caught.value).startswith(
        "perf:uncore_x/event=0xffff/: cannot be opened on uncore_x@"
    )


def test_a_pmu_that_vanishes_before_opening_is_said(tmp_path: Path) -> None:
    needs_tracepoints()
    tree = tracepoints.client(tmp_path)
    events = PerfBackEnd(tree.host_as_we_are).find("uncore_imc/data_reads/")
    shutil.rmtree(tree.device("uncore_imc"))
    with pytest.raises(RequestError, match="this machine has no PMU uncore_imc"):
        PerfBackEnd(tree.host_as_we_are).open(events)


def test_a_pmu_that_is_going_away_is_said(tmp_path: Path) -> None:
    needs_tracepoints()
    tree = tracepoints.client(tmp_path)
    (tree.device("uncore_imc") / "type").unlink()
    with pytest.raises(RequestError, match="it may be going away: try again"):
        PerfBackEnd(tree.host_as_we_are).find("uncore_imc/data_reads/")
