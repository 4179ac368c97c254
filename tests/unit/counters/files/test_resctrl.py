"""The resctrl back end: what is missing, groups, sockets, and values that are no numbers."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import opening, plant

from memgauge.counters.choice import memory_choice
from memgauge.counters.files.resctrl import Resctrl
from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent

ROOT = "/sys/fs/resctrl"
CPUS = "/sys/devices/system/cpu"
FEATURES = {f"{ROOT}/info/L3_MON/mon_features": "llc_occupancy\nmbm_total_bytes\nmbm_local_bytes\n"}


def monitored(group: str = "", total: str = "1000\n", local: str = "600\n") -> dict[str, str]:
    data = f"{ROOT}/{group}/mon_data" if group else f"{ROOT}/mon_data"
    return {
        f"{data}/mon_L3_{cache}/{file}": text
        for cache in ("00", "01")
        for file, text in (("mbm_total_bytes", total), ("mbm_local_bytes", local))
    }


def sockets() -> dict[str, str]:
    return {
        f"{CPUS}/cpu{cpu}/{file}": f"{cpu}\n"
        for cpu in (0, 1)
        for file in ("cache/index3/id", "topology/physical_package_id")
    }


MACHINE = FEATURES | monitored() | sockets()


def test_the_total_counts_traffic_beyond_each_cache(tmp_path: Path) -> None:
    back_end = Resctrl(plant(tmp_path, MACHINE))
    assert back_end.probe().state == "ready"
    (event,) = back_end.find("mbm_total_bytes")
    assert (event.quantity, event.scope, event.instances) == (
        "traffic_bytes",
        "l3",
        ["L3_00", "L3_01"],
    )
    counters = back_end.open([event]).counters
    assert [(counter.instance, counter.socket) for counter in counters] == [
        ("L3_00", 0),
        ("L3_01", 1),
    ]


def test_local_traffic_is_never_added_to_the_total(tmp_path: Path) -> None:
    host = plant(tmp_path, MACHINE)
    local = Resctrl(host).find("mbm_local_bytes")[0]
    assert (local.quantity, local.automatic) == ("count", False)
    assert "never add the two" in local.meaning


def test_every_control_group_is_in_the_machines_traffic(tmp_path: Path) -> None:
    host = plant(tmp_path, MACHINE | monitored("batch", total="50\n") | monitored("mon_groups/job"))
    values = opening(Resctrl(host), ["mbm_total_bytes"]).raw()
    assert values == {
        "resctrl:mbm_total_bytes@L3_00": 1000,
        "resctrl:mbm_total_bytes@L3_01": 1000,
        "resctrl:mbm_total_bytes@batch/L3_00": 50,
        "resctrl:mbm_total_bytes@batch/L3_01": 50,
    }


@pytest.mark.parametrize("requested", ["job", "mon_groups/job"])
def test_a_group_is_found_by_path_or_name_and_never_chosen_by_itself(
    tmp_path: Path, requested: str
) -> None:
    host = plant(tmp_path, MACHINE | monitored("mon_groups/job", total="7\n"))
    back_end = Resctrl(host)
    (event,) = back_end.find(f"{requested}/mbm_total_bytes")
    assert event.name == "resctrl:mon_groups/job/mbm_total_bytes"
    assert not event.automatic
    assert "of the tasks of group mon_groups/job only" in event.meaning
    assert opening(back_end, [f"{requested}/mbm_total_bytes"]).raw() == {
        "resctrl:mon_groups/job/mbm_total_bytes@L3_00": 7,
        "resctrl:mon_groups/job/mbm_total_bytes@L3_01": 7,
    }


def test_a_name_of_two_groups_is_not_guessed(tmp_path: Path) -> None:
    files = MACHINE | monitored("job") | monitored("mon_groups/job") | monitored("b/mon_groups/job")
    back_end = Resctrl(plant(tmp_path, files | monitored("b")))
    assert back_end.find("job/mbm_total_bytes")[0].name == "resctrl:job/mbm_total_bytes"
    plain = Resctrl(
        plant(
            tmp_path / "2",
            MACHINE | monitored("mon_groups/job") | monitored("b") | monitored("b/mon_groups/job"),
        )
    )
    with pytest.raises(RequestError, match="give the path of one: mon_groups/job, b/mon_groups/j"):
        plain.find("job/mbm_total_bytes")


def test_an_unknown_group_is_told_with_the_nearest(tmp_path: Path) -> None:
    back_end = Resctrl(plant(tmp_path, MACHINE | monitored("mon_groups/job")))
    with pytest.raises(UnknownEvent, match="did you mean resctrl:mon_groups/job/mbm_total_bytes"):
        back_end.find("jab/mbm_total_bytes")


@pytest.mark.parametrize("word", ["Unavailable\n", "Error\n", "Unassigned\n", ""])
def test_words_instead_of_a_number_are_missing_and_not_zero(tmp_path: Path, word: str) -> None:
    opened = opening(Resctrl(plant(tmp_path, MACHINE)), ["mbm_total_bytes"])
    before = opened.read()
    data = tmp_path / f"{ROOT}/mon_data".lstrip("/")
    (data / "mon_L3_00/mbm_total_bytes").write_text(word)
    (data / "mon_L3_01/mbm_total_bytes").write_text("5000\n")
    after = opened.read()
    assert opened.between("resctrl:mbm_total_bytes@L3_00", before, after) is None
    assert opened.between("resctrl:mbm_total_bytes@L3_01", before, after) == 4000


def test_a_counter_that_was_set_back_gives_no_difference(tmp_path: Path) -> None:
    opened = opening(Resctrl(plant(tmp_path, MACHINE)), ["mbm_total_bytes"])
    before = opened.read()
    file = tmp_path / f"{ROOT}/mon_data/mon_L3_00/mbm_total_bytes".lstrip("/")
    file.write_text("1\n")
    assert opened.between("resctrl:mbm_total_bytes@L3_00", before, opened.read()) is None


def empty(root: Path) -> None:
    (root / ROOT.lstrip("/")).mkdir(parents=True)


def test_a_kernel_without_resctrl_is_absent(tmp_path: Path) -> None:
    probe = Resctrl(plant(tmp_path, {})).probe()
    assert (probe.state, probe.remedy) == ("absent", None)
    assert "no resctrl file system" in (probe.reason or "")


def test_an_unmounted_resctrl_says_how_to_mount_it(tmp_path: Path) -> None:
    empty(tmp_path)
    host = plant(tmp_path, {"/proc/cpuinfo": "flags\t\t: fpu cqm_mbm_total cqm_mbm_local\n"})
    probe = Resctrl(host).probe()
    assert (probe.state, probe.reason) == ("refused", "resctrl is not mounted")
    assert "mount -t resctrl resctrl /sys/fs/resctrl" in (probe.remedy or "")


def test_a_processor_that_monitors_nothing_is_absent(tmp_path: Path) -> None:
    empty(tmp_path)
    probe = Resctrl(plant(tmp_path, {"/proc/cpuinfo": "flags\t\t: fpu rdt_a cat_l3\n"})).probe()
    assert (probe.state, probe.reason) == (
        "absent",
        "the processor does not monitor bandwidth (cqm_mbm_total)",
    )


def test_monitoring_of_occupancy_alone_is_absent(tmp_path: Path) -> None:
    host = plant(tmp_path, {f"{ROOT}/info/L3_MON/mon_features": "llc_occupancy\n"})
    assert Resctrl(host).probe().reason == "resctrl monitors no bandwidth (mon_features)"


def test_a_group_that_went_away_is_refused(tmp_path: Path) -> None:
    host = plant(tmp_path, MACHINE | monitored("mon_groups/job"))
    events = Resctrl(host).find("job/mbm_total_bytes")
    other = plant(tmp_path / "2", MACHINE)
    with pytest.raises(CounterRefused, match="the group no longer exists"):
        Resctrl(other).open(events)


def test_memory_traffic_of_the_machine_falls_back_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host: Host = plant(tmp_path, MACHINE | monitored("mon_groups/job"))
    monkeypatch.setattr("memgauge.counters.choice.MEMORY_ORDER", ("resctrl",))
    assert [event.name for event in memory_choice(host).events] == ["resctrl:mbm_total_bytes"]
