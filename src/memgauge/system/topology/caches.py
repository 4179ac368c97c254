"""Caches from /sys/devices/system/cpu/cpu*/cache/index*, one record per group of sharing CPUs.

Source: the kernel's Documentation/ABI/testing/sysfs-devices-system-cpu. A level that is not known
stays missing: `notes` reports it, and the workingset experiment can measure it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.system import Cache
from memgauge.system.tree import LARGEST_NUMBER, whole_number

if TYPE_CHECKING:
    from memgauge.system.tree import Tree

_CPU_DIRECTORY = "/sys/devices/system/cpu"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TYPES: dict[str, Literal["data", "unified", "instruction"]] = {
    "Data": "data",
    "Unified": "unified",
    "Instruction": "instruction",
}
_Key = tuple[int, str, tuple[int, ...]]


class Caches(NamedTuple):
    """The caches that were read, and notes on them."""

    caches: list[Cache]
    notes: list[str]


def read_caches(tree: Tree, online: list[int]) -> Caches:
    """Read every cache once, however many CPUs share it; ordered by level, type and first CPU."""
    found: dict[_Key, Cache | None] = {}
    silent: list[int] = []
    for cpu in online:
        directory = f"{_CPU_DIRECTORY}/cpu{cpu}/cache"
        indices = tree.numbered(directory, "index")
        if not indices:
            silent.append(cpu)
        for index in indices:
            _read_index(tree, f"{directory}/index{index}", cpu, found)
    notes = _missing_notes(found, silent)
    caches = [cache for cache in found.values() if cache is not None]
    caches.sort(key=lambda cache: (cache.level, cache.type, cache.cpus[0]))
    return Caches(caches, notes)


def _read_index(tree: Tree, directory: str, cpu: int, found: dict[_Key, Cache | None]) -> None:
    level = tree.integer(f"{directory}/level")
    kind = _TYPES.get(tree.text(f"{directory}/type") or "")
    if level is None or kind is None:
        return
    shared = tree.numbers(f"{directory}/shared_cpu_list") or [cpu]
    key = (level, kind, tuple(shared))
    if key not in found:
        found[key] = _read_cache(tree, directory, level, kind, shared)


def _read_cache(
    tree: Tree,
    directory: str,
    level: int,
    kind: Literal["data", "unified", "instruction"],
    shared: list[int],
) -> Cache | None:
    size = parse_size(tree.text(f"{directory}/size") or "")
    if not size:
        return None
    return Cache(
        level=level,
        type=kind,
        bytes=size,
        line_bytes=tree.integer(f"{directory}/coherency_line_size") or 0,
        ways=tree.integer(f"{directory}/ways_of_associativity"),
        sets=tree.integer(f"{directory}/number_of_sets"),
        cpus=shared,
    )


def parse_size(text: str) -> int | None:
    """Bytes of a size such as the kernel's `32768K`; None if malformed."""
    unit = _UNITS.get(text[-1:], 1)
    digits = text[:-1] if text[-1:] in _UNITS else text
    number = whole_number(digits)
    return None if number is None or number > LARGEST_NUMBER // unit else number * unit


def _missing_notes(found: dict[_Key, Cache | None], silent: list[int]) -> list[str]:
    notes = []
    if silent:
        notes.append(
            f"the system reports no caches of CPUs {format_cpu_list(silent)}: their sizes are "
            "unknown; the workingset experiment measures which levels there are"
        )
    unsized: dict[tuple[int, str], list[int]] = defaultdict(list)
    for (level, kind, shared), cache in found.items():
        if cache is None:
            unsized[level, kind].extend(shared)
    unlined = {f"L{c.level}" for c in found.values() if c is not None and not c.line_bytes}
    if unlined:
        notes.append(f"the line size of {', '.join(sorted(unlined))} caches is not reported")
    notes.extend(
        f"the L{level} {kind} cache of CPUs {format_cpu_list(sorted(set(cpus)))} is reported "
        "without a size and left out"
        for (level, kind), cpus in sorted(unsized.items())
    )
    return notes
