"""Walks that are asked for one by one: a pattern over a footprint, as names of points have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from memgauge.experiments.misses.plan import (
    FLOAT_BYTES,
    LEAD_IN_MOST_BYTES,
    LEAST_BYTES,
    MEMORY,
    Walk,
)
from memgauge.experiments.shared.powers_of_two import power_above, power_below
from memgauge.experiments.shared.rings import WARM_MULTIPLE
from memgauge.model.errors import DoesNotFit, RequestError
from memgauge.model.option import Option
from memgauge.model.system import Cache
from memgauge.model.text import quoted
from memgauge.model.units import bytes_text, format_bytes, parse_bytes
from memgauge.system.topology.placement import LINE_BYTES

PATTERNS = ("sequential", "stride", "random")
LEAST_SLOTS = 64
"""Of each array: fewer are no walk."""
MEMORY_SHARE = 0.5
"""Of the available memory, that the largest case may take."""

_CASE = re.compile(r"(?P<pattern>[a-z]+)(?:-(?P<stride>[^/]+))?/(?P<footprint>.+)")
_EXAMPLE = "write cases such as sequential/3MiB,stride-16KiB/256MiB,random/128MiB"


class Case(msgspec.Struct, frozen=True):
    """A pattern over a footprint."""

    pattern: str
    """One of `PATTERNS`."""
    stride_bytes: int
    footprint_bytes: int
    """Of x and y together."""

    def __str__(self) -> str:
        """As it is written, and as the point's name has it but for units."""
        far = self.pattern == "stride" and self.stride_bytes != LINE_BYTES
        pattern = f"stride-{bytes_text(self.stride_bytes)}" if far else self.pattern
        return f"{pattern}/{bytes_text(self.footprint_bytes)}"


def parse_cases(text: str, flag: str) -> tuple[Case, ...]:
    """Cases between commas, each once; raises RequestError."""
    return tuple(dict.fromkeys(_case(part.strip(), text, flag) for part in text.split(",")))


def write_cases(value: object) -> str:
    """The text that `parse_cases` reads back."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return str(value)
    return ",".join(map(str, value))


cases_option = Option(
    help="walks to make instead of the usual ones: a pattern (sequential, stride, stride-BYTES, "
    "random) over a footprint of both arrays",
    metavar="PATTERN/SIZE,...",
    parse=parse_cases,
    write=write_cases,
    repeatable=True,
    automatic="three patterns in each cache level and in memory",
)


def _case(part: str, text: str, flag: str) -> Case:
    match = _CASE.fullmatch(part)
    if match is None or match["pattern"] not in PATTERNS:
        raise RequestError(f"{flag} {quoted(text)} holds {quoted(part)}; {_EXAMPLE}")
    pattern = match["pattern"]
    if match["stride"] is not None and pattern != "stride":
        raise RequestError(
            f"{flag} {quoted(part)}: only a stride has a distance; write {pattern}/SIZE"
        )
    stride = FLOAT_BYTES if pattern == "sequential" else LINE_BYTES
    if match["stride"] is not None:
        stride = parse_bytes(match["stride"], flag)
    return _checked(Case(pattern, stride, parse_bytes(match["footprint"], flag)), part, flag)


def _checked(case: Case, part: str, flag: str) -> Case:
    footprint, stride = case.footprint_bytes, case.stride_bytes
    if stride % FLOAT_BYTES or stride < FLOAT_BYTES:
        raise RequestError(
            f"{flag} {quoted(part)}: a stride of {stride} B is not a multiple of a float's "
            f"{FLOAT_BYTES}; write one such as stride-4KiB"
        )
    if footprint < max(LEAST_BYTES, 2 * LEAST_SLOTS * stride) or footprint % (2 * stride):
        raise RequestError(
            f"{flag} {quoted(part)}: {format_bytes(footprint)} of both arrays are not at least "
            f"{LEAST_SLOTS} places {format_bytes(stride)} apart in each, and a multiple of "
            f"{format_bytes(2 * stride)}; use a larger footprint, or one of such a size"
        )
    if case.pattern == "random" and footprint != power_below(footprint):
        raise RequestError(
            f"{flag} {quoted(part)}: a scrambled order needs a power of two; use "
            f"{format_bytes(power_below(footprint))} or {format_bytes(power_above(footprint))}"
        )
    return case


def walks_of(
    cases: Sequence[Case], caches: Mapping[int, Cache], available_bytes: int
) -> list[Walk]:
    """The walks of cases, each for the first level that its footprint fits, or for memory.

    Args:
        cases: Patterns and footprints.
        caches: Caches in front of the CPU by level; of none that is known, all is in memory.
        available_bytes: Memory that may still be allocated.

    Raises:
        DoesNotFit: a footprint takes more than half of that.
    """
    largest = max(case.footprint_bytes for case in cases)
    if largest > MEMORY_SHARE * available_bytes:
        raise DoesNotFit(
            f"misses: --cases asks for {format_bytes(largest)}, more than half of the "
            f"{format_bytes(available_bytes)} that may be used; use smaller footprints"
        )
    return [_walk(case, caches) for case in cases]


def _walk(case: Case, caches: Mapping[int, Cache]) -> Walk:
    above = 0
    for level in sorted(caches):
        if case.footprint_bytes <= caches[level].bytes:
            return _of(case, f"L{level}", above * WARM_MULTIPLE // 2)
        above = caches[level].bytes
    return _of(case, MEMORY, min(above or LEAD_IN_MOST_BYTES, LEAD_IN_MOST_BYTES))


def _of(case: Case, level: str, lead_in_bytes: int) -> Walk:
    return Walk(
        pattern=case.pattern,
        level=level,
        footprint_bytes=case.footprint_bytes,
        stride_bytes=case.stride_bytes,
        lead_in_bytes=lead_in_bytes,
    )
