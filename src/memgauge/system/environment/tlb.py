"""How many base pages a TLB of this machine translates, as the kernel reports it."""

from __future__ import annotations

from memgauge.system.tree import Tree, whole_number

CPUINFO = "/proc/cpuinfo"


def tlb_entries(tree: Tree | None = None) -> int | None:
    """Entries for base pages in the last level of the TLB, as /proc/cpuinfo has them (`TLB size`).

    AMD's processors report them (CPUID Fn8000_0006), and Linux adds those for data and for
    instructions: data have no more than that. In a virtual machine it is what the hypervisor
    reports, of whatever processor.

    Args:
        tree: Root of the procfs to read; None: that of this machine.

    Returns:
        None: the kernel reports none, as on processors of other makers.
    """
    words = (tree or Tree()).fields(CPUINFO).get("TLB size", "").split()
    found = whole_number(words[0]) if words else None
    return found or None
