"""Memory limits of control groups, v1, v2 and both at once, up the hierarchy.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memgauge.system.tree import whole_number

if TYPE_CHECKING:
    from memgauge.system.tree import Tree


class _Names(NamedTuple):
    """File names of one version of the interface."""

    limits: tuple[str, ...]
    usage: str
    reclaimable: str


_V1 = _Names(("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Names(("memory.max", "memory.high"), "memory.current", "inactive_file")
_UNLIMITED_BYTES = 1 << 60  # v1 writes 2^63 less one page for `no limit`


class Headroom(NamedTuple):
    """What one control group still allows."""

    limit_bytes: int
    free_bytes: int
    origin: str
    """The file that sets it."""


class _Mount(NamedTuple):
    root: str
    point: str


def memory_headrooms(tree: Tree) -> list[Headroom]:
    """Every memory limit in force on this process, innermost first."""
    found: list[Headroom] = []
    for names, kind, directories in _hierarchies(tree, "memory"):
        for directory in directories:
            found.extend(_headrooms(tree, directory, names))
        if kind == "cgroup" and directories:
            found.extend(_hidden_headroom(tree, directories[0]))
    return found


def cpu_quota(tree: Tree) -> float | None:
    """CPUs' worth of time that the control groups allow, such as 1.5; None without a limit."""
    quotas: list[float] = []
    for _, kind, directories in _hierarchies(tree, "cpu"):
        for directory in directories:
            if kind == "cgroup":
                quota = tree.integer(f"{directory}/cpu.cfs_quota_us")
                period = tree.integer(f"{directory}/cpu.cfs_period_us")
            else:
                words = (tree.text(f"{directory}/cpu.max") or "").split()
                quota, period = map(whole_number, words) if len(words) == 2 else (None, None)
            if quota and period and quota > 0:
                quotas.append(quota / period)
    return min(quotas, default=None)


def _hierarchies(tree: Tree, controller: str) -> list[tuple[_Names, str, list[str]]]:
    """For v1 and v2: our group's directory and its ancestors, as far as the mount shows them."""
    mounts = _mounts(tree, controller)
    found = []
    for line in (tree.text("/proc/self/cgroup") or "").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers and "cgroup2" in mounts:
            found.append((_V2, "cgroup2", _directories(tree, mounts["cgroup2"], path)))
        elif controller in controllers.split(",") and "cgroup" in mounts:
            found.append((_V1, "cgroup", _directories(tree, mounts["cgroup"], path)))
    return found


def _mounts(tree: Tree, controller: str) -> dict[str, _Mount]:
    mounts: dict[str, _Mount] = {}
    for line in (tree.text("/proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        words, tail = left.split(), right.split()
        if len(words) < 5 or len(tail) < 3:
            continue
        if tail[0] == "cgroup2" or (tail[0] == "cgroup" and controller in tail[2].split(",")):
            mounts.setdefault(tail[0], _Mount(words[3], words[4]))
    return mounts


def _directories(tree: Tree, mount: _Mount, path: str) -> list[str]:
    below = path
    if mount.root != "/" and path.startswith(mount.root):
        below = path[len(mount.root) :]
    steps = [step for step in below.split("/") if step]
    # A path outside of what is mounted here (a container's view of a host's path): the mount's
    # own root is then the nearest group that can be read.
    if ".." in steps or not tree.exists(f"{mount.point}/{'/'.join(steps)}"):
        steps = []
    return [
        "/".join([mount.point.rstrip("/"), *steps[:depth]]) for depth in range(len(steps), -1, -1)
    ]


def _headrooms(tree: Tree, directory: str, names: _Names) -> list[Headroom]:
    usage = tree.integer(f"{directory}/{names.usage}")
    if usage is None:
        return []
    found = []
    for name in names.limits:
        limit = tree.integer(f"{directory}/{name}")  # v2 writes `max` for `no limit`
        if limit is not None and limit < _UNLIMITED_BYTES:
            used = max(usage - _statistic(tree, directory, names.reclaimable), 0)
            found.append(Headroom(limit, max(limit - used, 0), f"{directory}/{name}"))
    return found


def _hidden_headroom(tree: Tree, directory: str) -> list[Headroom]:
    """v1 reports the smallest limit of all ancestors, including those a container cannot see."""
    limit = _statistic(tree, directory, "hierarchical_memory_limit")
    usage = tree.integer(f"{directory}/{_V1.usage}")
    if not 0 < limit < _UNLIMITED_BYTES or usage is None:
        return []
    used = max(usage - _statistic(tree, directory, _V1.reclaimable), 0)
    origin = f"{directory}/memory.stat hierarchical_memory_limit"
    return [Headroom(limit, max(limit - used, 0), origin)]


def _statistic(tree: Tree, directory: str, name: str) -> int:
    return whole_number(tree.fields(f"{directory}/memory.stat", " ").get(name, "")) or 0
