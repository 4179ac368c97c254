"""Which events and counters of memory traffic may be added up."""

import pytest

from memgauge.model.counting.events import Counter, Quantity, added_up


def counter(
    text: str, quantity: Quantity, way: str | None = None, traffic: str = "dram"
) -> Counter:
    return Counter(
        name=f"perf:{text}@here",
        event=f"perf:{text}",
        back_end="perf",
        quantity=quantity,
        domain="memory",
        scope="controller",
        unit="B",
        scale=64.0,
        scale_source="the test",
        traffic=traffic,
        way=way,
        instance="here",
        slot=0,
        route="group",
    )


READ, WRITE = counter("rd", "read_bytes", "imc"), counter("wr", "write_bytes", "imc")
FREE = counter("free_rd", "read_bytes", "free"), counter("free_wr", "write_bytes", "free")
BOTH = counter("all", "traffic_bytes")
HBM = counter("hbm_rd", "read_bytes", "imc", traffic="hbm")


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        ([READ, WRITE], [READ, WRITE]),
        ([READ, WRITE, *FREE], [READ, WRITE]),
        ([BOTH, READ, WRITE], [READ, WRITE]),
        ([BOTH, READ], [BOTH]),
        ([READ, BOTH], [READ]),
        ([READ, FREE[1]], [READ, FREE[1]]),
        ([READ, WRITE, HBM], [READ, WRITE, HBM]),
        ([BOTH, counter("local", "traffic_bytes")], [BOTH]),
        ([], []),
    ],
)
def test_no_traffic_is_added_twice(candidates: list[Counter], expected: list[Counter]) -> None:
    assert added_up(candidates) == expected
