import errno
import sys
from pathlib import Path

import pytest
from tests.unit.system.trees import CPUS, Files, guest, plant, with_cxl, xeon

from memgauge.model.system import Capability, System
from memgauge.system.detect import detect
from memgauge.system.environment.privileges import (
    core_pmus,
    effective_rights,
    privilege_capabilities,
)

HUGE = "/sys/kernel/mm/hugepages/hugepages-{}kB"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
DEVICES = "/sys/bus/event_source/devices"


def found(root: Path, files: Files) -> System:
    plant(root, files)
    return detect(root)


def capabilities(root: Path, files: Files) -> dict[str, Capability]:
    return {c.name: c for c in found(root, files).capabilities}


def pool(size_kib: int, total: int, free: int, reserved: int) -> Files:
    directory = HUGE.format(size_kib)
    return {
        f"{directory}/nr_hugepages": f"{total}\n",
        f"{directory}/free_hugepages": f"{free}\n",
        f"{directory}/resv_hugepages": f"{reserved}\n",
    }


def status(effective: str, user: int) -> Files:
    return {"/proc/self/status": f"CapEff:\t{effective}\nUid:\t{user}\t{user}\t{user}\t{user}\n"}


def test_every_capability_is_one_line_and_named_once(tmp_path: Path) -> None:
    for number, files in enumerate((xeon(), guest(), {})):
        listed = found(tmp_path / str(number), files).capabilities
        assert len({c.name for c in listed}) == len(listed)
        for capability in listed:
            assert capability.detail
            assert "\n" not in capability.detail + (capability.remedy or "")


def test_pools_of_huge_pages_count_what_is_free_and_unreserved(tmp_path: Path) -> None:
    files = xeon() | pool(2048, 100, 40, 10) | pool(1 << 20, 2, 1, 1)
    system = found(tmp_path, files)
    assert [(p.page_bytes, p.total, p.free, p.reserved) for p in system.huge_pages] == [
        (2 << 20, 100, 40, 10),
        (1 << 30, 2, 1, 1),
    ]
    by_name = {c.name: c for c in system.capabilities}
    small, large = by_name["huge pages 2m"], by_name["huge pages 1g"]
    assert small.available
    assert small.detail == "30 of 100 free (60.0 MiB)"
    assert small.remedy is None
    assert not large.available
    assert large.remedy == f"as root: echo N > {HUGE.format(1 << 20)}/nr_hugepages"


def test_hidden_pools_of_huge_pages(tmp_path: Path) -> None:
    capability = capabilities(tmp_path, xeon())["explicit huge pages"]
    assert not capability.available
    assert capability.remedy is None


@pytest.mark.parametrize(
    ("text", "mode", "available"),
    [
        ("always [madvise] never\n", "madvise", True),
        ("[always] madvise never\n", "always", True),
        ("always madvise [never]\n", "never", False),
        ("", None, False),
    ],
)
def test_transparent_huge_pages(
    tmp_path: Path, text: str, mode: str | None, available: bool
) -> None:
    system = found(tmp_path, xeon() | {THP: text})
    capability = {c.name: c for c in system.capabilities}["transparent huge pages"]
    assert system.thp == mode
    assert capability.available == available
    assert (capability.remedy is not None) == (mode == "never")


def test_nodes(tmp_path: Path) -> None:
    two = capabilities(tmp_path / "two", with_cxl())["several NUMA nodes"]
    assert two.available
    assert two.detail == "3 nodes, without CPUs: 2; memory may be bound to 0-2"
    one = capabilities(tmp_path / "one", guest())["several NUMA nodes"]
    assert not one.available
    assert one.detail == "1 node"


def test_rights(tmp_path: Path) -> None:
    root = plant(tmp_path / "root", status("000001ffffffffff", 0))
    assert effective_rights(root) == {
        "CAP_SYS_ADMIN",
        "CAP_PERFMON",
        "CAP_IPC_LOCK",
        "CAP_SYS_NICE",
    }
    one = plant(tmp_path / "one", status("0000004000000000", 1000))
    assert effective_rights(one) == {"CAP_PERFMON"}
    assert effective_rights(plant(tmp_path / "none", status("garbage", 1000))) == set()
    known = capabilities(tmp_path / "told", xeon() | status("0000004000000000", 1000))
    assert known["privileges"].detail == "not root, with CAP_PERFMON"


@pytest.mark.parametrize(
    ("rights", "paranoid", "available"),
    [("0", 2, True), ("0", 3, False), ("4000000000", 3, True), ("200000", 4, True)],
)
def test_counters_need_a_pmu_and_leave(
    tmp_path: Path, rights: str, paranoid: int, available: bool
) -> None:
    files = xeon() | status(rights, 1000)
    files["/proc/sys/kernel/perf_event_paranoid"] = f"{paranoid}\n"
    without = capabilities(tmp_path / "without", files)["performance counters"]
    assert not without.available
    files[f"{DEVICES}/cpu/type"] = "4\n"
    assert capabilities(tmp_path / "with", files)["performance counters"].available == available


@pytest.mark.parametrize(
    ("number", "mode", "reason"),
    [
        (errno.EPERM, 2, "a seccomp filter, as containers have, refuses perf_event_open (EPERM)"),
        (errno.ENOSYS, 2, "a seccomp filter, as containers have, refuses perf_event_open (ENOSYS)"),
        (errno.EACCES, 0, "perf_event_open is refused (EACCES): a security module or a filter"),
        (errno.ENOSYS, 0, "perf_event_open fails (ENOSYS)"),
        (errno.EMFILE, 2, "perf_event_open fails (EMFILE)"),
    ],
)
@pytest.mark.parametrize("pmu", [True, False])
def test_a_refusal_in_spite_of_the_setting_has_its_reason(
    tmp_path: Path, number: int, mode: int, reason: str, pmu: bool
) -> None:
    files = {"/proc/self/status": f"CapEff:\t0\nSeccomp:\t{mode}\n"}
    files["/proc/sys/kernel/perf_event_paranoid"] = "2\n"
    files |= {f"{DEVICES}/cpu/type": "4\n"} if pmu else {}
    tree = plant(tmp_path, files)
    found = privilege_capabilities(tree, number)[1]
    assert not found.available
    assert reason in found.detail
    assert (found.remedy is not None) == ("seccomp" in reason)
    assert privilege_capabilities(tree, 0)[1].available == pmu


def test_the_setting_is_the_reason_where_it_forbids(tmp_path: Path) -> None:
    files = status("0", 1000) | {f"{DEVICES}/cpu/type": "4\n"}
    files["/proc/sys/kernel/perf_event_paranoid"] = "3\n"
    found = privilege_capabilities(plant(tmp_path, files), errno.EACCES)[1]
    assert found.detail == "cpu; perf_event_paranoid 3"
    assert found.remedy == "as root: sysctl kernel.perf_event_paranoid=2"


def test_core_pmus_are_told_from_others(tmp_path: Path) -> None:
    names = ("cpu_core", "cpu_atom", "armv8_pmuv3_0", "power", "uncore_imc_0", "msr", "arm_spe_0")
    tree = plant(tmp_path, {f"{DEVICES}/{name}/type": "9\n" for name in names})
    assert core_pmus(tree) == ["armv8_pmuv3_0", "cpu_atom", "cpu_core"]


def test_governor(tmp_path: Path) -> None:
    def files(*names: str) -> Files:
        return xeon() | {
            f"{CPUS}/cpu{cpu}/cpufreq/scaling_governor": f"{name}\n"
            for cpu, name in enumerate(names)
        }

    assert found(tmp_path / "mixed", files("schedutil", "performance")).governor == (
        "performance+schedutil"
    )
    saving = capabilities(tmp_path / "saving", files("powersave"))["performance governor"]
    assert not saving.available
    assert saving.remedy is not None
    fixed = capabilities(tmp_path / "fixed", files("performance"))["performance governor"]
    assert fixed.available
    hidden = capabilities(tmp_path / "hidden", guest())["performance governor"]
    assert hidden.detail == "unknown: the host sets the frequency of a virtual machine"
    assert hidden.remedy is None


@pytest.mark.parametrize(
    ("file", "text", "word"),
    [
        ("intel_pstate/no_turbo", "0", "on"),
        ("intel_pstate/no_turbo", "1", "off"),
        ("cpufreq/boost", "1", "on"),
        ("cpufreq/boost", "0", "off"),
        ("absent", "", "unknown"),
    ],
)
def test_boost(tmp_path: Path, file: str, text: str, word: str) -> None:
    known = capabilities(tmp_path, xeon() | {f"{CPUS}/{file}": text})["frequency boost"]
    assert known.detail.startswith(word)
    assert known.available == (word == "on")


def test_clock(tmp_path: Path) -> None:
    name = "invariant time-stamp counter"
    assert capabilities(tmp_path / "steady", xeon())[name].available
    files = {k: v.replace("nonstop_tsc", "") for k, v in xeon().items()}
    assert not capabilities(tmp_path / "halting", files)[name].available


def test_steal_that_never_moved_tells_nothing_in_a_guest(tmp_path: Path) -> None:
    still = {"/proc/stat": "cpu  1 2 3 4 5 6 7 0 0 0\n"}
    assert capabilities(tmp_path / "metal", xeon() | still)["steal time"].available
    assert not capabilities(tmp_path / "guest", guest() | still)["steal time"].available
    assert capabilities(tmp_path / "moved", guest())["steal time"].available
    old = {"/proc/stat": "cpu  1 2 3 4\n"}
    assert not capabilities(tmp_path / "old", guest() | old)["steal time"].available


def test_a_quota_is_told_with_its_remedy(tmp_path: Path) -> None:
    files = xeon() | {
        "/proc/self/cgroup": "0::/\n",
        "/proc/self/mountinfo": "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "/sys/fs/cgroup/cpu.max": "250000 100000\n",
        "/sys/fs/cgroup/memory.max": f"{1 << 30}\n",
        "/sys/fs/cgroup/memory.current": "0\n",
    }
    known = capabilities(tmp_path, files)
    assert known["CPU time without a quota"].detail.startswith("2.5 CPUs' worth")
    assert known["CPU time without a quota"].remedy == "lift the quota, or use at most 2 threads"
    assert not known["memory without a limit"].available
    assert "cgroup limit 1.0 GiB" in known["memory without a limit"].detail


def test_a_missing_core_is_named_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "memgauge._core", None)
    system = found(tmp_path, xeon())
    assert system.isas == []
    capability = {c.name: c for c in system.capabilities}["native core"]
    assert not capability.available
    assert capability.remedy is not None
