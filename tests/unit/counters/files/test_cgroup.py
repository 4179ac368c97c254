"""The cgroup back end: made-up groups, and a real group of version 2 with a real process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import opening, plant

from memgauge.counters.base import Target
from memgauge.counters.files.cgroup import Cgroup
from memgauge.counters.files.cgroup_mount import find_mount
from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent

GROUPS = "/sys/fs/cgroup"
JOB = f"{GROUPS}/jobs/one"
MOUNT = "31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
TREE = {
    "/proc/self/mountinfo": f"22 1 0:20 / /proc rw - proc proc rw\n{MOUNT}",
    "/proc/71/cgroup": "0::/jobs/one\n",
    "/proc/72/cgroup": "4:memory:/x\n0::/../outside\n",
    "/proc/73/cgroup": "0::/\n",
    f"{GROUPS}/cgroup.controllers": "cpu io memory\n",
    f"{GROUPS}/cpu.stat": "usage_usec 99\nuser_usec 66\nsystem_usec 33\n",
    f"{JOB}/cgroup.controllers": "cpu io memory\n",
    f"{JOB}/memory.current": "8192\n",
    f"{JOB}/memory.stat": "anon 4096\nfile 1024\npgfault 10\npgmajfault 2\n",
    f"{JOB}/cpu.stat": "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\n",
    f"{JOB}/io.stat": "253:0 rbytes=512 wbytes=1024 rios=1\n8:0 rbytes=7 wbytes=9 rios=1\n",
}
PROCESS = Target(pids=[71])


def test_the_targets_group_is_read(tmp_path: Path) -> None:
    texts = ["memory.current", "memory.stat/anon", "memory.stat/pgfault", "cpu.stat/user_usec"]
    opened = opening(Cgroup(plant(tmp_path, TREE)), texts, PROCESS)
    assert opened.raw() == {
        "cgroup:memory.current@/jobs/one": 8192,
        "cgroup:memory.stat/anon@/jobs/one": 4096,
        "cgroup:memory.stat/pgfault@/jobs/one": 10,
        "cgroup:cpu.stat/user_usec@/jobs/one": 4000000,
    }
    assert opened.made.notes == []


def test_a_named_group_needs_no_process_and_is_the_same_file(tmp_path: Path) -> None:
    texts = ["/jobs/one/memory.current", "memory.current"]
    opened = opening(Cgroup(plant(tmp_path, TREE)), texts, PROCESS)
    assert opened.raw() == {
        "cgroup:/jobs/one/memory.current@/jobs/one": 8192,
        "cgroup:memory.current@/jobs/one": 8192,
    }
    assert sum(source.slots for source in opened.made.sources) == 1


def test_microseconds_become_seconds(tmp_path: Path) -> None:
    opened = opening(Cgroup(plant(tmp_path, TREE)), ["cpu.stat/usage_usec"], PROCESS)
    before = opened.read()
    file = tmp_path / f"{JOB}/cpu.stat".lstrip("/")
    file.write_text("usage_usec 5250000\n")
    name = "cgroup:cpu.stat/usage_usec@/jobs/one"
    after = opened.read()
    assert opened.between(name, before, after) == 0.25
    file.write_text("")
    assert opened.between(name, before, opened.read()) is None


def test_each_device_has_its_counter(tmp_path: Path) -> None:
    opened = opening(Cgroup(plant(tmp_path, TREE)), ["io.stat/rbytes", "io.stat/wbytes"], PROCESS)
    assert opened.raw() == {
        "cgroup:io.stat/rbytes@/jobs/one 253:0": 512,
        "cgroup:io.stat/rbytes@/jobs/one 8:0": 7,
        "cgroup:io.stat/wbytes@/jobs/one 253:0": 1024,
        "cgroup:io.stat/wbytes@/jobs/one 8:0": 9,
    }


def test_without_a_process_the_error_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="counts the group of a process; give one"):
        opening(Cgroup(plant(tmp_path, TREE)), ["memory.current"])


@pytest.mark.parametrize(
    ("pid", "message"),
    [
        (70, "process 70 does not exist"),
        (72, "process 72 is in /../outside, outside of what .* shows"),
        (73, "group / has no memory.current: its memory controller is off; the root group has"),
    ],
)
def test_a_group_that_cannot_be_read_is_refused(tmp_path: Path, pid: int, message: str) -> None:
    back_end = Cgroup(plant(tmp_path, TREE))
    with pytest.raises(CounterRefused, match=message):
        opening(back_end, ["memory.current"], Target(pids=[pid]))


def test_the_root_group_is_said_to_be_the_whole_machine(tmp_path: Path) -> None:
    opened = opening(Cgroup(plant(tmp_path, TREE)), ["cpu.stat/user_usec"], Target(pids=[73]))
    (note,) = opened.made.notes
    assert "all processes of the machine" in note


def test_a_controller_of_version_1_makes_its_events_absent(tmp_path: Path) -> None:
    host = plant(tmp_path, TREE | {f"{GROUPS}/cgroup.controllers": "cpu\n"})
    states = {event.name: event for event in Cgroup(host).events()}
    absent = states["cgroup:memory.current"]
    assert absent.state == "absent"
    assert absent.reason == "the memory controller is not in the hierarchy of version 2"
    assert "unified" in (absent.remedy or "")
    assert states["cgroup:cpu.stat/usage_usec"].state == "ready"


def test_no_hierarchy_of_version_2_is_absent(tmp_path: Path) -> None:
    host = plant(tmp_path, {"/proc/self/mountinfo": "22 1 0:20 / /proc rw - proc proc rw\n"})
    assert Cgroup(host).probe().state == "absent"
    assert Cgroup(host).events() == []


def test_an_unknown_figure_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownEvent, match=r"did you mean .*cgroup:memory\.current"):
        Cgroup(plant(tmp_path, TREE)).find("memory.now")


@pytest.mark.parametrize("group", ["/jobs/two", "/.."])
def test_an_unknown_group_is_told(tmp_path: Path, group: str) -> None:
    with pytest.raises(UnknownEvent, match=f"there is no control group '{group}' "):
        Cgroup(plant(tmp_path, TREE)).find(f"{group}/memory.current")


def test_a_mounted_part_of_the_hierarchy_is_reached(tmp_path: Path) -> None:
    part = {"/proc/self/mountinfo": MOUNT.replace("0:28 / ", "0:28 /jobs ")}
    part |= {"/proc/71/cgroup": "0::/jobs/one\n", f"{GROUPS}/cgroup.controllers": "memory\n"}
    part |= {f"{GROUPS}/one/cgroup.controllers": "", f"{GROUPS}/one/memory.current": "5\n"}
    opened = opening(Cgroup(plant(tmp_path, part)), ["memory.current"], PROCESS)
    assert opened.raw() == {"cgroup:memory.current@/jobs/one": 5}


@pytest.fixture
def real_group() -> Iterator[str]:
    """A new group of the real hierarchy, empty at the end."""
    mount = find_mount(Host())
    if mount is None or os.geteuid() != 0:
        pytest.skip("needs root and control groups of version 2")
    name = f"memgauge-test-{os.getpid()}"
    directory = mount.point / name
    try:
        directory.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be added: {error}")
    yield f"{mount.root.rstrip('/')}/{name}"
    for _ in range(500):  # the kernel takes a moment to empty it
        try:
            directory.rmdir()
            break
        except FileNotFoundError:
            break
        except OSError:
            time.sleep(0.01)


BURN = "import time\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\ninput()"


def test_a_real_process_of_a_real_group_is_counted_and_its_end_is_survived(
    real_group: str,
) -> None:
    opened = opening(
        Cgroup(Host()), [f"{real_group}/cpu.stat/usage_usec", f"{real_group}/cpu.stat/user_usec"]
    )
    mount = find_mount(Host())
    assert mount is not None
    procs = Path(mount.file(real_group, "cgroup.procs"))
    before = opened.read()
    with subprocess.Popen(
        [sys.executable, "-c", f"import os\nopen({str(procs)!r}, 'w').write('0')\n{BURN}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        after = opened.read()
        process.kill()
    used = opened.between(f"cgroup:{real_group}/cpu.stat/usage_usec@{real_group}", before, after)
    assert used is not None
    assert 0.25 < used < 0.6  # it had burnt a part of the 0.3 s before it joined the group
    assert None not in opened.read()


def test_a_real_group_that_is_removed_is_missing(real_group: str) -> None:
    opened = opening(Cgroup(Host()), [f"{real_group}/cpu.stat/usage_usec"])
    mount = find_mount(Host())
    assert mount is not None
    Path(mount.file(real_group, "cgroup.procs")).parent.rmdir()
    assert opened.read() == [None]
