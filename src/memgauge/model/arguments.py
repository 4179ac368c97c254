"""What callers of the Python API hand over, checked before it is used: a wrong one is RequestError.

Options of experiments are checked by `memgauge.model.parameters`; here is what is no option.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from numbers import Rational
from pathlib import Path

from memgauge.model.errors import RequestError
from memgauge.model.text import is_system_text, quoted

MOST_BITS = 256
"""Of a number: beyond any that means something, and below what Python refuses to write."""
MOST_LISTED = 1 << 17
"""Values of a list."""
LARGEST_PID = (1 << 31) - 1


def path_of(value: object, name: str) -> Path:
    """A path, given as text or as an object that stands for one.

    Raises:
        RequestError: it is neither, or no file can have it as its name.
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    return Path(_named(path, name, "the path of a file or directory"))


def name_of(value: object, name: str) -> str:
    """A name or the path of a file, as text.

    Raises:
        RequestError: it is neither, or cannot be one.
    """
    return str(path_of(value, name)) if isinstance(value, os.PathLike) else text_of(value, name)


def text_of(value: object, name: str) -> str:
    """A text.

    Raises:
        RequestError: it is something else.
    """
    if not isinstance(value, str):
        raise RequestError(f"{name}: {_kind(value)} was given; give text")
    return value


def words_of(command: object, name: str) -> list[str]:
    """The words of a command, if there are any; a text is one word.

    Raises:
        RequestError: it is no list of words, or no program can be given such words.
    """
    words = [command] if isinstance(command, str) else command
    if not isinstance(words, Sequence) or isinstance(words, bytes | bytearray | range):
        raise RequestError(f"{name}: {_kind(command)} was given; give a list of words")
    return [_named(word, name, "a word of a command", may_be_empty=True) for word in words]


def pid_of(value: object, name: str) -> int | None:
    """The number of a process; None stays None.

    Raises:
        RequestError: it is no number that a process can have.
    """
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= LARGEST_PID:
        raise RequestError(
            f"{name}: {_kind(value)} was given, which is no process identifier; give a number from "
            f"1 to {LARGEST_PID}"
        )
    return value


def check_native(value: object, kinds: tuple[type, ...], name: str, *, lists: bool) -> None:
    """Refuse a value that an option of these kinds does not take, or whose text would be endless.

    With `lists` it may be a list of such values and of texts.

    Raises:
        RequestError: it, or one in the list that it is, is of another kind, or too large.
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
