"""The modelled back end: what the kernels are known to move, labelled as a model."""

import pytest

pytest.importorskip("memgauge._core")

from memgauge import _core
from memgauge.counters.host import Host
from memgauge.counters.modelled import NOTE, Modelled
from memgauge.counters.opening import find, opened
from memgauge.model.counting.readings import counted
from memgauge.system.detect import detect

NAMES = ["modelled:read_bytes", "modelled:write_bytes"]


def test_both_events_are_ready_and_all_is_labelled_modelled() -> None:
    back_end = Modelled(Host())
    events = back_end.events()
    assert [event.name for event in events] == NAMES
    assert {event.state for event in events} == {"ready"}
    made = back_end.open(events)
    assert {counter.basis for counter in made.counters} == {"modelled"}
    assert made.notes == [NOTE]


def test_one_event_alone_reads_its_own_slot() -> None:
    with opened(find(["modelled:write_bytes"]), name="known") as counters:
        before = counters.reader.read()
        _core.add_known_traffic(read_bytes=5, write_bytes=7)
        after = counters.reader.read()
    (counter,) = counters.set.of
    found = counted(counter, before.values, after.values)
    assert found is not None
    assert found.value == 7


@pytest.mark.parametrize(
    ("kernel", "reads", "writes"), [("copy", 16, 8), ("triad", 24, 8), ("read", 8, 0)]
)
def test_a_region_holds_exactly_what_its_kernel_moves(kernel: str, reads: int, writes: int) -> None:
    team = _core.Team([detect().allowed_cpus[0]])
    arrays = _core.StreamArrays(team, elements=1 << 16, blocks=4)
    with opened(find(NAMES), name="known") as counters:
        team.read_with(counters.reader)
        arrays.run(_core.KernelSpec(kernel), blocks=4, lead_in_blocks=3, iterations=3)
        assert team.readings is not None
        before, after = team.readings
        team.read_with(None)
    found = [counted(counter, before.values, after.values) for counter in counters.set.of]
    elements = 3 * arrays.elements
    assert [one.value for one in found if one] == [elements * reads, elements * writes]
    arrays.close()
