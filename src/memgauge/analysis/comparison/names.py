"""What sources and figures are called in tables, pictures and sentences."""

from collections.abc import Sequence

from memgauge.analysis.comparison.figures import Direction
from memgauge.model.text import few

NOUNS: dict[Direction, str] = {
    "higher": "bandwidth",
    "lower": "latency",
    "neither": "bytes moved",
}
"""What is compared, by direction."""
MOST_NAMED = 4
"""Figures named in a sentence; the page and --json name all."""


def labels_of(sources: Sequence[object]) -> list[str]:
    """A, B, C ...: what the sources are called."""
    return [chr(ord("A") + at) for at in range(len(sources))]


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    return few(names, MOST_NAMED)


def shortened(names: Sequence[str]) -> tuple[str, list[str]]:
    """What the parts of all names share, as `stream/*/double/*`, and each name without it."""
    split = [name.split("/") for name in names]
    if len(names) == 1 or len({len(parts) for parts in split}) > 1:
        return split[0][0], [name.partition("/")[2] or name for name in names]
    shared = [len(set(at)) == 1 for at in zip(*split, strict=True)]
    pattern = "/".join(part if same else "*" for part, same in zip(split[0], shared, strict=True))
    short = [
        "/".join(part for part, same in zip(parts, shared, strict=True) if not same)
        for parts in split
    ]
    return pattern, short
