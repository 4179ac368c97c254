"""Metrics as events: PMU and event from a name, and what is known of them."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.counters_trees.arm_controllers import imx8mm, imx8qm
from tests.counters_trees.machines import (
    ALTRA_ADDRESSES,
    altra,
    broadwell,
    granite_rapids_before_the_fix,
    power10,
)

from memgauge.counters.host import Host
from memgauge.model.counting.events import Event

pytest.importorskip("memgauge._core", reason="the native core is not built")

from memgauge import _core
from memgauge.counters.pcp.events import Namer
from memgauge.counters.pcp.units import fraction_bits, unit_of


def metric(name: str, **changes: object) -> _core.PcpMetric:
    """What a daemon says of a metric."""
    fields: dict[str, object] = {
        "name": name,
        "error": "",
        "type": "i64",
        "counts": True,
        "instances": [SimpleNamespace(name="cpu0", available=True)],
        "no_value": "",
        **dict.fromkeys(("space", "time", "count"), 0),
        **dict.fromkeys(("space_scale", "time_scale", "count_scale"), 0),
    }
    return cast("_core.PcpMetric", SimpleNamespace(**{**fields, **changes}))


def event(namer: Namer, name: str, **changes: object) -> Event:
    """The event of one metric."""
    return namer.found(metric(name, **changes)).event


def counter(pmu: str, name: str) -> str:
    """As the agent writes it."""
    return f"perfevent.hwcounters.{pmu}.{name}.value"


def test_the_kernel_s_scale_holds_for_the_agent_s_raw_counts(tmp_path: Path) -> None:
    namer = Namer(broadwell(tmp_path).host, is_local=True)
    found = event(namer, counter("uncore_imc_2", "cas_count_read"))
    assert (found.quantity, found.unit, found.traffic) == ("read_bytes", "B", "dram")
    assert found.scale == pytest.approx(64)
    assert found.instances == ["uncore_imc_2@cpu0"]


def test_an_event_worth_nothing_without_its_scale_is_a_plain_count(tmp_path: Path) -> None:
    name = counter("nest_mcs01_imc", "PM_MCS_128B_RD_DATA_BLOCKS_MC0_CHAN01")
    here = event(Namer(power10(tmp_path).host, is_local=True), name)
    assert (here.quantity, here.scale) == ("read_bytes", 4096 * 128)
    elsewhere = event(Namer(Host(sysfs=tmp_path / "none"), is_local=True), name)
    assert (elsewhere.quantity, elsewhere.scale, elsewhere.unit) == ("count", 1.0, "")


def test_half_of_a_channel_is_no_traffic_through_the_agent_either(tmp_path: Path) -> None:
    """Kernels before the fix publish the first sub-channel of Granite Rapids under this name."""
    namer = Namer(granite_rapids_before_the_fix(tmp_path).host, is_local=True)
    found = event(namer, counter("uncore_imc_2", "cas_count_read"))
    assert (found.quantity, found.traffic) == ("count", None)


def test_a_chip_told_by_its_identifier_only_is_not_guessed(tmp_path: Path) -> None:
    name = counter("imx8_ddr0", "read_cycles")
    here = event(Namer(imx8mm(tmp_path / "mm").host, is_local=True), name)
    assert (here.quantity, here.scale) == ("read_bytes", 16)
    for namer in (
        Namer(imx8qm(tmp_path / "qm").host, is_local=True),
        Namer(imx8mm(tmp_path / "remote").host, is_local=False),
    ):
        assert event(namer, name).quantity == "count"


def test_another_machine_s_daemon_gets_nothing_of_this_sysfs(tmp_path: Path) -> None:
    namer = Namer(broadwell(tmp_path).host, is_local=False)
    found = event(namer, counter("uncore_imc_2", "cas_count_read"))
    assert ".scale" not in found.scale_source
    assert namer.layout.package_of == {}


def test_sockets_follow_the_platform_s_own_rule(tmp_path: Path) -> None:
    tree = altra(tmp_path)
    pmus = [f"arm_dmc620_{address}" for address in ALTRA_ADDRESSES]
    namer = Namer(tree.host, is_local=True)
    found = [namer.found(metric(counter(pmu, "clkdiv2_rdwr"))) for pmu in pmus]
    assert {one.event.domain for one in found} == {"memory"}
    sockets = namer.sockets([one.hardware for one in found if one.hardware is not None])
    assert [sockets[pmu] for pmu in pmus] == [36] * 8 + [3180] * 8
    last = found[-1].hardware
    assert last is not None
    assert namer.sockets([last])[pmus[-1]] == 3180
    elsewhere = Namer(tree.host, is_local=False)
    assert elsewhere.sockets([last]) == {pmus[-1]: None}


def test_an_unknown_pmu_is_counted_as_it_is(tmp_path: Path) -> None:
    found = event(Namer(Host(sysfs=tmp_path), is_local=True), counter("odd_pmu", "odd_event"))
    assert (found.quantity, found.scale, found.unit, found.traffic) == ("count", 1.0, "", None)
    assert "odd_event of PMU odd_pmu" in found.meaning


def test_without_a_value_the_line_to_configure_is_told(tmp_path: Path) -> None:
    found = event(
        Namer(Host(sysfs=tmp_path), is_local=True),
        counter("nest_mba3_imc", "PM_MBA3_READ_BYTES"),
        instances=[],
        no_value="Missing metric value(s)",
    )
    assert found.state == "refused"
    assert "Missing metric value(s)" in (found.reason or "")
    assert "nest_mba3_imc.PM_MBA3_READ_BYTES below [dynamic]" in (found.remedy or "")


@pytest.mark.parametrize(
    ("dimensions", "unit", "scale"),
    [
        ({"space": 1, "space_scale": 2}, "B", 1024.0**2),
        ({"time": 1, "time_scale": 1}, "s", 1e-6),
        ({"time": 1, "time_scale": 5}, "s", 3600.0),
        ({"count": 1, "count_scale": 3}, "", 1000.0),
        ({}, "", 1.0),
        ({"space": 1, "time": -1}, "", 1.0),
    ],
)
def test_units_are_the_daemon_s(dimensions: dict[str, int], unit: str, scale: float) -> None:
    made = unit_of(metric("any", **dimensions))
    assert (made.unit, made.scale) == (unit, scale)
    assert (made.note is not None) == ("space" in dimensions and "time" in dimensions)


def test_a_fraction_s_parts_are_in_the_scale(tmp_path: Path) -> None:
    level = metric("any.level", type="f64", counts=False)
    assert fraction_bits(level) == 20
    found = Namer(Host(sysfs=tmp_path), is_local=True).found(level)
    assert found.event.scale == 2.0**-20
    assert fraction_bits(metric("any.count", type="f32")) == 8
    assert fraction_bits(metric("any.count", type="u32")) is None
