"""Lists of CPU or node numbers in the kernel's text form, such as `0-3,8`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memgauge.model.text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST_CPU = (1 << 16) - 1
"""Far above what any kernel is built for (NR_CPUS is at most 8192 so far); bounds the memory that
parsing a text may allocate."""


def parse_cpu_list(text: str) -> list[int]:
    """The numbers named by `text`, in the order given; an empty text names none.

    Raises:
        ValueError: malformed, a falling range, a number named twice or above `LARGEST_CPU`.
    """
    stripped = text.strip()
    if not stripped:
        return []
    numbers: list[int] = []
    for part in stripped.split(","):
        numbers.extend(_range(part.strip()))
        if len(numbers) > LARGEST_CPU:
            raise ValueError("names more CPUs than any machine has")
    _refuse_duplicates(numbers)
    return numbers


def format_cpu_list(numbers: Iterable[int]) -> str:
    """Shortest text that names `numbers` in their order: `[0, 1, 2, 8]` becomes `0-2,8`."""
    return _formatted(tuple(numbers))


@lru_cache(maxsize=64)
def _formatted(numbers: tuple[int, ...]) -> str:
    """Kept, because all points of a team of a thousand threads name the same CPUs."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _range(part: str) -> range:
    first, dash, last = part.partition("-")
    begin = _number(first, part)
    end = _number(last, part) if dash else begin
    if end < begin:
        raise ValueError(f"{quoted(part)} is a descending range")
    return range(begin, end + 1)


def _number(digits: str, part: str) -> int:
    digits = digits.strip()
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{quoted(part)} is neither a number nor a range such as 0-3")
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST_CPU)) or int(digits) > LARGEST_CPU:
        raise ValueError(f"{quoted(part)} names a number above {LARGEST_CPU}")
    return int(digits)


def _refuse_duplicates(numbers: list[int]) -> None:
    seen: set[int] = set()
    for number in numbers:
        if number in seen:
            raise ValueError(f"names {number} twice")
        seen.add(number)
