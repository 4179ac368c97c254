"""Where the control groups of version 2 are mounted, and in which one a process is.

Source: Linux, Documentation/admin-guide/cgroup-v2.rst; proc_pid_mountinfo(5), cgroups(7).
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused
from memgauge.system.tree import Tree


class Mount(msgspec.Struct, frozen=True):
    """The hierarchy as this process sees it."""

    root: str
    """The group that is mounted; `/` unless a part of the hierarchy is."""
    point: Path

    def directory(self, group: str) -> Path | None:
        """Where a group's files are; None: the mount does not show it."""
        steps = group.strip("/").split("/")
        base = self.root.strip("/").split("/") if self.root != "/" else []
        if ".." in steps or steps[: len(base)] != base:
            return None
        return self.point.joinpath(*steps[len(base) :])

    def holds(self, group: str) -> bool:
        """Whether there is such a group."""
        found = self.directory(group)
        return found is not None and (found / "cgroup.controllers").exists()

    def file(self, group: str, name: str) -> str:
        """The path of a file of a group that the mount shows."""
        return f"{self.directory(group)}/{name}"

    def controllers(self) -> list[str]:
        """Controllers of the hierarchy; those of version 1 hierarchies are not among them."""
        return (Tree(self.point).text("/cgroup.controllers") or "").split()


def find_mount(host: Host) -> Mount | None:
    """The first mount of version 2; None: there is none."""
    for line in (Tree(host.procfs).text("/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        words = left.split()
        if right.split()[:1] == ["cgroup2"] and len(words) >= 5:
            point = Path(_unescaped(words[4]))
            if host.is_substituted and point.is_relative_to("/sys"):
                point = host.sysfs / point.relative_to("/sys")
            return Mount(_unescaped(words[3]), point)
    return None


def group_of(mount: Mount, host: Host, pid: int) -> str:
    """The group that a process is in now, as a path from the root of the hierarchy.

    Args:
        mount: The mounted hierarchy, which must show the group.
        host: Machine whose procfs is read.
        pid: Identifier of the process in that procfs.

    Raises:
        CounterRefused: no such process, or its group lies outside of what is mounted here.
    """
    text = Tree(host.procfs).text(f"/{pid}/cgroup")
    if text is None:
        raise CounterRefused(f"cgroup: process {pid} does not exist, so its group cannot be read")
    for line in text.splitlines():
        if line.startswith("0::"):
            group = line.removeprefix("0::").removesuffix(" (deleted)")
            if not mount.holds(group):
                raise CounterRefused(
                    f"cgroup: process {pid} is in {group}, outside of what {mount.point} shows"
                )
            return group
    raise CounterRefused(f"cgroup: process {pid} is not in a control group of version 2")


def _unescaped(path: str) -> str:
    return path.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
