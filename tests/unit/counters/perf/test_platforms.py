"""Encodings, scales and sockets of every platform, word for word against their documents."""

from pathlib import Path
from typing import NamedTuple

import pytest
from tests.counters_trees.machines import MACHINES

from memgauge.counters.choice import preferred
from memgauge.counters.perf.catalogue import Catalogue
from memgauge.counters.perf.data import families, is_any_of, processors
from memgauge.counters.perf.encoding import Words, parse_terms
from memgauge.counters.perf.places import Resolved


class Row(NamedTuple):
    """What one platform must come to: an event, its first words, bytes a count, places."""

    machine: str
    event: str
    quantity: str
    words: Words
    bytes: float
    places: int
    sockets: tuple[int | None, ...]


R, W, B = "read_bytes", "write_bytes", "traffic_bytes"
TWO = (0, 1)
ROWS = [
    Row("broadwell", "uncore_imc/cas_count_read/", R, Words(0x0304), 64, 8, TWO),
    Row("broadwell", "uncore_imc/cas_count_write/", W, Words(0x0C04), 64, 8, TWO),
    Row("ice_lake", "uncore_imc/cas_count_read/", R, Words(0x0F04), 64, 16, TWO),
    Row("ice_lake", "uncore_imc/cas_count_write/", W, Words(0x3004), 64, 16, TWO),
    Row("ice_lake", "uncore_imc_free_running/read/", R, Words(0x20FF), 64, 2, TWO),
    Row("ice_lake", "uncore_imc_free_running/write/", W, Words(0x21FF), 64, 2, TWO),
    Row("ice_lake", "uncore_imc_free_running/ddrt_read/", R, Words(0x30FF), 64, 2, TWO),
    Row("ice_lake", "uncore_imc/pmm_rpq_inserts/", R, Words(0xE3), 64, 16, TWO),
    Row("ice_lake", "uncore_imc/pmm_wpq_inserts/", W, Words(0xE7), 64, 16, TWO),
    Row("sapphire_rapids", "uncore_imc/cas_count_read/", R, Words(0xCF05), 64, 16, TWO),
    Row("sapphire_rapids", "uncore_imc/cas_count_write/", W, Words(0xF005), 64, 16, TWO),
    Row("sapphire_rapids", "uncore_hbm/cas_count_read/", R, Words(0xCF05), 64, 4, TWO),
    Row("sapphire_rapids", "uncore_hbm/cas_count_write/", W, Words(0xF005), 64, 4, TWO),
    Row("sapphire_rapids", "uncore_cxlcm/rxc_pack_buf_inserts.mem_data/", R, Words(0x1041), 64, 2,
        TWO),
    Row("sapphire_rapids", "uncore_cxldp/txc_agf_inserts.m2s_data/", W, Words(0x2002), 64, 2, TWO),
    Row("granite_rapids", "uncore_imc/cas_count_read_sch0/", R, Words(0xCF05), 64, 24, TWO),
    Row("granite_rapids", "uncore_imc/cas_count_read_sch1/", R, Words(0xCF06), 64, 24, TWO),
    Row("granite_rapids", "uncore_imc/cas_count_write_sch1/", W, Words(0xF006), 64, 24, TWO),
    Row("granite_rapids_before_the_fix", "uncore_imc/cas_count_read_sch0/", R, Words(0xCF05), 64,
        24, TWO),
    Row("granite_rapids_before_the_fix", "uncore_imc/cas_count_read_sch1/", R, Words(0xCF06), 64,
        24, TWO),
    Row("clearwater_forest", "uncore_imc/cas_count_write_sch1/", W, Words(0xF006), 64, 24, TWO),
    Row("clearwater_forest", "uncore_cxlcm/rxc_pack_buf_inserts.mem_data/", R, Words(0x1041), 64,
        2, TWO),
    Row("skylake_client", "uncore_imc/data_reads/", R, Words(0x01), 64, 1, (0,)),
    Row("skylake_client", "uncore_imc/data_writes/", W, Words(0x02), 64, 1, (0,)),
    Row("alder_lake", "uncore_imc_free_running/data_read/", R, Words(0x20FF), 64, 2, (0,)),
    Row("alder_lake", "uncore_imc_free_running/data_write/", W, Words(0x30FF), 64, 2, (0,)),
    Row("alder_lake", "uncore_imc_free_running/data_total/", B, Words(0x10FF), 64, 2, (0,)),
    Row("alder_lake", "uncore_imc/unc_m_cas_count_rd/", R, Words(0x22), 64, 2, (0,)),
    Row("arrow_lake", "uncore_imc/unc_m_rd_data/", R, Words(0x3A), 32, 2, (0,)),
    Row("arrow_lake", "uncore_imc/unc_m_total_data/", B, Words(0x3C), 32, 2, (0,)),
    Row("panther_lake", "uncore_imc/unc_m_wr_data/", W, Words(0x3B), 32, 2, (0,)),
    Row("panther_lake", "uncore_imc/unc_m_cas_count_rd/", R, Words(0x22), 64, 2, (0,)),
    Row("zen5", "amd_umc/umc_cas_cmd.rd/", R, Words(0x10A), 64, 24, TWO),
    Row("zen5", "amd_umc/umc_cas_cmd.wr/", W, Words(0x20A), 64, 24, TWO),
    Row("zen4", "amd_df/local_processor_read_data_beats/", R, Words(0x700FE1F), 64, 24, TWO),
    Row("zen4", "amd_df/remote_processor_write_data_beats/", W, Words(0xB00FF1F), 64, 24, TWO),
    Row("zen5", "amd_df/local_or_remote_socket_read_data_beats_dram/", R, Words(0xF00FE1F), 64, 24,
        TWO),
    Row("zen5", "amd_df/local_or_remote_socket_write_data_beats_dram/", W, Words(0xF00FF1F), 64,
        24, TWO),
    Row("zen2", "amd_df/dram_channel_data_controller/", B, Words(0x3807), 64, 16, TWO),
    # event 0x12 in config2:3-8 and clkdiv2 in config2:9; mask in config, match in config1.
    Row("altra", "arm_dmc620/clkdiv2_rdwr,mask=0x1,match=0x0/", R, Words(1, 0, 0x12 << 3 | 1 << 9),
        64, 16, (36, 3180)),
    Row("altra", "arm_dmc620/clkdiv2_rdwr,mask=0x1,match=0x1/", W, Words(1, 1, 0x12 << 3 | 1 << 9),
        64, 16, (36, 3180)),
    Row("altra", "arm_cmn/hnf_mc_reqs/", B, Words(0x5 | 0xD << 16), 64, 2, (36, 3180)),
    Row("grace", "nvidia_scf_pmu/cmem_rd_data/", R, Words(0x1A5), 32, 2, TWO),
    Row("grace", "nvidia_scf_pmu/cmem_wr_total_bytes/", W, Words(0x1DB), 1, 2, TWO),
    Row("grace", "nvidia_scf_pmu/gmem_rd_data/", R, Words(0x16D), 32, 2, TWO),
    Row("grace", "nvidia_nvlink_c2c0_pmu/wr_bytes_rem/", W, Words(0x3), 1, 1, (0,)),
    Row("vera", "nvidia_ucf_pmu/mem_bytes_rd,dst_loc_cmem=1/", R, Words(0x123, 1 << 8), 1, 1, (0,)),
    Row("vera", "nvidia_ucf_pmu/mem_bytes_wr,dst_loc_cmem=1/", W, Words(0x124, 1 << 8), 1, 1, (0,)),
    Row("vera", "nvidia_cmem_latency_pmu/rd_req/", R, Words(1), 32, 1, (0,)),
    Row("vera", "nvidia_pcie_pmu_rc/wr_bytes/", W, Words(1), 1, 1, (0,)),
    # type 0x200 in config:0-15, eventid in config:16-26, occupid 1 in config:27-30.
    Row("cmn_s3", "arm_cmn/hns_mc_reqs_local_sn/", B, Words(0x80D0200), 64, 1, (0,)),
    Row("cmn_s3", "arm_cmn/hns_mc_reqs_remote_sn/", B, Words(0x83B0200), 64, 1, (0,)),
    Row("cmn_s3", "arm_cspmu_mc/event=0x0/", B, Words(0), 32, 4, (0,)),
    Row("power9", "nest_mba_imc/PM_MBA_READ_BYTES/", R, Words(0x118), 64, 16, (0, 8)),
    Row("power9", "nest_mcs_imc/PM_MCS_128B_RD_DISP_PORT/", R, Words(0x118), 256 * 64, 4, (0, 8)),
    Row("power10", "nest_mcs_imc/PM_MCS_128B_RD_DATA_BLOCKS/", R, Words(0x118), 4096 * 128, 4, TWO),
    Row("power10", "nest_mcs_imc/PM_MCS_64B_WR_DATA_BLOCKS/", W, Words(0x128), 4096 * 64, 4, TWO),
    Row("powervm", "hv_24x7/PM_MBA_READ_BYTES/", R, Words(0x118 << 32 | 1), 64, 4, TWO),
    Row("powervm", "hv_24x7/PM_MCS_128B_RD_DISP_PORT/", R, Words(0x218 << 32 | 1), 16384, 4, TWO),
    Row("powervm", "hv_24x7/PM_MCS_128B_RD_DATA_BLOCKS/", R, Words(0x318 << 32 | 1), 524288, 4,
        TWO),
    Row("powervm", "hv_24x7/PM_MCS_64B_WR_DATA_BLOCKS/", W, Words(0x328 << 32 | 1), 262144, 4, TWO),
    Row("kunpeng_home_agents", "hisi_sccl_hha/rd_ddr_64b/", R, Words(0x1C), 64, 8, TWO),
    Row("kunpeng_home_agents", "hisi_sccl_hha/wr_ddr_128b/", W, Words(0x1F), 128, 8, TWO),
    Row("imx8mm", "imx8_ddr/read-cycles/", R, Words(0x2A), 16, 1, (0,)),
    Row("imx8mp", "imx8_ddr/axid-write,axi_mask=0xffff,axi_id=0/", W, Words(0x42, 0, 0xFFFF), 1, 1,
        (0,)),
    Row("imx95", "imx9_ddr/eddrtq_pm_rd_beat_filt0,axi_mask=0,axi_id=0/", R, Words(0x49), 32, 1,
        (0,)),
    Row("amlogic", "meson_ddr_bw/total_rw_bytes/", B, Words(0), 16, 1, (0,)),
    Row("kunpeng", "hisi_sccl_ddrc/flux_rd/", R, Words(0x01), 32, 16, TWO),
    Row("kunpeng", "hisi_sccl_ddrc/flux_wr/", W, Words(0x00), 32, 16, TWO),
    Row("thunderx2", "uncore_dmc/read_txns/", R, Words(0xF), 64, 2, TWO),
    Row("thunderx2", "uncore_dmc/write_txns/", W, Words(0xB), 64, 2, TWO),
    Row("yitian", "ali_drw/hif_rd/", R, Words(0x3), 64, 8, (0,)),
    Row("yitian", "ali_drw/hif_rmw/", W, Words(0x4), 64, 8, (0,)),
    Row("cxl", "cxl_pmu_mem/s2m_drs_memdata/", R, Words(0x1E98 << 48 | 0x25 << 32 | 1), 64, 1,
        (None,)),
    Row("cxl", "cxl_pmu_mem/ddr_cas_rd_ap/", R, Words(0x1E98 << 48 | 0x8000 << 32 | 0x80), 64, 1,
        (None,)),
]  # fmt: skip


def known(machine: str, root: Path) -> dict[str, Resolved]:
    found = Catalogue(MACHINES[machine](root).host).known
    return {one.event.name.removeprefix("perf:"): one for one in found}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.machine}-{row.event}")
def test_an_event_is_encoded_as_documented(row: Row, tmp_path: Path) -> None:
    one = known(row.machine, tmp_path)[row.event]
    assert one.places[0].words == row.words
    assert (one.event.quantity, one.event.unit) == (row.quantity, "B")
    assert one.event.scale == pytest.approx(row.bytes, rel=1e-9)
    assert {place.worth.scale for place in one.places} == {one.event.scale}
    assert len(one.places) == row.places == len(set(one.event.instances))
    assert tuple(dict.fromkeys(place.socket for place in one.places)) == row.sockets
    assert one.notes == []


@pytest.mark.parametrize("machine", MACHINES)
def test_every_event_says_what_must_be_known_of_it(machine: str, tmp_path: Path) -> None:
    for one in known(machine, tmp_path).values():
        event = one.event
        said = [event.meaning, event.encoding, event.source, event.scale_source]
        assert all(said)
        assert event.certainty is not None
        assert event.state == "ready"
        assert event.domain in {"energy", "core"} or event.traffic
        assert (event.certainty == "none") == (event.quantity == "count")


AUTOMATIC = {
    "broadwell": {"uncore_imc/cas_count_read/", "uncore_imc/cas_count_write/"},
    "ice_lake": {"uncore_imc/cas_count_read/", "uncore_imc/cas_count_write/"},
    "sapphire_rapids": {"uncore_imc/cas_count_read/", "uncore_imc/cas_count_write/",
                        "uncore_hbm/cas_count_read/", "uncore_hbm/cas_count_write/"},
    "granite_rapids": {f"uncore_imc/cas_count_{way}_sch{n}/" for way in ("read", "write")
                       for n in (0, 1)},
    "granite_rapids_before_the_fix": {f"uncore_imc/cas_count_{way}_sch{n}/"
                                      for way in ("read", "write") for n in (0, 1)},
    "skylake_client": {"uncore_imc/data_reads/", "uncore_imc/data_writes/"},
    "alder_lake": {"uncore_imc_free_running/data_read/", "uncore_imc_free_running/data_write/"},
    "arrow_lake": {"uncore_imc/unc_m_rd_data/", "uncore_imc/unc_m_wr_data/"},
    "lunar_lake": {"uncore_imc/unc_m_rd_data/", "uncore_imc/unc_m_wr_data/"},
    "panther_lake": {"uncore_imc/unc_m_rd_data/", "uncore_imc/unc_m_wr_data/"},
    "vera": {"nvidia_ucf_pmu/mem_bytes_rd,dst_loc_cmem=1/",
             "nvidia_ucf_pmu/mem_bytes_wr,dst_loc_cmem=1/",},
    "zen6": set(),
    "hygon": set(),
    "imx8qm": set(),
    "zen5": {"amd_umc/umc_cas_cmd.rd/", "amd_umc/umc_cas_cmd.wr/"},
    "zen2": {"amd_df/dram_channel_data_controller/"},
    "altra": {"arm_dmc620/clkdiv2_rdwr,mask=0x1,match=0x0/",
              "arm_dmc620/clkdiv2_rdwr,mask=0x1,match=0x1/"},
    "grace": {"nvidia_scf_pmu/cmem_rd_data/", "nvidia_scf_pmu/cmem_wr_total_bytes/"},
    "power9": {"nest_mba_imc/PM_MBA_READ_BYTES/", "nest_mba_imc/PM_MBA_WRITE_BYTES/"},
    "yitian": {"ali_drw/hif_rd/", "ali_drw/hif_wr/", "ali_drw/hif_rmw/"},
    "cn10k": set(),
    "cxl": set(),
}  # fmt: skip


@pytest.mark.parametrize("machine", AUTOMATIC)
def test_no_traffic_is_chosen_twice(machine: str, tmp_path: Path) -> None:
    traffic = [
        one.event for one in known(machine, tmp_path).values() if one.event.quantity in {R, W, B}
    ]
    chosen = {event.name.removeprefix("perf:") for event in preferred(traffic)}
    assert chosen == AUTOMATIC[machine]


def test_channels_of_the_data_fabric_are_a_step_apart(tmp_path: Path) -> None:
    one = known("zen2", tmp_path)["amd_df/dram_channel_data_controller/"]
    at_cpu0 = [place for place in one.places if place.cpu == 0]
    # event 0x07 + 0x40 K over config:0-7,32-35: channel 4 is 0x107.
    assert [place.words.config for place in at_cpu0][3:6] == [0x38C7, 0x1_0000_3807, 0x1_0000_3847]


def test_controllers_without_documented_bytes_are_plain_counts(tmp_path: Path) -> None:
    event = known("cn10k", tmp_path)["mrvl_ddr_pmu/ddr_ddr_reads/"].event
    assert (event.quantity, event.unit, event.certainty) == ("count", "", "none")
    rows = known("ampereone", tmp_path / "ampereone")
    assert set(rows) == {"ampere_mcu_pmu/rd_rda_sent/", "ampere_mcu_pmu/wr_wra_sent/"}
    assert {one.event.certainty for one in rows.values()} == {"none"}


@pytest.mark.parametrize(
    ("machine", "pmu"),
    [("cn10k", "mrvl_ddr_pmu_87e1c0000000"), ("xgene", "mc0"), ("fujitsu", "mac_iod0_mac1_ch2"),
     ("zen6", "amd_df"), ("hygon", "amd_df"), ("imx8qm", "imx8_ddr0")],
)  # fmt: skip
def test_a_controller_without_a_size_is_reported_as_one(
    machine: str, pmu: str, tmp_path: Path
) -> None:
    assert Catalogue(MACHINES[machine](tmp_path).host).unsized == [pmu]


def test_what_counts_half_of_the_traffic_is_not_offered(tmp_path: Path) -> None:
    """Also where the processor is not known: the published pair tells that there are halves."""
    old = known("granite_rapids_before_the_fix", tmp_path / "old")
    assert not {"uncore_imc/cas_count_read/", "uncore_imc/cas_count_write/"} & set(old)
    tree = MACHINES["granite_rapids"](tmp_path / "both")
    for number in range(12):
        events = tree.device(f"uncore_imc_{number}") / "events"
        (events / "cas_count_read").write_text("event=0x05,umask=0xcf\n")
    (tree.procfs / "cpuinfo").write_text("")
    names = {one.event.name for one in Catalogue(tree.host).known}
    assert "perf:uncore_imc/cas_count_read/" not in names
    assert "perf:uncore_imc/cas_count_read_sch1/" in names


def test_energy_is_in_joules_for_each_package(tmp_path: Path) -> None:
    one = known("rapl", tmp_path)["power/energy-pkg/"]
    assert (one.event.quantity, one.event.unit, one.event.scale) == ("energy", "J", 2.0**-32)
    assert [(place.words, place.socket) for place in one.places] == [(Words(2), 0), (Words(2), 1)]


def test_counters_that_count_cycles_are_no_traffic(tmp_path: Path) -> None:
    """Sapphire Rapids has PMUs of the same name as Ice Lake's, with other events."""
    assert [name for name in known("sapphire_rapids", tmp_path) if "free_running" in name] == []


def test_chips_left_open_are_all_counted(tmp_path: Path) -> None:
    one = known("powervm", tmp_path)["hv_24x7/PM_MBA_READ_BYTES/"]
    assert [place.words.config >> 16 & 0xFFFF for place in one.places] == [0, 1, 2, 3]
    assert [place.socket for place in one.places] == [0, 0, 1, 1]


def test_the_kernels_scale_wins_and_the_difference_is_said(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    for number in range(4):
        scale = tree.device(f"uncore_imc_{number}") / "events" / "cas_count_read.scale"
        scale.write_text("1.220703125e-04\n")
    event = Catalogue(tree.host).known[0].event
    assert event.scale == 128
    assert any("the kernel's scale is 128 bytes per count" in pitfall for pitfall in event.pitfalls)


def test_without_its_scale_a_nest_count_is_no_bytes(tmp_path: Path) -> None:
    tree = MACHINES["power10"](tmp_path)
    for path in (tree.device("nest_mcs01_imc") / "events").glob("*.scale"):
        path.unlink()
    one = Catalogue(tree.host).known[0]
    assert (one.event.quantity, one.event.unit, one.event.scale) == ("count", "", 1.0)
    assert one.event.certainty == "none"
    assert any("no .scale file" in pitfall for pitfall in one.event.pitfalls)


def test_a_scale_that_misleads_is_not_used_and_said(tmp_path: Path) -> None:
    """POWER9's bare 1, and Amlogic's MB that are MiB: 1.52587890625e-05 x 2^20 is 16."""
    nest = known("power9", tmp_path / "nest")["nest_mba_imc/PM_MBA_READ_BYTES/"].event
    assert "the kernel's .scale file, 1, misleads and is not used" in nest.scale_source
    assert any("name and scale mislead" in pitfall for pitfall in nest.pitfalls)
    assert nest.certainty == "confirmed"
    tree = MACHINES["power9"](tmp_path / "other")
    for path in (tree.device("nest_mba0_imc") / "events").glob("*.scale"):
        path.write_text("256\n")
    assert Catalogue(tree.host).known[0].event.scale == 64
    rows = known("amlogic", tmp_path / "amlogic")
    assert {one.event.scale for one in rows.values()} == {16}
    assert {one.event.scale_source.rpartition("; ")[0] for one in rows.values()} == {
        "meson-ddr-pmu.rst and the driver: units of 16 bytes"
    }


def test_a_scale_from_elsewhere_is_labelled_and_gives_way_to_the_kernels(tmp_path: Path) -> None:
    tree = MACHINES["powervm"](tmp_path)
    name = "hv_24x7/PM_MCS_128B_RD_DISP_PORT/"
    one = {each.event.name: each.event for each in Catalogue(tree.host).known}[f"perf:{name}"]
    assert one.scale_source.startswith("the published scale, 256, as the kernel gives no .scale")
    events = tree.device("hv_24x7") / "events"
    (events / "PM_MCS01_128B_RD_DISP_PORT01.scale").write_text("256\n")
    one = {each.event.name: each.event for each in Catalogue(tree.host).known}[f"perf:{name}"]
    assert one.scale == 16384
    assert one.scale_source.startswith("the kernel's .scale file, 256, times 64 bytes")


def test_processors_are_told_by_single_models_and_by_ranges() -> None:
    def of(vendor: str, family: int, model: int) -> set[str]:
        names = ("zen1_to_zen3", "zen4", "zen5", "gnr", "gnr_cxl", "mtl_to_nvl")
        return {name for name in names if is_any_of((vendor, family, model), [name])}

    assert of("AuthenticAMD", 25, 0x01) == of("AuthenticAMD", 23, 0x31) == {"zen1_to_zen3"}
    assert of("AuthenticAMD", 25, 0x11) == of("AuthenticAMD", 25, 0xA0) == {"zen4"}
    assert of("AuthenticAMD", 26, 0x02) == of("AuthenticAMD", 26, 0x4F) == {"zen5"}
    assert of("AuthenticAMD", 26, 0x50) == of("HygonGenuine", 24, 1) == set()
    assert of("GenuineIntel", 6, 221) == {"gnr", "gnr_cxl"}
    assert of("GenuineIntel", 6, 182) == {"gnr"}
    assert of("GenuineIntel", 18, 3) == of("GenuineIntel", 6, 229) == {"mtl_to_nvl"}


def test_another_processors_encodings_are_not_used(tmp_path: Path) -> None:
    """Where the kernel publishes nothing and the processor is a stranger, nothing is guessed."""
    tree = MACHINES["sapphire_rapids"](tmp_path)
    (tree.procfs / "cpuinfo").write_text("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 1\n")
    names = {one.event.name for one in Catalogue(tree.host).known}
    assert names == {"perf:uncore_imc/cas_count_read/", "perf:uncore_imc/cas_count_write/"}


def test_a_malformed_published_event_is_left_out_with_a_note(tmp_path: Path) -> None:
    tree = MACHINES["broadwell"](tmp_path)
    path = tree.device("uncore_imc_2") / "events" / "cas_count_read"
    path.write_text("event=0x04,umask=\n")
    one = Catalogue(tree.host).known[0]
    assert len(one.places) == 6
    assert "uncore_imc_2 is left out" in one.notes[0]


def test_the_data_hold_together() -> None:
    names = {name for family in families() for name in _processors_of(family.events)}
    assert names <= set(processors())
    for family in families():
        assert family.source, family.name
        for event in family.events:
            assert (event.bytes_per_count is None) == (event.unit != "B"), event.name
            for encoding in event.encodings:
                assert parse_terms(encoding.text)


def _processors_of(events: object) -> set[str]:
    assert isinstance(events, list)
    return {cpu for event in events for encoding in event.encodings for cpu in encoding.cpus}
