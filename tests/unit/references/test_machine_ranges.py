"""Published ranges by family: which family a machine is of, and what is said of it."""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from benchmarks.published_ranges import ranges
from tests.unit.analysis.runs import system

from memgauge.references.machine_ranges import family_of, ranges_of

DATA = resources.files("memgauge.references") / "data" / "machine_ranges.toml"
TABLE = os.environ.get("MEMGAUGE_MACHINE_FIGURES", "")
VM = "virtual machine (KVM)"


@pytest.mark.parametrize(
    ("signature", "name", "family"),
    [
        ("AuthenticAMD 25 17 1", "AMD EPYC 9354 32-Core Processor", "Zen 4 (Genoa)"),
        ("AuthenticAMD 25 1 1", "AMD EPYC 7R13 Processor", "Zen 3 (Milan)"),
        ("AuthenticAMD 25 17 1", "AMD EPYC-Genoa Processor", None),
        ("AuthenticAMD 23 1 2", "AMD EPYC", None),
        ("AuthenticAMD 26 99 0", "AMD EPYC 9999", None),
        ("GenuineIntel 6 143 8", "Intel(R) Xeon(R) Gold 6448H", "Sapphire Rapids"),
        ("GenuineIntel 6 143 8", "Intel(R) Xeon(R) CPU Max 9480", "Sapphire Rapids HBM"),
        ("GenuineIntel 6 85 4", "Intel(R) Xeon(R) Platinum 8168 CPU", "Skylake-SP"),
        ("GenuineIntel 6 85 7", "Intel(R) Xeon(R) Gold 6240", "Cascade Lake"),
        ("GenuineIntel 6 85 11", "Intel(R) Xeon(R) Platinum 8369HB", "Cooper Lake"),
        ("GenuineIntel 6 85 5", "Intel Xeon Processor (Cascadelake)", None),
        ("GenuineIntel 6 60 1", "Intel Core Processor (Haswell, no TSX)", None),
        ("0x41 0xd0c", "Arm Neoverse N1", "Neoverse-N1"),
        ("0x41 0xd4f", "Arm Neoverse V2", None),
        ("AuthenticAMD x y z", "AMD EPYC 9354", None),
        (None, "POWER9, altivec supported", None),
    ],
)
def test_a_family_is_known_by_numbers_and_a_name_that_says_which(
    signature: str | None, name: str, family: str | None
) -> None:
    machine = msgspec.structs.replace(system(), cpu_signature=signature, cpu_model=name)
    assert family_of(machine) == family


def test_a_guest_is_set_beside_guests_and_of_its_bandwidth_nothing_is_said() -> None:
    machine = msgspec.structs.replace(
        system(), cpu_signature="AuthenticAMD 25 17 1", cpu_model="AMD EPYC 9354"
    )
    bare = msgspec.structs.replace(machine, virtualisation=None)
    guest = msgspec.structs.replace(machine, virtualisation=VM)
    assert {one.figure for one in ranges_of(bare)} == {"latency_ns", "read_peak_share"}
    assert {one.where for one in ranges_of(bare)} == {"machine"}
    assert {(one.figure, one.where) for one in ranges_of(guest)} == {("latency_ns", "guest")}


def test_every_range_makes_sense_and_names_its_sources() -> None:
    every = tomllib.loads(DATA.read_text(encoding="utf-8"))["ranges"]
    assert len({(r["family"], r["figure"], r["where"], *r["tools"]) for r in every}) == len(every)
    for one in every:
        assert 0 < one["low"] <= one["high"]
        assert one["figures"] >= one["models"] >= 1
        assert all(one["sources"]), one
        if one["figure"] == "read_peak_share":
            assert (one["high"] < 1, one["where"], len(one["tools"])) == (True, "machine", 1)


@pytest.mark.skipif(not TABLE, reason="set MEMGAUGE_MACHINE_FIGURES to the table of figures")
def test_the_ranges_are_those_of_the_table() -> None:
    assert DATA.read_text(encoding="utf-8") == ranges(Path(TABLE))
