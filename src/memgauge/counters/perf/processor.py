"""Which processor a tree is of, and what cannot be known of its PMUs where that is not told.

A copy of another machine's `/sys` names the processor in `devices/system/cpu/modalias`, as
`cpu:type:x86,ven0000fam0006mod008F:...` (Linux, arch/x86/include/asm/cpufeature.h,
CPU_FEATURE_TYPEFMT; the vendors' numbers are X86_VENDOR_* of asm/processor.h), and a copy of its
`/proc/cpuinfo` may lie beside it. Without either, events that only the model decides are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from memgauge.counters.host import Host
from memgauge.counters.perf.core_data import core_table
from memgauge.counters.perf.data import Family, Processor, families
from memgauge.counters.perf.generic import core_pmus
from memgauge.system.tree import Tree

if TYPE_CHECKING:
    from memgauge.counters.perf.catalogue import Catalogue

MODALIAS = "/devices/system/cpu/modalias"
_VENDORS = {0: "GenuineIntel", 2: "AuthenticAMD", 9: "HygonGenuine"}
_X86 = re.compile(
    r"cpu:type:x86,ven(?P<vendor>[0-9A-F]{4})fam(?P<family>[0-9A-F]{4})mod(?P<model>[0-9A-F]{4}):",
    re.ASCII,
)


def processor_of(host: Host) -> Processor | None:
    """Vendor, family and model of an x86 processor; None elsewhere, and where nothing tells.

    Where another tree stands in for `/sys`, that of the tree, never this machine's.
    """
    if not host.is_substituted or host.procfs != Host().procfs:
        return _by_cpuinfo(Tree(host.procfs))
    return _by_modalias(Tree(host.sysfs)) or _by_cpuinfo(Tree(host.sysfs.parent / "proc"))


def _by_cpuinfo(procfs: Tree) -> Processor | None:
    fields = procfs.fields("/cpuinfo")
    try:
        return fields["vendor_id"], int(fields["cpu family"]), int(fields["model"])
    except (KeyError, ValueError):
        return None


def _by_modalias(sysfs: Tree) -> Processor | None:
    match = _X86.match(sysfs.text(MODALIAS) or "")
    vendor = _VENDORS.get(int(match["vendor"], 16)) if match else None
    if match is None or vendor is None:
        return None
    return vendor, int(match["family"], 16), int(match["model"], 16)


def lost_without_model(catalogue: Catalogue) -> list[str]:
    """What a tree that does not name its processor lost: one line, or none.

    Args:
        catalogue: What can be counted there, with the PMUs and the processor.
    """
    if not catalogue.host.is_substituted or catalogue.processor is not None:
        return []
    units = list(dict.fromkeys(_lost_units(catalogue)))
    events = list(_lost_of_cores(catalogue))
    doubtful = sorted({family.name for family in families() if _depends(family, catalogue)})
    parts = []
    if units:
        parts.append(f"no event of {', '.join(units)} is known")
    if events:
        parts.append(f"{', '.join(events)} of the cores cannot be encoded")
    if doubtful:
        parts.append(
            f"{', '.join(doubtful)} may count half of the traffic, as where a channel has two parts"
        )
    if not parts:
        return []
    sysfs = catalogue.host.sysfs
    note = (
        f"{sysfs} does not tell the processor's model ({MODALIAS.removeprefix('/')} is missing): "
        f"{'; '.join(parts)}; copy that file, or /proc/cpuinfo to {sysfs.parent}/proc"
    )
    return [note]


def _depends(family: Family, catalogue: Catalogue) -> bool:
    """Whether a family that is used here is another one's on some processors."""
    return bool(family.except_cpus) and any(
        family.has(pmu, None) for pmu in catalogue.pmus.values()
    )


def _lost_units(catalogue: Catalogue) -> Iterator[str]:
    """Families of PMUs that are here of which no event is known without the model."""
    covered = {place.pmu for one in catalogue.known for place in one.places}
    for family in families():
        mine = [name for name in catalogue.pmus if family.number(name) is not None]
        if not set(mine) - covered:
            continue
        encodings = (one for event in family.events for one in event.encodings)
        if family.cpus or any(one.cpus for one in encodings):
            yield family.name


def _lost_of_cores(catalogue: Catalogue) -> Iterator[str]:
    """Events of the cores that are encoded by model."""
    cores = core_pmus(list(catalogue.pmus))
    # POWER's core PMU has the same name, and other fields.
    here = [name for name in cores if "umask" in catalogue.pmus[name].fields]
    for event in core_table().event:
        published = any(
            name in catalogue.pmus[pmu].events for pmu in here for name in event.published
        )
        if not published and any(set(one.pmus) & set(here) for one in event.encodings):
            yield f"perf:{event.name}"
