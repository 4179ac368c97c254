"""Trees of event_source/devices and CPU topology, in the kernel's own formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from memgauge.counters.host import Host
from memgauge.model.cpulist import format_cpu_list

MIB_PER_LINE = "6.103515625e-05"
"""64 bytes in MiB: the `.scale` of Intel's counters."""
LINES = {"scale": MIB_PER_LINE, "unit": "MiB"}

# The rights of a process, as /proc/self/status has them.
ALL_RIGHTS = "000001ffffffffff"
NO_RIGHTS = "0000000000000000"


class FakePmu(msgspec.Struct, kw_only=True):
    """One PMU directory."""

    name: str
    type: int
    cpumask: str | None = None
    format: Mapping[str, str] = {}
    events: Mapping[str, str] = {}
    scales: Mapping[str, Mapping[str, str]] = {}
    """By event: `scale` and `unit`."""
    files: Mapping[str, str] = {}
    """Others: associated_cpus, identifier, cpus."""

    def contents(self) -> dict[str, str]:
        """File names below the directory, and what they hold."""
        made = {"type": str(self.type), **self.files}
        if self.cpumask is not None:
            made["cpumask"] = self.cpumask
        made |= {f"format/{name}": text for name, text in self.format.items()}
        made |= {f"events/{name}": text for name, text in self.events.items()}
        for event, extra in self.scales.items():
            made |= {f"events/{event}.{kind}": text for kind, text in extra.items()}
        return made


class Tree(msgspec.Struct, kw_only=True):
    """A planted machine."""

    sysfs: Path
    """For MEMGAUGE_SYSFS."""
    procfs: Path
    architecture: str = "x86_64"

    @property
    def host(self) -> Host:
        """As the code under test sees it, with rights of its own."""
        return Host(sysfs=self.sysfs, procfs=self.procfs, architecture=self.architecture)

    @property
    def host_as_we_are(self) -> Host:
        """With the rights that this process really has."""
        return Host(sysfs=self.sysfs, architecture=self.architecture)

    def device(self, pmu: str) -> Path:
        """Directory of a PMU."""
        return self.sysfs / "bus" / "event_source" / "devices" / pmu


def plant(
    root: Path,
    pmus: Sequence[FakePmu],
    sockets: Mapping[int, Sequence[int]],
    *,
    cpuinfo: str = "",
    architecture: str = "x86_64",
    paranoid: int | None = 2,
    rights: str = ALL_RIGHTS,
) -> Tree:
    """A machine with these PMUs; `sockets` are package numbers and their CPUs."""
    tree = Tree(sysfs=root / "sys", procfs=root / "proc", architecture=architecture)
    for pmu in pmus:
        for name, text in pmu.contents().items():
            _write(tree.device(pmu.name) / name, text)
    cpus = tree.sysfs / "devices" / "system" / "cpu"
    for package, members in sockets.items():
        for cpu in members:
            _write(cpus / f"cpu{cpu}" / "topology" / "physical_package_id", str(package))
    everyone = sorted(cpu for members in sockets.values() for cpu in members)
    _write(cpus / "online", format_cpu_list(everyone))
    _write(tree.procfs / "cpuinfo", cpuinfo)
    _write(tree.procfs / "self" / "status", f"CapEff:\t{rights}")
    if paranoid is not None:
        _write(tree.procfs / "sys" / "kernel" / "perf_event_paranoid", str(paranoid))
    return tree


def intel(model: int) -> str:
    """/proc/cpuinfo of an Intel processor of family 6."""
    return f"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: {model}\n"


def amd(family: int, model: int) -> str:
    """/proc/cpuinfo of an AMD processor."""
    return (
        f"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: {family}\nmodel\t\t: {model}\n"
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
