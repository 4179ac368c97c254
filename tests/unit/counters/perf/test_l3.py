"""AMD's last-level cache, whose counters are a PMU of their own beside the cores."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.counters_trees import tracepoints
from tests.counters_trees.machines import zen2, zen5
from tests.counters_trees.sysfs import FakePmu, amd, plant

from memgauge import _core
from memgauge.counters.opening import find
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.encoding import Words
from memgauge.model.counting.readings import counted

EVENTS = ("perf:amd_l3/l3_cache_accesses/", "perf:amd_l3/l3_misses/")


@pytest.mark.parametrize(
    ("machine", "misses"), [(zen2, Words(0x0106)), (zen5, Words(0x0104))], ids=["zen2", "zen5"]
)
def test_requests_and_misses_are_encoded_as_the_kernel_s_event_lists_have_them(
    tmp_path: Path, machine: object, misses: Words
) -> None:
    catalogue = Catalogue(machine(tmp_path).host)  # type: ignore[operator]
    known = {one.event.name: one for one in catalogue.known if one.event.name in EVENTS}
    assert {name: one.places[0].words for name, one in known.items()} == {
        EVENTS[0]: Words(0xFF04),
        EVENTS[1]: misses,
    }
    for one in known.values():
        assert (one.event.scope, one.event.domain, one.event.unit) == ("l3", "core", "")
        assert [place.cpu for place in one.places] == [0, 4]
        assert not one.event.automatic, "no memory traffic"
        assert "all cores that share the cache" in " ".join(one.event.pitfalls)


def test_no_traffic_is_made_of_it(tmp_path: Path) -> None:
    events = find(["auto"], zen5(tmp_path).host)
    assert not any("amd_l3" in event.name for event in events)


def test_both_are_counted_for_each_l3_by_itself(tmp_path: Path) -> None:
    if reason := tracepoints.missing():
        pytest.skip(reason)
    unit = FakePmu(
        name="amd_l3",
        type=tracepoints.TRACEPOINT,
        cpumask=tracepoints.BOTH,
        format={"event": "config:0-31"},
        events={
            "l3_cache_accesses": f"event={tracepoints.READ.id:#x}",
            "l3_misses": f"event={tracepoints.WRITE.id:#x}",
        },
    )
    tree = plant(tmp_path, [unit], tracepoints.SOCKETS, cpuinfo=amd(26, 2))
    back_end = PerfBackEnd(tree.host)
    made = back_end.open([event for event in back_end.events() if event.name in EVENTS])
    reader = _core.Reader(made.sources)
    with tracepoints.alone():
        before = reader.read().values
        calls = tracepoints.CountingTree(sysfs=tree.sysfs, procfs=tree.procfs)
        calls.read(70, cpu=1)
        calls.write(30, cpu=1)
        after = reader.read().values
    found = {
        (one.event, one.cpu): one_counted.value
        for one in made.counters
        if (one_counted := counted(one, before, after)) is not None
    }
    assert found == {(EVENTS[0], 0): 0, (EVENTS[0], 1): 70, (EVENTS[1], 0): 0, (EVENTS[1], 1): 30}
    made.close()
