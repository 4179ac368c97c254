"""The kernel's figures of the whole machine, in made-up trees and on this one."""

from pathlib import Path

import pytest
from tests.unit.counters.small_files import opening, plant

from memgauge.counters.files import kernel
from memgauge.counters.files.kept_files import NumberField
from memgauge.counters.files.kernel import FIGURES, Kernel
from memgauge.counters.host import this_host
from memgauge.model.errors import CounterRefused

STAT = "cpu  10 0 20 3000 5 0 1 {steal} 0 0\ncpu0 5 0 10 1500 2 0 0 99 0 0\nintr 7 1\n"
TREE = {
    "/proc/stat": STAT.format(steal=250),
    "/proc/vmstat": "pgfault 1000\npgfault_other 7\npgmajfault 3\npswpin 0\n",
    "/proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=70\n",
    "/sys/devices/system/edac/mc/mc0/ce_count": "4\n",
    "/sys/devices/system/edac/mc/mc1/ce_count": "1\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2400000\n",
    "/sys/class/thermal/thermal_zone0/temp": "47000\n",
}


@pytest.fixture
def guest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kernel, "_is_virtual", lambda _: True)


def scaled(tree: dict[str, str], root: Path, name: str) -> list[float]:
    found = opening(Kernel(plant(root, tree)), [name])
    raw = found.raw()
    return [one.scale * (raw[one.name] or 0) for one in found.made.counters]


def test_rows_and_fields_are_told_apart(tmp_path: Path) -> None:
    ticks = next(one.scale for one in FIGURES if one.name == "steal_time")
    assert scaled(TREE, tmp_path, "steal_time") == [pytest.approx(250 * ticks)]
    assert scaled(TREE, tmp_path, "page_faults") == [1000]
    assert scaled(TREE, tmp_path, "memory_pressure") == [pytest.approx(5.0)]
    assert scaled(TREE, tmp_path, "memory_stall") == [pytest.approx(70e-6)]
    assert scaled(TREE, tmp_path, "ecc_corrected") == [4, 1]
    assert scaled(TREE, tmp_path, "clock") == [2.4e9]
    assert scaled(TREE, tmp_path, "temperature") == [47.0]


def test_what_the_kernel_lacks_is_not_listed(tmp_path: Path) -> None:
    names = {event.name for event in Kernel(plant(tmp_path, TREE)).events()}
    assert "kernel:swapped_in" in names, "a zero is a figure"
    assert not names & {"kernel:oom_kills", "kernel:cpu_pressure", "kernel:ecc_uncorrected"}


@pytest.mark.usefixtures("guest")
def test_steal_that_never_moved_says_nothing_on_a_virtual_machine(tmp_path: Path) -> None:
    back_end = Kernel(plant(tmp_path, {**TREE, "/proc/stat": STAT.format(steal=0)}))
    (event,) = back_end.find("steal_time")
    assert (event.state, event.instances) == ("absent", [])
    assert "no stolen time" in (event.reason or "")
    with pytest.raises(CounterRefused, match="steal_time: the hypervisor has reported no"):
        back_end.open([event])


def test_an_old_kernel_without_a_steal_column(tmp_path: Path) -> None:
    host = plant(tmp_path, {"/proc/stat": "cpu 1 2 3 4\n", "/proc/vmstat": "pgfault x\n"})
    back_end = Kernel(host)
    assert back_end.events() == []
    assert back_end.probe().state == "absent"


@pytest.mark.native
def test_this_machine_counts_page_faults() -> None:
    found = opening(Kernel(this_host()), ["page_faults"])
    before = found.read()
    assert len(bytearray(1 << 22)) == 1 << 22
    name = found.made.counters[0].name
    assert (found.between(name, before, found.read()) or 0) >= 0
    assert (found.raw()[name] or 0) > 0


def test_cells() -> None:
    cell = NumberField("some", "total")
    assert kernel._value("some total=7\n", cell) == 7
    assert kernel._value("some total=\n", cell) is None
    assert kernel._value("", cell) is None
