"""What was published of machines of a processor family: ranges of latency and of the peak's share.

`data/machine_ranges.toml` is written by `benchmarks/published_ranges.py` from a table of single
figures, each with its source. A family is known by what /proc/cpuinfo says; where a hypervisor
hides the model, or one core is built into several machines, nothing is said.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Literal

import msgspec

from memgauge.model.system import System


class PublishedRange(msgspec.Struct, frozen=True, kw_only=True):
    """The least and the most of the published figures of one kind."""

    family: str
    figure: Literal["latency_ns", "read_peak_share"]
    """Of one dependent load of an idle memory; or bytes read over the theoretical peak."""
    where: Literal["machine", "guest"]
    low: float
    high: float
    figures: int
    models: int
    tools: list[str]
    sources: list[str]
    """Public repositories, as owner/name."""
    licences: list[str]


_X86_FAMILIES: dict[tuple[str, int, int], str] = {
    ("AuthenticAMD", 23, 1): "Zen (Naples)",
    ("AuthenticAMD", 23, 49): "Zen 2 (Rome)",
    ("AuthenticAMD", 25, 1): "Zen 3 (Milan)",
    ("AuthenticAMD", 25, 17): "Zen 4 (Genoa)",
    ("AuthenticAMD", 26, 2): "Zen 5 (Turin)",
    ("AuthenticAMD", 26, 68): "Zen 5 (Granite Ridge)",
    ("GenuineIntel", 6, 62): "Ivy Bridge-EP",
    ("GenuineIntel", 6, 63): "Haswell-EP",
    ("GenuineIntel", 6, 79): "Broadwell-EP/EX",
    ("GenuineIntel", 6, 106): "Ice Lake-SP",
    ("GenuineIntel", 6, 143): "Sapphire Rapids",
    ("GenuineIntel", 6, 158): "Kaby/Coffee Lake",
    ("GenuineIntel", 6, 167): "Rocket Lake",
    ("GenuineIntel", 6, 173): "Granite Rapids",
    ("GenuineIntel", 6, 207): "Emerald Rapids",
}
_SKYLAKE_SERVER = ("GenuineIntel", 6, 85)
_ARM_FAMILIES = {
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd84"): "Neoverse-V3",
}
"""Neoverse V2 is Graviton4, Axion and Grace, of which the last answers twice as late: left out."""
_NAMED = re.compile(r"EPYC \d\w{2,}|(Gold|Silver|Bronze|Platinum|Max) \w*\d|\d{4}")
"""Names that say which model it is; a hypervisor's `AMD EPYC` does not."""


def family_of(system: System) -> str | None:
    """The processor family of a machine; None: not known, hidden, or without published figures."""
    words = (system.cpu_signature or "").split()
    if len(words) == 2:
        return _ARM_FAMILIES.get((words[0], words[1]))
    if len(words) != 4 or _NAMED.search(system.cpu_model) is None:
        return None
    try:
        family, model, stepping = map(int, words[1:])
    except ValueError:
        return None
    signature = (words[0], family, model)
    if signature == _SKYLAKE_SERVER:
        return _skylake(stepping)
    found = _X86_FAMILIES.get(signature)
    if found == "Sapphire Rapids" and "Max" in system.cpu_model:
        return "Sapphire Rapids HBM"
    return found


def _skylake(stepping: int) -> str:
    if stepping <= 4:
        return "Skylake-SP"
    return "Cascade Lake" if stepping <= 7 else "Cooper Lake"


def ranges_of(system: System) -> list[PublishedRange]:
    """Published ranges for the family of a machine: those of guests for a guest.

    A guest has a share of its host's memory: of bandwidth nothing is said there.
    """
    family = family_of(system)
    is_guest = "virtual machine" in (system.virtualisation or "")
    where = "guest" if is_guest else "machine"
    return [one for one in _all() if (one.family, one.where) == (family, where)]


@cache
def _all() -> tuple[PublishedRange, ...]:
    text = (resources.files("memgauge.references") / "data" / "machine_ranges.toml").read_text(
        encoding="utf-8"
    )
    return tuple(msgspec.convert(tomllib.loads(text)["ranges"], list[PublishedRange]))
