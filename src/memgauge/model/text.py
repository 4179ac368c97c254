"""Makes untrusted text safe to show: run files and arguments may contain anything."""

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence

_LONGEST_QUOTE = 60
_MOST_PATH = 400
"""Characters of a path in a message."""
_LONGEST_ESCAPE = 50
"""Characters of a text that are examined for each one that is shown."""
# ECMA-48: control sequences (CSI ... final byte), control strings (OSC, DCS, PM, APC up to ST or
# BEL) and two-byte escapes, in their 7-bit and 8-bit forms.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)


def plain(text: str) -> str:
    """The text on one line, without anything that steers a terminal or reorders its neighbours.

    Escape sequences, control characters, bidirectional overrides, zero-width and private-use
    characters and lone surrogates are dropped; line ends and tabs become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _ESCAPES.sub("", text)
    spaced = "".join(" " if char in "\t\n\r\v\f\x85\u2028\u2029" else char for char in text)
    return "".join(char for char in spaced if not unicodedata.category(char).startswith("C"))


def few(names: Sequence[str], most: int) -> str:
    """The first of the names, and how many more there are: `a, b and 3 more`."""
    shown = ", ".join(names[:most])
    more = len(names) - most
    return f"{shown} and {more} more" if more > 0 else shown


def did_you_mean(name: str, known: Iterable[str], most: int = 1, alike: float = 0.4) -> str:
    """`did you mean a or b?`, of the names nearest to one; empty where none is near.

    Args:
        name: The name that is unknown.
        known: Names to suggest from.
        most: Maximum number of suggestions.
        alike: Least similarity of a suggestion, from 0 (anything) to 1 (equal), by `difflib`.
    """
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), n=most, cutoff=alike)
    return f"did you mean {' or '.join(near)}?" if near else ""


def shortened(text: str, most: int = _LONGEST_QUOTE) -> str:
    """The text on one line, as `plain`, cut if it is long."""
    shown = plain(text[: most * _LONGEST_ESCAPE])
    if len(shown) <= most and len(text) <= most * _LONGEST_ESCAPE:
        return shown
    return shown[: most - 3] + "..."


def quoted(text: str) -> str:
    """The text between quotes for an error message, shortened where it is long."""
    return f"'{shortened(text)}'"


def is_system_text(text: str | os.PathLike[str]) -> bool:
    """Whether the operating system accepts a text as a path or a word of a command.

    It accepts neither zero bytes nor lone surrogates.
    """
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def shown(path: os.PathLike[str]) -> str:
    """A path as messages show it."""
    return shortened(os.fspath(path), _MOST_PATH)


def bounded(text: str, most: int) -> str:
    """A text for a report; a long one is cut, with the number of omitted characters appended."""
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text) - most:,} more characters are left out)"
