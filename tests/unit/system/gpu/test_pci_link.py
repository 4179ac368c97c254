"""Links and nodes of PCI devices in made-up trees."""

from pathlib import Path

import pytest

from memgauge.system.gpu.pci_link import PciLink, PciPlace, pci_place
from memgauge.system.tree import Tree

AT = "sys/bus/pci/devices/0000:3b:00.0"


def tree(root: Path, **files: str) -> Tree:
    place = root / AT
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / name).write_text(f"{text}\n", encoding="ascii")
    return Tree(root)


def known(root: Path, **files: str) -> PciPlace:
    return pci_place(tree(root, **files), "0000:3b:00.0")


@pytest.mark.parametrize(
    ("speed", "lanes", "gb_per_s"),
    [
        *((2.5, 1, 0.25), (5.0, 16, 8.0), (8.0, 16, 15.754), (16.0, 16, 31.508)),
        *((32.0, 16, 63.015), (64.0, 16, 121.0)),
    ],
)
def test_links_carry_what_their_encoding_leaves(speed: float, lanes: int, gb_per_s: float) -> None:
    """The figures that PCI-SIG and everyone else gives for one direction."""
    assert PciLink(speed, lanes).bytes_per_s * 1e-9 == pytest.approx(gb_per_s, rel=1e-4)


def test_all_is_read(tmp_path: Path) -> None:
    place = known(
        tmp_path,
        current_link_speed="2.5 GT/s PCIe",
        current_link_width="8",
        max_link_speed="32.0 GT/s PCIe",
        max_link_width="16",
        numa_node="1",
    )
    assert place == PciPlace(node=1, current=PciLink(2.5, 8), most=PciLink(32.0, 16))
    assert str(place.most) == "32 GT/s x16, 128b/130b"


@pytest.mark.parametrize("bus_id", ["0000:3B:00.0", "00000000:3b:00.0", " 0000:3b:00.0 "])
def test_other_ways_to_write_an_address_find_it_too(tmp_path: Path, bus_id: str) -> None:
    """NVML writes eight digits of the domain, and capitals."""
    assert pci_place(tree(tmp_path, numa_node="0"), bus_id).node == 0


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"current_link_speed": "Unknown", "current_link_width": "16", "numa_node": "-1"},
        {"current_link_speed": "16.0 GT/s PCIe", "current_link_width": "0"},
        {"current_link_speed": "16.0 GT/s PCIe", "current_link_width": "255"},
        {"current_link_speed": "17.3 GT/s PCIe", "current_link_width": "16"},
        {"max_link_speed": "16.0 GT/s PCIe"},
    ],
)
def test_what_is_not_told_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    assert known(tmp_path, **files) == PciPlace()


@pytest.mark.parametrize("bus_id", ["", "3b:00.0", "../../../etc:00.0", "0000:3b:00.9", "GPU-1"])
def test_an_odd_address_is_no_path(tmp_path: Path, bus_id: str) -> None:
    assert pci_place(tree(tmp_path, numa_node="0"), bus_id) == PciPlace()
