"""Limits of the kernel and the processor as treatments: less bandwidth, fewer ways of the cache.

Beside arithmetic alone, the program and the reference loops are in a control group of resctrl that
the processor throttles (Memory Bandwidth Allocation) or whose lines may take a part of the
last-level cache only (Cache Allocation Technology). What that leaves is measured by the references,
as for any pressure.

Source: Linux, Documentation/filesystems/resctrl.rst; AMD64 Technology Platform Quality of Service
Extensions, 2.1 (units of bandwidth).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from memgauge.experiments.diagnose.treatments import NotTried, Treatment
from memgauge.model.errors import SystemFailure
from memgauge.model.points.diagnose import COMPUTE, FEWER_WAYS, THROTTLE
from memgauge.system.resctrl import groups
from memgauge.system.resctrl.tree import MOUNT, ROOT, has_free_group, is_mounted, schemata
from memgauge.system.tree import Tree, whole_number

LEAST_PERCENT = 10
"""Of bandwidth, where the kernel states no least step."""
ABSOLUTE_GB_PER_S = 8
"""Left for each last-level cache where limits are amounts: their least step stops a program."""
_AMD_UNITS = 8
"""In a GB/s."""
_MB_PER_S_DEFAULT = (1 << 32) - 1
"""What the kernel shows for no limit where it takes MB/s (mount option mba_MBps)."""
WAYS_PART = 4
"""One way in so many, at least as many as the processor takes, is left."""
_CACHES = ("L3", "L3CODE", "L3DATA")


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What can be limited here, and why the rest cannot."""

    lines: dict[str, list[str]] = {}
    """By treatment: lines of schemata."""
    not_tried: list[NotTried] = []


def limits(sysfs: Path | None = None) -> Limits:
    """What resctrl offers to this process.

    Args:
        sysfs: Where resctrl is mounted below; None: the system's.
    """
    sysfs = sysfs or groups.SYSFS
    tree = Tree(sysfs)
    why = _why_none(tree, sysfs)
    if why:
        return Limits(not_tried=[NotTried(name, why) for name in (THROTTLE, FEWER_WAYS)])
    known = {name: of for name, of in schemata(tree).items() if name in {"MB", *_CACHES}}
    found: dict[str, list[str]] = {}
    missing: list[NotTried] = []
    bandwidth = known.get("MB", {})
    if bandwidth:
        least = {domain: _least(tree, value) for domain, value in bandwidth.items()}
        found[THROTTLE] = _lines({**known, "MB": least})
    else:
        missing.append(NotTried(THROTTLE, "the processor cannot limit bandwidth (MBA)"))
    ways = {
        name: dict.fromkeys(known[name], _few_ways(tree, name)) for name in _CACHES if name in known
    }
    if not ways:
        why = "the processor cannot limit the last-level cache (CAT)"
        missing.append(NotTried(FEWER_WAYS, why))
    elif any("" in of.values() for of in ways.values()):
        why = "the kernel does not show that the cache has enough ways"
        missing.append(NotTried(FEWER_WAYS, why))
    else:
        found[FEWER_WAYS] = _lines({**known, **ways})
    return Limits(lines=found, not_tried=missing)


def limited(found: Limits, pressures: Sequence[Treatment]) -> list[Treatment]:
    """Treatments by the kernel's limits, beside arithmetic.

    Args:
        found: What can be limited.
        pressures: Treatments by generators, among them arithmetic.
    """
    arithmetic = next(one.pressure for one in pressures if one.name == COMPUTE)
    return [
        Treatment(
            name=name,
            kind="pressure",
            baseline=COMPUTE,
            pressure=arithmetic,
            change=" ".join(lines),
            schemata=lines,
        )
        for name, lines in found.lines.items()
    ]


class LimitGroup:
    """The control group of treatments by limits; without such treatments there is none."""

    def __init__(
        self,
        group: Path | None,
        treatments: list[Treatment],
        not_tried: Sequence[NotTried] = (),
    ) -> None:
        """Take a group that was made and whose limits were tried; see `opened`."""
        self._group = group
        self.treatments = treatments
        """All that can be applied."""
        self.not_tried = not_tried
        self._lines = {one.name: one.schemata for one in treatments if one.schemata}

    @classmethod
    def opened(cls, treatments: list[Treatment], stack: ExitStack) -> LimitGroup:
        """Make a group, and try each limit; what runs that were killed have left is removed before.

        Args:
            treatments: Of all kinds. Those by limits are left out if the kernel refuses one.
            stack: Removes the group when it is closed.
        """
        by_limits = [one for one in treatments if one.schemata]
        if not by_limits:
            return cls(None, treatments)
        try:
            groups.remove_left(groups.SYSFS)
            group = groups.make("diagnose", stack, groups.SYSFS)
            for one in by_limits:
                groups.limit(group, one.schemata)
        except SystemFailure as error:
            others = [one for one in treatments if not one.schemata]
            return cls(None, others, [NotTried(one.name, str(error)) for one in by_limits])
        return cls(group, treatments)

    @contextmanager
    def limiting(self, treatment: str) -> Iterator[None]:
        """This process and what it starts, limited as the treatment asks, if it asks for any.

        Args:
            treatment: Its name.

        Raises:
            SystemFailure: the kernel refused.
        """
        lines = self._lines.get(treatment)
        if lines is None or self._group is None:
            yield
            return
        groups.limit(self._group, lines)
        with groups.within(self._group):
            yield


def _why_none(tree: Tree, sysfs: Path) -> str:
    if not tree.exists(ROOT):
        return "the kernel has no resctrl, or the processor nothing for it"
    if not is_mounted(tree):
        return f"resctrl is not mounted ({MOUNT})"
    if not groups.may_make(sysfs):
        return "only root may limit programs by resctrl"
    if not groups.is_in_root(sysfs):
        return "this process is in a resctrl group already"
    if not all(has_free_group(tree, name) for name in schemata(tree)):
        return "all groups that the processor has are taken"
    return ""


def _lines(resources: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"{resource}:" + ";".join(f"{name}={value}" for name, value in domains.items())
        for resource, domains in resources.items()
    ]


def _least(tree: Tree, value: str) -> str:
    """The least share of bandwidth, or an amount, by what is written for no limit."""
    unlimited = whole_number(value) or 0
    if unlimited == _MB_PER_S_DEFAULT:
        return str(ABSOLUTE_GB_PER_S * 1000)
    if unlimited > 100:
        return str(ABSOLUTE_GB_PER_S * _AMD_UNITS)
    return str(tree.integer(f"{ROOT}/info/MB/min_bandwidth") or LEAST_PERCENT)


def _few_ways(tree: Tree, resource: str) -> str:
    """The mask of the lowest ways; empty: not known."""
    info = f"{ROOT}/info/{resource}"
    try:
        every = int(tree.text(f"{info}/cbm_mask") or "", 16)
    except ValueError:
        return ""
    count = max(every.bit_count() // WAYS_PART, tree.integer(f"{info}/min_cbm_bits") or 1)
    if count >= every.bit_count():
        return ""
    lowest = (every & -every).bit_length() - 1
    return f"{((1 << count) - 1) << lowest:x}"
