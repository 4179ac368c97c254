"""Checks arguments of the Python API before they are used; wrong ones raise RequestError.

`memgauge.model.parameters` checks options of experiments; this module checks everything else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Rational
from pathlib import Path

from memgauge.model.errors import RequestError
from memgauge.model.text import is_system_text, quoted

MOST_BITS = 256
"""Limit on the bits of a number: beyond any meaningful one, and still printable by Python."""
MOST_LISTED = 1 << 17
"""Most values in a list."""
LARGEST_PID = (1 << 31) - 1


def path_of(value: object, name: str) -> Path:
    """A path, given as text or as a path object.

    Raises:
        RequestError: the value is neither, or no file can have this name.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    return Path(_named(path, name, "the path of a file or directory"))


def name_of(value: object, name: str) -> str:
    """A name or the path of a file, as text.

    Raises:
        RequestError: the value is neither, or cannot be one.
    """
    return str(path_of(value, name)) if isinstance(value, os.PathLike) else text_of(value, name)


def text_of(value: object, name: str) -> str:
    """A text.

    Raises:
        RequestError: the value is not a text.
    """
    if not isinstance(value, str):
        raise RequestError(f"{name}: {_kind(value)} was given; give text")
    return value


def words_of(command: object, name: str) -> list[str]:
    """The words of a command, or None; a text is a single word.

    Raises:
        RequestError: the value is not a list of words, or no program can receive such words.
    """
    words = [command] if isinstance(command, str) else command
    if not isinstance(words, Sequence) or isinstance(words, bytes | bytearray | range):
        raise RequestError(f"{name}: {_kind(command)} was given; give a list of words")
    return [_named(word, name, "a word of a command", may_be_empty=True) for word in words]


def pid_of(value: object, name: str) -> int | None:
    """The number of a process; None stays None.

    Raises:
        RequestError: no process can have this number.
    """
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST_PID:
        raise RequestError(
            f"{name}: {_kind(value)} was given, which is not a process identifier; give a number "
            "from "
            f"1 to {LARGEST_PID}"
        )
    return value


def check_native(value: object, kinds: tuple[type, ...], name: str, *, lists: bool) -> None:
    """Refuse a value that options of these types do not accept, or whose text would be too long.

    Args:
        value: Argument of the Python API that is not a text.
        kinds: Types that the option accepts.
        name: What error messages call the argument.
        lists: Whether the value may also be a list of such values and texts.

    Raises:
        RequestError: the value, or an element of it, has another type or is too large.
    """
    if not lists or not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        _check_one(value, kinds, name)
        return
    if _length(value) > MOST_LISTED:
        raise RequestError(f"{name}: a list of more than {MOST_LISTED} values was given")
    for one in value:
        if not isinstance(one, str):
            _check_one(one, kinds, name)


def _check_one(value: object, kinds: tuple[type, ...], name: str) -> None:
    if not isinstance(value, kinds) or isinstance(value, Sequence):
        raise RequestError(f"{name}: {_kind(value)} was given; write it as on the command line")
    if isinstance(value, Rational):
        bits = max(int(value.numerator).bit_length(), int(value.denominator).bit_length())
        if bits > MOST_BITS:
            raise RequestError(f"{name}: a number of {bits} bits was given; write a smaller one")


def _length(value: Sequence[object]) -> int:
    try:
        return len(value)
    except OverflowError:  # of a range
        return MOST_LISTED + 1


def _named(value: object, name: str, what: str, *, may_be_empty: bool = False) -> str:
    """Text that the operating system takes."""
    if not isinstance(value, str):
        raise RequestError(f"{name}: {_kind(value)} was given; give {what} as text")
    if not is_system_text(value) or not (value or may_be_empty):
        raise RequestError(f"{name}: {quoted(value)} cannot be {what}; give another")
    return value


def _kind(value: object) -> str:
    return f"an object of type {type(value).__name__}"
