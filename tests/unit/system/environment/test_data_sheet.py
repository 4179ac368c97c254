import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.system.trees import Files, plant

from memgauge.system.environment.data_sheet import (
    Module,
    channel_name,
    parse_module,
    read_data_sheet,
)
from memgauge.system.environment.virtualisation import Virtualisation

METAL = Virtualisation(None, None)
GUEST = Virtualisation("KVM", None)


def structure(
    bank: str,
    device: str,
    *,
    size_mib: int = 16384,
    width: int = 64,
    configured: int = 4800,
    rated: int = 5600,
) -> bytes:
    """A type 17 structure of SMBIOS 3.3, 0x5C bytes and its strings (DSP0134, table 77)."""
    raw = bytearray(0x5C)
    struct.pack_into("<BBH", raw, 0, 17, len(raw), 0x1100)
    struct.pack_into("<HHH", raw, 0x08, width, width, size_mib)
    raw[0x10], raw[0x11] = 1, 2
    struct.pack_into("<H", raw, 0x15, rated)
    struct.pack_into("<H", raw, 0x20, configured)
    return bytes(raw) + device.encode() + b"\0" + bank.encode() + b"\0\0"


def plant_modules(root: Path, *modules: bytes) -> None:
    for number, module in enumerate(modules):
        directory = root / f"sys/firmware/dmi/entries/17-{number}"
        directory.mkdir(parents=True)
        (directory / "raw").write_bytes(module)


def bandwidth(root: Path, *modules: bytes, sockets: int = 1) -> float | None:
    plant_modules(root, *modules)
    return read_data_sheet(plant(root, {}), METAL, sockets).bytes_per_s


def test_one_module_per_channel(tmp_path: Path) -> None:
    modules = [structure(f"P0 CHANNEL {letter}", "DIMM 0") for letter in "ABCD"]
    assert bandwidth(tmp_path, *modules) == pytest.approx(4 * 8 * 4800e6)


def test_two_modules_share_their_channel(tmp_path: Path) -> None:
    names = [(f"P0_Node0_Channel{c}_Dimm{d}", f"CPU1_DIMM_{c}{d}") for c in (0, 1) for d in (0, 1)]
    modules = [structure(bank, device) for bank, device in names]
    assert bandwidth(tmp_path, *modules) == pytest.approx(2 * 8 * 4800e6)


def test_empty_slots_do_not_count(tmp_path: Path) -> None:
    modules = [
        structure("BANK 0", "Controller0-ChannelA-DIMM0"),
        structure("BANK 1", "Controller1-ChannelA-DIMM0", size_mib=0),
    ]
    assert bandwidth(tmp_path, *modules) == pytest.approx(8 * 4800e6)


def test_the_rated_speed_stands_in_where_the_configured_one_is_not_told(tmp_path: Path) -> None:
    assert bandwidth(tmp_path, structure("Channel A", "x", configured=0)) == pytest.approx(
        8 * 5600e6
    )


@pytest.mark.parametrize(
    "module",
    [
        structure("Channel A", "x", configured=0, rated=0),
        structure("Channel A", "x", width=0xFFFF),
        structure("BANK 0", "DIMM_A1"),
        structure("Channel A", "x", size_mib=0),
        b"",
        b"\x11\x5c",
    ],
)
def test_what_is_not_told_is_not_made_up(tmp_path: Path, module: bytes) -> None:
    assert bandwidth(tmp_path, module) is None


def test_one_module_that_does_not_tell_spoils_the_sum(tmp_path: Path) -> None:
    known, unknown = structure("Channel A", "x"), structure("BANK 3", "DIMM 3")
    assert bandwidth(tmp_path, known, unknown) is None


def test_two_sockets_need_names_that_tell_them_apart(tmp_path: Path) -> None:
    bare = [structure("Channel A", "x"), structure("Channel A", "x")]
    assert bandwidth(tmp_path / "bare", *bare, sockets=2) is None
    found = [structure("P0 CHANNEL A", "x"), structure("P1 CHANNEL A", "x")]
    assert bandwidth(tmp_path / "told", *found, sockets=2) == pytest.approx(2 * 8 * 4800e6)


def test_a_virtual_machine_is_not_believed(tmp_path: Path) -> None:
    plant_modules(tmp_path, structure("Channel A", "x"))
    sheet = read_data_sheet(plant(tmp_path, {}), GUEST, 1)
    assert sheet.bytes_per_s is None
    assert "virtual machine" in sheet.detail


def test_no_table_and_no_leave_to_read_it(tmp_path: Path) -> None:
    nothing: Files = {}
    assert read_data_sheet(plant(tmp_path / "a", nothing), METAL, 1).remedy is None
    hidden = {"/sys/firmware/dmi/entries/17-0/handle": "1\n"}
    assert read_data_sheet(plant(tmp_path / "b", hidden), METAL, 1).remedy == "run as root once"


def test_speeds_beyond_sixteen_bits() -> None:
    raw = bytearray(structure("Channel A", "x", configured=0xFFFF))
    struct.pack_into("<I", raw, 0x58, 70_000)
    assert parse_module(bytes(raw)) == Module(64, 70_000e6, ("Channel A", "x"), 16 << 30)


@given(st.binary(max_size=120), st.booleans())
def test_no_bytes_crash_the_parser(raw: bytes, typed: bool) -> None:
    module = parse_module(b"\x11" + raw if typed else raw)
    assert module is None or module.transfers_per_s >= 0


@pytest.mark.parametrize(
    ("bank", "device", "name"),
    [
        ("P0 CHANNEL A", "DIMM 0", ("p0", "a")),
        ("P1_Node1_Channel3_Dimm0", "", ("p1_node1", "3")),
        ("BANK 0", "ChannelB-DIMM1", ("", "b")),
        ("BANK 0", "DIMM_A1", None),
        ("", "", None),
    ],
)
def test_channel_names(bank: str, device: str, name: tuple[str, str] | None) -> None:
    assert channel_name((bank, device)) == name
