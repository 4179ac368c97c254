"""Controllers, modules and ECC from made-up trees of EDAC drivers and firmware tables."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.system.environment.test_data_sheet import structure
from tests.unit.system.trees import Files, plant, xeon

from memgauge.analysis.machine.table import system_table
from memgauge.model.memory_hardware import memory_hardware_line
from memgauge.model.system import MemoryHardware
from memgauge.system.detect import detect
from memgauge.system.environment.memory_modules import EDAC, Found, read_memory_hardware
from memgauge.system.environment.virtualisation import Virtualisation

GIB = 1 << 30
METAL, GUEST = Virtualisation(None, None), Virtualisation("KVM", None)


def controller(number: int, **changes: str) -> Files:
    facts = {
        "mc_name": f"Skylake Socket#{number} IMC#0",
        "size_mb": "65536",
        "ce_count": "3",
        "ue_count": "0",
        "seconds_since_reset": "1000",
    }
    return {f"{EDAC}/mc{number}/{name}": f"{text}\n" for name, text in (facts | changes).items()}


def module(place: str, location: str, number: int = 0, **changes: str) -> Files:
    facts = {
        "size": "32768",
        "dimm_location": f"{location} ",
        "dimm_label": f"CPU_SrcID#0_MC#0_{location}",
        "dimm_mem_type": "Registered-DDR4",
        "dimm_dev_type": "x4",
        "dimm_edac_mode": "S4ECD4ED",
        "dimm_ce_count": "1",
        "dimm_ue_count": "0",
    }
    directory = f"{EDAC}/mc{number}/{place}"
    return {f"{directory}/{name}": f"{text}\n" for name, text in (facts | changes).items()}


def hardware(root: Path, files: Files) -> MemoryHardware:
    found = read_memory_hardware(plant(root, files), METAL)
    assert found.hardware is not None, found.reason
    return found.hardware


def two_modules(**changes: str) -> Files:
    return (
        controller(0)
        | module("dimm0", "channel 0 slot 0", 0, **changes)
        | module("dimm3", "channel 1 slot 0")
        | module("dimm4", "channel 1 slot 1", size="0")
    )


def test_modules_channels_and_ecc_are_those_of_edac(tmp_path: Path) -> None:
    found = hardware(tmp_path, two_modules())
    assert (found.source, found.ecc, found.channels) == ("edac", "on", 2)
    assert [(one.place, one.channel, one.bytes) for one in found.modules] == [
        ("dimm0", "channel 0", 32 * GIB),
        ("dimm3", "channel 1", 32 * GIB),
    ]
    (only,) = found.controllers
    assert (only.bytes, only.corrected_errors, only.uncorrected_errors) == (64 * GIB, 3, 0)
    assert memory_hardware_line(found) == (
        "ECC on (S4ECD4ED); 2 x 32 GiB Registered-DDR4, on 2 channels; "
        "3 corrected and 0 uncorrected errors so far; by EDAC"
    )


@pytest.mark.parametrize(
    ("mode", "ecc"),
    [("S4ECD4ED", "on"), ("None", "mixed"), ("Unknown", None), ("", None), ("Reserved", None)],
)
def test_ecc_is_what_holds_for_all_modules(tmp_path: Path, mode: str, ecc: str | None) -> None:
    assert hardware(tmp_path, two_modules(dimm_edac_mode=mode)).ecc == ecc


@pytest.mark.parametrize(
    ("mode", "ecc"), [("None", "off"), ("SECDED", "on"), ("EC", "on"), ("PARITY", "parity")]
)
def test_each_mode_has_its_state(tmp_path: Path, mode: str, ecc: str) -> None:
    files = controller(0) | module("dimm0", "channel 0 slot 0", dimm_edac_mode=mode)
    assert hardware(tmp_path, files).ecc == ecc


def test_channels_of_two_controllers_are_different_ones(tmp_path: Path) -> None:
    files = two_modules() | controller(1) | module("dimm0", "channel 0 slot 0", 1)
    assert hardware(tmp_path, files).channels == 3


def test_ranks_are_not_called_modules(tmp_path: Path) -> None:
    files = (
        controller(0, mc_name="F19h_M10h")
        | module("rank0", "csrow 0 channel 0")
        | module("rank1", "csrow 1 channel 0")
    )
    found = hardware(tmp_path, files)
    assert found.channels == 1
    assert "2 x 32 GiB Registered-DDR4 (rank), on 1 channel" in memory_hardware_line(found)


def test_rows_of_old_drivers_have_no_channels(tmp_path: Path) -> None:
    row = {"size_mb": "4096", "mem_type": "Unbuffered-DDR3", "edac_mode": "SECDED"}
    files = controller(0) | {f"{EDAC}/mc0/csrow2/{name}": text for name, text in row.items()}
    found = hardware(tmp_path, files)
    assert (found.ecc, found.channels) == ("on", None)
    assert "1 x 4 GiB Unbuffered-DDR3 (row of chips)" in memory_hardware_line(found)


def test_a_controller_that_hides_everything_invents_nothing(tmp_path: Path) -> None:
    found = hardware(tmp_path, {f"{EDAC}/mc0/mc_name": "\n", f"{EDAC}/mc0/ce_count": "many\n"})
    (only,) = found.controllers
    assert (only.driver, only.bytes, only.corrected_errors) == (None, None, None)
    assert (found.ecc, found.modules, found.channels) == (None, [], None)
    line = memory_hardware_line(found)
    assert line == "ECC not known; 1 controller, modules not reported; by EDAC"


def test_a_module_without_a_place_leaves_the_number_of_channels_open(tmp_path: Path) -> None:
    assert hardware(tmp_path, two_modules(dimm_location="somewhere")).channels is None


def array(correction: int, use: int = 3) -> bytes:
    """A type 16 structure of SMBIOS 2.7 (DSP0134, table 74)."""
    raw = bytearray(0x17)
    struct.pack_into("<BBH", raw, 0, 16, len(raw), 0x1000)
    raw[0x05], raw[0x06] = use, correction
    return bytes(raw) + b"\0\0"


def by_firmware(root: Path, *raws: bytes) -> Found:
    for number, raw in enumerate(raws):
        directory = root / f"sys/firmware/dmi/entries/{raw[0]}-{number}"
        directory.mkdir(parents=True)
        (directory / "raw").write_bytes(raw)
    return read_memory_hardware(plant(root, {}), METAL)


def typed(kind: int, bank: str, device: str, size_mib: int = 16384) -> bytes:
    raw = bytearray(structure(bank, device, size_mib=size_mib))
    raw[0x12] = kind
    return bytes(raw)


def test_without_edac_the_firmware_states_modules_and_ecc(tmp_path: Path) -> None:
    found = by_firmware(
        tmp_path,
        array(6),
        array(3, use=4),
        typed(0x22, "P0 CHANNEL A", "DIMM 0"),
        typed(0x22, "P0 CHANNEL B", "DIMM 0"),
        typed(0x22, "P0 CHANNEL C", "DIMM 0", size_mib=0),
    ).hardware
    assert found is not None
    assert (found.source, found.ecc, found.channels) == ("firmware", "on", 2)
    assert memory_hardware_line(found) == (
        "ECC on (multi-bit); 2 x 16 GiB DDR5, on 2 channels; by the firmware"
    )


@pytest.mark.parametrize(("correction", "ecc"), [(3, "off"), (5, "on"), (4, "parity"), (2, None)])
def test_error_correction_by_the_firmware(tmp_path: Path, correction: int, ecc: str | None) -> None:
    found = by_firmware(tmp_path, array(correction), typed(0x1A, "CHANNEL A", "DIMM 0"))
    assert found.hardware is not None
    assert found.hardware.ecc == ecc


def test_a_large_module_has_its_extended_size(tmp_path: Path) -> None:
    raw = bytearray(typed(0x22, "CHANNEL A", "DIMM 0", size_mib=0x7FFF))
    struct.pack_into("<I", raw, 0x1C, 128 << 10)
    found = by_firmware(tmp_path, bytes(raw)).hardware
    assert found is not None
    assert [one.bytes for one in found.modules] == [128 * GIB]


def test_what_is_not_readable_is_missing_and_says_why(tmp_path: Path) -> None:
    nothing = read_memory_hardware(plant(tmp_path / "a", {}), METAL)
    assert nothing.hardware is None
    assert "the firmware has no table" in nothing.reason
    hidden = plant(tmp_path / "b", {})
    (tmp_path / "b/sys/firmware/dmi/entries/17-0").mkdir(parents=True)
    refused = read_memory_hardware(hidden, METAL)
    assert refused.hardware is None
    assert "only root may read" in refused.reason
    guest = read_memory_hardware(hidden, GUEST)
    assert guest.hardware is None
    assert "a virtual machine" in guest.reason


def test_the_record_and_the_table_of_the_machine_have_them(tmp_path: Path) -> None:
    plant(tmp_path, xeon() | two_modules())
    system = detect(tmp_path)
    assert system.memory_hardware is not None
    rows = {row[0]: row[1] for row in system_table(system).rows}
    assert rows["ECC"] == "ECC on (S4ECD4ED)"
    assert rows["memory modules"] == "2 x 32 GiB Registered-DDR4, on 2 channels"
    (line,) = [one for one in system.capabilities if one.name == "memory modules and ECC"]
    assert line.available
    assert "3 corrected" in line.detail


@given(raw=st.binary(max_size=64))
def test_no_bytes_of_a_firmware_break_the_reader(
    raw: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("firmware")
    for kind in (16, 17):
        directory = root / f"sys/firmware/dmi/entries/{kind}-0"
        directory.mkdir(parents=True)
        (directory / "raw").write_bytes(bytes([kind]) + raw)
    read_memory_hardware(plant(root, {}), METAL)
