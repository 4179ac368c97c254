"""Several named parts in one input of a fuzzer, as text that a person and a mutator can read.

    == cluster.json
    {"format_version":1}
    == nodes/a/figures.json
    {}

Each part begins with a line `== NAME`; the line feed before the next such line belongs to neither.
What stands before the first part is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

_MARK = b"\n== "

Part = tuple[str, bytes]


def packed(parts: Iterable[Part]) -> bytes:
    """The parts as one input."""
    return b"\n".join(b"== " + name.encode() + b"\n" + content for name, content in parts)


def parts_of(data: bytes) -> list[Part]:
    """The parts of any input, in their order."""
    pieces = (b"\n" + data).split(_MARK)[1:]
    heads = (piece.partition(b"\n") for piece in pieces)
    return [(name.decode("utf-8", "surrogateescape"), content) for name, _, content in heads]
