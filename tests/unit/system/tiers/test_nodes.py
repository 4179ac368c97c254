import os
from pathlib import Path

import msgspec
import pytest
from tests.unit.system.tiers.trees import (
    CXL_REGION,
    NDBUS,
    TIERING,
    Links,
    claims,
    cxl_region,
    dax_device,
    plant_linked,
    pmem_block,
    third_node,
    two_sockets,
)
from tests.unit.system.trees import MACHINES, NODES, Files, guest, plant, process, x86

from memgauge.model.errors import RequestError
from memgauge.model.memory import MemoryPlacement, parse_placement
from memgauge.model.system import Capability, System, Tier
from memgauge.model.tier_names import second_tiers, tier_named
from memgauge.system.detect import detect
from memgauge.system.tiers.pmem import parse_mount

GB = 1e9


def found(root: Path, *parts: tuple[Files, Links]) -> System:
    files: Files = {}
    links: Links = {}
    for more, linked in parts:
        files |= more
        links |= linked
    plant_linked(root, files, links)
    return detect(root)


def the(system: System, **wanted: object) -> Tier:
    fitting = [
        tier
        for tier in system.tiers
        if all(getattr(tier, name) == value for name, value in wanted.items())
    ]
    assert len(fitting) == 1, [msgspec.to_builtins(tier) for tier in system.tiers]
    return fitting[0]


@pytest.mark.parametrize("name", MACHINES)
def test_the_first_tier_is_the_dram_of_the_nodes_with_cpus(tmp_path: Path, name: str) -> None:
    plant(tmp_path, MACHINES[name]())
    system = detect(tmp_path)
    local = [node for node in system.nodes if node.cpus]
    assert system.tiers[0].placement == "dram"
    assert system.tiers[0].kind == "dram"
    assert system.tiers[0].nodes == [node.node for node in local]
    assert system.tiers[0].bytes == sum(node.bytes for node in local)
    assert len(system.tiers) == (1 if len(system.nodes) == 1 else 1 + len(system.nodes))
    for tier in system.tiers:
        assert tier.placement is not None
        assert str(parse_placement(tier.placement, "--memory")) == tier.placement


def test_a_machine_that_shows_nothing_has_dram_of_unknown_size(tmp_path: Path) -> None:
    (only,) = detect(tmp_path).tiers
    assert only.placement == "dram"
    assert only.bytes is None
    assert only.firmware is None


def test_memory_without_cpus_is_not_guessed_at(tmp_path: Path) -> None:
    system = found(tmp_path, (third_node(), {}))
    tier = the(system, nodes=[2])
    assert tier.kind == "unknown"
    assert "its kind is not known" in tier.evidence
    assert (tier.nearest_node, tier.distance) == (0, 14)
    assert tier.firmware is None
    assert tier.rank is None
    assert tier.interleave_weight is None
    assert system.demotion is None
    assert tier.placement == "node:2"


def test_the_firmwares_figures_are_kept_in_ns_and_bytes_per_s(tmp_path: Path) -> None:
    system = found(tmp_path, (third_node(), {}), claims(2, 250, 30000, near=0))
    claimed = the(system, nodes=[2]).firmware
    assert claimed is not None
    assert claimed.from_nodes == [0]
    assert claimed.read_latency_ns == claimed.write_latency_ns == 250.0
    assert claimed.read_bytes_per_s == claimed.write_bytes_per_s == 30 * GB


def test_a_zero_of_the_firmware_is_no_figure(tmp_path: Path) -> None:
    files, links = claims(2, 0, 30000, near=0)
    claimed = the(found(tmp_path, (third_node(), {}), (files, links)), nodes=[2]).firmware
    assert claimed is not None
    assert claimed.read_latency_ns is None
    nothing = the(found(tmp_path / "0", (third_node(), {}), claims(2, 0, 0, near=0)), nodes=[2])
    assert nothing.firmware is None


def test_class_1_is_preferred_to_class_0(tmp_path: Path) -> None:
    files, links = claims(2, 250, 30000, near=0)
    old = {path.replace("access1", "access0"): "999\n" for path in files}
    tier = the(found(tmp_path, (third_node() | old, {}), (files, links)), nodes=[2])
    assert tier.firmware is not None
    assert tier.firmware.read_latency_ns == 250
    only_old = the(found(tmp_path / "0", (third_node() | old, {})), nodes=[2])
    assert only_old.firmware is not None
    assert only_old.firmware.read_latency_ns == 999


@pytest.mark.parametrize(("bandwidth_mb", "kind"), [(400000, "hbm"), (110000, "unknown")])
def test_hbm_is_memory_without_cpus_of_far_more_claimed_bandwidth(
    tmp_path: Path, bandwidth_mb: int, kind: str
) -> None:
    dram = claims(0, 90, 100000, near=0)
    far = claims(2, 120, bandwidth_mb, near=0)
    tier = the(found(tmp_path, (third_node(), {}), dram, far), nodes=[2])
    assert tier.kind == kind


@pytest.mark.parametrize("name", ["Intel(R) Xeon(R) CPU Max 9480", "Intel(R) Xeon Phi(TM) 7210"])
def test_processors_with_memory_on_the_package_are_known(tmp_path: Path, name: str) -> None:
    files = third_node() | process("x86_64", 192 << 20, x86(name))
    tier = the(found(tmp_path, (files, {})), nodes=[2])
    assert tier.kind == "hbm"
    assert name in tier.evidence


def test_a_gpus_memory_is_what_its_driver_says_it_is(tmp_path: Path) -> None:
    status = {"/proc/driver/nvidia/gpus/0009:01:00.0/numa_status": "Node: 2\nStatus: online\n"}
    assert the(found(tmp_path, (third_node() | status, {})), nodes=[2]).kind == "gpu"
    offline = {path: text.replace("online", "offline") for path, text in status.items()}
    assert the(found(tmp_path / "0", (third_node() | offline, {})), nodes=[2]).kind == "unknown"


def test_a_node_made_of_an_nvdimm_is_one(tmp_path: Path) -> None:
    device = dax_device("dax1.0", f"{NDBUS}/region1/dax1.0", "kmem", 2)
    ranks = {f"{TIERING}/memory_tier4/nodelist": "0-1\n", f"{TIERING}/memory_tier84/nodelist": "2"}
    weights = {"/sys/kernel/mm/mempolicy/weighted_interleave/node2": "3\n"}
    demotion = {"/sys/kernel/mm/numa/demotion_enabled": "true\n"}
    system = found(tmp_path, (third_node() | ranks | weights | demotion, {}), device)
    tier = the(system, kind="nvdimm")
    assert tier.placement == "node:2"
    assert tier.device == "dax1.0"
    assert (tier.rank, tier.interleave_weight) == (84, 3)
    assert system.demotion is True
    assert tier_named(system, "nvdimm") == MemoryPlacement("node", (2,))
    assert second_tiers(system)[-1] == tier


def test_a_node_made_of_cxl_memory_is_known_by_its_device(tmp_path: Path) -> None:
    device = dax_device("dax0.0", f"{CXL_REGION}/dax_region0", "kmem", 2)
    assert the(found(tmp_path, (third_node(), {}), device), nodes=[2]).kind == "cxl"


def test_a_node_made_of_cxl_memory_by_the_firmware_is_known_by_its_region(tmp_path: Path) -> None:
    system = found(tmp_path, (third_node(), {}), cxl_region(2))
    tier = the(system, nodes=[2])
    assert tier.kind == "cxl"
    assert "region0" in tier.evidence
    assert the(system, placement="node:0").notes == []


def test_cxl_memory_in_a_node_with_cpus_is_said(tmp_path: Path) -> None:
    tier = the(found(tmp_path, (two_sockets(), {}), cxl_region(1)), placement="node:1")
    assert tier.kind == "dram"
    assert tier.notes == ["also holds memory of CXL region0"]


def test_a_devdax_device_can_be_used_and_says_how_to_make_a_node_of_it(tmp_path: Path) -> None:
    device = dax_device("dax1.0", f"{NDBUS}/region1/dax1.0", "device_dax", 2)
    tier = the(found(tmp_path, (two_sockets(), {}), device), device="dax1.0")
    assert tier.kind == "nvdimm"
    assert tier.placement == "devdax:/dev/dax1.0"
    assert (tier.bytes, tier.align_bytes, tier.nearest_node) == (1 << 30, 1 << 21, 1)
    assert tier.nodes == []
    assert tier.remedy is not None
    assert "daxctl reconfigure-device --mode=system-ram dax1.0" in tier.remedy


@pytest.mark.parametrize(
    ("driver", "remedy"),
    [("kmem", "daxctl online-memory dax1.0"), (None, "no driver uses it")],
)
def test_a_device_that_cannot_be_used_says_what_to_do(
    tmp_path: Path, driver: str | None, remedy: str
) -> None:
    device = dax_device("dax1.0", f"{NDBUS}/region1/dax1.0", driver, 2)
    system = found(tmp_path, (two_sockets(), {}), device)
    tier = the(system, device="dax1.0")
    assert tier.placement is None
    assert tier.remedy is not None
    assert remedy in tier.remedy
    assert tier not in second_tiers(system)
    with pytest.raises(
        RequestError, match=r"dax1\.0 cannot hold arrays in its present configuration"
    ):
        tier_named(system, "nvdimm")


def test_a_device_hidden_from_a_container_is_said(tmp_path: Path) -> None:
    files, links = dax_device("dax1.0", f"{NDBUS}/region1/dax1.0", "device_dax", 2)
    del files["/dev/dax1.0"]
    tier = the(found(tmp_path, (two_sockets(), {}), (files, links)), device="dax1.0")
    assert tier.placement is None
    assert tier.remedy == "/dev/dax1.0 is missing: give this container access to the device"


def test_devices_without_memory_are_seeds_and_no_tiers(tmp_path: Path) -> None:
    seed = dax_device("dax1.1", f"{NDBUS}/region1/dax1.1", None, 2, size=0)
    assert len(found(tmp_path, (two_sockets(), {}), seed).tiers) == 3


def test_set_aside_memory_is_of_unknown_kind(tmp_path: Path) -> None:
    device = dax_device("dax0.0", "/sys/devices/platform/hmem.0", "device_dax", 2)
    tier = the(found(tmp_path, (two_sockets(), {}), device), device="dax0.0")
    assert tier.kind == "unknown"
    assert "specific purpose" in tier.evidence


@pytest.mark.parametrize(
    ("mount", "dax"),
    [
        ("/mnt/e rw,relatime shared:5 - ext4 /dev/pmem0 rw,dax=always", "always"),
        ("/mnt/e rw,relatime - xfs /dev/pmem0 rw,attr2,dax=always,noquota", "always"),
        ("/mnt/e rw,relatime - ext4 /dev/pmem0 rw,dax", "always"),
        ("/mnt/e rw,relatime - ext4 /dev/pmem0 rw,dax=inode", "inode"),
        ("/mnt/e rw,relatime - ext4 /dev/pmem0 rw,dax=never", "never"),
        ("/mnt/e rw,relatime - xfs /dev/pmem0 rw,attr2", None),
    ],
)
def test_a_file_system_is_a_tier_only_where_dax_is_in_effect(
    tmp_path: Path, mount: str, dax: str | None
) -> None:
    (tmp_path / "mnt/e").mkdir(parents=True)
    tier = the(
        found(tmp_path, (two_sockets(), {}), pmem_block("pmem0", "pfn0.0", mount)),
        dax=dax,
        device="pmem0",
    )
    assert tier.kind == "nvdimm"
    assert tier.mount == "/mnt/e"
    assert tier.bytes == 2093056 * 512
    if dax == "always":
        assert tier.placement == "file:/mnt/e"
        assert tier.remedy is None
    else:
        assert tier.placement is None
        assert "page cache" in tier.notes[0]
        assert tier.remedy == "mount it with DAX: mount -o dax=always /dev/pmem0 /mnt/e"


@pytest.mark.parametrize(
    ("name", "parent", "remedy"),
    [
        ("pmem0", "pfn0.0", "mount its file system, or create one"),
        ("pmem0s", "btt0.0", "mode sector has no DAX"),
        ("pmem0", "namespace0.0", "mode raw has no DAX"),
    ],
)
def test_block_devices_say_what_is_missing(
    tmp_path: Path, name: str, parent: str, remedy: str
) -> None:
    tier = the(found(tmp_path, (two_sockets(), {}), pmem_block(name, parent)), device=name)
    assert tier.placement is None
    assert tier.remedy is not None
    assert tier.remedy.startswith(remedy)


def test_dram_behind_an_nvdimm_bus_is_said(tmp_path: Path) -> None:
    place = "/sys/devices/platform/e820_pmem/ndbus0/region0/dax0.0"
    tier = the(
        found(tmp_path, (guest(), {}), dax_device("dax0.0", place, "device_dax", 0)),
        device="dax0.0",
    )
    assert "perhaps ordinary DRAM" in tier.evidence


@pytest.mark.parametrize(("held", "free"), [(0, 1 << 30), (1 << 29, 1 << 29), (1 << 30, 0)])
def test_room_for_a_namespace_is_memory_that_nobody_uses(
    tmp_path: Path, held: int, free: int
) -> None:
    nd = "/sys/bus/nd/devices"
    files = {
        f"{nd}/region1/available_size": f"{1 << 30}\n",
        f"{nd}/region1/size": f"{1 << 30}\n",
        f"{nd}/region1/numa_node": "1\n",
        f"{nd}/namespace1.0/size": f"{held}\n",
    }
    tiers = found(tmp_path, (two_sockets() | files, {})).tiers
    assert [tier.bytes for tier in tiers if tier.device == "region1"] == [free] * bool(free)


def test_a_cxl_device_without_a_region_says_how_to_make_one(tmp_path: Path) -> None:
    files = two_sockets() | {"/sys/bus/cxl/devices/mem0/ram/size": "0x20000000\n"}
    tier = the(found(tmp_path, (files, {})), device="mem0")
    assert (tier.kind, tier.bytes, tier.placement) == ("cxl", 512 << 20, None)
    assert tier.remedy == "as root: cxl create-region --memdevs --type=ram mem0"


def test_a_memory_side_cache_is_described(tmp_path: Path) -> None:
    directory = f"{NODES}/node2/memory_side_cache/index1"
    files = third_node() | {
        f"{directory}/size": f"{1 << 34}\n",
        f"{directory}/line_size": "64\n",
        f"{directory}/indexing": "0\n",
        f"{directory}/write_policy": "0\n",
    }
    (cache,) = the(found(tmp_path, (files, {})), nodes=[2]).side_caches
    assert (cache.level, cache.bytes, cache.line_bytes) == (1, 1 << 34, 64)
    assert (cache.indexing, cache.write_policy) == ("direct-mapped", "write-back")


def test_a_node_outside_the_cpuset_cannot_hold_arrays(tmp_path: Path) -> None:
    files = third_node()
    status = files["/proc/self/status"].replace("Mems_allowed_list:\t0-2", "Mems_allowed_list:\t0")
    system = found(tmp_path, (files | {"/proc/self/status": status}, {}))
    assert system.allowed_nodes == [0]
    assert the(system, nodes=[2]).placement is None
    assert "cpuset.mems" in (the(system, nodes=[2]).remedy or "")


def test_the_machine_is_the_same_with_an_nvdimm_as_a_node_or_as_a_device(tmp_path: Path) -> None:
    place = f"{NDBUS}/region1/dax1.0"
    as_node = found(tmp_path / "n", (third_node(), {}), dax_device("dax1.0", place, "kmem", 2))
    as_device = found(
        tmp_path / "d", (two_sockets(), {}), dax_device("dax1.0", place, "device_dax", 2)
    )
    assert as_node.memory_bytes > as_device.memory_bytes
    assert as_node.machine_id == as_device.machine_id


def test_mount_points_with_blanks_are_read_as_they_are() -> None:
    mount = parse_mount(r"40 24 259:0 / /mnt/my\040disk rw - ext4 /dev/pmem0 rw,dax=always")
    assert mount is not None
    assert mount.directory == "/mnt/my disk"
    assert parse_mount("40 24 259:0 /sub /mnt rw - ext4 /dev/pmem0 rw") is None
    assert parse_mount("garbage") is None


def test_a_device_this_user_may_not_open_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = dax_device("dax1.0", f"{NDBUS}/region1/dax1.0", "device_dax", 2)
    monkeypatch.setattr(os, "access", lambda path, mode: "dax1.0" not in str(path))
    tier = the(found(tmp_path, (two_sockets(), {}), device), device="dax1.0")
    assert tier.notes == ["this user may not read and write /dev/dax1.0"]


def said(system: System, name: str) -> Capability:
    return {capability.name: capability for capability in system.capabilities}[name]


def test_what_is_missing_of_tiers_is_said_with_the_reason(tmp_path: Path) -> None:
    plain = found(tmp_path / "plain", (guest(), {}))
    assert not said(plain, "second memory").available
    assert "--memory file:PATH" in (said(plain, "second memory").remedy or "")
    assert "provides no HMAT" in said(plain, "memory speeds by the firmware").detail
    assert not said(plain, "weighted interleave").available

    hidden = {"/sys/firmware/acpi/tables/HMAT": "", "/sys/kernel/mm/numa/demotion_enabled": "true"}
    raw = pmem_block("pmem0", "namespace0.0")
    system = found(tmp_path / "raw", (two_sockets() | hidden, {}), raw)
    assert "but this kernel reports nothing of it" in (
        said(system, "memory speeds by the firmware").detail
    )
    assert said(system, "second memory").available, "two nodes of DRAM are two memories"
    assert not said(system, "memory that stays where it was put").available


def test_a_second_memory_that_cannot_be_used_yet_gives_its_remedy(tmp_path: Path) -> None:
    system = found(tmp_path, (guest(), {}), pmem_block("pmem0", "pfn0.0"))
    missing = said(system, "second memory")
    assert not missing.available
    assert missing.detail == "pmem0 (nvdimm) cannot hold arrays in its present configuration"
    assert missing.remedy is not None
    assert missing.remedy.startswith("mount its file system")


def test_the_firmwares_figures_are_said_to_be_there(tmp_path: Path) -> None:
    system = found(tmp_path, (third_node(), {}), claims(2, 250, 30000, near=0))
    known = said(system, "memory speeds by the firmware")
    assert known.available
    assert known.detail == "of nodes 2"
