"""The pmt back end: words of binary regions, taken only from layouts that are known."""

import struct
from pathlib import Path

import pytest

pytest.importorskip("memgauge._core")

from tests.unit.counters.small_files import open_to_all, opening, plant, without_rights

from memgauge.counters.choice import memory_choice
from memgauge.counters.files.pmt import LAYOUTS, Layout, Pmt
from memgauge.counters.host import Host
from memgauge.counters.opening import find
from memgauge.model.errors import CounterRefused

REGIONS = "/sys/class/intel_pmt"
PANTHER_LAKE, GRANITE_RAPIDS, _ = LAYOUTS


def region(
    root: Path, number: int, layout: Layout, first: int = 1000, size: int | None = None
) -> Host:
    """Each word holds its own number, from `first` on."""
    directory = f"{REGIONS}/telem{number}"
    shown = {f"{directory}/guid": f"{layout.guid:#x}\n", f"{directory}/offset": "0\n"}
    bytes_ = layout.region_bytes if size is None else size
    host = plant(root, {**shown, f"{directory}/size": f"{bytes_}\n"})
    words = range(first, first + bytes_ // 8)
    (root / f"{directory}/telem".lstrip("/")).write_bytes(struct.pack(f"<{len(words)}Q", *words))
    return host


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda one: one.title)
def test_containers_of_a_layout_lie_within_its_region(layout: Layout) -> None:
    assert layout.region_bytes % 8 == 0
    assert max(*layout.reads, *layout.writes) < layout.region_bytes // 8
    assert len(layout.reads) == len(layout.writes)
    assert not set(layout.reads) & set(layout.writes)


def test_reads_and_writes_are_words_of_the_region(tmp_path: Path) -> None:
    made = opening(Pmt(region(tmp_path, 1, PANTHER_LAKE)), ["read_bytes", "write_bytes"])
    assert made.raw() == {"pmt:read_bytes@telem1": 1259, "pmt:write_bytes@telem1": 1258}
    before = made.read()
    region(tmp_path, 1, PANTHER_LAKE, first=1010)
    assert made.between("pmt:read_bytes@telem1", before, made.read()) == 10 * 32


def test_where_the_unit_is_not_stated_counts_stay_counts(tmp_path: Path) -> None:
    host = region(tmp_path, 3, GRANITE_RAPIDS)
    region(tmp_path, 5, GRANITE_RAPIDS, first=5000)
    made = opening(Pmt(host), ["read_count", "write_count"])
    raw = made.raw()
    assert len(raw) == 2 * 16
    assert raw["pmt:read_count@telem3 channel 0"] == 1183
    assert raw["pmt:write_count@telem5 channel 7"] == 5198
    events = Pmt(host).events()
    assert {(one.quantity, one.unit, one.certainty, one.automatic) for one in events} == {
        ("count", "", "none", False)
    }


def test_auto_takes_bytes_and_no_counts_without_a_unit(tmp_path: Path) -> None:
    counts, sized = tmp_path / "counts", tmp_path / "sized"
    with pytest.raises(CounterRefused):
        memory_choice(region(counts, 0, GRANITE_RAPIDS))
    chosen = memory_choice(region(sized, 0, PANTHER_LAKE)).events
    assert [one.name for one in chosen] == ["pmt:read_bytes", "pmt:write_bytes"]
    assert [one.name for one in find(["pmt"], region(sized, 0, PANTHER_LAKE))] == [
        "pmt:read_bytes",
        "pmt:write_bytes",
    ]


def test_a_region_of_another_layout_or_size_is_not_read(tmp_path: Path) -> None:
    region(tmp_path, 0, PANTHER_LAKE, size=PANTHER_LAKE.region_bytes - 8)
    host = plant(tmp_path, {f"{REGIONS}/telem1/guid": "0x1234567\n", f"{REGIONS}/crashlog0/x": ""})
    back_end = Pmt(host)
    assert back_end.events() == []
    probe = back_end.probe()
    assert probe.state == "absent"
    assert "(GUID 0x01234567, 0x03086000)" in (probe.reason or "")


def test_without_telemetry_it_says_so(tmp_path: Path) -> None:
    probe = Pmt(plant(tmp_path, {})).probe()
    assert (probe.state, "no telemetry of an Intel processor" in (probe.reason or "")) == (
        "absent",
        True,
    )


def test_a_processor_that_sleeps_gives_a_missing_value(tmp_path: Path) -> None:
    made = opening(Pmt(region(tmp_path, 0, PANTHER_LAKE)), ["read_bytes"])
    file = tmp_path / f"{REGIONS}/telem0/telem".lstrip("/")
    file.write_bytes(b"\xff" * PANTHER_LAKE.region_bytes)
    assert made.raw() == {"pmt:read_bytes@telem0": None}


def test_a_closed_file_names_what_would_open_it() -> None:
    with open_to_all() as root:
        host = region(root, 0, PANTHER_LAKE)
        (root / f"{REGIONS}/telem0/telem".lstrip("/")).chmod(0o400)
        with without_rights():
            (event, _) = Pmt(host).events()
            assert event.state == "refused"
            assert event.remedy is not None
            assert "let a group read the file" in event.remedy
            assert Pmt(host).probe().state == "refused"
