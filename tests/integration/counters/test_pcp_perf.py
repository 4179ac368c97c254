"""The perfevent agent beside the direct way: the same tree, the same counts; its own deaths."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.counters_trees import tracepoints
from tests.pcp_daemons.install import MISSING, installation
from tests.pcp_daemons.perfevent import agent_of, perfevent_daemon, switched_off
from tests.pcp_daemons.pmcd import Pmcd

from memgauge.counters.base import Opened
from memgauge.counters.choice import preferred
from memgauge.counters.pcp.back_end import Pcp
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.model.counting.events import Counter
from memgauge.model.counting.readings import counted
from memgauge.model.errors import CounterRefused

pytestmark = pytest.mark.whole_machine

core = pytest.importorskip("memgauge._core", reason="the native core is not built")

EVENTS = [
    f"nest_mba{number}_imc.PM_MBA{number}_{kind}_BYTES"
    for number in range(2)
    for kind in ("READ", "WRITE")
]
Values = list[int | None]


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[tracepoints.CountingTree]:
    """A POWER9 whose counters count rare system calls."""
    reason = tracepoints.missing() or (None if os.geteuid() == 0 else "the agent needs root")
    if reason:
        pytest.skip(reason)
    with tracepoints.alone():
        yield tracepoints.power9(tmp_path)


@pytest.fixture
def daemon(tree: tracepoints.CountingTree, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pmcd]:
    """A pmcd with the agent that counts that tree."""
    found = installation()
    if found is None:
        pytest.skip(MISSING)
    found.preload()
    with perfevent_daemon(found, tree.sysfs, EVENTS) as started:
        for name, value in started.environment().items():
            monkeypatch.setenv(name, value)
        yield started


def traffic(back_end: Pcp | PerfBackEnd) -> Opened:
    """All counters of memory traffic, as `auto` takes them."""
    ready = [event for event in back_end.events() if event.state == "ready"]
    return back_end.open(preferred([event for event in ready if event.domain == "memory"]))


def differences(opened: Opened, before: Values, after: Values) -> dict[tuple[str, str], float]:
    """Bytes by quantity and place."""
    found: dict[tuple[str, str], float] = {}
    for one in opened.counters:
        difference = counted(one, before, after)
        assert difference is not None, one.name
        assert not difference.is_estimate
        found[one.quantity, one.instance] = difference.value
    return found


def test_both_routes_count_the_same(tree: tracepoints.CountingTree, daemon: Pmcd) -> None:
    assert daemon.process is not None
    routes = {
        "pcp": traffic(Pcp(tree.host_as_we_are)),
        "perf": traffic(PerfBackEnd(tree.host_as_we_are)),
    }
    readers = {name: core.Reader(opened.sources) for name, opened in routes.items()}
    before = {name: reader.read().values for name, reader in readers.items()}
    tree.read(1234, cpu=1)
    tree.write(77, cpu=0)
    after = {name: reader.read().values for name, reader in readers.items()}
    by_route = {
        name: differences(opened, before[name], after[name]) for name, opened in routes.items()
    }
    assert by_route["pcp"] == by_route["perf"]
    assert by_route["pcp"]["read_bytes", "nest_mba1_imc@cpu1"] == 1234 * 64
    assert by_route["pcp"]["read_bytes", "nest_mba1_imc@cpu0"] == 0
    assert by_route["pcp"]["write_bytes", "nest_mba0_imc@cpu0"] == 77 * 64
    assert {one.socket for one in routes["pcp"].counters} == {0, 1}


class Sampled:
    """One counter of the agent."""

    def __init__(self, tree: tracepoints.CountingTree) -> None:
        back_end = Pcp(tree.host_as_we_are)
        text = f"perfevent.hwcounters.{EVENTS[0]}.value[cpu1]"
        self.opened = back_end.open(back_end.find(text))
        self.counter: Counter = self.opened.counters[0]
        self._reader = core.Reader(self.opened.sources)

    def read(self) -> Values:
        """Raw values of all slots."""
        values: Values = self._reader.read().values
        return values

    def until(self, *, present: bool) -> Values:
        """The first reading with the counter there, or missing."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            values = self.read()
            if (values[self.counter.slot] is not None) == present:
                return values
            time.sleep(0.02)
        raise AssertionError("it did not happen")


def test_a_restarted_agent_never_gives_a_wrong_difference(
    tree: tracepoints.CountingTree, daemon: Pmcd
) -> None:
    sampled = Sampled(tree)
    before = sampled.read()
    tree.read(100, cpu=1)
    os.kill(agent_of(daemon), signal.SIGKILL)
    gap = sampled.until(present=False)
    assert counted(sampled.counter, before, gap) is None
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGHUP)  # starts agents that died
    first = sampled.until(present=True)
    # More than was counted before it died, so that no value stands below an old one.
    tree.read(5000, cpu=1)
    second = sampled.read()
    again = counted(sampled.counter, first, second)
    assert again is not None
    assert again.raw == 5000
    assert counted(sampled.counter, before, second) is None


def test_counters_that_another_program_had_switched_off_are_missing(
    tree: tracepoints.CountingTree, daemon: Pmcd
) -> None:
    """Perfalloc(1) does so, and the agent goes on to show what it last read."""
    sampled = Sampled(tree)
    before = sampled.read()
    with switched_off(daemon):
        sampled.until(present=False)
        with pytest.raises(CounterRefused, match="perfalloc"):
            Sampled(tree)
    after = sampled.until(present=True)
    assert counted(sampled.counter, before, after) is None


def test_an_event_that_is_not_configured_says_what_to_configure(
    tree: tracepoints.CountingTree, daemon: Pmcd
) -> None:
    assert daemon.process is not None
    name = "perfevent.hwcounters.software.context_switches.value"
    (event,) = Pcp(tree.host_as_we_are).find(name)
    assert event.state == "refused"
    assert "software.context_switches below [dynamic]" in (event.remedy or "")
    with pytest.raises(CounterRefused, match=r"perfevent\.conf"):
        Pcp(tree.host_as_we_are).open([event])
