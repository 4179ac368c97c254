"""Which source gives the theoretical bandwidth, and what is said where none does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.system.environment.test_data_sheet import plant_modules, structure
from tests.unit.system.environment.test_device_tree import channel, grow
from tests.unit.system.environment.test_memory_modules import controller, module
from tests.unit.system.trees import Files, plant, xeon

from memgauge.analysis.machine.table import system_table
from memgauge.system.detect import detect
from memgauge.system.environment.data_sheet import DataSheet
from memgauge.system.environment.memory_modules import read_memory_hardware
from memgauge.system.environment.theoretical_peak import read_theoretical_peak
from memgauge.system.environment.virtualisation import Virtualisation
from memgauge.system.tree import Tree

METAL, GUEST = Virtualisation(None, None), Virtualisation("KVM", None)
UNNAMED = [structure("BANK 0", f"DIMM_{name}1", size_mib=16384) for name in "AB"]


def edac(*locations: str, size: str = "16384", kind: str = "dimm") -> Files:
    files = controller(0)
    for number, location in enumerate(locations):
        files |= module(f"{kind}{number}", location, size=size)
    return files


TWO = edac("channel 0 slot 0", "channel 1 slot 0")


def peak(tree: Tree, virtualisation: Virtualisation = METAL) -> DataSheet:
    found = read_memory_hardware(tree, virtualisation)
    return read_theoretical_peak(tree, virtualisation, 1, found.hardware)


def test_channels_of_edac_have_the_width_and_speed_of_smbios(tmp_path: Path) -> None:
    plant_modules(tmp_path, *UNNAMED)
    found = peak(plant(tmp_path, TWO))
    assert found == DataSheet(
        2 * 8 * 4800e6,
        "76.8 GB/s: 2 channels according to EDAC, each of 64 bits and 4800 MT/s according to the "
        "firmware (SMBIOS)",
        source="smbios and edac",
    )


def test_two_modules_on_one_channel_of_edac_share_it(tmp_path: Path) -> None:
    plant_modules(tmp_path, *UNNAMED)
    found = peak(plant(tmp_path, edac("channel 0 slot 0", "channel 0 slot 1")))
    assert found.bytes_per_s == 8 * 4800e6


def test_ranks_of_edac_are_parts_of_modules(tmp_path: Path) -> None:
    plant_modules(tmp_path, *UNNAMED)
    places = [f"csrow {row} channel {channel}" for row in (0, 1) for channel in (0, 1)]
    found = peak(plant(tmp_path, edac(*places, size="8192", kind="rank")))
    assert found.bytes_per_s == 2 * 8 * 4800e6


@pytest.mark.parametrize(
    ("modules", "files"),
    [
        ([UNNAMED[0], structure("BANK 1", "DIMM_B1", configured=4400)], TWO),
        ([UNNAMED[0], structure("BANK 1", "DIMM_B1", size_mib=8192)], TWO),
        ([structure("BANK 0", "DIMM_A1", configured=0, rated=0)] * 2, TWO),
        (UNNAMED[:1], TWO),
        (UNNAMED, edac("somewhere", "channel 1 slot 0")),
        (UNNAMED, edac(*[f"channel {n} slot 0" for n in range(4)], size="8192")),
    ],
    ids=["speeds", "sizes", "no speed", "fewer", "no channel", "halves of modules"],
)
def test_memories_that_differ_or_are_not_known_are_not_combined(
    tmp_path: Path, modules: list[bytes], files: Files
) -> None:
    plant_modules(tmp_path, *modules)
    assert peak(plant(tmp_path, files)).bytes_per_s is None


def test_edac_alone_has_channels_and_no_speed(tmp_path: Path) -> None:
    assert peak(plant(tmp_path, TWO)) == DataSheet(
        None,
        "unknown: this system does not provide the firmware's memory table; EDAC lists 2 channels "
        "of Registered-DDR4, but no speed",
        "give it with --peak",
    )


def test_root_may_know_more(tmp_path: Path) -> None:
    hidden = {"/sys/firmware/dmi/entries/17-0/handle": "1\n"}
    found = peak(plant(tmp_path, TWO | hidden))
    assert found.remedy == "run as root once, or give it with --peak"
    assert "EDAC lists 2 channels" in found.detail


def test_a_device_tree_states_it_or_what_it_lacks(tmp_path: Path) -> None:
    assert peak(grow(tmp_path / "a", channel())).source == "device tree"
    lacking = peak(grow(tmp_path / "b", channel(clocks=())))
    assert (lacking.bytes_per_s, lacking.remedy) == (None, "give it with --peak")
    assert "the device tree lists 1 channel of LPDDR3" in lacking.detail


def test_a_virtual_machine_is_not_believed(tmp_path: Path) -> None:
    plant_modules(tmp_path, *UNNAMED)
    plant(tmp_path, TWO)
    found = peak(grow(tmp_path, channel()), GUEST)
    assert found.bytes_per_s is None
    assert "virtual machine" in found.detail


def test_the_record_and_the_table_name_the_source(tmp_path: Path) -> None:
    plant(tmp_path, xeon())
    system = detect(Path(str(grow(tmp_path, channel()).path(""))))
    assert system.peak_source == "device tree"
    rows = {row[0]: row[1] for row in system_table(system).rows}
    assert rows["theoretical bandwidth"] == "6.4 GB/s, by the fastest clock in the device tree"
