"""Bytes that the kernel declares, of memory's PMUs that no table knows."""

from pathlib import Path

import pytest
from tests.counters_trees.machines import MACHINES
from tests.counters_trees.sysfs import FakePmu, plant

from memgauge.counters.opening import find
from memgauge.counters.perf.back_end import PerfBackEnd
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.experiments.counters_verify.events import wanted
from memgauge.model.counting.events import Event
from memgauge.model.errors import CounterRefused

pytestmark = pytest.mark.native

BYTES = {"scale": "64", "unit": "Bytes"}


def events(root: Path, pmu: str, **units: dict[str, str]) -> dict[str, Event]:
    """What is listed of a PMU with events of these names."""
    names = {name.replace("__", "-"): scale for name, scale in units.items()}
    unit = FakePmu(
        name=pmu,
        type=33,
        cpumask="0",
        format={"event": "config:0-7"},
        events={name: f"event={at:#x}" for at, name in enumerate(names, 1)},
        scales={name: scale for name, scale in names.items() if scale},
    )
    host = plant(root, [unit], {0: [0, 1]}).host
    found = PerfBackEnd(host).events()
    return {one.name.split("/")[1]: one for one in found if one.name.count("/") == 2}


def test_bytes_one_way_or_both_are_taken_from_the_kernel_s_words(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        "acme_mem_0",
        rd_bytes=BYTES,
        mem__write=({"scale": "6.103515625e-05", "unit": "MiB"}),
        total_rw_bytes=({"scale": "1", "unit": "KB"}),
        ticks={},
    )
    assert {name: (one.quantity, one.unit, one.scale) for name, one in found.items()} == {
        "rd_bytes": ("read_bytes", "B", 64),
        "mem-write": ("write_bytes", "B", 64),
        "total_rw_bytes": ("traffic_bytes", "B", 1000),
        "ticks": ("count", "", 1),
    }
    assert not any(one.automatic for one in found.values())


def test_what_is_no_memory_s_or_no_bytes_is_not_made_traffic(tmp_path: Path) -> None:
    for at, (pmu, scale) in enumerate(
        [("acme_pcie_0", BYTES), ("acme_mem_0", {}), ("acme_mem_0", {"scale": "2", "unit": "ns"})]
    ):
        (one,) = events(tmp_path / str(at), pmu, rd_bytes=scale).values()
        assert one.quantity == "count"


def test_what_a_table_knows_of_a_pmu_counts_more_than_what_the_kernel_declares(
    tmp_path: Path,
) -> None:
    found = events(tmp_path, "arm_dmc620_10008c000", clkdiv2_rdwr=BYTES)
    assert found["clkdiv2_rdwr"].quantity == "count"


def test_auto_does_not_choose_them_verify_takes_them_and_the_list_says_so(tmp_path: Path) -> None:
    events(tmp_path, "acme_ddr_0", rd_bytes=BYTES, wr_bytes=BYTES)
    host = plant(tmp_path, [], {0: [0, 1]}).host
    with pytest.raises(CounterRefused):
        find(["auto"], host)
    assert {one.quantity for one in wanted(None, ("perf",), host)} == {"read_bytes", "write_bytes"}
    probe = PerfBackEnd(host).probe()
    assert "acme_ddr_0: not in the tables; the kernel declares its bytes" in (probe.reason or "")
    assert "counters verify" in (probe.remedy or "")


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_no_machine_of_the_tables_has_any(tmp_path: Path, name: str) -> None:
    assert Catalogue(MACHINES[name](tmp_path).host).declared == []
