"""Back ends are described once, and nothing chooses among them by their names."""

from __future__ import annotations

import pytest

from memgauge.counters.components import NAMES
from memgauge.counters.host import Host
from memgauge.counters.registry import load
from memgauge.model.counting.back_ends import (
    BACK_ENDS,
    GPU_MEMORY_ORDER,
    MEMORY_ORDER,
    of_component,
)
from memgauge.model.counting.event_names import WHOLE

pytestmark = pytest.mark.native


@pytest.mark.parametrize("name", BACK_ENDS)
def test_a_back_end_has_the_name_of_its_entry(name: str) -> None:
    assert load(name, Host()).name == name
    assert set(BACK_ENDS[name].components) <= set(NAMES)


def test_those_asked_for_memory_traffic_are_tried_best_first() -> None:
    assert MEMORY_ORDER == ("perf", "pcp", "resctrl", "pmt")
    assert GPU_MEMORY_ORDER == ("cupti",)
    assert WHOLE == ("modelled",)


def test_a_component_asks_first_what_may_be_read_most_often() -> None:
    assert {name: of_component(name) for name in NAMES if name != "memory"} == {
        "process": ["proc"],
        "software": ["perf"],
        "core": ["perf"],
        "caches": ["perf"],
        "tlb": ["perf"],
        "flops": ["perf"],
        "network": ["net", "infiniband"],
        "energy": ["perf", "powercap", "hwmon"],
        "gpu": ["cupti", "nvml"],
        "cgroup": ["cgroup"],
    }
