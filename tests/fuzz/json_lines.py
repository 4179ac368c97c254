"""A mutator that keeps lines of JSON well-formed, so that what reads them gets to their values."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

LARGEST = (1 << 63) - 1
VALUES: list[object] = [
    None, True, False, 0, 1, 2, 7, 64, 4096, 10**9, 10**15, LARGEST - 1, LARGEST, LARGEST + 1, -1,
    -LARGEST, 0.0, 5e-324, 1e-308, 1e-9, 0.5, 1.0, 1e9, 1e300, 1.7e308, -1.0, -1e308, "", "0-1",
    "-", "node:9", "NaN", "1e999", "=1+1", "\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "\ud800",
    "<script>alert(1)</script>", "x" * 300, "\0", "../..", [], {}, [[]], {"a": 1},
]  # fmt: skip

Place = tuple[Any, Any]


def mutated(data: bytes, seed: int) -> bytes | None:
    """Some values of some line of JSON replaced, moved or left out; None: there is no such line."""
    dice = random.Random(seed)
    lines = data.split(b"\n")
    at = [number for number, line in enumerate(lines) if line.startswith((b"{", b"["))]
    if not at:
        return None
    if dice.random() < 0.1:
        _rearrange(lines, dice.choice(at), dice.choice(at), dice)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        chosen = dice.choice(at)
        if chosen < len(lines):
            lines[chosen] = _changed(lines[chosen], dice)
    return b"\n".join(lines)


def _rearrange(lines: list[bytes], one: int, other: int, dice: random.Random) -> None:
    match dice.randrange(3):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case _:
            del lines[one]


def _changed(line: bytes, dice: random.Random) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    places = list(_places(value)) if isinstance(value, dict | list) else []
    if not places:
        return line
    node, key = dice.choice(places)
    if isinstance(node, dict) and dice.random() < 0.1:
        del node[key]
    elif dice.random() < 0.15:
        other, from_key = dice.choice(places)
        node[key] = other[from_key]
    else:
        node[key] = _other(node[key], dice)
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except ValueError:  # a value moved into itself
        return line


def _places(node: Any) -> Iterator[Place]:
    """Every container with each of its keys."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(pairs):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _other(value: object, dice: random.Random) -> object:
    """Mostly of the same type, so that a strict reader takes it."""
    if dice.random() < 0.1:
        return dice.choice(VALUES)
    if isinstance(value, int) and not isinstance(value, bool) and dice.random() < 0.3:
        return dice.choice([value + 1, value - 1, value * 1000, -value, value << 40])
    if isinstance(value, list) and value:
        return dice.choice([value[:-1], value * 2, value[1:]])
    alike = [one for one in VALUES if type(one) is type(value)]
    return dice.choice(alike or VALUES)
