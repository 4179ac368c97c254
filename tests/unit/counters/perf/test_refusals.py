"""What is said where something may not be counted."""

import errno
from pathlib import Path

import msgspec
import pytest
from tests.counters_trees.machines import MACHINES, broadwell
from tests.counters_trees.sysfs import ALL_RIGHTS, NO_RIGHTS, Tree, intel, plant

from memgauge.counters.choice import memory_choice
from memgauge.counters.perf.access import Access, access
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.encoding import Words
from memgauge.counters.perf.places import Place
from memgauge.counters.perf.refusals import refused
from memgauge.counters.perf.scale import Worth
from memgauge.model.errors import CounterRefused

pytestmark = pytest.mark.native

PLACE = Place(
    pmu="uncore_imc_0",
    type=20,
    words=Words(0x304),
    cpu=0,
    instance="uncore_imc_0@cpu0",
    worth=Worth(quantity="read_bytes", unit="B", scale=64, source="a test"),
)


def restricted(root: Path, paranoid: int | None, rights: str = NO_RIGHTS) -> Tree:
    tree = broadwell(root)
    setting = tree.procfs / "sys" / "kernel" / "perf_event_paranoid"
    if paranoid is None:
        setting.unlink()
    else:
        setting.write_text(f"{paranoid}\n")
    (tree.procfs / "self" / "status").write_text(f"CapEff:\t{rights}\n")
    return tree


@pytest.mark.parametrize(
    ("paranoid", "rights", "may"),
    [
        (-1, NO_RIGHTS, (True, True, True)),
        (0, NO_RIGHTS, (True, True, True)),
        (1, NO_RIGHTS, (False, True, True)),
        (2, NO_RIGHTS, (False, False, True)),
        (3, NO_RIGHTS, (False, False, False)),
        (4, NO_RIGHTS, (False, False, False)),
        (4, ALL_RIGHTS, (True, True, True)),
        (2, f"{1 << 38:016x}", (True, True, True)),
        (2, f"{1 << 21:016x}", (True, True, True)),
        (2, "nonsense", (False, False, True)),
    ],
)
def test_who_may_count_what(
    paranoid: int, rights: str, may: tuple[bool, bool, bool], tmp_path: Path
) -> None:
    """The whole machine, the kernel's part of their own threads, their own threads."""
    found = access(restricted(tmp_path, paranoid, rights).host)
    assert (found.machine, found.kernel, found.own) == may


def test_rights_in_a_users_own_namespace_are_none(tmp_path: Path) -> None:
    tree = restricted(tmp_path, 2, ALL_RIGHTS)
    (tree.procfs / "self" / "uid_map").write_text("         0       1000          1\n")
    assert not access(tree.host).machine
    (tree.procfs / "self" / "uid_map").write_text("         0          0 4294967295\n")
    assert access(tree.host).machine


@pytest.mark.parametrize("paranoid", [1, 2, 3, 4])
def test_controllers_say_which_privilege_is_missing(paranoid: int, tmp_path: Path) -> None:
    one = PerfBackEnd(restricted(tmp_path, paranoid).host)
    event = next(event for event in one.events() if event.quantity == "read_bytes")
    assert event.state == "refused"
    assert event.reason == (f"perf_event_paranoid is {paranoid} and this process lacks CAP_PERFMON")
    assert event.remedy is not None
    assert "sysctl kernel.perf_event_paranoid=0" in event.remedy
    with pytest.raises(CounterRefused, match=f"perf_event_paranoid is {paranoid}"):
        memory_choice(one.host)


@pytest.mark.parametrize("name", ["context-switches", "cpu-migrations", "sched:x"])
def test_what_happens_in_the_kernel_is_refused_rather_than_read_as_zero(
    name: str, tmp_path: Path
) -> None:
    """Counted without the kernel's part, as level 2 asks for, these are always zero."""
    tree = restricted(tmp_path, 2)
    tracepoint = tree.sysfs / "kernel" / "tracing" / "events" / "sched" / "x"
    tracepoint.mkdir(parents=True)
    (tracepoint / "id").write_text("300\n")
    [event] = PerfBackEnd(tree.host).find(name)
    assert event.state == "refused"
    assert (event.remedy or "").endswith("sysctl kernel.perf_event_paranoid=1")
    assert PerfBackEnd(tree.host).find("page-faults")[0].state != "refused"


@pytest.mark.parametrize("paranoid", [3, 4])
def test_debians_levels_take_everything(paranoid: int, tmp_path: Path) -> None:
    one = PerfBackEnd(restricted(tmp_path, paranoid).host)
    probe = one.probe()
    assert probe.state == "refused"
    assert probe.remedy is not None
    # What the controllers that are shown need, not only what an own process does.
    assert probe.remedy.endswith("sysctl kernel.perf_event_paranoid=0")
    faults = next(event for event in one.events() if event.name == "perf:page-faults")
    assert faults.state == "refused"


def test_a_kernel_without_perf_is_said(tmp_path: Path) -> None:
    probe = PerfBackEnd(restricted(tmp_path, None).host).probe()
    assert probe.state == "absent"
    assert "no perf events" in (probe.reason or "")


def test_a_machine_without_controllers_is_said(tmp_path: Path) -> None:
    tree = plant(tmp_path, [], {0: [0]}, cpuinfo=intel(143), paranoid=-1)
    with pytest.raises(CounterRefused, match="no PMU of a memory controller is shown"):
        memory_choice(tree.host)


def test_a_controller_that_is_not_sized_is_no_missing_one(tmp_path: Path) -> None:
    """Neither the list nor `auto` says that the machine has no controller."""
    tree = MACHINES["hygon"](tmp_path)
    said = "amd_df is a memory controller's PMU that is not sized in the tables: verify it"
    (tree.procfs / "sys" / "kernel" / "perf_event_paranoid").write_text("-1\n")
    assert PerfBackEnd(tree.host).probe().reason == said
    with pytest.raises(CounterRefused, match=said) as refusal:
        memory_choice(tree.host)
    assert "virtual" not in str(refusal.value).partition("pcp:")[0]


NOBODY = Access(paranoid=2, entitled=False)
ROOT = Access(paranoid=2, entitled=True)


@pytest.mark.parametrize(
    ("pid", "excludable", "level"), [(-1, False, 0), (7, False, 1), (7, True, 2)]
)
def test_the_remedy_names_the_level_that_is_enough(pid: int, excludable: bool, level: int) -> None:
    place = msgspec.structs.replace(PLACE, pid=pid, excludable=excludable)
    who = Access(paranoid=3, entitled=False)
    assert str(refused("perf:x", place, errno.EACCES, who, 1)).endswith(
        f"sysctl kernel.perf_event_paranoid={level}"
    )


@pytest.mark.parametrize(
    ("number", "who", "said"),
    [
        (errno.EACCES, NOBODY, "perf_event_paranoid is 2 and this process lacks CAP_PERFMON"),
        (errno.EPERM, ROOT, "a seccomp filter, as containers have, refuses perf_event_open"),
        (errno.EACCES, ROOT, "a security module forbids it"),
        (errno.EMFILE, ROOT, "48 descriptors are needed and this process may have"),
        (errno.ENFILE, ROOT, "the machine has no descriptor left"),
        (errno.ENOENT, ROOT, "the kernel knows no such event of this PMU"),
        (errno.ENODEV, ROOT, "the unit is not there for this CPU"),
        (errno.EINVAL, ROOT, "does not take this encoding"),
        (errno.EOPNOTSUPP, ROOT, "count the machine, not a process"),
        (errno.ESRCH, ROOT, "the process or thread has ended"),
        (errno.E2BIG, ROOT, "too old for field config3"),
        (errno.EIO, ROOT, "Input/output error (EIO)"),
    ],
)
def test_an_errno_is_explained(number: int, who: Access, said: str) -> None:
    error = refused("perf:uncore_imc/cas_count_read/", PLACE, number, who, 48)
    text = str(error)
    assert text.startswith(
        "perf:uncore_imc/cas_count_read/: cannot be opened on uncore_imc_0@cpu0: "
    )
    assert said in text
    assert "\n" not in text
    assert error.error_number == number
