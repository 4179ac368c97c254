"""The powercap back end: zones, what overlaps, wrapping, and who may read."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import open_to_all, opening, plant, without_rights

from memgauge.counters.files.powercap import Powercap
from memgauge.model.errors import CounterRefused, UnknownEvent

ZONES = "/sys/class/powercap"
RANGE_UJ = 262143328850


def zone(key: str, name: str, energy_uj: int = 1000) -> dict[str, str]:
    return {
        f"{ZONES}/{key}/name": f"{name}\n",
        f"{ZONES}/{key}/energy_uj": f"{energy_uj}\n",
        f"{ZONES}/{key}/max_energy_range_uj": f"{RANGE_UJ}\n",
    }


SERVER = (
    zone("intel-rapl:0", "package-0")
    | zone("intel-rapl:0:0", "dram")
    | zone("intel-rapl:0:1", "core")
    | zone("intel-rapl:1", "package-1")
    | zone("intel-rapl:1:0", "dram")
    | zone("intel-rapl:2", "psys")
    | zone("intel-rapl-mmio:0", "package-0")
    | {f"{ZONES}/intel-rapl/enabled": "1\n"}
)


def server(root: Path) -> Powercap:
    return Powercap(plant(root, SERVER))


def test_only_zones_that_add_up_are_chosen_by_themselves(tmp_path: Path) -> None:
    events = {event.name: event for event in server(tmp_path).events()}
    assert [name for name, event in events.items() if event.automatic] == [
        "powercap:intel-rapl:0",
        "powercap:intel-rapl:1",
        "powercap:intel-rapl:0:0",
        "powercap:intel-rapl:1:0",
    ]
    assert "a part of intel-rapl:0" in events["powercap:intel-rapl:0:1"].meaning
    assert "the same as intel-rapl:0" in events["powercap:intel-rapl-mmio:0"].meaning
    assert "packages included" in events["powercap:intel-rapl:2"].meaning


def test_the_other_registers_of_a_package_count_where_they_are_the_only_ones(
    tmp_path: Path,
) -> None:
    host = plant(tmp_path, zone("intel-rapl-mmio:0", "package-0"))
    (event,) = Powercap(host).events()
    assert event.automatic


def test_a_name_means_that_zone_of_every_socket(tmp_path: Path) -> None:
    opened = opening(server(tmp_path), ["package", "dram"])
    assert [(one.instance, one.socket) for one in opened.made.counters] == [
        ("package-0", 0),
        ("package-1", 1),
        ("package-0/dram", 0),
        ("package-1/dram", 1),
    ]
    assert opened.made.notes == []


def test_counters_that_overlap_are_told(tmp_path: Path) -> None:
    (note,) = opening(server(tmp_path), ["intel-rapl:0", "intel-rapl:0:1"]).made.notes
    assert note.startswith("powercap:intel-rapl:0:1: energy of package-0/core: a part of")


def test_microjoules_become_joules_across_the_wrap(tmp_path: Path) -> None:
    opened = opening(server(tmp_path), ["intel-rapl:0"])
    file = tmp_path / f"{ZONES}/intel-rapl:0/energy_uj".lstrip("/")
    readings = []
    for energy_uj in (RANGE_UJ - 400_000, RANGE_UJ - 100_000, 200_000):
        file.write_text(f"{energy_uj}\n")
        readings.append(opened.read())
    name = "powercap:intel-rapl:0@package-0"
    assert opened.between(name, readings[0], readings[1]) == pytest.approx(0.3)
    assert opened.between(name, readings[1], readings[2]) == pytest.approx(0.3)


def test_a_zone_of_unknown_range_that_falls_is_missing(tmp_path: Path) -> None:
    files = zone("intel-rapl:0", "package-0")
    del files[f"{ZONES}/intel-rapl:0/max_energy_range_uj"]
    opened = opening(Powercap(plant(tmp_path, files)), ["package"])
    before = opened.read()
    (tmp_path / f"{ZONES}/intel-rapl:0/energy_uj".lstrip("/")).write_text("7\n")
    assert opened.between("powercap:intel-rapl:0@package-0", before, opened.read()) is None


def test_zones_closed_to_users_are_refused_with_the_remedy() -> None:
    with open_to_all() as root:
        host = plant(root, zone("intel-rapl:0", "package-0"))
        (root / f"{ZONES}/intel-rapl:0/energy_uj".lstrip("/")).chmod(0)
        back_end = Powercap(host)
        with without_rights():
            probe = back_end.probe()
            (event,) = back_end.events()
            with pytest.raises(CounterRefused, match="Permission denied; run as root, or as root"):
                back_end.open([event])
    assert (probe.state, event.state) == ("refused", "refused")
    assert "Permission denied" in (probe.reason or "")
    assert "chmod a+r" in (probe.remedy or "")


def test_without_zones_it_is_absent_and_says_so(tmp_path: Path) -> None:
    back_end = Powercap(plant(tmp_path, {}))
    assert back_end.probe().state == "absent"
    assert back_end.events() == []
    with pytest.raises(UnknownEvent, match="'powercap:package': not known here"):
        back_end.find("package")


def test_an_unknown_zone_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownEvent, match="did you mean powercap:intel-rapl:"):
        server(tmp_path).find("intel-rapl:9")
