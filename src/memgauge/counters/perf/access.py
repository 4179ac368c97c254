"""Who may count what: perf_event_paranoid, rights, and what containers take away.

Source: perf_allow_cpu and perf_allow_kernel in kernel/events/core.c;
Documentation/admin-guide/perf-security.rst. Debian and Ubuntu know levels 3 and 4 beside: nothing
at all without rights.
"""

from __future__ import annotations

import msgspec

from memgauge.counters.host import Host
from memgauge.system.tree import Tree

# Bit numbers of include/uapi/linux/capability.h.
_PERFMON, _ADMIN = 38, 21
_WHOLE_RANGE = ["0", "0", "4294967295"]
"""/proc/self/uid_map of the first user namespace."""
MACHINE, KERNEL, OWN = 0, 1, 2
"""Highest levels at which one without rights may count any CPU, the kernel's part of own threads,
and the rest of them."""
RIGHTS = "run as root or give memgauge CAP_PERFMON"


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What this process may count."""

    paranoid: int | None
    """None: there is no such setting, so there is no perf."""
    entitled: bool
    """Whether it has CAP_PERFMON or CAP_SYS_ADMIN in the first user namespace."""

    @property
    def machine(self) -> bool:
        """Whether it may count on a CPU, whoever runs there: all uncore events."""
        return self.entitled or (self.paranoid is not None and self.paranoid <= MACHINE)

    @property
    def kernel(self) -> bool:
        """Whether its own threads are counted in the kernel too."""
        return self.entitled or (self.paranoid is not None and self.paranoid <= KERNEL)

    @property
    def own(self) -> bool:
        """Whether it may count its own threads at all."""
        return self.entitled or (self.paranoid is not None and self.paranoid <= OWN)

    def reason(self) -> str:
        """Why something is refused."""
        return f"perf_event_paranoid is {self.paranoid} and this process lacks CAP_PERFMON"

    def remedy(self, level: int) -> str:
        """What would change it; `level` is the highest that allows what is wanted."""
        return f"{RIGHTS}, or as root: sysctl kernel.perf_event_paranoid={level}"


def access(host: Host) -> Access:
    """As the kernel says now."""
    tree = Tree(host.procfs)
    capabilities = tree.fields("/self/status").get("CapEff", "")
    try:
        mask = int(capabilities, 16)
    except ValueError:
        mask = 0
    mapped = tree.text("/self/uid_map")
    outermost = mapped is None or mapped.split() == _WHOLE_RANGE
    return Access(
        paranoid=tree.integer("/sys/kernel/perf_event_paranoid"),
        entitled=outermost and bool(mask >> _PERFMON & 1 or mask >> _ADMIN & 1),
    )
