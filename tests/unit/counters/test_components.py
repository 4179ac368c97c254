"""Which lanes a profile has, and what it says of components that it cannot watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import pytest

from memgauge.counters import components, opening, registry
from memgauge.counters.base import MACHINE, BackEnd, Opened, Probe, Target
from memgauge.counters.components import OF_PROGRAM, of_program, plan_components, plan_events
from memgauge.counters.host import Host
from memgauge.model.counting.events import Domain, Event, State

pytestmark = pytest.mark.native


def event(name: str, domain: Domain, *, state: State = "ready", automatic: bool = True) -> Event:
    return Event(
        name=name,
        back_end=name.partition(":")[0],
        quantity="count",
        domain=domain,
        scope="device",
        unit="",
        scale=1.0,
        meaning="made up",
        encoding="",
        instances=[],
        source="",
        automatic=automatic,
        state=state,
        reason=None if state == "ready" else "locked away",
        remedy=None if state == "ready" else "ask for the key",
    )


class Fake(BackEnd):
    """Serves the events that a test gives it."""

    name: ClassVar[str] = "fake"
    summary: ClassVar[str] = "for tests"
    served: ClassVar[list[Event]] = []

    def probe(self) -> Probe:
        if self._mine():
            return Probe(state="ready")
        return Probe(state="absent", reason="nothing is here", remedy="plug it in")

    def events(self) -> list[Event]:
        return self._mine()

    def find(self, text: str) -> list[Event]:
        return [one for one in self._mine() if one.name.endswith(f":{text}")]

    def open(self, events: Sequence[Event], target: Target = MACHINE) -> Opened:
        raise NotImplementedError

    def _mine(self) -> list[Event]:
        return [one for one in self.served if one.back_end == self.back_end]

    back_end = ""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """What the back ends know."""
    served: list[Event] = []
    monkeypatch.setattr(Fake, "served", served)

    def load(name: str, host: Host) -> BackEnd:
        made = Fake(host)
        made.back_end = name
        return made

    for module in (components, opening, registry):
        monkeypatch.setattr(module, "load", load)
    return served


def test_each_back_end_has_a_lane_of_its_own_at_no_more_than_its_rate(serve: list[Event]) -> None:
    serve += [event("net:eth0/rx", "network"), event("infiniband:mlx5_0/1/rx", "network")]
    plan = plan_components(["network"], 100.0, Host())
    assert [(lane.name, lane.rate_hz) for lane in plan.lanes] == [
        ("network-infiniband", 10.0),
        ("network-net", 100.0),
    ]
    assert plan.missing == []
    slow = plan_components(["network"], 2.0, Host())
    assert {lane.rate_hz for lane in slow.lanes} == {2.0}


def test_fast_back_ends_share_a_lane_and_can_be_taken_apart(serve: list[Event]) -> None:
    """One thread wakes up for all of them; slow ones keep their own."""
    serve += [
        event("perf:page-faults", "software"),
        event("net:eth0/rx", "network"),
        event("infiniband:mlx5_0/1/rx", "network"),
        event("proc:cpu_time", "process"),
        event("powercap:intel-rapl:0", "energy"),
    ]
    watched = ["process", "software", "network", "energy"]
    plan = plan_components(watched, 100.0, Host())
    assert [lane.name for lane in plan.lanes] == ["process", "fast-counters", "network-infiniband"]
    whole = plan.lanes[1]
    assert whole.rate_hz == 100.0
    assert [part.name for part in whole.parts] == ["software", "network-net", "energy"]
    assert whole.events == [one for part in whole.parts for one in part.events]
    assert {part.rate_hz for part in whole.parts} == {100.0}


def test_only_what_may_be_chosen_automatically_and_is_ready_is_watched(serve: list[Event]) -> None:
    serve += [
        event("net:eth0/rx", "network"),
        event("net:lo/rx", "software"),
        event("net:veth0/rx", "network", automatic=False),
        event("net:eth1/rx", "network", state="refused"),
    ]
    (lane,) = plan_components(["network"], 100.0, Host()).lanes
    assert lane.name == "network"
    assert [one.name for one in lane.events] == ["net:eth0/rx"]


def test_a_missing_component_is_told_with_reason_and_remedy(serve: list[Event]) -> None:
    serve += [event("powercap:zone", "energy", state="refused")]
    plan = plan_components(["energy", "gpu"], 100.0, Host())
    assert plan.lanes == []
    energy, gpu = plan.missing
    assert "locked away" in energy.reason
    assert "ask for the key" in (energy.remedy or "")
    assert (gpu.component, gpu.reason, gpu.remedy) == ("gpu", "nothing is here", "plug it in")


def test_what_one_back_end_of_gpus_lacks_is_told_beside_what_the_other_has(
    serve: list[Event],
) -> None:
    serve += [
        event("nvml:0/power", "gpu"),
        event("cupti:0/dram_read", "gpu", state="refused"),
    ]
    plan = plan_components(["gpu"], 100.0, Host())
    assert [(lane.name, lane.rate_hz) for lane in plan.lanes] == [("gpu", 10.0)]
    (missing,) = plan.missing
    assert (missing.component, missing.reason) == ("gpu", "locked away")
    serve[1] = event("cupti:0/dram_read", "gpu")
    plan = plan_components(["gpu"], 100.0, Host())
    assert [(lane.name, lane.rate_hz) for lane in plan.lanes] == [
        ("gpu-cupti", 20.0),
        ("gpu-nvml", 10.0),
    ]
    assert plan.missing == []


def test_what_a_back_end_lacks_elsewhere_is_no_reason(
    serve: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    serve += [event("perf:page-faults", "software")]
    ready = Probe(state="ready", reason="no controller of memory", remedy="load its driver")
    monkeypatch.setattr(Fake, "probe", lambda fake: ready)
    (energy,) = plan_components(["energy"], 100.0, Host()).missing
    assert "perf has no counter of energy here" in energy.reason
    assert "controller" not in energy.reason
    assert energy.remedy is None


def test_energy_is_counted_by_one_route_and_sensors_beside_it(serve: list[Event]) -> None:
    serve += [
        event("perf:power/energy-pkg/", "energy"),
        event("powercap:intel-rapl:0", "energy"),
        event("hwmon:board/power1_input", "energy"),
    ]
    plan = plan_components(["energy"], 1000.0, Host())
    assert [(lane.name, lane.rate_hz) for lane in plan.lanes] == [
        ("energy-hwmon", 10.0),
        ("energy-perf", 1000.0),
    ]


def test_no_memory_counter_is_one_reason(serve: list[Event]) -> None:
    (missing,) = plan_components(["memory"], 100.0, Host()).missing
    assert missing.component == "memory"
    assert "no counter of memory traffic can be opened" in missing.reason


def test_named_events_are_put_into_lanes_by_back_end(serve: list[Event]) -> None:
    serve += [event("net:eth0/rx", "network"), event("proc:cpu_time", "process")]
    plan = plan_events(["proc:cpu_time", "net:eth0/rx"], 100.0, Host())
    assert [(lane.name, lane.component) for lane in plan.lanes] == [
        ("counters-proc", "counters"),
        ("counters-net", "counters"),
    ], "in the order in which they were named"


def test_ranks_beside_the_first_of_a_node_count_their_program_alone(serve: list[Event]) -> None:
    own = [event("perf:cycles", "core"), event("perf:page-faults", "software")]
    tree = msgspec.structs.replace(event("proc:cpu_time", "process"), scope="process")
    group = msgspec.structs.replace(event("cgroup:memory.current", "process"), scope="process")
    whole = [event("perf:uncore_imc/read/", "memory"), event("net:eth0/rx", "network")]
    serve += [*own, tree, group, *whole]
    plan = plan_events([one.name for one in serve], 100.0, Host())
    kept = [one for lane in of_program(plan).lanes for one in lane.events]
    assert {one.name for one in kept} == {one.name for one in [*own, tree]}
    assert {"process", "software", "core", "caches", "tlb", "flops"} == OF_PROGRAM
