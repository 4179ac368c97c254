"""What is known of memory-controller and energy PMUs, as data: `data/*.toml`.

A *family* is the PMUs of one kind on all platforms that name them alike. Its events say what they
count, how many bytes a count is and where that is from, how sure it is, and what to beware of. An
encoding stands here only for PMUs that publish no events, or to check what they publish.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources

import msgspec

from memgauge.counters.perf.pmu import Pmu
from memgauge.counters.perf.sockets import SocketRule
from memgauge.model.counting.events import Certainty, Domain, Quantity, Scope


class Encoding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an event is encoded on some processors."""

    text: str
    """Terms; `{number}` stands for the PMU's own number."""
    cpus: list[str] = []
    """Names of `cpus.toml`; on all where empty."""
    fields: dict[str, str] = {}
    """Formats the PMU must have, such as `event = "config:0-7,32-37"`."""


class KnownEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event of a family."""

    name: str
    """`{number}` stands for the PMU's number, and a `*` for any characters, in published names."""
    listed: str | None = None
    """The name without numbers, where `name` has some."""
    quantity: Quantity
    meaning: str
    bytes_per_count: float | None = None
    """Of one count, after a `.scale` file without a unit; None: not known, or not bytes."""
    scale: float = 1.0
    """Of counts that are no bytes, where sysfs has none."""
    needs_scale: bool = False
    """Whether the bytes hold for scaled counts only: without a `.scale` file they are unknown,"""
    catalogue_scale: float | None = None
    """unless this scale is published elsewhere for PMUs that have no such file."""
    misleading_scales: list[float] = []
    """Contents of `.scale` files that are known to mislead: the bytes are those of a raw count."""
    unit: str = "B"
    from_: str = msgspec.field(name="from")
    """Where the bytes per count are from."""
    certainty: Certainty
    pitfalls: list[str] = []
    encodings: list[Encoding] = []
    channels: int = 1
    """Of one PMU that counts so many channels by events of their own,"""
    channel_step: int = 0
    """each so much above the one before in field `event`. `{channel}` stands in `name`."""
    automatic: bool = True
    """Whether `auto` may choose it."""


class Family(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """PMUs of one kind."""

    name: str
    """What stands for all of them in an event's name."""
    pattern: str
    """Regular expression of their names; the group `number` is a PMU's own."""
    identifiers: list[str] = []
    """What their `identifier` files may hold; anything where empty."""
    cpus: list[str] = []
    """Names of `cpus.toml`, on which alone it holds; on all where empty,"""
    except_cpus: list[str] = []
    """and those on which it does not."""
    unless_published: str | None = None
    """An event that counts the same: a PMU that publishes it is none of the family."""
    title: str
    domain: Domain = "memory"
    scope: Scope = "controller"
    socket: SocketRule = "cpumask"
    dies_per_socket: int | None = None
    """Where the rule tells dies; None: as many as the numbers of dies and sockets give."""
    traffic: str | None = None
    """The memory or link it sees; the sums of two ways to count the same are never added."""
    way: str | None = None
    source: str
    pitfalls: list[str] = []
    groups: bool = True
    """Whether the driver takes several events in a group."""
    events: list[KnownEvent]
    """None where no source gives an event: the PMU is known to be a controller's, no more."""

    def number(self, pmu: str) -> str | None:
        """The number of a PMU of the family; empty where it has none, None for a stranger."""
        match = re.fullmatch(self.pattern, pmu)
        if match is None:
            return None
        return match.groupdict().get("number") or ""

    def has(self, pmu: Pmu, processor: Processor | None) -> bool:
        """Whether a PMU is one of the family, on a processor that may be unknown."""
        return (
            self.number(pmu.name) is not None
            and (not self.identifiers or pmu.identifier in self.identifiers)
            and (not self.cpus or is_any_of(processor, self.cpus))
            and not is_any_of(processor, self.except_cpus)
            and self.unless_published not in pmu.events
        )


class Processors(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Processors that encode alike, as /proc/cpuinfo names them."""

    vendor: str
    family: int
    models: list[int | tuple[int, int]] = []
    """Single ones, and ranges from a first to a last; all of the family where empty."""

    def holds(self, vendor: str, family: int, model: int) -> bool:
        """Whether a processor is one of these.

        Args:
            vendor: `vendor_id` in /proc/cpuinfo, such as `GenuineIntel`.
            family: `cpu family` there.
            model: `model` there, the number.
        """
        alike = (vendor, family) == (self.vendor, self.family)
        return alike and (not self.models or any(_is_in(model, one) for one in self.models))


def _is_in(model: int, models: int | tuple[int, int]) -> bool:
    first, last = (models, models) if isinstance(models, int) else models
    return first <= model <= last


Processor = tuple[str, int, int]
"""Vendor, family and model, as /proc/cpuinfo names them."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    family: list[Family]


class _ProcessorFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    processors: dict[str, list[Processors]]


FILES = (
    "intel_server", "intel_client", "amd", "dmc620", "arm_mesh", "ampereone", "hisilicon",
    "marvell", "yitian", "nvidia", "power", "fujitsu", "embedded", "energy",
)  # fmt: skip
"""In the order in which their memory traffic is preferred where several are present."""


@cache
def families() -> list[Family]:
    """All that is known, best ways to count memory traffic first."""
    return [one for name in FILES for one in msgspec.convert(read_table(name), _File).family]


@cache
def processors() -> dict[str, list[Processors]]:
    """Names of processors that the encodings use."""
    return msgspec.convert(read_table("cpus"), _ProcessorFile).processors


def is_any_of(processor: Processor | None, cpus: Sequence[str]) -> bool:
    """Whether a processor is one of those that `cpus.toml` names so; an unknown one is none."""
    return processor is not None and any(
        one.holds(*processor) for name in cpus for one in processors()[name]
    )


def read_table(name: str) -> dict[str, object]:
    """One file of `data/`."""
    path = resources.files("memgauge.counters") / "data" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
