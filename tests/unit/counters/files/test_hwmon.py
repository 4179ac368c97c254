"""The hwmon back end: chips by name, averages, and older drivers' places."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import open_to_all, opening, plant, without_rights

from memgauge.counters.files.hwmon import Hwmon

CHIPS = "/sys/class/hwmon"
GRACE = {
    f"{CHIPS}/hwmon0/name": "coretemp\n",
    f"{CHIPS}/hwmon0/temp1_input": "41000\n",
    f"{CHIPS}/hwmon1/name": "power_meter\n",
    f"{CHIPS}/hwmon1/device/power1_average": "61000000\n",
    f"{CHIPS}/hwmon1/device/power1_average_interval": "50\n",
    f"{CHIPS}/hwmon1/device/power1_oem_info": "Grace Power Socket 0\n",
    f"{CHIPS}/hwmon2/name": "power_meter\n",
    f"{CHIPS}/hwmon2/device/power1_average": "59000000\n",
    f"{CHIPS}/hwmon2/device/power1_oem_info": "Grace Power Socket 1\n",
    f"{CHIPS}/hwmon3/name": "amd_energy\n",
    f"{CHIPS}/hwmon3/energy1_input": "5000000\n",
    f"{CHIPS}/hwmon3/energy1_label": "Esocket0\n",
    f"{CHIPS}/hwmon4/name": "ina226\n",
    f"{CHIPS}/hwmon4/power1_input": "2500000\n",
    f"{CHIPS}/hwmon4/power1_input_highest": "9\n",
}


def test_power_and_energy_are_listed_by_chip(tmp_path: Path) -> None:
    events = {event.name: event for event in Hwmon(plant(tmp_path, GRACE)).events()}
    assert {name: (one.quantity, one.unit, one.gauge) for name, one in events.items()} == {
        "hwmon:power_meter/power1_average": ("power", "W", True),
        "hwmon:amd_energy/energy1_input": ("energy", "J", False),
        "hwmon:ina226/power1_input": ("power", "W", True),
    }
    assert "an average over 50 ms" in events["hwmon:power_meter/power1_average"].meaning
    assert not any(event.automatic for event in events.values())


def test_the_only_sensor_overlaps_with_none_and_may_be_chosen(tmp_path: Path) -> None:
    only = {path: text for path, text in GRACE.items() if "hwmon4" in path}
    (event,) = Hwmon(plant(tmp_path, only)).events()
    assert event.automatic


def test_chips_of_one_name_are_told_apart_by_their_labels(tmp_path: Path) -> None:
    opened = opening(Hwmon(plant(tmp_path, GRACE)), ["power_meter/power1_average"])
    values = opened.raw()
    assert values == {
        "hwmon:power_meter/power1_average@hwmon1 (Grace Power Socket 0)": 61000000,
        "hwmon:power_meter/power1_average@hwmon2 (Grace Power Socket 1)": 59000000,
    }
    (name, _) = values
    reading = opened.read()
    assert opened.between(name, reading, reading) == 61.0


def test_energy_counts_in_joules_and_a_set_back_is_missing(tmp_path: Path) -> None:
    opened = opening(Hwmon(plant(tmp_path, GRACE)), ["amd_energy/energy1_input"])
    file = tmp_path / f"{CHIPS}/hwmon3/energy1_input".lstrip("/")
    before = opened.read()
    file.write_text("7500000\n")
    after = opened.read()
    file.write_text("100\n")
    name = "hwmon:amd_energy/energy1_input@hwmon3 (Esocket0)"
    assert opened.between(name, before, after) == 2.5
    assert opened.between(name, after, opened.read()) is None


@pytest.mark.parametrize("text", ["", "No data", "-1"])
def test_a_sensor_without_a_number_is_missing(tmp_path: Path, text: str) -> None:
    opened = opening(Hwmon(plant(tmp_path, GRACE)), ["ina226/power1_input"])
    (tmp_path / f"{CHIPS}/hwmon4/power1_input".lstrip("/")).write_text(text)
    assert opened.raw() == {"hwmon:ina226/power1_input@hwmon4": None}


def test_a_sensor_for_root_is_refused_to_others() -> None:
    with open_to_all() as root:
        host = plant(root, GRACE)
        (root / f"{CHIPS}/hwmon3/energy1_input".lstrip("/")).chmod(0)
        with without_rights():
            states = {event.name: (event.state, event.remedy) for event in Hwmon(host).events()}
    assert states["hwmon:ina226/power1_input"] == ("ready", None)
    state, remedy = states["hwmon:amd_energy/energy1_input"]
    assert state == "refused"
    assert remedy is not None
    assert remedy.startswith("run as root")


def test_without_sensors_it_is_absent(tmp_path: Path) -> None:
    probe = Hwmon(plant(tmp_path, {f"{CHIPS}/hwmon0/name": "coretemp\n"})).probe()
    assert (probe.state, probe.reason) == (
        "absent",
        f"no sensor of power or energy in {tmp_path}{CHIPS}",
    )
