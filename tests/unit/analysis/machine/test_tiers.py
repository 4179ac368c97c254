import msgspec
from tests.unit.model.build import system as machine

from memgauge.analysis.machine.tiers import tier_notes, tiers_table
from memgauge.model.system import FirmwareSpeed, SideCache, System, Tier
from memgauge.reports.terminal.report import render_system

DRAM = Tier(kind="dram", placement="dram", bytes=1 << 34, nodes=[0], evidence="has CPUs")
FAR = Tier(
    kind="cxl",
    placement="node:2",
    bytes=1 << 33,
    nodes=[2],
    evidence="CXL region0 is part of the node",
    nearest_node=0,
    distance=20,
    rank=22,
    firmware=FirmwareSpeed(from_nodes=[0], read_latency_ns=250, read_bytes_per_s=30e9),
    side_caches=[SideCache(level=1, bytes=1 << 30, indexing="direct-mapped")],
)
FILES = Tier(
    kind="nvdimm",
    placement="file:/mnt/a long name of a directory",
    bytes=1 << 32,
    nodes=[],
    evidence="a block device (fsdax) of an NVDIMM bus",
    nearest_node=0,
    device="pmem0",
    mount="/mnt/a long name of a directory",
    file_system="ext4",
    dax="always",
)
RAW = Tier(
    kind="nvdimm",
    placement=None,
    bytes=None,
    nodes=[],
    evidence="a block device (raw)",
    device="pmem1",
    remedy="mount it",
)


def having(*tiers: Tier) -> System:
    return msgspec.structs.replace(machine(), tiers=list(tiers))


def test_one_tier_of_which_nothing_is_told_needs_no_table() -> None:
    assert tiers_table(having(DRAM)) is None
    assert tiers_table(having()) is None
    assert tier_notes(having(DRAM)) == []


def test_what_no_tier_tells_has_no_column_and_what_one_does_not_tell_is_a_dash() -> None:
    table = tiers_table(having(DRAM, FAR))
    assert table is not None
    assert [column.title for column in table.columns] == [
        "memory",
        "kind",
        "size",
        "distance",
        "latency",
        "bandwidth",
        "rank",
    ]
    assert table.rows[0] == ["dram", "dram", 1 << 34, None, None, None, None]
    assert table.rows[1] == ["node:2", "cxl", 1 << 33, "20 from node 0", 250, 30.0, 22]
    assert table.note is not None
    assert "the firmware claims" in table.note


def test_dax_and_unknown_sizes_are_shown_as_they_are() -> None:
    table = tiers_table(having(DRAM, FILES, RAW))
    assert table is not None
    assert [row[0] for row in table.rows] == ["dram", "pmem0", "pmem1"]
    assert [row[-1] for row in table.rows] == [None, "always", None]
    assert table.rows[2][2] is None


def test_each_further_tier_is_said_with_its_placement_and_its_remedy() -> None:
    far, files, raw = tier_notes(having(DRAM, FAR, FILES, RAW))
    assert far.text == (
        "node:2: CXL region0 is part of the node; "
        "behind a memory-side cache of 1 GiB (direct-mapped)"
    )
    assert files.text.startswith(f"pmem0, --memory {FILES.placement}: a block device (fsdax)")
    assert files.text.endswith("mounted with dax=always")
    assert (raw.kind, raw.remedy) == ("nvdimm", "mount it")


def test_no_line_of_the_tiers_is_wider_than_the_terminal() -> None:
    for width in (40, 80, 100):
        text = render_system(having(DRAM, FAR, FILES, RAW), width)
        assert max(map(len, text.splitlines())) <= width
        assert "Memory tiers" in text
        assert "pmem1" in text
