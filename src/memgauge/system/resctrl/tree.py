"""What resctrl shows: where it is, its groups, and what it can limit.

Source: Linux, Documentation/filesystems/resctrl.rst (before 6.16: arch/x86/resctrl.rst).
"""

from __future__ import annotations

from memgauge.system.tree import Tree, whole_number

ROOT = "/fs/resctrl"
"""Below sysfs."""
MOUNT = "as root: mount -t resctrl resctrl /sys/fs/resctrl"
MONITORED = "mon_data"
_RESERVED = frozenset({"info", "mon_groups", MONITORED})


def is_mounted(tree: Tree) -> bool:
    """Whether the file system is there and mounted.

    Args:
        tree: Of sysfs.
    """
    return tree.exists(f"{ROOT}/info")


def control_groups(tree: Tree, file: str = MONITORED) -> list[str]:
    """Control groups beside the root's: together they hold every task once.

    Args:
        tree: Of sysfs.
        file: That groups must have.
    """
    return [
        name
        for name in tree.names(ROOT)
        if name not in _RESERVED and tree.exists(f"{ROOT}/{name}/{file}")
    ]


def schemata(tree: Tree) -> dict[str, dict[str, str]]:
    """What the root's group may use: by resource (MB, L3), by domain.

    Args:
        tree: Of sysfs.
    """
    found: dict[str, dict[str, str]] = {}
    for line in (tree.text(f"{ROOT}/schemata") or "").splitlines():
        resource, _, domains = line.strip().partition(":")
        pairs = [one.partition("=") for one in domains.split(";")]
        values = {name.strip(): value.strip() for name, equals, value in pairs if equals}
        if values and all(map(str.isdecimal, values)):
            found[resource] = values
    return found


def has_free_group(tree: Tree, resource: str) -> bool:
    """Whether the hardware has room for another group; True where it is not known.

    Args:
        tree: Of sysfs.
        resource: MB or L3.
    """
    most = whole_number(tree.text(f"{ROOT}/info/{resource}/num_closids") or "")
    return most is None or len(control_groups(tree, "schemata")) + 1 < most
