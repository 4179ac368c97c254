"""The hsmp back end: a sampled rate of each socket, which is never taken for a counter."""

from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import open_to_all, opening, plant, without_rights

from memgauge.counters.components import plan_components
from memgauge.counters.files.hsmp import Hsmp
from memgauge.counters.host import Host
from memgauge.counters.opening import find
from memgauge.model.errors import CounterRefused, RequestError

PLATFORM = "/sys/devices/platform"


def acpi(number: int, uid: str | None, used: str = "17\n") -> dict[str, str]:
    """A socket as the driver of firmware's tables shows it."""
    directory = f"{PLATFORM}/AMDI0097:{number:02X}"
    files = {
        f"{directory}/ddr_utilised_bw_input": used,
        f"{directory}/ddr_max_bw": "460\n",
        f"{directory}/ddr_utilised_bw_perc_input": "4\n",
        f"{directory}/protocol_version": "7\n",
    }
    return files if uid is None else {**files, f"{directory}/firmware_node/uid": f"{uid}\n"}


# Firmware lists socket 1 first.
TWO = {**acpi(0, "ID01", "200\n"), **acpi(1, "ID00", "17\n")}
PLAIN = {
    f"{PLATFORM}/amd_hsmp/socket{socket}/ddr_utilised_bw_input": f"{40 + socket}\n"
    for socket in range(2)
}


def test_each_socket_is_known_by_what_firmware_calls_it(tmp_path: Path) -> None:
    made = opening(Hsmp(plant(tmp_path, TWO)), ["ddr_bandwidth"])
    assert made.raw() == {
        "hsmp:ddr_bandwidth@socket 0": 17,
        "hsmp:ddr_bandwidth@socket 1": 200,
    }
    assert {one.socket for one in made.made.counters} == {0, 1}


def test_a_socket_that_firmware_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    made = opening(Hsmp(plant(tmp_path, acpi(1, None))), ["ddr_bandwidth"])
    (counter,) = made.made.counters
    assert (counter.socket, counter.instance) == (None, "AMDI0097:01")


def test_the_other_driver_numbers_its_sockets(tmp_path: Path) -> None:
    made = opening(Hsmp(plant(tmp_path, PLAIN)), ["ddr_bandwidth"])
    assert made.raw() == {"hsmp:ddr_bandwidth@socket 0": 40, "hsmp:ddr_bandwidth@socket 1": 41}


def test_it_is_a_level_in_bytes_a_second_and_no_count(tmp_path: Path) -> None:
    made = opening(Hsmp(plant(tmp_path, TWO)), ["ddr_bandwidth"])
    reading = made.read()
    assert made.between("hsmp:ddr_bandwidth@socket 1", reading, reading) == 200e9
    events = {event.name: event for event in Hsmp(plant(tmp_path, TWO)).events()}
    assert {name: (one.quantity, one.unit, one.gauge) for name, one in events.items()} == {
        "hsmp:ddr_bandwidth": ("bandwidth", "B/s", True),
        "hsmp:ddr_max_bandwidth": ("bandwidth", "B/s", True),
        "hsmp:ddr_utilisation": ("utilisation", "", True),
    }
    assert all("sampled rate" in " ".join(one.pitfalls) for one in events.values())


@pytest.mark.parametrize("text", ["", "-110\n", "unknown\n"])
def test_a_unit_that_does_not_answer_is_missing_and_not_zero(tmp_path: Path, text: str) -> None:
    made = opening(Hsmp(plant(tmp_path, acpi(0, "ID00", text))), ["ddr_bandwidth"])
    assert made.raw() == {"hsmp:ddr_bandwidth@socket 0": None}


def test_auto_never_takes_it_for_memory_traffic(tmp_path: Path) -> None:
    host = plant(tmp_path, TWO)
    with pytest.raises(CounterRefused):
        find(["auto"], host)
    with pytest.raises(RequestError, match="is not of the form BACKEND:EVENT"):
        find(["hsmp"], host)


def test_a_profile_shows_it_where_nothing_may_be_counted_and_says_why(tmp_path: Path) -> None:
    plan = plan_components(["memory"], 100.0, plant(tmp_path, TWO))
    (lane,) = plan.lanes
    assert [event.name for event in lane.events] == ["hsmp:ddr_bandwidth"]
    assert lane.rate_hz == 10.0
    (missing,) = plan.missing
    assert "no counter of memory traffic can be opened" in missing.reason


def test_an_older_driver_and_none_at_all_are_told_apart(tmp_path: Path) -> None:
    old = plant(tmp_path / "old", {f"{PLATFORM}/AMDI0097:00/driver_override": "\n"})
    probe = Hsmp(old).probe()
    assert probe.state == "absent"
    assert "AMDI0097:00: this kernel's HSMP driver shows no bandwidth" in (probe.reason or "")
    probe = Hsmp(plant(tmp_path / "none", {f"{PLATFORM}/serial8250/driver_override": ""})).probe()
    assert (probe.state, "no HSMP device" in (probe.reason or "")) == ("absent", True)


def test_files_that_were_closed_are_refused() -> None:
    with open_to_all() as root:
        host: Host = plant(root, acpi(0, "ID00"))
        (root / f"{PLATFORM}/AMDI0097:00/ddr_utilised_bw_input".lstrip("/")).chmod(0)
        with without_rights():
            states = {event.name: event.state for event in Hsmp(host).events()}
    assert states["hsmp:ddr_bandwidth"] == "refused"
    assert states["hsmp:ddr_max_bandwidth"] == "ready"
