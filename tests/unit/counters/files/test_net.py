"""The net back end: kinds of interfaces, and exact bytes over the real loopback."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import opening, plant

from memgauge.counters.files.net import Net
from memgauge.counters.host import Host
from memgauge.model.errors import CounterRefused, UnknownEvent

INTERFACES = "/sys/class/net"
UDP_AND_IP_HEADER_BYTES = 28


def interface(name: str, kind: int = 1, *, device: bool = False) -> dict[str, str]:
    made = {
        f"{INTERFACES}/{name}/type": f"{kind}\n",
        f"{INTERFACES}/{name}/statistics/rx_bytes": "1000\n",
        f"{INTERFACES}/{name}/statistics/tx_bytes": "2000\n",
    }
    return made | ({f"{INTERFACES}/{name}/device/vendor": "0x15b3\n"} if device else {})


LOOPBACK = interface("lo", 772)
SERVER = LOOPBACK | interface("eth0", device=True) | interface("br0")


def test_virtual_interfaces_and_the_loopback_are_labelled(tmp_path: Path) -> None:
    events = {event.name: event for event in Net(plant(tmp_path, SERVER)).events()}
    assert [event.instances[0] for event in events.values()][::2] == [
        "br0 (virtual)",
        "eth0",
        "lo (loopback)",
    ]
    assert [name for name, event in events.items() if event.automatic] == [
        "net:eth0/rx_bytes",
        "net:eth0/tx_bytes",
    ]
    assert events["net:lo/rx_bytes"].domain == "software"
    assert "no network" in events["net:lo/rx_bytes"].meaning


def test_in_a_container_the_virtual_interface_is_the_network(tmp_path: Path) -> None:
    events = Net(plant(tmp_path, LOOPBACK | interface("eth0"))).events()
    assert {event.name for event in events if event.automatic} == {
        "net:eth0/rx_bytes",
        "net:eth0/tx_bytes",
    }


def test_an_interface_that_was_set_back_gives_no_difference(tmp_path: Path) -> None:
    opened = opening(Net(plant(tmp_path, SERVER)), ["eth0/rx_bytes", "eth0/tx_bytes"])
    before = opened.read()
    (tmp_path / f"{INTERFACES}/eth0/statistics/rx_bytes".lstrip("/")).write_text("3\n")
    (tmp_path / f"{INTERFACES}/eth0/statistics/tx_bytes".lstrip("/")).write_text("2500\n")
    after = opened.read()
    assert opened.between("net:eth0/rx_bytes@eth0", before, after) is None
    assert opened.between("net:eth0/tx_bytes@eth0", before, after) == 500


def test_an_interface_that_goes_between_listing_and_opening_is_refused(tmp_path: Path) -> None:
    back_end = Net(plant(tmp_path, SERVER))
    events = back_end.find("eth0/rx_bytes")
    shutil.rmtree(tmp_path / f"{INTERFACES}/eth0".lstrip("/"))
    with pytest.raises(CounterRefused, match="net:eth0/rx_bytes: its files went away"):
        back_end.open(events)


def test_an_unknown_interface_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownEvent, match="did you mean net:eth0/rx_bytes"):
        Net(plant(tmp_path, SERVER)).find("eth1/rx_bytes")


def test_no_interface_at_all_is_absent(tmp_path: Path) -> None:
    assert Net(plant(tmp_path, {})).probe().state == "absent"


@pytest.fixture
def loopback() -> Net:
    back_end = Net(Host())
    if not any(event.name == "net:lo/rx_bytes" for event in back_end.events()):
        pytest.skip("no loopback interface in /sys/class/net")
    return back_end


def test_datagrams_over_the_real_loopback_count_exactly(loopback: Net) -> None:
    payload_bytes, count = 1000, 500
    opened = opening(loopback, ["lo/rx_bytes", "lo/tx_bytes"])
    expected = count * (payload_bytes + UDP_AND_IP_HEADER_BYTES)
    found = []
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        for _ in range(20):  # others use the loopback too: the least traffic seen is ours
            before = opened.read()
            for _ in range(count):
                sender.sendto(bytes(payload_bytes), receiver.getsockname())
                receiver.recv(payload_bytes)
            after = opened.read()
            found.append(
                [
                    opened.between(f"net:lo/{way}_bytes@lo (loopback)", before, after)
                    for way in ("rx", "tx")
                ]
            )
            if [expected, expected] in found:
                break
    assert [expected, expected] in found


def added(name: str) -> bool:
    """Whether a virtual interface of some kind could be added."""
    return any(
        subprocess.run(
            ["ip", "link", "add", name, "type", kind], check=False, capture_output=True
        ).returncode
        == 0
        for kind in ("dummy", "ifb", "bridge")
    )


def test_an_interface_that_vanishes_under_the_reader_is_missing() -> None:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("adding an interface needs root and ip(8)")
    if not added("mgtest0"):
        pytest.skip("the kernel adds no virtual interface here")
    try:
        opened = opening(Net(Host()), ["mgtest0/rx_bytes"])
        there = opened.read()
    finally:
        subprocess.run(["ip", "link", "delete", "mgtest0"], check=True)
    assert there == [0]
    assert opened.read() == [None]
