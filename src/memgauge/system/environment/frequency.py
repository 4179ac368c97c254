"""Frequency governor and boost as cpufreq reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_CPUFREQ = "/sys/devices/system/cpu/cpu{}/cpufreq"
_INTEL = "/sys/devices/system/cpu/intel_pstate/no_turbo"
_GENERIC = "/sys/devices/system/cpu/cpufreq/boost"


def governor(tree: Tree, cpus: list[int]) -> str | None:
    """Governor of the CPUs, several joined by `+`; None without cpufreq, as in most VMs."""
    read = {tree.text(f"{_CPUFREQ.format(cpu)}/scaling_governor") for cpu in cpus}
    return "+".join(sorted(name for name in read if name)) or None


def boost_enabled(tree: Tree) -> bool | None:
    """Whether cores may run above their nominal frequency.

    None if the kernel does not report it.
    """
    no_turbo = tree.integer(_INTEL)
    if no_turbo is not None:
        return no_turbo == 0
    boost = tree.integer(_GENERIC)
    return None if boost is None else boost == 1
