"""Theoretical bandwidth from made-up device trees: only where they state channels and clock."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgauge.system.environment.data_sheet import DataSheet
from memgauge.system.environment.device_tree import BASE, read_device_tree
from memgauge.system.tree import Tree

CHANNEL = "jedec,{}-channel"
BIN = "jedec,lpddr3-timings"


def grow(root: Path, properties: dict[str, str | int | bytes]) -> Tree:
    """Texts end with a zero byte, numbers are big-endian cells, as the kernel shows them."""
    for path, contents in properties.items():
        target = root / BASE.lstrip("/") / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_property(contents))
    return Tree(root)


def _property(contents: str | int | bytes) -> bytes:
    if isinstance(contents, bytes):
        return contents
    return struct.pack(">I", contents) if isinstance(contents, int) else contents.encode() + b"\0"


def channel(
    number: int = 0,
    kind: str = "lpddr3",
    *,
    pins: int | bytes = 32,
    clocks: tuple[int, ...] = (800_000_000,),
    ranks: int = 1,
    clock: str = "max-freq",
) -> dict[str, str | int | bytes]:
    node = f"lpddr-channel{number}"
    made: dict[str, str | int | bytes] = {
        f"{node}/compatible": CHANNEL.format(kind),
        f"{node}/io-width": pins,
    }
    for rank in range(ranks):
        made[f"{node}/rank@{rank}/compatible"] = f"made-up,chip\0jedec,{kind}"
        for hertz in clocks:
            at = f"{node}/rank@{rank}/timings@{hertz:x}"
            made |= {f"{at}/compatible": BIN, f"{at}/min-freq": 1, f"{at}/{clock}": hertz}
    return made


def read(root: Path, *parts: dict[str, str | int | bytes]) -> DataSheet | None:
    return read_device_tree(grow(root, {name: one for part in parts for name, one in part.items()}))


@pytest.mark.parametrize("clock", ["max-freq", "reg"])
def test_pins_times_two_transfers_a_clock_over_all_channels(tmp_path: Path, clock: str) -> None:
    found = read(tmp_path, channel(0, clock=clock), channel(1, clock=clock, ranks=2))
    assert found == DataSheet(
        2 * 4 * 1600e6,
        "12.8 GB/s over 2 channels of LPDDR3, at the fastest clock in the device tree",
        source="device tree",
    )


def test_the_fastest_speed_bin_counts(tmp_path: Path) -> None:
    found = read(tmp_path, channel(clocks=(400_000_000, 933_000_000)))
    assert found is not None
    assert found.bytes_per_s == pytest.approx(4 * 2 * 933e6)


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        (channel(kind="lpddr4", clocks=()), "clock"),
        (channel(kind="ddr4", clocks=(), ranks=0), "clock"),
        (channel(clocks=(0,)), "clock"),
        (channel(pins=0), "width"),
        (channel(pins=b"32"), "width"),
    ],
)
def test_what_is_not_stated_is_named_and_not_made_up(
    tmp_path: Path, part: dict[str, str | int | bytes], missing: str
) -> None:
    found = read(tmp_path, part)
    assert found is not None
    assert found.bytes_per_s is None
    assert f"but not the {missing} of all" in found.detail


def test_one_channel_without_a_clock_spoils_the_sum(tmp_path: Path) -> None:
    found = read(tmp_path, channel(0), channel(1, clocks=()))
    assert found is not None
    assert found.bytes_per_s is None


def test_one_rank_without_a_clock_spoils_its_channel(tmp_path: Path) -> None:
    bare: dict[str, str | int | bytes] = {"lpddr-channel0/rank@1/compatible": "jedec,lpddr3"}
    found = read(tmp_path, channel(0), bare)
    assert found is not None
    assert found.bytes_per_s is None


def test_a_power9_states_ports_but_no_speed(tmp_path: Path) -> None:
    port = "xscom@603fc00000000/mcbist@1/mcs@0/mca@{}/dimm@d00{}/device_type"
    places = {port.format(0, 0): "memory-dimm-ddr4", port.format(1, 2): "memory-dimm-ddr4"}
    found = read(tmp_path, dict(places))
    assert found == DataSheet(
        None, "unknown: the device tree lists 2 modules on 2 DDR ports, but no speed"
    )


def test_a_tree_that_does_not_describe_the_memory(tmp_path: Path) -> None:
    assert read(tmp_path, {"memory@0/device_type": "memory", "model": "a board"}) is None


@given(pins=st.binary(max_size=12), clock=st.binary(max_size=12))
def test_no_bytes_break_the_reader(
    pins: bytes, clock: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("tree")
    found = read(root, channel(pins=pins), {"lpddr-channel0/rank@0/timings@2faf0800/reg": clock})
    assert found is not None
