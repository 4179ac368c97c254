"""The kernel's trees of a machine: what it is, which counters it has, what can be planned on it.

Parts are files below a root, `/sys/...` and `/proc/...`; one that begins with `-> ` is a symbolic
link to another path below the root.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
from tests.counters_trees import machines as pmus
from tests.fuzz.archive import packed, parts_of
from tests.fuzz.invariants import check_refusal
from tests.fuzz.planted import LINK, scratch
from tests.unit.system import trees
from tests.unit.system.tiers import trees as tier_trees

from memgauge.counters.host import Host
from memgauge.counters.registry import load
from memgauge.experiments.shared.cache_machines import cache_model
from memgauge.machines.this import this_machine
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.errors import RequestError
from memgauge.model.system import System
from memgauge.model.text import plain
from memgauge.reports.terminal.report import render_system
from memgauge.system.detect import detect
from memgauge.system.environment.conditions import parse_cpu_times
from memgauge.system.limits.cgroup import cpu_quota
from memgauge.system.limits.memory import available_bytes
from memgauge.system.tree import Tree

IS_JSON = False
WITHOUT_A_TREE = frozenset({"pcp", "nvml", "cupti"})
"""Back ends that ask a daemon or a driver."""
_COUNTERS: trees.Files = {
    "/sys/class/powercap/intel-rapl:0/name": "package-0\n",
    "/sys/class/powercap/intel-rapl:0/energy_uj": "123456\n",
    "/sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    "/sys/class/powercap/intel-rapl:0:0/name": "dram\n",
    "/sys/class/powercap/intel-rapl:0:0/energy_uj": "23456\n",
    "/sys/class/hwmon/hwmon0/name": "power_meter\n",
    "/sys/class/hwmon/hwmon0/power1_average": "90000000\n",
    "/sys/class/hwmon/hwmon0/power1_label": "board\n",
    "/sys/devices/platform/AMDI0097:00/ddr_utilised_bw_input": "17\n",
    "/sys/devices/platform/AMDI0097:00/firmware_node/uid": "ID00\n",
    "/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data": "12\n",
    "/sys/class/infiniband/mlx5_0/ports/1/link_layer": "InfiniBand\n",
    "/sys/class/net/eth0/statistics/rx_bytes": "1\n",
    "/sys/class/net/eth0/type": "1\n",
    "/sys/fs/resctrl/info/L3_MON/mon_features": "mbm_total_bytes\n",
    "/sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes": "4096\n",
    "/sys/fs/resctrl/group/mon_data/mon_L3_00/mbm_total_bytes": "4096\n",
    "/proc/self/cgroup": "0::/user.slice\n",
    "/proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
    "/sys/fs/cgroup/user.slice/memory.max": "1073741824\n",
    "/sys/fs/cgroup/user.slice/memory.current": "4096\n",
    "/sys/fs/cgroup/user.slice/cpu.max": "50000 100000\n",
    "/sys/fs/cgroup/user.slice/memory.stat": "pgfault 12\n",
    "/sys/fs/cgroup/user.slice/io.stat": "259:0 rbytes=4096 wbytes=0\n",
}
_DEVICE_TREE: trees.Files = {
    "/sys/firmware/devicetree/base/lpddr-channel0/compatible": "jedec,lpddr3-channel\0",
    "/sys/firmware/devicetree/base/lpddr-channel0/io-width": "\0\0\0 ",
    "/sys/firmware/devicetree/base/lpddr-channel0/rank@0/timings@0/compatible": (
        "jedec,lpddr3-timings\0"
    ),
    "/sys/firmware/devicetree/base/lpddr-channel0/rank@0/timings@0/max-freq": "//\b\0",
}


def seeds() -> Iterator[bytes]:
    """Small machines of every kind that the tests make up."""
    yield _packed(trees.guest() | _COUNTERS)
    yield _packed(trees.sparse() | _DEVICE_TREE)
    dax_files, dax_links = tier_trees.dax_device("dax0.0", tier_trees.NDBUS, "device_dax", 1)
    block_files, block_links = tier_trees.pmem_block(
        "pmem0", "namespace0.0", "/mnt/p rw - ext4 a dax"
    )
    cxl_files, cxl_links = tier_trees.cxl_region(2)
    claim_files, claim_links = tier_trees.claims(0, 90, 12000, 0)
    links = dax_links | block_links | cxl_links | claim_links
    yield _packed(trees.guest() | dax_files | block_files | cxl_files | claim_files, links)
    for make in (pmus.skylake_client, pmus.zen2, pmus.alder_lake, pmus.altra, pmus.power10):
        with tempfile.TemporaryDirectory() as made:
            root = Path(make(Path(made)).sysfs).parent
            found = {f"/{path.relative_to(root)}": path.read_text() for path in _files(root)}
        yield _packed(found)


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def _packed(files: trees.Files, links: tier_trees.Links | None = None) -> bytes:
    linked = [(path, LINK + to.encode()) for path, to in (links or {}).items()]
    return packed([*((path, text.encode()) for path, text in files.items()), *linked])


def run(data: bytes) -> None:
    """Look at the machine as memgauge does when it starts, and list its counters."""
    place = scratch("tree")
    place.plant(dict(parts_of(data)))
    found = detect(place.root)
    _use(found)
    tree = Tree(place.root)
    cpu_quota(tree)
    available_bytes(tree)
    parse_cpu_times(tree.raw("/proc/stat") or b"", 100)
    _list_counters(place.root, found.architecture)


def _use(found: System) -> None:
    msgspec.json.decode(msgspec.json.encode(found), type=System)
    shown = render_system(found)
    assert all(plain(line) == line for line in shown.splitlines())
    try:
        cache_model(this_machine(found))
    except RequestError as error:
        check_refusal(error)


def _list_counters(root: Path, architecture: str) -> None:
    host = Host(sysfs=root / "sys", procfs=root / "proc", architecture=architecture)
    for name in BACK_ENDS:
        if name in WITHOUT_A_TREE:
            continue
        back_end = load(name, host)
        probe = back_end.probe()
        if probe.state != "absent":
            msgspec.json.encode(back_end.events())
