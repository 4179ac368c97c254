"""What a sum over a family's PMUs lacks, or may count twice, as notes beside it.

A count of controllers is stated only for PMUs that the kernel lists: how many controllers a machine
has beyond those, sysfs does not tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memgauge.counters.perf.data import Family
from memgauge.counters.perf.places import Place
from memgauge.counters.perf.pmu import Pmu, natural
from memgauge.counters.perf.sockets import Layout
from memgauge.model.counting.partial import PartialSum

_KERNEL_TYPES = 6
"""PERF_TYPE_MAX: types below it are the kernel's own, and stand for no single PMU."""
_MOST_NAMED = 3
_LOOK = "look for the PMU in the kernel log (dmesg), or load its driver again"


def fault(pmu: Pmu, members: Sequence[Pmu], every: Sequence[Pmu], online: Sequence[int]) -> str:
    """Why a PMU is in no sum of its family, as a clause; empty where nothing is wrong.

    Args:
        pmu: PMU of the family.
        members: All usable PMUs of the family, in their order.
        every: All usable PMUs of the machine.
        online: CPUs that run; none where the tree does not tell.
    """
    if pmu.without_cpus:
        return pmu.without_cpus
    if pmu.cpumask is None and any(one.cpumask is not None for one in members):
        return "it has no cpumask, which others of its kind have"
    if pmu.cpumask and online and not set(pmu.cpumask) & set(online):
        cpus = ",".join(map(str, pmu.cpumask[:_MOST_NAMED]))
        return f"its cpumask names only CPUs that are not online ({cpus})"
    if pmu.type < _KERNEL_TYPES:
        return ""
    twins = [one.name for one in every if one.type == pmu.type and one.name != pmu.name]
    mine = [one.name for one in members]
    for twin in twins:
        # Of one family the first is counted: by one type number the kernel opens one PMU only.
        if twin not in mine or mine.index(twin) < mine.index(pmu.name):
            return f"its type {pmu.type} is that of {twin} too"
    return ""


def left_out(left: Mapping[str, str], counted: int, total: int) -> PartialSum | None:
    """What a sum lacks, by PMUs that are in no place of it; None where all are.

    Args:
        left: Why each is left out, as a clause, by name.
        counted: Number of PMUs in the sum.
        total: Number of PMUs that the kernel lists of the family.
    """
    if not left:
        return None
    said = [f"{name} is left out, {why}" for name, why in list(left.items())[:_MOST_NAMED]]
    if len(left) > _MOST_NAMED:
        said.append(f"left out too: {', '.join(list(left)[_MOST_NAMED:])}")
    lacks = "the sum lacks their traffic" if len(left) > 1 else "the sum lacks its traffic"
    text = f"{counted} of {total} controllers counted: {'; '.join(said)}; {lacks}: {_LOOK}"
    return PartialSum(counted=counted, listed=total, left_out=dict(left), text=text)


def doubts(
    family: Family,
    listed: Sequence[str],
    pmus: Sequence[Pmu],
    places: Sequence[Place],
    at: Layout,
) -> list[str]:
    """What may be missing from a sum, or in it twice, without sysfs telling whether it is.

    Args:
        family: Family of the PMUs.
        listed: Names of all its PMUs that the kernel lists, usable or not.
        pmus: Those in the sum.
        places: Where they are counted.
        at: Sockets of the machine.
    """
    notes = [*_same_number(listed), *_gaps(family, listed), *_shorter_masks(family, pmus)]
    return [*notes, *_sockets(family, places, at)]


def _same_number(listed: Sequence[str]) -> list[str]:
    first: dict[str, str] = {}
    notes = []
    for name in listed:
        other = first.setdefault(str(natural(name)), name)
        if other != name:
            notes.append(
                f"{name} has the number of {other}: if both are one controller, the sum counts it "
                f"twice; {_LOOK}"
            )
    return notes


def _gaps(family: Family, listed: Sequence[str]) -> list[str]:
    """Only of numbers that count controllers or sockets from 0: others are addresses or dies."""
    texts = [family.number(name) or "" for name in listed]
    plain = all(text.isdecimal() and str(int(text)) == text for text in texts)
    if not plain or family.socket not in {"cpumask", "number"} or family.traffic != "dram":
        return []
    numbers = {int(text) for text in texts}
    if len(numbers) < len(texts) or not numbers or max(numbers) >= 1 << 10:
        return []
    missing = [str(one) for one in range(max(numbers)) if one not in numbers]
    if not missing:
        return []
    shown = ", ".join(missing[:_MOST_NAMED]) + (" and more" if len(missing) > _MOST_NAMED else "")
    note = (
        f"no {family.name} PMU of number {shown} is listed, though higher numbers are: if the "
        f"machine has such a controller, the sum lacks its traffic; {_LOOK}"
    )
    return [note]


def _shorter_masks(family: Family, pmus: Sequence[Pmu]) -> list[str]:
    """Of PMUs that stand for a controller of each socket, those on fewer sockets than the others.

    Where controllers are numbered over all sockets, each names one CPU, and nothing follows.
    """
    masks = {tuple(pmu.cpumask or ()) for pmu in pmus}
    longest = max(masks, key=len, default=())
    short = [pmu for pmu in pmus if len(pmu.cpumask or ()) < len(longest)]
    if family.socket != "cpumask" or not 0 < len(short) < len(pmus) - len(short):
        return []
    most = ",".join(map(str, longest))
    return [
        f"{pmu.name}: its cpumask names {','.join(map(str, pmu.cpumask or ()))} only, where most "
        f"of its kind name {most}: if it has a controller there, the sum lacks its traffic; {_LOOK}"
        for pmu in short[:_MOST_NAMED]
    ]


def offline(pmus: Sequence[Pmu], online: Sequence[int]) -> list[str]:
    """PMUs whose cpumask also names CPUs that do not run.

    Args:
        pmus: PMUs in a sum.
        online: CPUs that run; none where the tree does not tell.
    """
    notes = []
    for pmu in pmus:
        away = [str(cpu) for cpu in pmu.cpumask or () if online and cpu not in online]
        if away:
            notes.append(
                f"{pmu.name}: its cpumask names CPU {','.join(away[:_MOST_NAMED])}, which is not "
                "online: the sum may lack the traffic counted there; bring it online"
            )
    return notes


def _sockets(family: Family, places: Sequence[Place], at: Layout) -> list[str]:
    seen = {place.socket for place in places}
    missing = [str(one) for one in at.sockets if one not in seen]
    known = bool(places) and None not in seen
    if not known or not missing or family.traffic != "dram" or family.scope == "device":
        return []
    note = (
        f"no {family.name} PMU counts on socket {', '.join(missing)}: unless it has no memory of "
        f"its own, the sum lacks its traffic; {_LOOK}"
    )
    return [note]
