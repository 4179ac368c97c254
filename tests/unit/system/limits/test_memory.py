from pathlib import Path

import pytest
from tests.unit.system.trees import Files, plant, with_cxl, xeon

from memgauge.model.errors import RequestError
from memgauge.system.limits.cgroup import cpu_quota, memory_headrooms
from memgauge.system.limits.memory import (
    available_bytes,
    margin_bytes,
    memory_limits,
    require_memory,
    tightest_limit,
)
from memgauge.system.tree import Tree

MIB = 1 << 20
GIB = 1 << 30
NO_LIMIT = "9223372036854771712"  # v1: 2^63 less one page of 4 KiB, or of 64 KiB on some machines


def mount(kind: str, point: str, options: str, root: str = "/") -> str:
    return f"31 23 0:28 {root} {point} rw,relatime shared:9 - {kind} {kind} rw,{options}\n"


def v2(path: str, groups: dict[str, tuple[str, int, int]], root: str = "/") -> Files:
    """Groups of a unified hierarchy: limit, usage and inactive file cache in bytes."""
    files = {
        "/proc/self/cgroup": f"0::{path}\n",
        "/proc/self/mountinfo": mount("cgroup2", "/sys/fs/cgroup", "nsdelegate", root),
    }
    for group, (limit, usage, inactive) in groups.items():
        directory = f"/sys/fs/cgroup{group}"
        files |= {
            f"{directory}/memory.max": f"{limit}\n",
            f"{directory}/memory.current": f"{usage}\n",
            f"{directory}/memory.stat": f"anon 7\ninactive_file {inactive}\nactive_file 3\n",
        }
    return files


def v1(path: str, groups: dict[str, tuple[str, int, int]], hierarchical: str = NO_LIMIT) -> Files:
    files = {
        "/proc/self/cgroup": f"9:name=systemd:/\n4:cpu,memory:{path}\n0::/\n",
        "/proc/self/mountinfo": mount("cgroup", "/sys/fs/cgroup/memory", "cpu,memory")
        + mount("cgroup", "/sys/fs/cgroup/pids", "pids")
        + mount("cgroup2", "/sys/fs/cgroup/unified", "rw"),
        "/sys/fs/cgroup/unified/cgroup.procs": "1\n",
    }
    for group, (limit, usage, inactive) in groups.items():
        directory = f"/sys/fs/cgroup/memory{group}"
        files |= {
            f"{directory}/memory.limit_in_bytes": f"{limit}\n",
            f"{directory}/memory.usage_in_bytes": f"{usage}\n",
            f"{directory}/memory.stat": f"inactive_file 1\ntotal_inactive_file {inactive}\n"
            f"hierarchical_memory_limit {hierarchical}\n",
        }
    return files


def meminfo(available_mib: int) -> Files:
    return {"/proc/meminfo": f"MemTotal: 99999999 kB\nMemAvailable: {available_mib << 10} kB\n"}


def headrooms(root: Path, files: Files) -> list[tuple[int, int]]:
    return [(room.limit_bytes, room.free_bytes) for room in memory_headrooms(plant(root, files))]


def test_v2_limits_hold_up_the_hierarchy(tmp_path: Path) -> None:
    groups = {
        "": ("max", 9 * GIB, 0),
        "/a": (str(4 * GIB), 3 * GIB, GIB),
        "/a/b": (str(8 * GIB), GIB, 0),
    }
    assert headrooms(tmp_path, v2("/a/b", groups)) == [(8 * GIB, 7 * GIB), (4 * GIB, 2 * GIB)]


def test_v2_throttling_is_a_limit_too(tmp_path: Path) -> None:
    files = v2("/a", {"/a": ("max", GIB, 0)})
    files["/sys/fs/cgroup/a/memory.high"] = f"{3 * GIB}\n"
    assert headrooms(tmp_path, files) == [(3 * GIB, 2 * GIB)]


def test_v2_in_a_container_sees_its_own_group_as_the_root(tmp_path: Path) -> None:
    groups = {"": (str(2 * GIB), GIB, 0)}
    for number, (path, root) in enumerate(
        [("/", "/"), ("/../../outside", "/"), ("/host/path/c1", "/host/path/c1"), ("/gone", "/")]
    ):
        found = headrooms(tmp_path / str(number), v2(path, groups, root))
        assert found == [(2 * GIB, GIB)]


def test_v1_limits_hold_up_the_hierarchy(tmp_path: Path) -> None:
    groups = {
        "": (NO_LIMIT, 9 * GIB, 0),
        "/a": (str(4 * GIB), 3 * GIB, GIB),
        "/a/b": (NO_LIMIT, GIB, 0),
    }
    assert headrooms(tmp_path, v1("/a/b", groups)) == [(4 * GIB, 2 * GIB)]


def test_v1_tells_of_limits_above_what_is_mounted(tmp_path: Path) -> None:
    groups = {"": (NO_LIMIT, GIB, 0)}
    files = v1("/", groups, hierarchical=str(3 * GIB))
    assert headrooms(tmp_path, files) == [(3 * GIB, 2 * GIB)]


def test_both_versions_at_once(tmp_path: Path) -> None:
    files = v1("/a", {"/a": (str(2 * GIB), 0, 0), "": (NO_LIMIT, 0, 0)})
    assert headrooms(tmp_path / "one", files) == [(2 * GIB, 2 * GIB)]
    unified = "/sys/fs/cgroup/unified"
    files |= {f"{unified}/memory.max": f"{GIB}\n", f"{unified}/memory.current": "0\n"}
    assert sorted(headrooms(tmp_path / "two", files)) == [(GIB, GIB), (2 * GIB, 2 * GIB)]


def test_usage_above_the_limit_leaves_nothing(tmp_path: Path) -> None:
    assert headrooms(tmp_path, v2("/", {"": (str(GIB), 2 * GIB, 0)})) == [(GIB, 0)]


def test_available_is_the_smallest_of_all(tmp_path: Path) -> None:
    files = meminfo(8192) | v2("/", {"": (str(2 * GIB), GIB, GIB // 2)})
    tree = plant(tmp_path, files)
    assert available_bytes(tree) == GIB + GIB // 2
    assert available_bytes(plant(tmp_path, meminfo(512))) == 512 * MIB


def test_no_readable_bound_is_none_at_all(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    assert memory_limits(tree) == []
    assert available_bytes(tree) == 0
    require_memory(GIB, "an array", tree=tree)


def test_an_address_space_limit_counts_what_is_mapped(tmp_path: Path) -> None:
    limits = "Limit  Soft Limit  Hard Limit  Units\nMax address space  {} unlimited bytes\n"
    files = meminfo(8192) | {
        "/proc/self/limits": limits.format(GIB),
        "/proc/self/status": "VmSize:\t  524288 kB\n",
    }
    assert available_bytes(plant(tmp_path, files)) == GIB // 2
    files["/proc/self/limits"] = limits.format("unlimited")
    assert available_bytes(plant(tmp_path, files)) == 8 * GIB


def test_strict_overcommit_is_a_limit(tmp_path: Path) -> None:
    files = meminfo(8192)
    files["/proc/meminfo"] += f"CommitLimit: {3 << 20} kB\nCommitted_AS: {1 << 20} kB\n"
    files["/proc/sys/vm/overcommit_memory"] = "2\n"
    assert available_bytes(plant(tmp_path, files)) == 2 * GIB
    files["/proc/sys/vm/overcommit_memory"] = "0\n"
    assert available_bytes(plant(tmp_path, files)) == 8 * GIB


def test_the_refusal_names_need_bound_and_remedy(tmp_path: Path) -> None:
    tree = plant(tmp_path, meminfo(8192) | v2("/", {"": (str(4 * GIB), GIB, 0)}))
    require_memory(2 * GIB, "stream, 3 arrays", tree=tree)
    with pytest.raises(RequestError) as caught:
        require_memory(12 * GIB, "stream, 3 arrays", remedy="lower --array-bytes", tree=tree)
    assert str(caught.value) == (
        "stream, 3 arrays needs 12.0 GiB, 2.8 GiB can be used "
        "(cgroup limit 4.0 GiB in /sys/fs/cgroup/memory.max, minus a margin): lower --array-bytes"
    )


@pytest.mark.parametrize("free_mib", [1, 100, 1000, 10_000, 1_000_000])
def test_a_margin_stays(tmp_path: Path, free_mib: int) -> None:
    tree = plant(tmp_path, meminfo(free_mib))
    free = free_mib * MIB
    assert 32 * MIB <= margin_bytes(free) <= 512 * MIB
    with pytest.raises(RequestError):
        require_memory(free, "all", tree=tree)
    if free > margin_bytes(free):
        require_memory(free - margin_bytes(free), "all but the margin", tree=tree)


def test_a_node_bounds_what_is_bound_to_it(tmp_path: Path) -> None:
    tree = plant(tmp_path, with_cxl() | meminfo(900 << 10))
    require_memory(70 * GIB, "ring", node=2, tree=tree)  # half free, an eighth reclaimable of 128
    with pytest.raises(RequestError, match="free on node 0"):
        require_memory(30 * GIB, "ring", node=0, tree=tree)
    with pytest.raises(RequestError, match="node 7 does not exist: choose among 0-2"):
        require_memory(1, "ring", node=7, tree=tree)


def test_the_only_node_of_a_machine_that_hides_its_nodes(tmp_path: Path) -> None:
    tree = plant(tmp_path, meminfo(1024))
    require_memory(MIB, "ring", node=0, tree=tree)
    with pytest.raises(RequestError, match="node 1 does not exist: choose among 0"):
        require_memory(1, "ring", node=1, tree=tree)


def test_a_node_outside_the_cpuset_is_refused(tmp_path: Path) -> None:
    status = {"/proc/self/status": "Mems_allowed_list:\t0\n"}
    tree = plant(tmp_path, xeon() | meminfo(900 << 10) | status)
    with pytest.raises(RequestError, match="node 1 is outside this process's cpuset"):
        require_memory(1, "ring", node=1, tree=tree)


def test_cpu_quota(tmp_path: Path) -> None:
    files = v2("/a", {"/a": ("max", 0, 0)})
    assert cpu_quota(plant(tmp_path / "none", files)) is None
    files["/sys/fs/cgroup/a/cpu.max"] = "150000 100000\n"
    files["/sys/fs/cgroup/cpu.max"] = "max 100000\n"
    assert cpu_quota(plant(tmp_path / "v2", files)) == 1.5
    old = v1("/a", {"/a": (NO_LIMIT, 0, 0)})
    old["/sys/fs/cgroup/memory/a/cpu.cfs_quota_us"] = "-1\n"
    old["/sys/fs/cgroup/memory/a/cpu.cfs_period_us"] = "100000\n"
    assert cpu_quota(plant(tmp_path / "v1none", old)) is None
    old["/sys/fs/cgroup/memory/a/cpu.cfs_quota_us"] = "50000\n"
    assert cpu_quota(plant(tmp_path / "v1", old)) == 0.5


def test_this_machine_has_memory_left() -> None:
    assert available_bytes() > 0
    with pytest.raises(RequestError, match=r"1048576\.0 GiB"):
        require_memory(1 << 50, "an absurd array")


def test_a_data_size_limit_counts_private_mappings(tmp_path: Path) -> None:
    files = {
        "/proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\n"
        f"Max data size  {GIB} unlimited bytes\nMax address space  unlimited unlimited bytes\n",
        "/proc/self/status": "Name: x\nVmSize:\t 900000 kB\nVmData:\t 262144 kB\n",
    }
    (limit,) = memory_limits(plant(tmp_path, files))
    assert limit == (GIB - 256 * MIB, "data size limit 1.0 GiB, ulimit -d")


def test_the_tightest_limit_is_named(tmp_path: Path) -> None:
    files = meminfo(4096) | v2("/a", {"/a": (str(400 * MIB), 100 * MIB, 0)})
    tightest = tightest_limit(plant(tmp_path, files))
    assert tightest == (300 * MIB, "cgroup limit 400.0 MiB in /sys/fs/cgroup/a/memory.max")
    assert tightest_limit(plant(tmp_path / "nothing", {})) is None
