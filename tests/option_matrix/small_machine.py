"""This machine, as if caches and memory were small: what lies beyond caches is quickly walked."""

from __future__ import annotations

import msgspec

from memgauge.model.system import Cache, System
from memgauge.system import detect as detecting

WAYS = 8
BYTES = {1: 16 << 10, 2: 64 << 10}
LAST_BYTES = 256 << 10
MEMORY_BYTES = 512 << 20
"""Rings in memory have an eighth of it, where a large machine has 256 MiB for each."""

_detect = detecting.detect


def small() -> System:
    """What was found, with small caches, and with little memory that may be used."""
    found = _detect()
    return msgspec.structs.replace(
        found,
        caches=[_small(cache) for cache in found.caches],
        available_bytes=min(found.available_bytes, MEMORY_BYTES),
    )


def become_small() -> None:
    """Let everything in this process find a small machine."""
    detecting.detect = lambda *_: small()


def _small(cache: Cache) -> Cache:
    size = min(cache.bytes, BYTES.get(cache.level, LAST_BYTES))
    line = cache.line_bytes or 64
    return msgspec.structs.replace(cache, bytes=size, ways=WAYS, sets=size // (WAYS * line))
