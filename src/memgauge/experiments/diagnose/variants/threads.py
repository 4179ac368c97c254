"""`{threads}` in a command: where the program takes its number of threads as an argument."""

from __future__ import annotations

from collections.abc import Iterable

PLACE = "{threads}"


def with_threads(words: Iterable[str], count: int) -> list[str]:
    """The command for a number of threads; one without the place stays as it is.

    Args:
        words: Of the command.
        count: How many threads.
    """
    return [word.replace(PLACE, str(count)) for word in words]


def takes_threads(words: Iterable[str]) -> bool:
    """Whether the command has the place."""
    return any(PLACE in word for word in words)
