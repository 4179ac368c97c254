"""CUPTI's counters of a GPU's memory: on a stand-in that counts what is really moved, and what the
real host library says of chips, where it is installed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memgauge import _core
from memgauge.counters.base import MACHINE, Target
from memgauge.counters.cupti import back_end as cupti
from memgauge.counters.cupti import devices as cupti_devices
from memgauge.counters.cupti.back_end import Cupti
from memgauge.counters.cupti.metrics import FIGURES, chosen
from memgauge.counters.host import Host
from memgauge.counters.opening import opened
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent
from memgauge.system.gpu.libraries import cupti_file

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn, StandInFiles

pytestmark = pytest.mark.native

READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
MIB = 1 << 20
INTERVAL_NS = 200_000
GAP_NS = 1_000_000_000
A_PROGRAM = Target(pids=[1])


class Machine:
    """The stand-ins of one machine, loaded in this process."""

    def __init__(self, files: StandInFiles) -> None:
        self.library = _core.CuptiLibrary(files.counters, files.driver)
        self.driver = _core.GpuDriver(files.driver)
        self._gpu = _core.Gpu(self.driver, 0, files.compiler)
        self._transfers = _core.GpuTransfers(self._gpu, MIB)

    def move(self, *, written: int = 0, read: int = 0) -> None:
        """So many bytes to and from the GPU's memory, by copies."""
        if written:
            self._transfers.run("host-to-device", written)
        if read:
            self._transfers.run("device-to-host", read)

    def ranges(self) -> _core.CuptiRangeSource:
        return _core.CuptiRangeSource(self.library, 0, [READ, WRITE])

    def samples(self) -> _core.CuptiSamplingSource:
        return _core.CuptiSamplingSource(self.library, 0, [READ, WRITE], INTERVAL_NS, GAP_NS)


def machine(gpu_stand_in: GpuStandIn, **knobs: object) -> Machine:
    return Machine(gpu_stand_in.files(without=(), **knobs))


def waited(reader: _core.Reader) -> list[int | None]:
    """A reading for which the hardware had time for some samples."""
    time.sleep(5 * INTERVAL_NS * 1e-9)
    return list(reader.read().values)


def test_a_range_counts_what_lies_between_two_readings(gpu_stand_in: GpuStandIn) -> None:
    here = machine(gpu_stand_in)
    here.move(written=MIB, read=MIB)  # before the first reading: not counted
    reader = _core.Reader([here.ranges()])
    assert reader.read().values == [0, 0]
    here.move(written=3 * 4096)
    assert reader.read().values == [0, 3 * 4096]
    here.move(read=4096, written=8192)
    assert reader.read().values == [4096, 5 * 4096]
    assert reader.read().values == [4096, 5 * 4096]


def test_sampling_adds_up_what_any_reading_found(gpu_stand_in: GpuStandIn) -> None:
    here = machine(gpu_stand_in)
    reader = _core.Reader([here.samples()])
    assert waited(reader) == [0, 0, 0]
    here.move(written=MIB, read=4096)
    assert waited(reader) == [4096, MIB, 0]
    here.move(read=4096)
    assert waited(reader) == [8192, MIB, 0]


@pytest.mark.parametrize("knob", ["cupti_overflow_at", "cupti_full_at", "cupti_hole_at"])
def test_lost_samples_are_a_missing_reading_and_a_new_generation(
    gpu_stand_in: GpuStandIn, knob: str
) -> None:
    here = machine(gpu_stand_in, **{knob: 3})  # the first is the trial when it is opened
    source = here.samples()
    reader = _core.Reader([source])
    here.move(written=MIB)
    assert waited(reader) == [0, MIB, 0]
    here.move(written=MIB)
    assert waited(reader) == [None, None, 1]
    assert "too late" in source.error
    here.move(written=4096)
    again = waited(reader)
    assert again[2] == 1
    assert again[1] is not None


def test_a_range_that_could_not_be_read_is_missing_and_the_next_is_exact(
    gpu_stand_in: GpuStandIn,
) -> None:
    # Once in the trial when it is opened; then the second range's.
    here = machine(gpu_stand_in, fail={"cuptiRangeProfilerDecodeData": "9@3"})
    source = here.ranges()
    reader = _core.Reader([source])
    reader.read()
    here.move(written=MIB)
    assert reader.read().values == [0, MIB]
    here.move(written=MIB)
    assert reader.read().values == [None, None]
    assert "cuptiRangeProfilerDecodeData" in source.error


def test_a_closed_source_reads_nothing_and_leaves_the_counters_to_another(
    gpu_stand_in: GpuStandIn,
) -> None:
    here = machine(gpu_stand_in)
    first = here.ranges()
    reader = _core.Reader([first])
    reader.read()
    with pytest.raises(RequestError, match=r"cuptiPmSamplingEnable: .*one at a time"):
        here.samples()
    first.close()
    assert reader.read().values == [None, None]
    second = here.samples()
    second.close()
    assert waited(_core.Reader([second]))[:2] == [None, None]


@pytest.mark.parametrize(
    ("call", "code", "remedy"),
    [
        ("cuptiRangeProfilerStart", 35, "NVreg_RestrictProfilingToAdminUsers=0"),
        ("cuptiProfilerGetCounterAvailability", 35, "CAP_SYS_ADMIN"),
        ("cuptiRangeProfilerEnable", 26, "dcgmi profile --pause"),
        ("cuptiRangeProfilerSetConfig", 999, "driver is older than CUPTI"),
        ("cuptiProfilerHostEvaluateToGpuValues", 9, "driver is older than CUPTI"),
    ],
)
def test_a_refusal_names_call_result_and_remedy(
    gpu_stand_in: GpuStandIn, call: str, code: int, remedy: str
) -> None:
    here = machine(gpu_stand_in, fail={call: code})
    with pytest.raises(RequestError) as refused:
        here.ranges()
    text = str(refused.value)
    if call == "cuptiProfilerHostEvaluateToGpuValues":
        with pytest.raises(RequestError, match=f"GPU 0: {call}: "):
            here.samples()
    assert text.startswith(f"GPU 0: {call}: ")
    assert remedy in text
    assert "\n" not in text


def test_more_than_one_pass_is_refused_in_words(gpu_stand_in: GpuStandIn) -> None:
    here = machine(gpu_stand_in, cupti_passes=2)
    for open_it in (here.ranges, here.samples):
        with pytest.raises(RequestError, match="takes 2 passes over the same work"):
            open_it()


def test_a_gpu_without_a_timed_trigger_is_sampled_by_its_clock(gpu_stand_in: GpuStandIn) -> None:
    here = machine(gpu_stand_in, cupti_chip="GA100")
    source = here.samples()
    assert source.by_clock
    reader = _core.Reader([source])
    here.move(written=MIB)
    assert waited(reader) == [0, MIB, 0]


def test_libraries_before_cuda_13_get_the_shorter_structure(gpu_stand_in: GpuStandIn) -> None:
    reader = _core.Reader([machine(gpu_stand_in, cupti_version=28).samples()])
    assert waited(reader) == [0, 0, 0]


def test_later_libraries_are_asked_for_counters_of_the_whole_device(
    gpu_stand_in: GpuStandIn,
) -> None:
    here = machine(gpu_stand_in, cupti_version=130101)
    reader = _core.Reader([here.ranges()])
    reader.read()
    here.move(written=MIB)
    assert reader.read().values == [0, MIB]


def test_a_library_that_lacks_what_is_wanted_is_refused(gpu_stand_in: GpuStandIn) -> None:
    old = gpu_stand_in.files(without=("cuptiPmSamplingEnable",))
    with pytest.raises(RequestError, match=r"older than that of CUDA 12\.6"):
        _core.CuptiLibrary(old.counters, old.driver)
    with pytest.raises(RequestError, match="is not CUPTI"):
        _core.CuptiLibrary(old.compiler)
    with pytest.raises(RequestError, match=r"cannot load CUPTI: .*memgauge\[cuda\]"):
        _core.CuptiLibrary("/nowhere/libcupti.so.12")


@pytest.fixture
def back_end(gpu_stand_in: GpuStandIn, monkeypatch: pytest.MonkeyPatch) -> Iterator[BackEndOf]:
    yield BackEndOf(gpu_stand_in, monkeypatch)
    cupti_devices.library.cache_clear()
    cupti_devices.devices.cache_clear()


class BackEndOf:
    """The back end on a machine with these knobs."""

    def __init__(self, stand_in: GpuStandIn, patch: pytest.MonkeyPatch) -> None:
        self._stand_in = stand_in
        self._patch = patch

    def __call__(self, **knobs: object) -> Cupti:
        files = self._stand_in.files(without=(), **knobs)
        driver = _core.GpuDriver(files.driver)
        cupti_devices.library.cache_clear()
        cupti_devices.devices.cache_clear()
        self._patch.setattr(cupti, "is_started", lambda: True)
        self._patch.setattr(cupti_devices, "gpu_driver", lambda: driver)
        self._patch.setattr(cupti_devices, "cupti_file", lambda _version: files.counters)
        self._patch.setattr(cupti_devices, "cuda_driver_file", lambda: files.driver)
        return Cupti(Host())


def test_events_say_what_counts_them_on_this_chip(back_end: BackEndOf) -> None:
    there = back_end(devices=2)
    assert there.probe().state == "ready"
    events = {event.name: event for event in there.events()}
    assert [name for name in events if name.startswith("cupti:1/")] == [
        f"cupti:1/{figure.name}" for figure in FIGURES
    ]
    read = events["cupti:1/dram_read"]
    assert (read.quantity, read.domain, read.traffic, read.scale) == (
        "read_bytes",
        "gpu",
        "gpu1",
        1.0,
    )
    assert read.encoding == f"range: {READ}; sampling: {READ}"
    assert "# of bytes read from DRAM" in read.meaning
    assert not events["cupti:0/pcie_read"].automatic
    with pytest.raises(UnknownEvent, match="cupti:0/dram_read"):
        there.find("0/dram_reads")


def test_a_chip_that_counts_sectors_only_has_their_scale(back_end: BackEndOf) -> None:
    there = back_end(cupti_chip="TU102")
    (read, *_) = there.events()
    assert read.encoding == "range: dram__sectors_read.sum; sampling: dram__sectors_read.sum"
    assert read.scale == 32.0
    assert "32 bytes" in read.scale_source
    link = there.find("0/pcie_read")[0]
    assert link.state == "absent"
    assert "no metric of it for this chip" in (link.reason or "")


def test_work_of_this_process_is_ranged_and_a_program_sampled(back_end: BackEndOf) -> None:
    there = back_end()
    events = [event for event in there.events() if event.automatic]
    ranged = there.open(events, MACHINE)
    assert [type(one) for one in ranged.sources] == [_core.CuptiRangeSource]
    assert [counter.slot for counter in ranged.counters] == [0, 1]
    assert ranged.counters[0].generation_slot is None
    assert "what this process does" in ranged.notes[0]
    ranged.close()
    sampled = there.open(events, A_PROGRAM)
    assert [counter.generation_slot for counter in sampled.counters] == [2, 2]
    assert "samples every 2 ms, whichever process uses it" in sampled.notes[0]
    sampled.close()


def test_a_link_is_sampled_only_and_says_what_to_name_instead(back_end: BackEndOf) -> None:
    there = back_end()
    link = there.find("0/pcie_read")
    with pytest.raises(CounterRefused, match="nvml:0/pcie_received_bytes"):
        there.open(link, MACHINE)
    there.open(link, A_PROGRAM).close()


def test_volta_is_ranged_only(back_end: BackEndOf) -> None:
    there = back_end(cupti_chip="GV100")
    (read,) = there.find("0/dram_read")
    assert read.state == "ready"
    with pytest.raises(CounterRefused, match=r"not by sampling: .*NOT_SUPPORTED"):
        there.open([read], A_PROGRAM)


def test_two_gpus_are_two_sources(back_end: BackEndOf) -> None:
    there = back_end(devices=2)
    events = [there.find(text)[0] for text in ("0/dram_read", "1/dram_read", "0/dram_write")]
    made = there.open(events, A_PROGRAM)
    assert [source.slots for source in made.sources] == [3, 2]
    placed = [(one.event, one.slot, one.generation_slot) for one in made.counters]
    assert placed == [
        ("cupti:0/dram_read", 0, 2),
        ("cupti:0/dram_write", 1, 2),
        ("cupti:1/dram_read", 3, 4),
    ]
    with pytest.raises(CounterRefused, match=r"GPU 1: cuptiRangeProfilerEnable"):
        there.open(events[1:2], MACHINE)
    made.close()
    there.open(events, MACHINE).close()


@pytest.mark.parametrize(
    ("knobs", "state", "reason"),
    [
        (
            {"fail": {"cuptiPmSamplingGetCounterAvailability": 35}},
            "refused",
            "INSUFFICIENT_PRIVILEGES",
        ),
        ({"cupti_unsupported": "virtual_gpu"}, "absent", "virtual GPU's counters are not enabled"),
        ({"cupti_unsupported": "confidential_computing"}, "absent", "confidential computing is on"),
        ({"cupti_unsupported": "mig"}, "absent", "part of a GPU (MIG)"),
        ({"fail": {"cuptiProfilerInitialize": 15}}, "absent", "install the CUPTI of the driver's"),
        ({"cupti_chip": "GX999"}, "absent", "does not know the GPU's chip"),
    ],
)
def test_what_stands_against_counting_is_said(
    back_end: BackEndOf, knobs: dict[str, object], state: str, reason: str
) -> None:
    there = back_end(**knobs)
    probe = there.probe()
    assert probe.state == state
    assert reason in (probe.reason or "")
    assert (probe.remedy is not None) == (state == "refused")
    assert all(event.state == state for event in there.events() if event.automatic)


def test_nothing_of_cuda_is_started_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cupti, "is_started", lambda: False)
    monkeypatch.setattr(cupti, "devices", pytest.fail)
    there = Cupti(Host(sysfs=tmp_path))
    assert there.probe().reason == "the machine shows no NVIDIA GPU"
    assert there.events() == []


def test_who_names_an_event_has_a_gpu_whatever_sysfs_shows(
    back_end: BackEndOf, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    back_end()
    monkeypatch.setattr(cupti, "is_started", lambda: False)
    there = Cupti(Host(sysfs=tmp_path))
    assert there.events() == []
    assert [event.state for event in there.find("0/dram_read")] == ["ready"]
    back_end(fail={"cuptiProfilerInitialize": 15})
    monkeypatch.setattr(cupti, "is_started", lambda: False)
    with pytest.raises(UnknownEvent, match=r"cupti:0/dram_read.*: .*cuptiProfilerInitialize"):
        Cupti(Host(sysfs=tmp_path)).find("0/dram_read")


def test_counters_are_free_again_once_left(back_end: BackEndOf) -> None:
    there = back_end()
    events = [event for event in there.events() if event.automatic]
    for _ in range(2):
        with opened(events, name="trial") as counters:
            assert counters.reader.read().values == [0, 0]


# The real host library answers for any chip it knows, without a GPU and without a driver.
NAMES = {"GH100": READ, "GA100": READ, "AD102": READ, "GV100": READ}


@pytest.fixture(scope="module")
def real() -> _core.CuptiLibrary:
    try:
        library = _core.CuptiLibrary(cupti_file())
        known = library.chips
    except RequestError as error:
        pytest.skip(f"no CUPTI whose host library answers here: {error}")
    if "GH100" not in known:
        pytest.skip("this CUPTI does not know the chips that are asked for")
    return library


def test_real_chips_have_metrics_of_their_memory_in_one_pass(real: _core.CuptiLibrary) -> None:
    for chip, read in NAMES.items():
        found = cupti_devices.metrics_of(real, chip, "range")
        assert found["dram_read"].name == read
        assert found["dram_read"].scale == found["dram_write"].scale == 1.0
        both = [found["dram_read"].name, found["dram_write"].name]
        assert _core.CuptiMetrics(real, chip, "range").passes(both) == 1


def test_every_real_chip_is_asked_and_none_is_guessed(real: _core.CuptiLibrary) -> None:
    for chip in real.chips:
        try:
            requested = _core.CuptiMetrics(real, chip, "range")
        except RequestError:
            continue
        names = requested.names()
        for figure in FIGURES:
            metric = chosen(figure, names, requested.describe)
            if metric is not None:
                assert metric.name.removesuffix(".sum") in names
                assert figure.direction[:4] in metric.description.lower().replace(
                    "written", "write"
                )


def test_the_real_library_refuses_in_one_line(real: _core.CuptiLibrary) -> None:
    with pytest.raises(RequestError, match=r"CUPTI, NOPE1, by ranges: .*does not know"):
        _core.CuptiMetrics(real, "NOPE1", "range")
    with pytest.raises(RequestError, match=r"dram__no_such_thing\.sum: .*METRIC_NAME"):
        _core.CuptiMetrics(real, "GH100", "range").describe("dram__no_such_thing.sum")
