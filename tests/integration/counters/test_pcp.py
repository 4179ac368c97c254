"""Performance Co-Pilot through its life: a real daemon, started here without root."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.pcp_daemons import mmv
from tests.pcp_daemons.install import MISSING, installation
from tests.pcp_daemons.pmcd import NOBODY, Pmcd

from memgauge.counters.base import Opened, Probe
from memgauge.counters.host import Host
from memgauge.counters.pcp import client as pcp_client
from memgauge.counters.pcp.back_end import Pcp
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.counting.readings import Counted, counted
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent

core = pytest.importorskip("memgauge._core", reason="the native core is not built")

NEST = "perfevent.hwcounters.nest_mba{0}_imc.PM_MBA{0}_{1}_BYTES"
READS, WRITES = NEST.format(0, "READ"), NEST.format(0, "WRITE")
READS1 = NEST.format(1, "READ")
CHIPS = ["cpu0", "cpu88"]
BACK_WITHIN_S = 20
Values = list[int | None]


class Nest(Pmcd):
    """A POWER9's counters, held by the test."""

    def __init__(self) -> None:
        found = installation()
        assert found is not None
        super().__init__(found)
        values = [mmv.Metric(f"{name}.value") for name in (READS, WRITES, READS1)]
        duties = [
            mmv.Metric(f"{name}.dutycycle", mmv.DOUBLE, mmv.INSTANT)
            for name in (READS, WRITES, READS1)
        ]
        others = [
            mmv.Metric("odd.narrow", mmv.U32, units=0x10010000),
            mmv.Metric("odd.level", mmv.DOUBLE, mmv.INSTANT, units=0x01003000),
            mmv.Metric("odd.rate", mmv.I64, mmv.INSTANT, units=0x1F013000),
            mmv.Metric("odd.signed", mmv.I64, mmv.INSTANT),
        ]
        # Neither their order nor their numbers are those of the CPUs.
        self.counters = mmv.MemoryMapped(
            self.mmv / "nest", [*values, *duties, *others], CHIPS, ids=[7, 3]
        )
        self.serve({**self.counters.names(), "pmcd.version": "2:0:7"})
        for name in (READS, WRITES, READS1):
            for chip in CHIPS:
                self.counters.set(f"{name}.dutycycle", chip, 1.0)

    def set(self, name: str, chip: str, value: float) -> None:
        """Let a chip have counted so much."""
        self.counters.set(f"{name}.value" if name.startswith("perfevent") else name, chip, value)


@pytest.fixture
def nest(monkeypatch: pytest.MonkeyPatch) -> Iterator[Nest]:
    """A daemon that this process finds."""
    found = installation()
    if found is None:
        pytest.skip(MISSING)
    found.preload()
    with Nest() as daemon:
        for name, value in daemon.environment().items():
            monkeypatch.setenv(name, value)
        yield daemon


class Open:
    """Events that are open, and a reader of them."""

    def __init__(self, names: list[str], host: Host | None = None) -> None:
        back_end = Pcp(host or Host())
        events = [event for name in names for event in back_end.find(name)]
        self.opened: Opened = back_end.open(events)
        self._reader = core.Reader(self.opened.sources)

    def read(self) -> Values:
        """Raw values of all slots."""
        values: Values = self._reader.read().values
        return values

    def counter(self, chip: str = "cpu0") -> Counter:
        """The first counter of a chip."""
        return next(one for one in self.opened.counters if one.instance.endswith(f"@{chip}"))

    def read_when_back(self) -> Values:
        """The first reading that has a value of the first counter again."""
        slot = self.opened.counters[0].slot
        until = time.monotonic() + BACK_WITHIN_S
        while time.monotonic() < until:
            values = self.read()
            if values[slot] is not None:
                return values
            time.sleep(0.01)
        raise AssertionError("no value came back")


def raw(found: Counted | None) -> int | None:
    """What was counted, before any scale."""
    return None if found is None else found.raw


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: the daemon runs as this user anyhow")
def test_the_daemon_needs_no_root(nest: Nest) -> None:
    assert nest.process is not None
    assert Path(f"/proc/{nest.process.pid}").stat().st_uid == NOBODY


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without any privilege, if there was one."""
    before = os.geteuid()
    os.seteuid(NOBODY if before == 0 else before)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_reader_needs_no_privilege(nest: Nest) -> None:
    nest.set(READS, "cpu88", 4711)
    Open([f"{READS}.value"])  # imports what nobody may not be able to read
    with as_nobody():
        opened = Open([f"{READS}.value"])
        values = opened.read()
    assert values[opened.counter("cpu88").slot] == 4711


def test_signals_of_the_reading_thread_cost_no_value(nest: Nest) -> None:
    nest.set(READS, "cpu0", 5)
    opened = Open([f"{READS}.value"])
    slot = opened.counter().slot
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        until = time.monotonic() + BACK_WITHIN_S
        while len(seen) < 50 and time.monotonic() < until:
            assert opened.read()[slot] == 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) >= 50


def test_nest_counters_are_events_of_memory_traffic(nest: Nest) -> None:
    assert nest.process is not None
    events = {event.name: event for event in Pcp(Host()).events()}
    reads = events[f"pcp:{READS}.value"]
    assert reads.state == "ready"
    assert reads.quantity == "read_bytes"
    assert reads.certainty == "confirmed"
    assert reads.traffic == "dram"
    assert reads.instances == ["nest_mba0_imc@cpu0", "nest_mba0_imc@cpu88"]
    assert events[f"pcp:{WRITES}.value"].quantity == "write_bytes"
    assert not any(name.endswith("dutycycle") for name in events)


def test_values_are_exact_and_instances_are_matched_by_name(nest: Nest) -> None:
    large = (1 << 62) + 12345
    nest.set(READS, "cpu0", 17)
    nest.set(READS, "cpu88", large)
    nest.set(WRITES, "cpu0", (1 << 63) - 1)
    opened = Open([f"{READS}.value", f"{WRITES}.value[cpu0]"])
    values = opened.read()
    found = {(one.event, one.instance): values[one.slot] for one in opened.opened.counters}
    assert found == {
        (f"pcp:{READS}.value", "nest_mba0_imc@cpu0"): 17,
        (f"pcp:{READS}.value", "nest_mba0_imc@cpu88"): large,
        (f"pcp:{WRITES}.value[cpu0]", "nest_mba0_imc@cpu0"): (1 << 63) - 1,
    }


def test_the_socket_is_the_package_of_the_instance_s_cpu(nest: Nest, tmp_path: Path) -> None:
    assert nest.process is not None
    for cpu, package in ((0, 0), (88, 8)):
        folder = tmp_path / f"devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")
    opened = Open([f"{READS}.value"], Host(sysfs=tmp_path))
    assert [(one.cpu, one.socket) for one in opened.opened.counters] == [(0, 0), (88, 8)]


def test_a_nest_count_is_a_line_though_the_kernel_gives_it_scale_1(
    nest: Nest, tmp_path: Path
) -> None:
    nest.set(READS, "cpu0", 1000)
    device = tmp_path / "bus/event_source/devices/nest_mba0_imc"
    (device / "events").mkdir(parents=True)
    (device / "type").write_text("20\n")
    (device / "events/PM_MBA0_READ_BYTES").write_text("event=0x118\n")
    (device / "events/PM_MBA0_READ_BYTES.scale").write_text("1\n")
    opened = Open([f"{READS}.value[cpu0]"], Host(sysfs=tmp_path))
    counter = opened.counter()
    assert counter.scale == 64
    assert opened.read()[counter.slot] == 1000


def test_a_killed_daemon_is_a_gap_and_a_restarted_one_counts_anew(nest: Nest) -> None:
    nest.set(READS, "cpu0", 10)
    opened = Open([f"{READS}.value"])
    counter = opened.counter()
    before = opened.read()
    nest.kill()
    gap = opened.read()
    assert gap[counter.slot] is None
    # What a restarted agent shows may well stand above the old value.
    nest.set(READS, "cpu0", 50)
    nest.start()
    first = opened.read_when_back()
    nest.set(READS, "cpu0", 57)
    second = opened.read()
    assert [first[counter.slot], second[counter.slot]] == [50, 57]
    assert raw(counted(counter, first, second)) == 7
    for early, late in ((before, first), (before, second), (before, gap), (gap, first)):
        assert counted(counter, early, late) is None


def test_readings_one_after_the_other_never_span_a_restart(nest: Nest) -> None:
    """Even who knows of no generations then takes no wrong difference."""
    opened = Open([f"{READS}.value[cpu0]"])
    slot = opened.counter().slot
    values = [opened.read()[slot]]
    for life in range(1, 4):
        nest.kill()
        nest.set(READS, "cpu0", 1_000_000 * life)
        nest.start()
        until = time.monotonic() + BACK_WITHIN_S
        while time.monotonic() < until:
            values.append(opened.read()[slot])
            if values[-1] is not None and values[-1] >= 1_000_000 * life:
                break
            time.sleep(0.005)
    seen = [one for one in values if one is not None]
    assert max(seen) == 3_000_000
    steps = [
        late - early
        for early, late in itertools.pairwise(values)
        if early is not None and late is not None
    ]
    assert not any(steps)


def test_a_stopped_daemon_delays_one_reading_and_no_more(nest: Nest) -> None:
    nest.set(READS, "cpu0", 5)
    opened = Open([f"{READS}.value"])
    slot = opened.counter().slot
    nest.stop()
    begin = time.monotonic()
    assert opened.read()[slot] is None
    first_s = time.monotonic() - begin
    # One that waits again would wait as long each time.
    begin = time.monotonic()
    assert all(opened.read()[slot] is None for _ in range(50))
    assert time.monotonic() - begin < 10 < first_s + 10 < 20
    assert Pcp(Host()).probe().state == "refused"
    nest.resume()
    assert opened.read_when_back()[slot] == 5


def test_a_stopped_daemon_is_told_apart_from_a_missing_one(nest: Nest) -> None:
    nest.stop()
    stopped = Pcp(Host()).probe()
    assert stopped.state == "refused"
    assert "does not answer in time" in (stopped.reason or "")
    nest.resume()
    nest.kill()
    missing = Pcp(Host()).probe()
    assert missing.state == "refused"
    assert nest.host in (missing.reason or "")
    assert "start pmcd" in (missing.remedy or "")
    with pytest.raises(CounterRefused, match="start pmcd"):
        Pcp(Host()).find(f"{READS}.value")


def test_a_counter_that_shared_its_hardware_is_an_estimate_as_it_is(nest: Nest) -> None:
    opened = Open([f"{READS}.value"])
    counter = opened.counter()
    before = opened.read()
    nest.set(READS, "cpu0", 100)
    exact = counted(counter, before, opened.read())
    assert exact is not None
    assert (exact.raw, exact.is_estimate) == (100, False)
    nest.counters.set(f"{READS}.dutycycle", "cpu0", 0.25)
    late = opened.read()
    assert counter.duty_slot is not None
    assert late[counter.duty_slot] == FULL_DUTY // 4
    estimate = counted(counter, before, late)
    assert estimate is not None
    assert (estimate.raw, estimate.value, estimate.is_estimate) == (100, 100 * 64.0, True)


def test_a_counter_that_never_ran_is_missing_and_not_zero(nest: Nest) -> None:
    nest.counters.set(f"{READS}.dutycycle", "cpu0", 0.0)
    with pytest.raises(CounterRefused, match="no value"):
        Open([f"{READS}.value"])
    nest.counters.set(f"{READS}.dutycycle", "cpu0", 1.0)
    opened = Open([f"{READS}.value"])
    nest.counters.set(f"{READS}.dutycycle", "cpu0", 0.0)
    assert opened.read()[opened.counter().slot] is None


def test_a_counter_that_goes_back_begins_anew(nest: Nest) -> None:
    nest.set(READS, "cpu0", 1000)
    opened = Open([f"{READS}.value"])
    counter = opened.counter()
    before = opened.read()
    nest.set(READS, "cpu0", 10)
    assert opened.read()[counter.slot] is None
    nest.set(READS, "cpu0", 2000)
    after = opened.read()
    assert after[counter.slot] == 2000
    assert counted(counter, before, after) is None


def test_other_metrics_come_by_name_in_their_own_units(nest: Nest) -> None:
    nest.set("odd.narrow", "cpu0", 0xFFFFFFFF)
    nest.set("odd.level", "cpu0", 1.5)
    opened = Open(["odd.narrow[cpu0]", "odd.level[cpu0]", "pmcd.numagents"])
    narrow, level, agents = opened.opened.counters
    values = opened.read()
    assert (narrow.unit, narrow.scale, values[narrow.slot]) == ("B", 1024.0, 0xFFFFFFFF)
    assert (level.unit, level.gauge, level.generation_slot) == ("s", True, None)
    held = values[level.slot]
    assert held is not None
    assert held * level.scale == 1.5
    assert "no integer" in level.scale_source
    assert agents.instance == "machine"
    assert values[agents.slot] is not None
    (rate,) = Pcp(Host()).find("odd.rate")
    assert (rate.unit, rate.scale) == ("", 1.0)
    assert "compound" in rate.pitfalls[0]


def test_a_negative_value_is_refused_and_later_missing(nest: Nest) -> None:
    nest.set("odd.signed", "cpu0", -1)
    with pytest.raises(CounterRefused, match="0 to 2"):
        Open(["odd.signed[cpu0]"])
    nest.set("odd.signed", "cpu0", 1)
    opened = Open(["odd.signed[cpu0]"])
    nest.set("odd.signed", "cpu0", -1)
    assert opened.read()[opened.opened.counters[0].slot] is None


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (f"{NEST.format(0, 'RAED')}.value", UnknownEvent, f"did you mean pcp:{READS}.value"),
        (f"{READS}.value[cpu8]", UnknownEvent, r"\.value\[cpu88\]"),
        ("perfevent.hwcounters", UnknownEvent, "did you mean"),
        ("nothing.of.the.kind", UnknownEvent, "not known here"),
        ("pmcd.version", RequestError, "its values are not numbers"),
        ("", RequestError, r"METRIC\[INSTANCE\]"),
        ("a..b", RequestError, r"METRIC\[INSTANCE\]"),
        (f"{READS}.value[", RequestError, r"METRIC\[INSTANCE\]"),
        ("\x00\n", RequestError, r"METRIC\[INSTANCE\]"),
    ],
)
def test_what_cannot_be_found_says_why(
    nest: Nest, text: str, error: type[RequestError], says: str
) -> None:
    assert nest.process is not None
    with pytest.raises(error, match=says) as caught:
        Pcp(Host()).find(text)
    assert "\n" not in str(caught.value)


def test_a_missing_library_is_said(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nest.process is not None
    monkeypatch.setattr(pcp_client, "LIBRARIES", ("libpcp.so.99",))
    probe = Pcp(Host()).probe()
    assert probe.state == "absent"
    assert "libpcp.so.99" in (probe.reason or "")
    assert "libpcp3" in (probe.remedy or "")
    assert Pcp(Host()).events() == []


PROBE = """
from memgauge.counters.host import Host
from memgauge.counters.pcp.back_end import Pcp
probe = Pcp(Host()).probe()
print(probe.state, probe.reason, "|", probe.remedy)
print("loaded" if "libpcp" in open("/proc/self/maps").read() else "not loaded")
"""


def probed(environment: dict[str, str]) -> list[str]:
    """What a process of its own finds: libpcp ends it where a configuration is missing."""
    found = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout.splitlines()


def test_without_a_configuration_the_library_is_not_loaded(nest: Nest, tmp_path: Path) -> None:
    said, loaded = probed({**nest.environment(), "PCP_CONF": str(tmp_path / "none.conf")})
    assert said.startswith("absent cannot read Performance Co-Pilot's configuration")
    assert "apt-get install pcp" in said
    assert loaded == "not loaded"
    assert probed(nest.environment()) == ["ready None | None", "loaded"]


def test_the_daemon_is_found_by_the_library_s_own_variable_too(nest: Nest) -> None:
    environment = {**nest.environment(), "PMCD_SOCKET": str(nest.socket), "MEMGAUGE_PCP_HOST": ""}
    assert probed(environment)[0].startswith("ready")


def test_closing_while_the_daemon_is_gone_leaves_nothing_behind(nest: Nest) -> None:
    opened = Open([f"{READS}.value"])
    nest.kill(signal.SIGTERM)
    opened.read()
    before = len(list(Path("/proc/self/task").iterdir()))
    del opened
    assert len(list(Path("/proc/self/task").iterdir())) == before - 1


def test_opening_asks_the_daemon_again(nest: Nest) -> None:
    back_end = Pcp(Host())
    assert back_end.probe() == Probe(state="ready")
    events = back_end.events()
    nest.kill()
    with pytest.raises(CounterRefused, match="start pmcd"):
        back_end.open(events)
