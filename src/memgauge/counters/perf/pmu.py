"""What the kernel publishes of a PMU (performance monitoring unit) in sysfs.

Everything may be missing or malformed, and a PMU may vanish between being listed and being read:
what cannot be understood is left out and said in `Pmu.notes`.

Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format} of Linux.
"""

from __future__ import annotations

import re

import msgspec

from memgauge.counters.host import Host
from memgauge.model.text import quoted
from memgauge.system.tree import LARGEST_INDEX, Tree, sorted_numbers

DEVICES = "/bus/event_source/devices"
WORDS = ("config", "config1", "config2", "config3")
"""The words of perf_event_attr that a format may fill."""

_LEAST_SCALE, _MOST_SCALE = 1e-50, 1e50
"""Far within what a record may hold, for the factor of the unit is applied on top."""
_NAME = re.compile(r"[A-Za-z0-9_.:+-]+")
_RANGE = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


class Bits(msgspec.Struct, frozen=True):
    """Bits `first` to `last`, both in it, of a word."""

    first: int
    last: int

    @property
    def width(self) -> int:
        """How many."""
        return self.last - self.first + 1


class Field(msgspec.Struct, frozen=True):
    """Where the value of a field goes: its low bits into the first range, and so on."""

    name: str
    word: str
    ranges: list[Bits]

    @property
    def width(self) -> int:
        """Bits of its value."""
        return sum(bits.width for bits in self.ranges)


class PublishedEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of `events/`."""

    name: str
    text: str
    """`field=value,...`, as it stands there."""
    scale: float | None = None
    """Of its `.scale` file; None: it has none."""
    unit: str | None = None


class Pmu(msgspec.Struct, frozen=True, kw_only=True):
    """One directory of `event_source/devices`."""

    name: str
    type: int
    cpumask: list[int] | None = None
    """One CPU of each die or socket that has it; None: there is no such file."""
    without_cpus: str | None = None
    """Why its cpumask names no CPU, as a clause, where it does not."""
    associated_cpus: list[int] | None = None
    cpus: list[int] | None = None
    """Of a core PMU of a hybrid processor: the CPUs of its core type."""
    identifier: str | None = None
    fields: dict[str, Field] = {}
    events: dict[str, PublishedEvent] = {}
    notes: list[str] = []


def tree_of(host: Host) -> Tree:
    """Sysfs of a host, whose paths begin with what follows `/sys`."""
    return Tree(host.sysfs)


def pmu_names(host: Host) -> list[str]:
    """All PMUs listed, in their natural order: `uncore_imc_2` before `uncore_imc_10`."""
    return sorted(tree_of(host).names(DEVICES), key=natural)


def natural(name: str) -> list[tuple[int, str]]:
    """A sorting key that takes numbers as numbers."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def read_pmu(host: Host, name: str) -> Pmu | None:
    """One PMU; None where its directory or its type cannot be read (any more)."""
    tree = tree_of(host)
    kind = tree.integer(f"{DEVICES}/{name}/type")
    if kind is None or not 0 <= kind <= LARGEST_INDEX:
        return None
    notes: list[str] = []
    fields = _fields(tree, name, notes)
    mask, without_cpus = _mask(tree, name)
    return Pmu(
        name=name,
        type=kind,
        cpumask=mask,
        without_cpus=without_cpus,
        associated_cpus=tree.numbers(f"{DEVICES}/{name}/associated_cpus"),
        cpus=tree.numbers(f"{DEVICES}/{name}/cpus"),
        identifier=tree.text(f"{DEVICES}/{name}/identifier"),
        fields=fields,
        events=_events(tree, name, notes),
        notes=notes,
    )


def why_unusable(host: Host, name: str) -> str:
    """Why nothing can be made of a PMU that is listed, as a clause."""
    text = tree_of(host).text(f"{DEVICES}/{name}/type")
    if text is None:
        return "its type cannot be read"
    return f"its type {quoted(text)} is not a number from 0 to {LARGEST_INDEX}"


def _mask(tree: Tree, pmu: str) -> tuple[list[int] | None, str | None]:
    """The cpumask, and why it names no CPU."""
    path = f"{DEVICES}/{pmu}/cpumask"
    if not tree.exists(path):
        return None, None
    text = tree.text(path)
    if text is None:
        return [], "its cpumask cannot be read"
    if not text:
        return [], "its cpumask is empty"
    numbers = sorted_numbers(text)
    if not numbers:
        return [], f"its cpumask {quoted(text)} is not a list of CPUs"
    return numbers, None


def parse_field(name: str, text: str) -> Field | None:
    """A format such as `config:0-7,32-37`; None where it is malformed or overlaps itself."""
    word, colon, rest = text.strip().partition(":")
    if not colon or word not in WORDS:
        return None
    ranges = [_bits(part) for part in rest.split(",")]
    good = [bits for bits in ranges if bits is not None]
    taken = [bit for bits in good for bit in range(bits.first, bits.last + 1)]
    if len(good) < len(ranges) or len(set(taken)) < len(taken):
        return None
    return Field(name, word, good)


def _bits(text: str) -> Bits | None:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    return Bits(first, last) if first <= last < 64 else None


def _fields(tree: Tree, pmu: str, notes: list[str]) -> dict[str, Field]:
    fields = {}
    for name in tree.names(f"{DEVICES}/{pmu}/format"):
        text = tree.text(f"{DEVICES}/{pmu}/format/{name}")
        field = None if text is None else parse_field(name, text)
        if field is None:
            notes.append(f"{pmu}: format field {name} cannot be read and is left out")
        else:
            fields[name] = field
    return fields


def _events(tree: Tree, pmu: str, notes: list[str]) -> dict[str, PublishedEvent]:
    directory = f"{DEVICES}/{pmu}/events"
    names = tree.names(directory)
    events = {}
    for name in sorted(names, key=natural):
        if name.endswith((".scale", ".unit", ".per-pkg", ".snapshot")):
            continue
        text = tree.text(f"{directory}/{name}")
        if not text or not _NAME.fullmatch(name):
            notes.append(f"{pmu}: event {name} cannot be read and is left out")
            continue
        scale = tree.text(f"{directory}/{name}.scale") if f"{name}.scale" in names else None
        number = None if scale is None else scale_of(scale)
        if number is None and f"{name}.scale" in names:
            notes.append(f"{pmu}: the scale of event {name} is no usable number and is left out")
        unit = tree.text(f"{directory}/{name}.unit") if f"{name}.unit" in names else None
        if unit is None and f"{name}.unit" in names:
            notes.append(
                f"{pmu}: the unit of event {name} cannot be read, so that its scale is left out"
            )
            number = None
        events[name] = PublishedEvent(name=name, text=text, scale=number, unit=unit or None)
    return events


def scale_of(text: str) -> float | None:
    """Units for one count, as the kernel writes them; None: no number that a scale can be."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if _LEAST_SCALE <= number <= _MOST_SCALE else None


def online_cpus(host: Host) -> list[int]:
    """CPUs that run; none where the tree does not say."""
    text = tree_of(host).text("/devices/system/cpu/online")
    numbers = None if text is None else sorted_numbers(text)
    return numbers or []


def packages(host: Host) -> dict[int, int]:
    """CPU to physical package number, as the kernel gives it; one it does not tell is left out."""
    tree = tree_of(host)
    found = {}
    for cpu in tree.numbered("/devices/system/cpu", "cpu"):
        package = tree.integer(f"/devices/system/cpu/cpu{cpu}/topology/physical_package_id")
        if package is not None and package >= 0:
            found[cpu] = package
    # Firmware without that table, on some Arm machines and guests: one socket, as topology says.
    return found or dict.fromkeys(online_cpus(host), 0)
