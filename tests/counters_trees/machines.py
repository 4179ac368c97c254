"""Platforms with their real formats, PMU names and cpumasks; none of them can be opened here.

Source: the kernel's drivers, see data/*.toml beside memgauge.counters.
"""

from collections.abc import Callable
from pathlib import Path

from tests.counters_trees.arm_controllers import (
    amlogic,
    cmn_s3,
    fujitsu,
    imx8mm,
    imx8mp,
    imx8qm,
    imx95,
    kunpeng_home_agents,
    xgene,
)
from tests.counters_trees.sysfs import LINES, FakePmu, Tree, amd, intel, plant

TWO_SOCKETS = {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}
BOTH = "0,4"
IMC_FORMAT = {
    "event": "config:0-7",
    "umask": "config:8-15",
    "edge": "config:18",
    "inv": "config:23",
    "threshold": "config:24-31",
}
CAS = {"cas_count_read": LINES, "cas_count_write": LINES}


def _imcs(count: int, read: str, write: str) -> list[FakePmu]:
    return [
        FakePmu(
            name=f"uncore_imc_{number}",
            type=20 + number,
            cpumask=BOTH,
            format=IMC_FORMAT,
            events={"cas_count_read": read, "cas_count_write": write, "clockticks": "event=0x00"},
            scales=CAS,
        )
        for number in range(count)
    ]


def broadwell(root: Path) -> Tree:
    """Four channels a socket."""
    pmus = _imcs(4, "event=0x04,umask=0x03", "event=0x04,umask=0x0c")
    return plant(root, pmus, TWO_SOCKETS, cpuinfo=intel(79))


def ice_lake(root: Path) -> Tree:
    """Both ways to count, and Optane."""
    free = FakePmu(
        name="uncore_imc_free_running_0",
        type=40,
        cpumask=BOTH,
        format={"event": "config:0-7", "umask": "config:8-15"},
        events={
            "read": "event=0xff,umask=0x20",
            "write": "event=0xff,umask=0x21",
            "ddrt_read": "event=0xff,umask=0x30",
            "ddrt_write": "event=0xff,umask=0x31",
            "dclk": "event=0xff,umask=0x10",
        },
        scales=dict.fromkeys(("read", "write", "ddrt_read", "ddrt_write"), LINES),
    )
    pmus = [*_imcs(8, "event=0x04,umask=0x0f", "event=0x04,umask=0x30"), free]
    return plant(root, pmus, TWO_SOCKETS, cpuinfo=intel(106))


def sapphire_rapids(root: Path) -> Tree:
    """Xeon Max: HBM that publishes nothing, free-running counters of cycles, CXL."""
    hbm = [
        FakePmu(name=f"uncore_hbm_{n}", type=60 + n, cpumask=BOTH, format=IMC_FORMAT)
        for n in range(2)
    ]
    cycles = FakePmu(
        name="uncore_imc_free_running_0",
        type=50,
        cpumask=BOTH,
        format={"event": "config:0-7", "umask": "config:8-15"},
        events={"dclk": "event=0xff,umask=0x10", "rpq_cycles": "event=0xff,umask=0x20"},
    )
    cxl = [
        FakePmu(name="uncore_cxlcm_0", type=70, cpumask=BOTH, format=IMC_FORMAT),
        FakePmu(name="uncore_cxldp_0", type=71, cpumask=BOTH, format=IMC_FORMAT),
    ]
    imcs = _imcs(8, "event=0x05,umask=0xcf", "event=0x05,umask=0xf0")
    return plant(root, [*imcs, *hbm, cycles, *cxl], TWO_SOCKETS, cpuinfo=intel(143))


def granite_rapids(root: Path) -> Tree:
    """Two sub-channels a channel."""
    events = {
        "cas_count_read_sch0": "event=0x05,umask=0xcf",
        "cas_count_read_sch1": "event=0x06,umask=0xcf",
        "cas_count_write_sch0": "event=0x05,umask=0xf0",
        "cas_count_write_sch1": "event=0x06,umask=0xf0",
    }
    pmus = [
        FakePmu(
            name=f"uncore_imc_{number}",
            type=20 + number,
            cpumask=BOTH,
            format=IMC_FORMAT,
            events=events,
            scales=dict.fromkeys(events, LINES),
        )
        for number in range(12)
    ]
    return plant(root, pmus, TWO_SOCKETS, cpuinfo=intel(173))


def granite_rapids_before_the_fix(root: Path) -> Tree:
    """A kernel that publishes one name, which counts the first sub-channel only."""
    pmus = _imcs(12, "event=0x05,umask=0xcf", "event=0x05,umask=0xf0")
    return plant(root, pmus, TWO_SOCKETS, cpuinfo=intel(173))


def clearwater_forest(root: Path) -> Tree:
    """As before the fix, with CXL."""
    pmus = _imcs(12, "event=0x05,umask=0xcf", "event=0x05,umask=0xf0")
    cxl = FakePmu(name="uncore_cxlcm_0", type=70, cpumask=BOTH, format=IMC_FORMAT)
    return plant(root, [*pmus, cxl], TWO_SOCKETS, cpuinfo=intel(221))


def skylake_client(root: Path) -> Tree:
    """One controller, with parts of its reads beside them."""
    events = {"data_reads": "event=0x01", "data_writes": "event=0x02", "gt_requests": "event=0x03"}
    imc = FakePmu(
        name="uncore_imc",
        type=11,
        cpumask="0",
        format={"event": "config:0-7"},
        events=events,
        scales=dict.fromkeys(events, LINES),
    )
    return plant(root, [imc], {0: [0, 1, 2, 3]}, cpuinfo=intel(94))


def alder_lake(root: Path) -> Tree:
    """A hybrid client: two core PMUs, free-running and programmable memory counters."""
    events = {
        "data_read": "event=0xff,umask=0x20",
        "data_write": "event=0xff,umask=0x30",
        "data_total": "event=0xff,umask=0x10",
    }
    core_format = {"event": "config:0-7", "umask": "config:8-15", "ldlat": "config1:0-15"}
    pmus = [
        FakePmu(name="cpu_core", type=4, format=core_format, files={"cpus": "0-3"}),
        FakePmu(name="cpu_atom", type=10, format=core_format, files={"cpus": "4-7"}),
        *(
            FakePmu(
                name=f"uncore_imc_free_running_{number}",
                type=20 + number,
                cpumask="0",
                format={"event": "config:0-7", "umask": "config:8-15"},
                events=events,
                scales=dict.fromkeys(events, LINES),
            )
            for number in range(2)
        ),
        *(
            FakePmu(
                name=f"uncore_imc_{number}",
                type=30 + number,
                cpumask="0",
                format={"event": "config:0-7", "chmask": "config:8-11"},
            )
            for number in range(2)
        ),
    ]
    return plant(root, pmus, {0: range(8)}, cpuinfo=intel(151))


def _client(root: Path, model: int, *, free_running: bool) -> Tree:
    events = {"data_read": "event=0xff,umask=0x20", "data_write": "event=0xff,umask=0x30"}
    controllers = [
        FakePmu(
            name=f"uncore_imc_{number}",
            type=30 + number,
            cpumask="0",
            format={"event": "config:0-7", "chmask": "config:8-11"},
        )
        for number in range(2)
    ]
    free = FakePmu(
        name="uncore_imc_free_running_0",
        type=20,
        cpumask="0",
        format={"event": "config:0-7", "umask": "config:8-15"},
        events=events,
        scales=dict.fromkeys(events, LINES),
    )
    pmus = [free, *controllers] if free_running else controllers
    return plant(root, pmus, {0: range(8)}, cpuinfo=intel(model))


def arrow_lake(root: Path) -> Tree:
    """A client with events of data and free-running counters."""
    return _client(root, 198, free_running=True)


def lunar_lake(root: Path) -> Tree:
    """Free-running counters that the kernel sets up and Intel does not list."""
    return _client(root, 189, free_running=True)


def panther_lake(root: Path) -> Tree:
    """No free-running counters."""
    return _client(root, 204, free_running=False)


DF_FORMAT = {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"}


def zen4(root: Path) -> Tree:
    """The data fabric only, as on a kernel without the controllers' driver."""
    df = FakePmu(name="amd_df", type=12, cpumask=BOTH, format=DF_FORMAT)
    return plant(root, [df], TWO_SOCKETS, cpuinfo=amd(25, 17))


def zen6(root: Path) -> Tree:
    """A data fabric of which no list of events is known."""
    df = FakePmu(name="amd_df", type=12, cpumask=BOTH, format=DF_FORMAT)
    return plant(root, [df], TWO_SOCKETS, cpuinfo=amd(26, 80))


def hygon(root: Path) -> Tree:
    """AMD's name and format of the data fabric on a processor of another vendor."""
    df = FakePmu(
        name="amd_df",
        type=12,
        cpumask=BOTH,
        format={"event": "config:0-7,32-35,59-60", "umask": "config:8-15"},
    )
    cpuinfo = "vendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t: 1\n"
    return plant(root, [df], TWO_SOCKETS, cpuinfo=cpuinfo)


def zen5(root: Path) -> Tree:
    """Controllers numbered on over both sockets, and the data fabric; no events in sysfs."""
    umcs = [
        FakePmu(
            name=f"amd_umc_{number}",
            type=20 + number,
            cpumask="0" if number < 12 else "4",
            format={"event": "config:0-7", "rdwrmask": "config:8-9"},
        )
        for number in range(24)
    ]
    df = FakePmu(
        name="amd_df",
        type=12,
        cpumask=BOTH,
        format={"event": "config:0-7,32-37", "umask": "config:8-15,24-27"},
    )
    l3 = FakePmu(
        name="amd_l3",
        type=11,
        cpumask=BOTH,
        format={"event": "config:0-7", "umask": "config:8-15", "coreid": "config:42-44",
                "enallslices": "config:46", "enallcores": "config:47", "sliceid": "config:48-50",
                "threadmask": "config:56-57"},
    )  # fmt: skip
    return plant(root, [*umcs, df, l3], TWO_SOCKETS, cpuinfo=amd(26, 2))


def zen2(root: Path) -> Tree:
    """The data fabric only."""
    df = FakePmu(
        name="amd_df",
        type=12,
        cpumask=BOTH,
        format={"event": "config:0-7,32-35,59-60", "umask": "config:8-15"},
    )
    l3 = FakePmu(
        name="amd_l3",
        type=11,
        cpumask=BOTH,
        format={"event": "config:0-7", "umask": "config:8-15", "slicemask": "config:48-51",
                "threadmask": "config:56-63"},
    )  # fmt: skip
    return plant(root, [df, l3], TWO_SOCKETS, cpuinfo=amd(23, 49))


ALTRA_ADDRESSES = [
    *(f"{0x10008C000 + 4 * n:x}" for n in range(8)),
    *(f"{0x50008C000 + 4 * n:x}" for n in range(8)),
]
DMC620_FORMAT = {
    "mask": "config:0-44",
    "match": "config1:0-44",
    "invert": "config2:0",
    "incr": "config2:1-2",
    "event": "config2:3-8",
    "clkdiv2": "config2:9",
}


def altra(root: Path) -> Tree:
    """Eight DMC-620 a socket, whose interrupts all go to CPU 0; sparse package numbers."""
    dmcs = [
        FakePmu(
            name=f"arm_dmc620_{address}",
            type=20 + at,
            cpumask="0",
            format=DMC620_FORMAT,
            events={"clkdiv2_rdwr": "event=0x12,clkdiv2=0x1", "clk_refresh": "event=0x10"},
        )
        for at, address in enumerate(ALTRA_ADDRESSES)
    ]
    mesh = [
        FakePmu(
            name=f"arm_cmn_{n}",
            type=50 + n,
            cpumask=str(4 * n),
            format={"type": "config:0-15", "eventid": "config:16-26", "occupid": "config:27-30"},
            events={"hnf_mc_reqs": "type=0x5,eventid=0xd"},
        )
        for n in range(2)
    ]
    return plant(
        root, [*dmcs, *mesh], {36: [0, 1, 2, 3], 3180: [4, 5, 6, 7]}, architecture="aarch64"
    )


def grace(root: Path) -> Tree:
    """Two sockets, numbered in the names; a C2C link."""
    scf = [
        FakePmu(
            name=f"nvidia_scf_pmu_{socket}",
            type=20 + socket,
            cpumask=str(4 * socket),
            format={"event": "config:0-8"},
            events={"cmem_rd_data": "event=0x1a5", "cmem_wr_total_bytes": "event=0x1db",
                    "gmem_rd_data": "event=0x16d", "gmem_wr_total_bytes": "event=0x1a0",
                    "cycles": "event=0x100000000"},
            files={"identifier": "0x3b006000", "associated_cpus": f"{4 * socket}-{4 * socket + 3}"},
        )
        for socket in range(2)
    ]  # fmt: skip
    link = FakePmu(
        name="nvidia_nvlink_c2c0_pmu_0",
        type=30,
        cpumask="0",
        format={"event": "config:0-8", "port": "config1:0-1"},
        events={"rd_bytes_loc": "event=0x0", "rd_bytes_rem": "event=0x1",
                "wr_bytes_loc": "event=0x2", "wr_bytes_rem": "event=0x3"},
    )  # fmt: skip
    return plant(root, [*scf, link], TWO_SOCKETS, architecture="aarch64")


def vera(root: Path) -> Tree:
    """The fabric, latency of memory, and a PCIe root complex."""
    fabric = FakePmu(
        name="nvidia_ucf_pmu_0",
        type=20,
        cpumask="0",
        format={"event": "config:0-8", "src_loc_cpu": "config1:1", "dst_loc_cmem": "config1:8",
                "dst_rem": "config1:11"},
        events={"mem_bytes_rd": "event=0x123", "mem_bytes_wr": "event=0x124",
                "slc_wb": "event=0xf3"},
    )  # fmt: skip
    latency = FakePmu(
        name="nvidia_cmem_latency_pmu_0",
        type=21,
        cpumask="0",
        format={"event": "config:0-1"},
        events={"rd_req": "event=0x1"},
    )
    pcie = FakePmu(
        name="nvidia_pcie_pmu_0_rc_2",
        type=22,
        cpumask="0",
        format={"event": "config:0-2"},
        events={"rd_bytes": "event=0x0", "wr_bytes": "event=0x1"},
    )
    return plant(root, [fabric, latency, pcie], {0: [0, 1, 2, 3]}, architecture="aarch64")


def power9(root: Path) -> Tree:
    """Eight channels; the cpumask after a hotplug move, not at CPU 0; packages 0 and 8."""
    mbas = [
        FakePmu(
            name=f"nest_mba{n}_imc",
            type=20 + n,
            cpumask="3,4",
            format={"event": "config:0-31", "mode": "config:33-40", "rvalue": "config:41-60"},
            events={f"PM_MBA{n}_READ_BYTES": f"event=0x{0x118 + 16 * n:x}",
                    f"PM_MBA{n}_WRITE_BYTES": f"event=0x{0x11c + 16 * n:x}",
                    f"PM_MBA{n}_CLK_CYC": "event=0x100"},
            scales={f"PM_MBA{n}_READ_BYTES": {"scale": "1"},
                    f"PM_MBA{n}_WRITE_BYTES": {"scale": "1"}},
        )
        for n in range(8)
    ]  # fmt: skip
    mcs = [
        FakePmu(
            name=f"nest_mcs{pair}_imc",
            type=40 + at,
            cpumask="3,4",
            format={"event": "config:0-31"},
            events={f"PM_MCS{pair}_128B_RD_DISP_PORT{pair}": "event=0x118",
                    f"PM_MCS{pair}_128B_WR_DISP_PORT{pair}": "event=0x120"},
            scales={f"PM_MCS{pair}_128B_RD_DISP_PORT{pair}": {"scale": "256"},
                    f"PM_MCS{pair}_128B_WR_DISP_PORT{pair}": {"scale": "256"}},
        )
        for at, pair in enumerate(("01", "23"))
    ]  # fmt: skip
    return plant(root, [*mbas, *mcs], {0: [0, 1, 2, 3], 8: [4, 5, 6, 7]}, architecture="ppc64le")


def power10(root: Path) -> Tree:
    """Raw counts of 4096 blocks."""
    events = {}
    for controller in range(2):
        events[f"PM_MCS_128B_RD_DATA_BLOCKS_MC{controller}_CHAN01"] = (
            f"event={hex(0x118 + controller)}"
        )
        events[f"PM_MCS_64B_WR_DATA_BLOCKS_MC{controller}_CHAN01"] = (
            f"event={hex(0x128 + controller)}"
        )
    mcs = FakePmu(
        name="nest_mcs01_imc",
        type=40,
        cpumask="0,4",
        format={"event": "config:0-31"},
        events=events,
        scales={name: {"scale": "4096"} for name in events},
    )
    return plant(root, [mcs], TWO_SOCKETS, architecture="ppc64le")


def powervm(root: Path) -> Tree:
    """hv_24x7 with its chips left open: two sockets of two chips."""
    events = {
        "PM_MBA0_READ_BYTES": "domain=0x1,offset=0x118,lpar=0x0,chip=?",
        "PM_MBA0_WRITE_BYTES": "domain=0x1,offset=0x11c,lpar=0x0,chip=?",
        "PM_MCS01_128B_RD_DISP_PORT01": "domain=0x1,offset=0x218,lpar=0x0,chip=?",
        "PM_MCS_128B_RD_DATA_BLOCKS_MC0_CHAN01": "domain=0x1,offset=0x318,lpar=0x0,chip=?",
        "PM_MCS_64B_WR_DATA_BLOCKS_MC0_CHAN01": "domain=0x1,offset=0x328,lpar=0x0,chip=?",
    }
    unit = FakePmu(
        name="hv_24x7",
        type=40,
        cpumask="0",
        format={"domain": "config:0-3", "chip": "config:16-31", "core": "config:16-31",
                "offset": "config:32-63", "lpar": "config1:0-15"},
        events=events,
        files={"interface/sockets": "2", "interface/chipspersocket": "2"},
    )  # fmt: skip
    return plant(root, [unit], TWO_SOCKETS, architecture="ppc64le")


def kunpeng(root: Path) -> Tree:
    """Two dies a socket; every cpumask on CPU 0."""
    pmus = [
        FakePmu(
            name=f"hisi_sccl{die}_ddrc{channel}",
            type=20 + 4 * at + channel,
            cpumask="0",
            format={"event": "config:0-4"},
            events={"flux_wr": "config=0x00", "flux_rd": "config=0x01"},
        )
        for at, die in enumerate((1, 3, 5, 7))
        for channel in range(4)
    ]
    return plant(root, pmus, TWO_SOCKETS, architecture="aarch64")


def thunderx2(root: Path) -> Tree:
    """The socket stands in the name."""
    pmus = [
        FakePmu(
            name=f"uncore_dmc_{socket}",
            type=20 + socket,
            cpumask=str(4 * socket),
            format={"event": "config:0-4"},
            events={"read_txns": "event=0xf", "write_txns": "event=0xb"},
        )
        for socket in range(2)
    ]
    return plant(root, pmus, TWO_SOCKETS, architecture="aarch64")


def cn10k(root: Path) -> Tree:
    """Bytes a count that nobody documents."""
    unit = FakePmu(
        name="mrvl_ddr_pmu_87e1c0000000",
        type=20,
        cpumask="0",
        format={"event": "config:0-8"},
        events={"ddr_ddr_reads": "event=0x65", "ddr_ddr_writes": "event=0x64"},
    )
    return plant(root, [unit], {0: [0, 1, 2, 3]}, architecture="aarch64")


def yitian(root: Path) -> Tree:
    """Two dies in one socket; the die in the upper digits."""
    pmus = [
        FakePmu(
            name=f"ali_drw_{prefix}{base:x}",
            type=20 + at,
            cpumask="0",
            format={"event": "config:0-7"},
            events={"hif_rd": "config=0x3", "hif_wr": "config=0x2", "hif_rmw": "config=0x4"},
        )
        for at, (prefix, base) in enumerate(
            (prefix, base)
            for prefix in ("", "400")
            for base in (0x21000, 0x21080, 0x23000, 0x23080)
        )
    ]
    return plant(root, pmus, {0: [0, 1, 2, 3]}, architecture="aarch64")


def ampereone(root: Path) -> Tree:
    """Sockets told by associated_cpus."""
    pmus = [
        FakePmu(
            name=f"ampere_mcu_pmu_{number}",
            type=20 + number,
            cpumask="0",
            format={"event": "config:0-8", "threshold": "config1:0-7", "rank": "config1:8-23"},
            events={
                "rd_sent": "event=0x03",
                "wr_sent": "event=0x05",
                "rd_rda_sent": "event=0x0f",
                "wr_wra_sent": "event=0x10",
            },
            files={"associated_cpus": "0-3" if number < 8 else "4-7"},
        )
        for number in range(16)
    ]
    return plant(root, pmus, TWO_SOCKETS, architecture="aarch64")


def cxl(root: Path) -> Tree:
    """A CXL device's own counters."""
    unit = FakePmu(
        name="cxl_pmu_mem0.0",
        type=20,
        cpumask="0",
        format={"vid": "config:48-63", "gid": "config:32-47", "mask": "config:0-31"},
        events={"s2m_drs_memdata": "config=0x1e98002500000001",
                "m2s_rwd_memwr": "config=0x1e98002100000002",
                "ddr_casrd": "config=0x1e98800000000004",
                "ddr_cas_rd_ap": "config=0x1e98800000000080"},
    )  # fmt: skip
    return plant(root, [unit], TWO_SOCKETS)


def rapl(root: Path) -> Tree:
    """Energy of two packages."""
    joules = {"scale": "2.3283064365386962890625e-10", "unit": "Joules"}
    events = {"energy-pkg": "event=0x02", "energy-ram": "event=0x03"}
    unit = FakePmu(
        name="power",
        type=12,
        cpumask=BOTH,
        format={"event": "config:0-7"},
        events=events,
        scales=dict.fromkeys(events, joules),
    )
    return plant(root, [unit], TWO_SOCKETS, cpuinfo=intel(143))


MACHINES: dict[str, Callable[[Path], Tree]] = {
    made.__name__: made
    for made in (
        broadwell, ice_lake, sapphire_rapids, granite_rapids, granite_rapids_before_the_fix,
        clearwater_forest, skylake_client, alder_lake, arrow_lake, lunar_lake, panther_lake, zen5,
        zen4, zen6, hygon, zen2, altra, cmn_s3, grace, vera, power9, power10, powervm, kunpeng,
        kunpeng_home_agents, thunderx2, cn10k, yitian, ampereone, xgene, fujitsu, imx8mm, imx8mp,
        imx8qm, imx95, amlogic, cxl, rapl,
    )
}  # fmt: skip
