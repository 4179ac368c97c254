"""How the memory of two competing groups is written: `--a SOURCE:DESTINATION`, `--b`, `--nvm`."""

from __future__ import annotations

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.memory import FORMS, MemoryPlacement, parse_placement
from memgauge.model.option import Option
from memgauge.model.text import quoted
from memgauge.model.tier_names import TIER_NAMES

PRESETS: dict[str, tuple[bool, bool]] = {
    "nvm-nvm": (True, True),
    "nvm-dram": (True, False),
    "dram-nvm": (False, True),
}
"""Of group B: whether its source, and whether its destination, is the second memory."""

DRAM = MemoryPlacement()

Where = MemoryPlacement | str
"""A placement, or one of `TIER_NAMES`, which stands for a tier that the machine has."""


class RequestedSide(msgspec.Struct, frozen=True):
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


def parse_side(text: str, option: str) -> RequestedSide:
    """Source and destination, with a colon between; or one memory for both.

    Placements hold colons themselves, so that every colon is tried: at exactly one of them both
    halves may make sense.

    Raises:
        RequestError: at none, or at several.
    """
    sides = text.strip()
    fits = [
        RequestedSide(source, destination)
        for at, character in enumerate(sides)
        if character == ":"
        and (source := _where(sides[:at])) is not None
        and (destination := _where(sides[at + 1 :])) is not None
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        several = " or ".join(f"{one.source} to {one.destination}" for one in fits)
        raise RequestError(
            f"{option} {quoted(text)} can be read as {several}; use paths without a colon"
        )
    lone = _where(sides)
    if lone is None:
        raise RequestError(
            f"{option} {quoted(text)} is not of the form SOURCE:DESTINATION; write two memories "
            "with a colon between them, or one for both, each of "
            f"{', '.join([*FORMS.values(), *TIER_NAMES])}"
        )
    return RequestedSide(lone, lone)


def _where(text: str) -> Where | None:
    if text in TIER_NAMES:
        return text
    try:
        return parse_placement(text, "")
    except RequestError:
        return None


def parse_where(text: str, option: str) -> Where:
    """One memory: a placement, or the name of a tier.

    Raises:
        RequestError: it is neither.
    """
    name = text.strip()
    return name if name in TIER_NAMES else parse_placement(name, option)


def side_option(help_: str, automatic: str) -> Option:
    """Memory of one group; native value `RequestedSide`."""
    return Option(help=help_, metavar="SOURCE:DESTINATION", parse=parse_side, automatic=automatic)


nvm_option = Option(
    help="memory that takes the place of NVM in the presets",
    metavar="KIND",
    parse=parse_where,
    automatic="the second tier of this machine",
)

second_memory_option = Option(
    help="same as --nvm, under the name that all experiments share",
    metavar="KIND",
    parse=parse_placement,
)
