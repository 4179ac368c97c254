"""The nvml back end against a scripted library, and against there being none."""

import ctypes
import gc
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import opening, plant

from memgauge.counters.host import Host
from memgauge.counters.nvml import back_end as nvml
from memgauge.counters.nvml.back_end import Nvml
from memgauge.counters.nvml.figures import FIGURES
from memgauge.model.errors import CounterRefused

SUCCESS, NOT_SUPPORTED, NO_PERMISSION, NO_DRIVER, LOST = 0, 3, 4, 9, 15
UNSIGNED_INT, UNSIGNED_LONG_LONG = 1, 3
POWER_AVERAGE, POWER_INSTANT = "field185", "field186"
PCIE_SENT, PCIE_RECEIVED = "field197", "field198"
NVLINK_SENT = "field138"


class FakeLibrary:
    """The scripted library; what is not set is not supported."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._library = ctypes.CDLL(str(path))
        self._library.fake_set.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_ulonglong,
            ctypes.c_int,
            ctypes.c_long,
        ]

    def set(
        self,
        call: str,
        value: int = 0,
        *,
        result: int = SUCCESS,
        kind: int = UNSIGNED_LONG_LONG,
        delay_us: int = 0,
    ) -> None:
        self._library.fake_set(call.encode(), result, value, kind, delay_us)

    def calls(self, call: str) -> int:
        return int(self._library.fake_calls(call.encode()))


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler (cc, gcc or clang) to build the stand-in library with")
    made = tmp_path_factory.mktemp("nvml") / "libfake.so"
    source = Path(__file__).with_name("fake_nvml.c")
    flags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([compiler, *flags, "-o", str(made), str(source)], check=True)
    return made


@pytest.fixture
def fake(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLibrary]:
    """A library of one GPU; each test has a copy, as a library is loaded once for a process."""
    own = tmp_path / "libnvidia-ml.so.1"
    shutil.copy(compiled, own)
    monkeypatch.setattr(nvml, "LIBRARY", str(own))
    made = FakeLibrary(own)
    for call in ("init", "shutdown", "handle", "fields"):
        made.set(call)
    made.set("count", 1)
    yield made
    nvml._library.cache_clear()


def states(back_end: Nvml) -> dict[str, tuple[str, str | None]]:
    return {event.name: (event.state, event.reason) for event in back_end.events()}


def test_every_figure_that_answers_is_ready_and_read_in_its_unit(fake: FakeLibrary) -> None:
    fake.set(POWER_INSTANT, 250_500, kind=UNSIGNED_INT)
    fake.set("energy", 4_000)
    fake.set("sm_clock", 1410)
    fake.set("memory_clock", 1593)
    fake.set("memory", 3 << 30)
    fake.set("utilisation", 50)
    fake.set("temperature", 45)
    for field in (PCIE_SENT, PCIE_RECEIVED, NVLINK_SENT, "field139"):
        fake.set(field, 1000)
    back_end = Nvml(Host())
    assert back_end.probe().state == "ready"
    assert set(states(back_end).values()) == {("ready", None)}
    opened = opening(back_end, [f"0/{figure.name}" for figure in FIGURES])
    before = opened.read()
    fake.set("energy", 6_500)
    for field in (PCIE_SENT, PCIE_RECEIVED, NVLINK_SENT, "field139"):
        fake.set(field, 5000)
    after = opened.read()
    found = {
        counter.event.partition("/")[2]: opened.between(counter.name, before, after)
        for counter in opened.made.counters
    }
    assert found == {
        "power": pytest.approx(250.5),
        "energy": pytest.approx(2.5),
        "sm_clock": 1410e6,
        "memory_clock": 1593e6,
        "memory_used": 3 << 30,
        "pcie_received_bytes": 4000,
        "pcie_sent_bytes": 4000,
        "nvlink_received_bytes": 4000 * 1024,
        "nvlink_sent_bytes": 4000 * 1024,
        "gpu_utilisation": 0.5,
        "memory_utilisation": 0.25,
        "temperature": 45,
    }


def test_the_throughput_call_that_blocks_is_never_used(fake: FakeLibrary) -> None:
    fake.set("pcie_throughput", 1)
    fake.set("temperature", 45)
    opening(Nvml(Host()), ["0/temperature"]).read()
    assert fake.calls("pcie_throughput") == 0


def test_all_fields_of_a_gpu_are_one_call(fake: FakeLibrary) -> None:
    for field in (PCIE_SENT, PCIE_RECEIVED, POWER_INSTANT):
        fake.set(field, 1)
    opened = opening(Nvml(Host()), ["0/power", "0/pcie_sent_bytes", "0/pcie_received_bytes"])
    before = fake.calls("fields")
    opened.read()
    assert fake.calls("fields") == before + 1


@pytest.mark.parametrize(
    ("answering", "encoding", "note"),
    [
        ({POWER_INSTANT, POWER_AVERAGE, "power"}, "POWER_INSTANT (186)", "instantaneous"),
        ({POWER_AVERAGE, "power"}, "POWER_AVERAGE (185)", "an average over one second"),
        ({"power"}, "nvmlDeviceGetPowerUsage", "an average over one second on Ampere"),
    ],
)
def test_power_takes_the_best_way_and_says_what_it_means(
    fake: FakeLibrary, answering: set[str], encoding: str, note: str
) -> None:
    for call in answering:
        fake.set(call, 100_000)
    back_end = Nvml(Host())
    (event,) = back_end.find("0/power")
    assert encoding in event.encoding
    opened = opening(back_end, ["0/power"])
    assert note in opened.made.notes[0]
    assert list(opened.raw().values()) == [100_000]


def test_what_a_gpu_does_not_support_is_absent_in_the_librarys_words(fake: FakeLibrary) -> None:
    fake.set("temperature", 45)
    found = states(Nvml(Host()))
    assert found["nvml:0/temperature"] == ("ready", None)
    assert found["nvml:0/energy"] == (
        "absent",
        "nvmlDeviceGetTotalEnergyConsumption: Not Supported",
    )
    assert found["nvml:0/pcie_sent_bytes"] == ("absent", "nvmlDeviceGetFieldValues: Not Supported")
    with pytest.raises(
        CounterRefused, match="nvml:0/energy: nvmlDeviceGetTotalEnergyConsumption: Not Supported"
    ):
        opening(Nvml(Host()), ["0/energy"])


def test_what_may_not_be_read_is_refused_with_the_remedy(fake: FakeLibrary) -> None:
    fake.set("energy", result=NO_PERMISSION)
    (event,) = Nvml(Host()).find("0/energy")
    assert (event.state, event.remedy) == ("refused", nvml.RIGHTS_REMEDY)
    with pytest.raises(CounterRefused, match="Insufficient Permissions; run as root"):
        Nvml(Host()).open([event])


def test_a_gpu_that_is_lost_under_the_reader_is_missing_and_may_return(fake: FakeLibrary) -> None:
    fake.set("energy", 1000)
    fake.set(PCIE_SENT, 7)
    opened = opening(Nvml(Host()), ["0/energy", "0/pcie_sent_bytes"])
    assert opened.read() == [1000, 7]
    fake.set("energy", result=LOST)
    fake.set("fields", result=LOST)
    lost = opened.read()
    assert lost == [None, None]
    fake.set("energy", 10)
    fake.set("fields")
    back = opened.read()
    assert back == [10, 7]
    name = "nvml:0/energy@GPU 0 00000000:3A:00.0"
    assert opened.between(name, lost, back) is None
    assert opened.between(name, [1000, 7], back) is None  # it began anew


def test_one_field_that_fails_leaves_the_others(fake: FakeLibrary) -> None:
    fake.set(PCIE_SENT, 7)
    fake.set(PCIE_RECEIVED, 8)
    opened = opening(Nvml(Host()), ["0/pcie_sent_bytes", "0/pcie_received_bytes"])
    fake.set(PCIE_SENT, result=LOST)
    assert opened.read() == [None, 8]


def test_a_total_of_32_bits_wraps_and_one_of_64_does_not(fake: FakeLibrary) -> None:
    fake.set(PCIE_SENT, (1 << 32) - 100, kind=UNSIGNED_INT)
    fake.set(PCIE_RECEIVED, (1 << 32) - 100)
    opened = opening(Nvml(Host()), ["0/pcie_sent_bytes", "0/pcie_received_bytes"])
    before = opened.read()
    fake.set(PCIE_SENT, 900, kind=UNSIGNED_INT)
    fake.set(PCIE_RECEIVED, 900)
    after = opened.read()
    sent, received = (counter.name for counter in opened.made.counters)
    assert opened.between(sent, before, after) == 1000
    assert opened.between(received, before, after) is None


@pytest.mark.parametrize(("kind", "value"), [(0, 12), (5, (1 << 64) - 1), (3, 1 << 63), (9, 1)])
def test_a_value_that_is_no_count_is_missing(fake: FakeLibrary, kind: int, value: int) -> None:
    fake.set(PCIE_SENT, 5)
    opened = opening(Nvml(Host()), ["0/pcie_sent_bytes"])
    fake.set(PCIE_SENT, value, kind=kind)
    assert opened.read() == [None]


def test_a_slow_call_is_told_when_it_is_opened(fake: FakeLibrary) -> None:
    fake.set("temperature", 45)
    fake.set(PCIE_SENT, 5, delay_us=3000)
    notes = opening(Nvml(Host()), ["0/temperature", "0/pcie_sent_bytes"]).made.notes
    (note,) = (note for note in notes if "pcie_sent_bytes" in note)
    assert "ms here: sample it slowly" in note


def test_a_partitioned_gpu_says_so(fake: FakeLibrary) -> None:
    fake.set("mig", 1)
    fake.set("energy", 1)
    (event,) = Nvml(Host()).find("0/energy")
    assert event.meaning.endswith("; MIG is on: of the whole GPU")
    assert opening(Nvml(Host()), ["0/energy"]).made.notes == [
        "GPU 0: MIG is on; figures are of the whole GPU, not of an instance",
        "nvml: this version of memgauge was tested against a stand-in for NVML, not on a GPU",
    ]


def test_the_node_a_gpu_hangs_on_is_recorded(fake: FakeLibrary, tmp_path: Path) -> None:
    fake.set("energy", 1)
    host = plant(tmp_path, {"/sys/bus/pci/devices/0000:3a:00.0/numa_node": "1\n"})
    (counter,) = opening(Nvml(host), ["0/energy"]).made.counters
    assert (counter.node, counter.instance) == (1, "GPU 0 00000000:3A:00.0")


def test_a_gpu_that_cannot_be_used_is_named_beside_those_that_can(fake: FakeLibrary) -> None:
    fake.set("count", 2)
    fake.set("handle.1", result=LOST)
    fake.set("energy", 1)
    back_end = Nvml(Host())
    assert back_end.probe().reason == "GPU 1: nvmlDeviceGetHandleByIndex: GPU is lost"
    assert {event.instances[0] for event in back_end.events()} == {"GPU 0 00000000:3A:00.0"}


def test_when_no_gpu_can_be_used_it_is_refused(fake: FakeLibrary) -> None:
    fake.set("handle", result=NO_PERMISSION)
    probe = Nvml(Host()).probe()
    assert (probe.state, probe.remedy) == ("refused", nvml.RIGHTS_REMEDY)
    assert Nvml(Host()).events() == []


def test_a_driver_that_shows_no_gpu_is_absent(fake: FakeLibrary) -> None:
    fake.set("count", 0)
    assert Nvml(Host()).probe().reason == "the NVIDIA driver shows no GPU"


def test_a_library_without_its_driver_is_absent_in_its_words(fake: FakeLibrary) -> None:
    fake.set("init", result=NO_DRIVER)
    probe = Nvml(Host()).probe()
    assert (probe.state, probe.remedy) == ("absent", nvml.DRIVER_REMEDY)
    assert (probe.reason or "").endswith("nvmlInit: Driver Not Loaded")
    assert Nvml(Host()).events() == []


def test_a_failed_start_is_tried_again_and_what_started_is_shut_down(fake: FakeLibrary) -> None:
    fake.set("count", result=LOST)
    assert "nvmlDeviceGetCount: GPU is lost" in (Nvml(Host()).probe().reason or "")
    assert fake.calls("shutdown") == 1
    fake.set("count", 1)
    assert Nvml(Host()).probe().state == "ready"
    nvml._library.cache_clear()
    gc.collect()
    assert fake.calls("shutdown") == 2


def test_counters_keep_the_library_started(fake: FakeLibrary) -> None:
    fake.set("energy", 1)
    opened = opening(Nvml(Host()), ["0/energy"])
    nvml._library.cache_clear()
    gc.collect()
    assert fake.calls("shutdown") == 0
    assert opened.read() == [1]


def test_a_library_that_goes_between_listing_and_opening_is_refused(
    fake: FakeLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.set("energy", 1)
    events = Nvml(Host()).find("0/energy")
    monkeypatch.setattr(nvml, "LIBRARY", "/nonexistent/libnvidia-ml.so.1")
    with pytest.raises(CounterRefused, match="nvml:0/energy: cannot load the NVIDIA management"):
        Nvml(Host()).open(events)


def test_without_the_library_it_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "LIBRARY", "libnvidia-ml-that-is-not-there.so.1")
    probe = Nvml(Host()).probe()
    assert probe.state == "absent"
    assert "libnvidia-ml-that-is-not-there.so.1" in (probe.reason or "")
    assert probe.remedy == nvml.DRIVER_REMEDY
    assert Nvml(Host()).events() == []


def test_another_library_is_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvml, "LIBRARY", "libc.so.6")
    probe = Nvml(Host()).probe()
    assert probe.state == "absent"
    assert (probe.reason or "").startswith("libc.so.6: not an NVIDIA management library")
