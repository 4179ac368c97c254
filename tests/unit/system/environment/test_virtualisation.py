from pathlib import Path

import pytest
from tests.unit.system.trees import X86_FLAGS, Files, plant, x86

from memgauge.system.environment.virtualisation import read_virtualisation

GUEST = {"/proc/cpuinfo": x86("Any", f"{X86_FLAGS} hypervisor")}
METAL = {"/proc/cpuinfo": x86("Any")}
ARM = {"/proc/cpuinfo": "CPU implementer\t: 0x41\n"}
CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


def dmi(vendor: str, product: str) -> Files:
    return {
        "/sys/class/dmi/id/sys_vendor": f"{vendor}\n",
        "/sys/class/dmi/id/product_name": f"{product}\n",
    }


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (METAL, None),
        (METAL | dmi("Dell Inc.", "PowerEdge R750"), None),
        (METAL | dmi("Google", "Google Compute Engine"), None),
        (METAL | dmi("Microsoft Corporation", "Surface Laptop"), None),
        (ARM | dmi("Amazon EC2", "c7g.metal"), None),
        (ARM | dmi("Amazon EC2", "c7g.large"), "KVM"),
        (ARM | dmi("QEMU", "QEMU Virtual Machine"), "KVM"),
        (ARM, None),
        (ARM | {"/proc/device-tree/hypervisor/compatible": "linux,kvm\0"}, "KVM"),
        (GUEST, "unnamed"),
        (GUEST | {CLOCKS: "kvm-clock tsc acpi_pm\n"}, "KVM"),
        (GUEST | {CLOCKS: "hyperv_clocksource_tsc_page tsc\n"}, "Hyper-V"),
        (GUEST | {"/sys/hypervisor/type": "xen\n"}, "Xen"),
        (GUEST | dmi("VMware, Inc.", "VMware7,1"), "VMware"),
        (GUEST | dmi("Microsoft Corporation", "Virtual Machine"), "Hyper-V"),
        (GUEST | dmi("innotek GmbH", "VirtualBox"), "VirtualBox"),
        ({"/proc/cpuinfo": "machine\t: CHRP IBM pSeries (emulated by qemu)\n"}, "KVM"),
        ({"/proc/device-tree/ibm,partition-name": "lpar1\0"}, "PowerVM"),
    ],
)
def test_hypervisors(tmp_path: Path, files: Files, name: str | None) -> None:
    assert read_virtualisation(plant(tmp_path, files)).hypervisor == name


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, None),
        ({"/.dockerenv": ""}, "docker"),
        ({"/run/.containerenv": ""}, "podman"),
        ({"/run/systemd/container": "systemd-nspawn\n"}, "systemd-nspawn"),
        ({"/proc/1/environ": "PATH=/bin\0container=lxc\0"}, "lxc"),
        ({"/proc/1/cgroup": "4:memory:/kubepods/burstable/pod1\n"}, "kubepods"),
        ({"/proc/1/cgroup": "0::/init.scope\n"}, None),
    ],
)
def test_containers(tmp_path: Path, files: Files, name: str | None) -> None:
    assert read_virtualisation(plant(tmp_path, METAL | files)).container == name


def test_both_at_once(tmp_path: Path) -> None:
    found = read_virtualisation(plant(tmp_path, GUEST | {"/.dockerenv": ""}))
    assert found.label == "virtual machine, container (docker)"


def test_neither(tmp_path: Path) -> None:
    assert read_virtualisation(plant(tmp_path, METAL)).label is None
