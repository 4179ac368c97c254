"""Machines that show the PMUs of their cores, with the kernel's own formats.

Source: intel_arch3_formats_attr and amd_format_attr of arch/x86/events.
"""

from pathlib import Path

from tests.counters_trees.sysfs import FakePmu, Tree, plant

INTEL_FORMAT = {
    "event": "config:0-7",
    "umask": "config:8-15",
    "edge": "config:18",
    "pc": "config:19",
    "inv": "config:23",
    "cmask": "config:24-31",
}
AMD_FORMAT = {
    "event": "config:0-7,32-35",
    "umask": "config:8-15",
    "edge": "config:18",
    "inv": "config:23",
    "cmask": "config:24-31",
}
INTEL_CORE = FakePmu(name="cpu", type=4, format=INTEL_FORMAT)
AMD_CORE = FakePmu(name="cpu", type=4, format=AMD_FORMAT)


def one_core_type(root: Path, cpuinfo: str, pmu: FakePmu) -> Tree:
    """Four CPUs that are alike."""
    return plant(root, [pmu], {0: range(4)}, cpuinfo=cpuinfo)


def hybrid(root: Path, cpuinfo: str) -> Tree:
    """Four performance and four efficiency cores."""
    pmus = [
        FakePmu(name="cpu_core", type=4, format=INTEL_FORMAT, files={"cpus": "0-3"}),
        FakePmu(name="cpu_atom", type=10, format=INTEL_FORMAT, files={"cpus": "4-7"}),
    ]
    return plant(root, pmus, {0: range(8)}, cpuinfo=cpuinfo)
