"""Whether this process runs under a hypervisor, in a container, or both.

Sources: the `hypervisor` CPUID bit as the kernel shows it in /proc/cpuinfo, /sys/hypervisor, DMI
names, the device tree, clock sources made for guests, and the marks that container engines leave.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_DMI_NAMES = (
    ("qemu", "KVM"),
    ("kvm", "KVM"),
    ("amazon ec2", "KVM"),
    ("google compute engine", "KVM"),
    ("openstack", "KVM"),
    ("ovirt", "KVM"),
    ("alibaba cloud ecs", "KVM"),
    ("hetzner vserver", "KVM"),
    ("bochs", "QEMU"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("microsoft corporation virtual machine", "Hyper-V"),
    ("xen", "Xen"),
    ("bhyve", "bhyve"),
    ("parallels", "Parallels"),
    ("apple virtualization", "Apple"),
)
_GUEST_CLOCKS = (("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen"))
_ENGINES = re.compile(r"docker|kubepods|libpod|lxc|containerd|garden|buildkit|crio")


class Virtualisation(NamedTuple):
    """The hypervisor and container between this process and the hardware."""

    hypervisor: str | None
    """Its name, `unnamed` where only its presence is known, None on bare metal."""
    container: str | None
    """The engine's name, `unnamed` where only its presence is known, None outside of one."""

    @property
    def label(self) -> str | None:
        """In words, such as `virtual machine (KVM), container (docker)`."""
        parts = [
            kind if name == "unnamed" else f"{kind} ({name})"
            for kind, name in (("virtual machine", self.hypervisor), ("container", self.container))
            if name is not None
        ]
        return ", ".join(parts) or None


def read_virtualisation(tree: Tree) -> Virtualisation:
    """Read all marks below the root."""
    return Virtualisation(_hypervisor(tree), _container(tree))


def _hypervisor(tree: Tree) -> str | None:
    cpuinfo = tree.fields("/proc/cpuinfo")
    name = _hypervisor_name(tree, cpuinfo)
    if "flags" in cpuinfo:  # x86: the CPUID bit decides, since cloud bare metal shares DMI names
        return (name or "unnamed") if "hypervisor" in cpuinfo["flags"].split() else None
    return name


def _hypervisor_name(tree: Tree, cpuinfo: dict[str, str]) -> str | None:
    kind = tree.text("/sys/hypervisor/type")
    if kind:
        return "Xen" if kind == "xen" else kind
    dmi = dmi_name(tree).lower()
    names = [name for mark, name in _DMI_NAMES if mark in dmi and ".metal" not in dmi]
    return names[0] if names else _name_by_platform(tree, cpuinfo)


def dmi_name(tree: Tree) -> str:
    """Vendor and product as the firmware reports them; empty where it does not."""
    parts = (tree.text(f"/sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    return " ".join(part for part in parts if part)


def _name_by_platform(tree: Tree, cpuinfo: dict[str, str]) -> str | None:
    compatible = tree.text("/proc/device-tree/hypervisor/compatible")
    if compatible:
        return "KVM" if "kvm" in compatible else compatible.replace("\0", " ")
    if "emulated by qemu" in cpuinfo.get("machine", ""):  # ppc64le guests
        return "KVM"
    if tree.exists("/proc/device-tree/ibm,partition-name"):
        return "PowerVM"
    clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    made_for = (name for clock, name in _GUEST_CLOCKS if f" {clock}" in f" {clocks}")
    return next(made_for, None)


def _container(tree: Tree) -> str | None:
    if tree.exists("/.dockerenv"):
        return "docker"
    if tree.exists("/run/.containerenv"):
        return "podman"
    named = tree.text("/run/systemd/container") or _container_variable(tree)
    if named:
        return named
    for process in ("1", "self"):
        engine = _ENGINES.search(tree.text(f"/proc/{process}/cgroup") or "")
        if engine:
            return engine.group()
    return None


def _container_variable(tree: Tree) -> str | None:
    variables = (tree.raw("/proc/1/environ") or b"").split(b"\0")
    values = (v.partition(b"=")[2] for v in variables if v.startswith(b"container="))
    return next((value.decode("utf-8", "replace") for value in values), None)
