"""Sizes requested of `traffic`: read from text, and made numbers that the kernel can have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

STEPS = 16
FINE_STEPS = 31
"""Sizes of a range without a step: of one ratio. Of a fine sweep, its square root."""

WHOLE_LINES = 8
"""Sizes between the ends of a range are odd multiples of so many doubles, 64 bytes: even ones make
strides that meet in few sets of the caches, which is a departure of its own."""

LARGEST_SIZE = 1 << 40
MOST_SIZES = 1000

_NUMBER = re.compile(r"([0-9]{1,15})(?:[eE]\+?([0-9]{1,2}))?", re.ASCII)
_EXAMPLE = "write sizes such as 64:2048, 64:2048:64 or 64,128,400"


class SizeRange(msgspec.Struct, frozen=True):
    """Sizes from one to another, both included as far as the step meets them."""

    first: int
    last: int
    step: int | None = None
    """None: so that there are about `STEPS` of one ratio."""

    def __str__(self) -> str:
        """As it is written."""
        if self.first == self.last:
            return str(self.first)
        return f"{self.first}:{self.last}" + (f":{self.step}" if self.step else "")


def parse_sizes(text: str, flag: str) -> tuple[SizeRange, ...]:
    """Ranges and single sizes between commas; raises RequestError."""
    return tuple(dict.fromkeys(_parsed(part.strip(), text, flag) for part in text.split(",")))


def write_sizes(value: object) -> str:
    """The text that `parse_sizes` reads back; of a native list of numbers too."""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, Sequence | range):
        return ",".join(map(str, value))
    return str(value)


def expand(ranges: Sequence[SizeRange], multiple: int = 1, steps: int = STEPS) -> list[int]:
    """The sizes, rising, each once.

    Args:
        ranges: Ranges and single sizes, which may overlap.
        multiple: Sizes between the ends of a range without a step are odd multiples of this.
        steps: Largest number of sizes in a range without a step, its ends included.

    Raises:
        RequestError: there are too many.
    """
    found: set[int] = set()
    for one in ranges:
        if one.step and (one.last - one.first) // one.step >= MOST_SIZES:
            raise RequestError(
                f"--sizes {one}: {(one.last - one.first) // one.step + 1} sizes are more than "
                f"{MOST_SIZES}; take a larger step"
            )
        found.update(
            range(one.first, one.last + 1, one.step) if one.step else _ratio(one, multiple, steps)
        )
    if len(found) > MOST_SIZES:
        raise RequestError(f"--sizes: {len(found)} are more than {MOST_SIZES}; ask for fewer")
    return sorted(found)


def _ratio(requested: SizeRange, multiple: int, steps: int) -> Iterator[int]:
    """One ratio from first to last; a short range has fewer."""
    yield requested.first
    for step in range(1, steps - 1):
        size = requested.first * (requested.last / requested.first) ** (step / (steps - 1))
        rounded = (2 * round((size / multiple - 1) / 2) + 1) * multiple
        if requested.first < rounded < requested.last:
            yield rounded
    yield requested.last


def _parsed(part: str, text: str, flag: str) -> SizeRange:
    words = part.split(":")
    if len(words) > 3:
        raise RequestError(
            f"{flag} {quoted(text)} contains a range with too many parts; {_EXAMPLE}"
        )
    first, *rest = (_size(word.strip(), text, flag) for word in words)
    last = rest[0] if rest else first
    if last < first:
        raise RequestError(
            f"{flag} {quoted(text)} holds the reversed range {first}:{last}; write {last}:{first}"
        )
    has_step = len(rest) > 1 and last > first
    return SizeRange(first, last, rest[1] if has_step else None)


def _size(word: str, text: str, flag: str) -> int:
    """A whole number, also as 1e6."""
    if word.startswith("-"):
        raise RequestError(f"{flag} {quoted(text)} holds a negative number; {_EXAMPLE}")
    match = _NUMBER.fullmatch(word)
    if match is None:
        raise RequestError(
            f"{flag} {quoted(text)} holds {quoted(word)}, which is not a whole number; {_EXAMPLE}"
        )
    size: int = int(match[1]) * 10 ** int(match[2] or 0)
    if not 1 <= size <= LARGEST_SIZE:
        raise RequestError(
            f"{flag} {quoted(text)} holds {word}, which is not from 1 to 2^40; {_EXAMPLE}"
        )
    return size
