"""Where a program's simulated traffic arises: functions and source lines, from callgrind's files.

Source: the Valgrind User Manual, Callgrind Format Specification. Costs follow the object
(`ob=`), the file (`fl=`, `fi=`, `fe=`) and the function (`fn=`) that they are of; after its first
use a name is `(N)` alone. The line after `calls=` is what was called, whose own costs stand
elsewhere. Positions are absolute (`--compress-pos=no`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memgauge.model.simulated_program import By, TrafficPlace

READ_EVENTS = ("DLmr", "DLmw", "ILmr")
WRITE_EVENTS = ("ILdmr", "DLdmr", "DLdmw")
MOST_PLACES = 100
"""Kept of a program; what the others moved is in the sums of the program."""
UNKNOWN = "???"
_NAME = re.compile(r"\(([0-9]+)\)(?: (.*))?", re.ASCII)
_COST = re.compile(r"[0-9]{1,20}(?: [0-9]{1,20})*", re.ASCII)
_OBJECTS, _FILES, _FUNCTIONS = "ob", "fl", "fn"
_KINDS = {
    "ob": _OBJECTS,
    "cob": _OBJECTS,
    **dict.fromkeys(("fl", "fi", "fe", "cfi", "cfl"), _FILES),
    "fn": _FUNCTIONS,
    "cfn": _FUNCTIONS,
}


class Place(msgspec.Struct, frozen=True):
    """A function, or one of its lines."""

    object: str
    function: str
    file: str
    line: int
    """0: by function, or not known."""


Lines = dict[Place, tuple[int, int]]
"""Lines of cache that were read from memory, and written to it, by place."""


class _Reader:
    """What the next costs of a file are of."""

    def __init__(self, by: By) -> None:
        self.found: Lines = {}
        self._by = by
        self._events: list[str] = []
        self._names: dict[tuple[str, str], str] = {}
        self._now = {_OBJECTS: "", _FILES: "", _FUNCTIONS: ""}
        self._file_of_function = ""
        self._is_called = False

    def take(self, line: str) -> None:
        """One line of the file; one that means nothing is skipped."""
        if _COST.fullmatch(line):
            if not self._is_called:
                self._cost([int(word) for word in line.split()])
            self._is_called = False
            return
        key, equals, rest = line.partition("=")
        if key in _KINDS and equals:
            self._name(key, rest)
        elif key == "calls":
            self._is_called = True
        elif line.startswith("events:"):
            self._events = line.partition(":")[2].split()

    def _name(self, key: str, text: str) -> None:
        kind, known = _KINDS[key], _NAME.fullmatch(text)
        name = text
        if known is not None:
            name = self._names.get((kind, known[1]), "") if known[2] is None else known[2]
            self._names[kind, known[1]] = name
        if key.startswith("c"):
            return
        self._now[kind] = name
        if kind == _FUNCTIONS:
            self._file_of_function = self._now[_FILES]

    def _cost(self, numbers: Sequence[int]) -> None:
        # Zeros at the end of a line are left out.
        events = dict(zip(self._events, numbers[1:], strict=False))
        read = sum(events.get(name, 0) for name in READ_EVENTS)
        written = sum(events.get(name, 0) for name in WRITE_EVENTS)
        if not read and not written:
            return
        by_line = self._by == "line"
        place = Place(
            self._now[_OBJECTS],
            self._now[_FUNCTIONS],
            self._now[_FILES] if by_line else self._file_of_function,
            numbers[0] if by_line else 0,
        )
        before = self.found.get(place, (0, 0))
        self.found[place] = (before[0] + read, before[1] + written)


def lines_by_place(text: Iterable[str], by: By) -> Lines:
    """Lines that memory gave and took, by place.

    Args:
        text: Lines of a file that callgrind wrote.
        by: What a place is.
    """
    reader = _Reader(by)
    for line in text:
        reader.take(line.rstrip())
    return reader.found


def places_of(every: Iterable[Mapping[Place, tuple[int, int]]], line_bytes: int) -> Places:
    """The places that moved most, over all processes.

    Args:
        every: Of each process.
        line_bytes: Length of a line of the last level.
    """
    summed: Lines = {}
    for found in every:
        for place, (read, written) in found.items():
            before = summed.get(place, (0, 0))
            summed[place] = (before[0] + read, before[1] + written)
    ordered = sorted(summed.items(), key=lambda item: (-sum(item[1]), *_text(item[0])))
    kept = [
        TrafficPlace(
            function=_known(place.function),
            object=_known(place.object),
            file=_known(place.file),
            line=place.line or None,
            read_bytes=read * line_bytes,
            write_bytes=written * line_bytes,
        )
        for place, (read, written) in ordered[:MOST_PLACES]
    ]
    unknown = sum(sum(lines) for place, lines in summed.items() if not place.line)
    return Places(
        kept=kept, left_out=len(ordered) - len(kept), without_line_bytes=unknown * line_bytes
    )


class Places(msgspec.Struct, frozen=True, kw_only=True):
    """The places of a program."""

    kept: list[TrafficPlace]
    """Those that moved most first."""
    left_out: int
    """How many others there are."""
    without_line_bytes: int
    """What was read and written where no line is known."""


def _text(place: Place) -> tuple[str, str, str, int]:
    return place.function, place.object, place.file, place.line


def _known(name: str) -> str | None:
    return None if name in {"", UNKNOWN} else name
