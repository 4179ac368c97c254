"""What each of two competing groups reads and writes: `--a SOURCE:DESTINATION`, `--b ...`."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from memgauge.model.errors import NotPossibleHere, RequestError
from memgauge.model.memory import FORMS, MemoryPlacement, parse_placement
from memgauge.model.option import Option
from memgauge.model.text import quoted
from memgauge.model.tier_words import WORDS, second_tiers, tier_named

if TYPE_CHECKING:
    from memgauge.experiments.tiers_parameters import TiersParameters
    from memgauge.model.system import System

NAMED = "--b or --memory, such as file:PATH, node:N or pmemobj:PATH"

PRESETS: dict[str, tuple[bool, bool]] = {
    "nvm-nvm": (True, True),
    "nvm-dram": (True, False),
    "dram-nvm": (False, True),
}
"""Of group B: whether its source, and whether its destination, is the second memory."""

DRAM = MemoryPlacement()

Where = MemoryPlacement | str
"""A placement, or one of `WORDS`, which stands for a tier that the machine has."""


class AskedSide(msgspec.Struct, frozen=True):
    """One group's memory as it was written."""

    source: Where
    destination: Where

    def __str__(self) -> str:
        """The text form, such as `dram:node:2`; of one memory both times it is written twice."""
        return f"{self.source}:{self.destination}"

    @property
    def placements(self) -> tuple[MemoryPlacement, ...]:
        """Those that no machine is needed to know."""
        return tuple(
            one for one in (self.source, self.destination) if isinstance(one, MemoryPlacement)
        )


class Side(msgspec.Struct, frozen=True):
    """Memory that one group copies from, and memory that it copies to."""

    source: MemoryPlacement
    destination: MemoryPlacement


def parse_side(text: str, option: str) -> AskedSide:
    """Source and destination, with a colon between; or one memory for both.

    Placements hold colons themselves, so that every colon is tried: at exactly one of them both
    halves may make sense.

    Raises:
        RequestError: at none, or at several.
    """
    words = text.strip()
    fits = [
        AskedSide(source, destination)
        for at, character in enumerate(words)
        if character == ":"
        and (source := _where(words[:at])) is not None
        and (destination := _where(words[at + 1 :])) is not None
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        several = " or ".join(f"{one.source} to {one.destination}" for one in fits)
        raise RequestError(
            f"{option} {quoted(text)} can be read as {several}; use paths without a colon"
        )
    lone = _where(words)
    if lone is None:
        raise RequestError(
            f"{option} {quoted(text)} is no SOURCE:DESTINATION; write two memories with a colon "
            f"between, or one for both, each of {', '.join([*FORMS.values(), *WORDS])}"
        )
    return AskedSide(lone, lone)


def _where(text: str) -> Where | None:
    if text in WORDS:
        return text
    try:
        return parse_placement(text, "")
    except RequestError:
        return None


def parse_where(text: str, option: str) -> Where:
    """One memory: a placement or a word.

    Raises:
        RequestError: it is neither.
    """
    words = text.strip()
    return words if words in WORDS else parse_placement(words, option)


def side_option(help_: str, automatic: str) -> Option:
    """Memory of one group; native value `AskedSide`."""
    return Option(help=help_, metavar="SOURCE:DESTINATION", parse=parse_side, automatic=automatic)


nvm_option = Option(
    help="the memory that a preset calls nvm",
    metavar="KIND",
    parse=parse_where,
    automatic="the second tier of this machine",
)

second_memory_option = Option(
    help="the same as --nvm, by the name that every experiment has for memory",
    metavar="KIND",
    parse=parse_placement,
)


def sides(parameters: TiersParameters, system: System, cpus: Collection[int]) -> tuple[Side, Side]:
    """Memory of group A and of group B, on this machine with threads on these CPUs.

    Raises:
        RequestError: a word stands for no tier here, or for several.
        NotPossibleHere: no second memory was named, and this machine has none.
    """
    asked = parameters.a or AskedSide(DRAM, DRAM)
    return (
        Side(
            _resolved(asked.source, system, "--a", cpus),
            _resolved(asked.destination, system, "--a", cpus),
        ),
        _side_b(parameters, system, cpus),
    )


def _side_b(parameters: TiersParameters, system: System, cpus: Collection[int]) -> Side:
    if parameters.b is not None:
        return Side(
            _resolved(parameters.b.source, system, "--b", cpus),
            _resolved(parameters.b.destination, system, "--b", cpus),
        )
    if parameters.nvm is not None:
        second = _resolved(parameters.nvm, system, "--nvm", cpus)
    elif parameters.memory != DRAM:
        second = parameters.memory
    else:
        second = _second(system, cpus)
    reads, writes = PRESETS[parameters.preset or "nvm-nvm"]
    return Side(second if reads else DRAM, second if writes else DRAM)


def _resolved(where: Where, system: System, option: str, cpus: Collection[int]) -> MemoryPlacement:
    if isinstance(where, MemoryPlacement):
        return where
    return tier_named(system, where, option, cpus)


def _second(system: System, cpus: Collection[int]) -> MemoryPlacement:
    """The first tier that is no DRAM, else DRAM of a node whose CPUs are not used."""
    for tier in second_tiers(system):
        if tier.kind != "dram" and tier.placement is not None:
            return parse_placement(tier.placement, "--b")
    try:
        return tier_named(system, "remote", "--b", cpus)
    except RequestError:
        pass
    several = len([node for node in system.nodes if node.bytes > 0]) > 1
    raise NotPossibleHere(
        "tiers: "
        + (
            "all memory here is DRAM beside CPUs that are used; keep to the CPUs of one node "
            f"(--nodes 0), or name another memory with {NAMED}"
            if several
            else f"this machine has one tier of memory, its DRAM; name another with {NAMED}"
        )
    )
