"""Core types of hybrid processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_INTEL = {"cpu_core": "performance", "cpu_atom": "efficiency", "cpu_lowpower": "low-power"}
_PMU_DIRECTORIES = ("/sys/bus/event_source/devices", "/sys/devices")


def core_types(tree: Tree, online: list[int], architecture: str) -> dict[int, str]:
    """Type of each CPU of a hybrid processor; empty if all cores are alike or types are unknown.

    x86: the kernel registers one PMU per core type (`cpu_core`, `cpu_atom`), whose `cpus` file
    names its CPUs. Arm: the scheduler's cpu_capacity, else the PMUs, else the main id register.

    Args:
        tree: Root of the sysfs to read.
        online: CPUs to tell the type of.
        architecture: The kernel's name for it, such as `x86_64` or `aarch64`.
    """
    arm = architecture.startswith(("aarch64", "arm"))
    types = _arm_types(tree, online) if arm else _types_of_pmus(tree, _INTEL, set(online))
    return types if len(set(types.values())) > 1 else {}


def _types_of_pmus(tree: Tree, names: dict[str, str], online: set[int]) -> dict[int, str]:
    types: dict[int, str] = {}
    for pmu, label in names.items():
        for directory in _PMU_DIRECTORIES:
            cpus = tree.numbers(f"{directory}/{pmu}/cpus")
            if cpus:
                types |= {cpu: label for cpu in cpus if cpu in online}
                break
    return types


def _arm_types(tree: Tree, online: list[int]) -> dict[int, str]:
    capacities = {
        cpu: capacity
        for cpu in online
        if (capacity := tree.integer(f"/sys/devices/system/cpu/cpu{cpu}/cpu_capacity")) is not None
    }
    levels = sorted(set(capacities.values()))
    if len(levels) == 2:
        names = dict(zip(levels, ("efficiency", "performance"), strict=True))
        return {cpu: names[capacity] for cpu, capacity in capacities.items()}
    pmus = [p for p in tree.names(_PMU_DIRECTORIES[0]) if p.startswith(("armv8", "armv9", "apple"))]
    by_pmu = _types_of_pmus(tree, {pmu: pmu for pmu in pmus}, set(online))
    return by_pmu if len(set(by_pmu.values())) > 1 else _types_by_id_register(tree, online)


def _types_by_id_register(tree: Tree, online: list[int]) -> dict[int, str]:
    path = "/sys/devices/system/cpu/cpu{}/regs/identification/midr_el1"
    read = {cpu: tree.text(path.format(cpu)) for cpu in online}
    return {cpu: f"midr {midr}" for cpu, midr in read.items() if midr}
