"""Skips are counted by reason, and more than are known are found."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.skips import KNOWN, counted, excess


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("cannot load the CUDA driver: libcuda.so.1: no such file", "needs a GPU"),
        ("docs/numa.md:3 memgauge numa: memory on one NUMA node only", "several memory nodes"),
        ("docs/counters.md:5 x: no counter of memory traffic on this machine", "of the hardware"),
        ("README.md:6 make survey: sets up an installation; the tests run in one", "no command"),
    ],
)
def test_reasons_are_counted_by_what_is_missing(reason: str, name: str) -> None:
    ((found, many),) = counted([reason, reason]).items()
    assert name in found
    assert found in KNOWN
    assert many == 2


def test_more_skips_than_known_and_unknown_reasons_are_found() -> None:
    name, (_, most) = next(iter(KNOWN.items()))
    assert excess(Counter({name: most})) == []
    assert excess(Counter({name: most + 1, "a broken test": 1})) == [
        f"{most + 1} skipped where {most} are known: {name}",
        "1 skipped where 0 are known: a broken test",
    ]
