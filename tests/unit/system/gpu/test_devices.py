"""GPUs as sysfs, procfs and /dev show them; no driver is started for any of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.system.tiers.trees import Links, plant_linked
from tests.unit.system.trees import Files, guest

from memgauge.model.errors import RequestError
from memgauge.model.memory import on_gpu
from memgauge.model.system import Capability, System, Tier
from memgauge.model.tier_names import second_tiers, tier_named
from memgauge.system.detect import detect
from memgauge.system.gpu import libraries as gpu_libraries
from memgauge.system.gpu.devices import read_gpus
from memgauge.system.tiers.gpus import gpu_capability, gpu_tiers
from memgauge.system.tree import Tree

H100, L4 = "NVIDIA H100 80GB HBM3", "NVIDIA L4"
BUS_0, BUS_1 = "0000:3b:00.0", "0000:86:00.0"
UUIDS = {BUS_0: "GPU-1111aaaa-0000-0000-0000-000000000001", BUS_1: "GPU-2222bbbb-0000"}
BY_BUS = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def gpu(
    bus_id: str,
    minor: int | None,
    *,
    model: str = H100,
    driver: str | None = "nvidia",
    known: bool = True,
) -> tuple[Files, Links]:
    """One GPU; `minor` None: without a device file; `told`: the driver's own files are there."""
    place = f"/sys/devices/pci0000:00/{bus_id}"
    files = {
        f"{place}/vendor": "0x10de\n",
        f"{place}/class": "0x030200\n",
        f"{place}/numa_node": "1\n",
    }
    links = {f"/sys/bus/pci/devices/{bus_id}": place}
    if driver is not None:
        links[f"{place}/driver"] = f"/sys/bus/pci/drivers/{driver}"
    if driver == "nvidia":
        files["/sys/module/nvidia/version"] = "580.65.06\n"
    if minor is not None:
        files[f"/dev/nvidia{minor}"] = ""
    if known and driver == "nvidia":
        files[f"/proc/driver/nvidia/gpus/{bus_id}/information"] = (
            f"Model: \t\t {model}\nIRQ:   \t\t 125\nGPU UUID: \t {UUIDS[bus_id]}\n"
            f"Bus Location: \t {bus_id}\nDevice Minor: \t {0 if minor is None else minor}\n"
        )
    return files, links


def machine(root: Path, *parts: tuple[Files, Links]) -> Tree:
    files: Files = {
        "/sys/bus/pci/devices/0000:00:1f.0/vendor": "0x8086\n",
        "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
        "/sys/bus/pci/devices/0000:01:00.0/class": "0x040300\n",  # a GPU's sound device
        "/dev/nvidiactl": "",
        "/dev/nvidia-uvm": "",
    }
    links: Links = {}
    for more, linked in parts:
        files |= more
        links |= linked
    return plant_linked(root, files, links)


def placements(tree: Tree, **environment: str) -> list[str | None]:
    return [tier.placement for tier in gpu_tiers(tree, environment)]


def remedies(tree: Tree, **environment: str) -> str:
    found = gpu_tiers(tree, environment)
    assert [tier.placement for tier in found] == [None] * len(found)
    return found[0].remedy or ""


def test_one_gpu_is_cuda_0_with_what_the_driver_tells(tmp_path: Path) -> None:
    (tier,) = gpu_tiers(machine(tmp_path, gpu(BUS_0, 0)), {})
    assert tier == Tier(
        kind="gpu",
        placement="cuda:0",
        bytes=None,
        nodes=[],
        evidence=f"{H100} at {BUS_0}, driver nvidia 580.65.06",
        nearest_node=1,
        device=BUS_0,
    )


def test_no_gpu_is_no_tier_and_says_so(tmp_path: Path) -> None:
    tree = machine(tmp_path)
    assert read_gpus(tree) == []
    assert gpu_tiers(tree, {}) == []
    expected = Capability(name="GPU memory", available=False, detail="no NVIDIA GPU was found")
    assert gpu_capability(tree, []) == expected


def test_numbers_of_several_are_told_by_bus_id_only_where_that_is_cudas_order(
    tmp_path: Path,
) -> None:
    tree = machine(tmp_path, gpu(BUS_0, 1, model=L4), gpu(BUS_1, 0))
    assert placements(tree, **BY_BUS) == ["cuda:0", "cuda:1"]
    assert "set CUDA_DEVICE_ORDER=PCI_BUS_ID" in remedies(tree)
    assert "set CUDA_DEVICE_ORDER=PCI_BUS_ID" in remedies(tree, CUDA_VISIBLE_DEVICES="1")


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("0,1", ["cuda:0", "cuda:1"]),
        ("1,0", ["cuda:1", "cuda:0"]),
        ("1", [None, "cuda:0"]),
        ("1,7,0", [None, "cuda:0"]),
        ("", [None, None]),
        ("-1", [None, None]),
        ("NoDevFiles", [None, None]),
        ("MIG-1111", [None, None]),
    ],
)
def test_visible_devices_are_counted_as_cuda_counts_them(
    tmp_path: Path, visible: str, expected: list[str | None]
) -> None:
    tree = machine(tmp_path, gpu(BUS_0, 0), gpu(BUS_1, 1))
    assert placements(tree, CUDA_VISIBLE_DEVICES=visible, **BY_BUS) == expected


def test_devices_named_by_uuid_are_certain_in_any_order(tmp_path: Path) -> None:
    tree = machine(tmp_path, gpu(BUS_0, 0), gpu(BUS_1, 1))
    assert placements(tree, CUDA_VISIBLE_DEVICES="GPU-2222,GPU-1111") == ["cuda:1", "cuda:0"]
    assert placements(tree, CUDA_VISIBLE_DEVICES="GPU-3333,GPU-1111") == ["cuda:1", None]
    (one,) = gpu_tiers(machine(tmp_path / "a", gpu(BUS_0, 0)), {"CUDA_VISIBLE_DEVICES": "1"})
    assert one.remedy == "CUDA_VISIBLE_DEVICES hides it: unset that variable"


def test_a_container_with_one_of_the_hosts_gpus_numbers_that_one(tmp_path: Path) -> None:
    """The host's bus is seen whole, the device file and the driver's files are of one."""
    hidden = gpu(BUS_0, None, known=False)
    first, second = gpu_tiers(machine(tmp_path, hidden, gpu(BUS_1, 5)), {})
    assert (first.placement, second.placement) == (None, "cuda:0")
    assert "docker run --gpus all" in (first.remedy or "")


def test_hidden_driver_files_leave_one_gpu_certain(tmp_path: Path) -> None:
    assert placements(machine(tmp_path, gpu(BUS_0, 3, known=False))) == ["cuda:0"]


def test_a_device_file_that_may_be_of_any_gpu_is_measured_by_itself(tmp_path: Path) -> None:
    """As in containers that show the host's bus and hide the driver's own files."""
    hosts = [gpu(bus_id, None, known=False) for bus_id in (BUS_0, BUS_1)]
    tree = machine(tmp_path, *hosts, ({"/dev/nvidia1": ""}, {}))
    (tier,) = gpu_tiers(tree, {})
    assert (tier.placement, tier.device) == ("cuda:0", "nvidia1")


def test_only_device_files_are_seen(tmp_path: Path) -> None:
    tree = machine(tmp_path, ({"/dev/nvidia0": ""}, {}))
    (tier,) = gpu_tiers(tree, {})
    assert (tier.placement, tier.device) == ("cuda:0", "nvidia0")
    assert tier.evidence == "NVIDIA GPU by /dev/nvidia0"
    several = machine(tmp_path, ({"/dev/nvidia1": ""}, {}))
    assert placements(several, **BY_BUS) == [None, None]


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        (None, "no driver is bound to it: install the NVIDIA driver"),
        ("vfio-pci", "driver vfio-pci is bound to it: bind NVIDIA's"),
        ("nouveau", "driver nouveau is bound to it"),
        ("nvidia", "its device file is missing or may not be opened"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, driver: str | None, said: str) -> None:
    tree = machine(tmp_path, gpu(BUS_0, None, driver=driver))
    assert said in remedies(tree)
    capability = gpu_capability(tree, gpu_tiers(tree, {}))
    assert not capability.available
    assert said in (capability.remedy or "")


def test_a_partitioned_gpu_is_reached_by_its_instances_names(tmp_path: Path) -> None:
    mig = {"/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access": "DeviceFileMinor: 1\n"}
    tree = machine(tmp_path, gpu(BUS_0, 0), (mig, {}))
    assert "CUDA_VISIBLE_DEVICES=MIG-UUID" in remedies(tree)


@pytest.mark.parametrize("is_seen", [True, False])
def test_nvrtc_is_part_of_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_seen: bool
) -> None:
    monkeypatch.setattr("memgauge.system.tiers.gpus.nvrtc_seen", lambda: is_seen)
    tree = machine(tmp_path, gpu(BUS_0, 0))
    capability = gpu_capability(tree, gpu_tiers(tree, {}))
    assert capability.available == is_seen
    assert capability.detail.startswith(f"{H100} at {BUS_0}")
    assert capability.remedy == (None if is_seen else gpu_libraries.INSTALL)


def with_gpu(root: Path) -> System:
    files, links = gpu(BUS_0, 0)
    plant_linked(root, guest() | files, links)
    return detect(root)


def test_a_gpu_is_never_the_second_memory_of_the_hosts_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    system = with_gpu(tmp_path)
    assert [tier.placement for tier in system.tiers] == ["dram", "cuda:0"]
    assert second_tiers(system) == []
    assert tier_named(system, "gpu") == on_gpu(0)
    second = next(one for one in system.capabilities if one.name == "second memory")
    assert not second.available
    assert "no memory other than dram was found" in second.detail


def test_detection_starts_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a library was loaded")

    monkeypatch.setattr("memgauge.system.loader.ctypes.CDLL", never)
    monkeypatch.setattr("memgauge.system.gpu.libraries.import_module", never)
    assert with_gpu(tmp_path).tiers[-1].kind == "gpu"


def test_a_word_for_a_gpu_that_cannot_be_used_says_what_to_do(tmp_path: Path) -> None:
    files, links = gpu(BUS_0, None)
    plant_linked(tmp_path, guest() | files, links)
    with pytest.raises(RequestError, match="docker run --gpus all"):
        tier_named(detect(tmp_path), "gpu")
