"""Controllers of Arm systems: meshes, embedded chips, and those whose counts nobody sizes.

Source: the kernel's drivers, see data/*.toml beside memgauge.counters.
"""

from pathlib import Path

from tests.counters_trees.sysfs import FakePmu, Tree, plant


def kunpeng_home_agents(root: Path) -> Tree:
    """Home agents, which tell sizes apart."""
    pmus = [
        FakePmu(
            name=f"hisi_sccl{die}_hha{agent}",
            type=60 + 2 * at + agent,
            cpumask="0",
            format={"event": "config:0-7"},
            events={"rd_ddr_64b": "config=0x1c", "wr_ddr_64b": "config=0x1d",
                    "rd_ddr_128b": "config=0x1e", "wr_ddr_128b": "config=0x1f"},
        )
        for at, die in enumerate((1, 3, 5, 7))
        for agent in range(2)
    ]  # fmt: skip
    return plant(root, pmus, {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}, architecture="aarch64")


def _one_socket(root: Path, *pmus: FakePmu) -> Tree:
    return plant(root, list(pmus), {0: [0, 1, 2, 3]}, architecture="aarch64")


def cmn_s3(root: Path) -> Tree:
    """A mesh of HN-S nodes, and PMUs of sub-channels that publish cycles only."""
    mesh = FakePmu(
        name="arm_cmn_0",
        type=50,
        cpumask="0",
        format={"type": "config:0-15", "eventid": "config:16-26", "occupid": "config:27-30"},
        events={f"hns_mc_reqs_{side}_{what}": f"type=0x200,eventid={event},occupid={number}"
                for side, event in (("local", "0xd"), ("remote", "0x3b"))
                for number, what in enumerate(("all", "sn", "home"))},
    )  # fmt: skip
    channels = [
        FakePmu(
            name=f"arm_cspmu_mc_{n}",
            type=60 + n,
            cpumask="0",
            format={"event": "config:0-32", "filter": "config1:0-31"},
            events={"cycles": "event=0x100000000"},
            files={"associated_cpus": "0-3"},
        )
        for n in range(4)
    ]
    return _one_socket(root, mesh, *channels)


def xgene(root: Path) -> Tree:
    """Names that are plain words."""
    events = {"rd-rda-sent": "config=0x0b", "wr-wra-sent": "config=0x0c"}
    unit = FakePmu(name="mc0", type=20, cpumask="0", format={"config": "config:0-7"}, events=events)
    return _one_socket(root, unit)


def fujitsu(root: Path) -> Tree:
    """A controller whose counts nobody sizes."""
    unit = FakePmu(
        name="mac_iod0_mac1_ch2",
        type=20,
        cpumask="0",
        format={"event": "config:0-7"},
        events={"memory-read-count": "event=0x40", "memory-write-count": "event=0x50"},
    )
    return _one_socket(root, unit)


def _imx(root: Path, name: str, chip: str, events: dict[str, str]) -> Tree:
    masks = {"axi_id": "config1:0-17", "axi_mask": "config2:0-17"}
    unit = FakePmu(
        name=name,
        type=20,
        cpumask="0",
        format={"event": "config:0-7", **masks},
        events=events,
        files={"identifier": chip},
    )
    return _one_socket(root, unit)


IMX8 = {
    "read-cycles": "event=0x2a",
    "write-cycles": "event=0x2b",
    "axid-read": "event=0x41",
    "axid-write": "event=0x42",
}


def imx8mm(root: Path) -> Tree:
    """Cycles of 16 bytes."""
    return _imx(root, "imx8_ddr0", "i.MX8MM", IMX8)


def imx8mp(root: Path) -> Tree:
    """The same names as on i.MX8MM; bytes by a filter."""
    return _imx(root, "imx8_ddr0", "i.MX8MP", IMX8)


def imx8qm(root: Path) -> Tree:
    """The same names, of a chip that no source sizes."""
    return _imx(root, "imx8_ddr0", "i.MX8QM", IMX8)


def imx95(root: Path) -> Tree:
    """Beats of 32 bytes."""
    events = {"eddrtq_pm_rd_beat_filt0": "event=0x49", "eddrtq_pm_wr_beat_filt": "event=0x4a"}
    return _imx(root, "imx9_ddr0", "imx95", events)


def amlogic(root: Path) -> Tree:
    """A unit that the driver misnames."""
    scale = {"scale": "1.52587890625e-05", "unit": "MB"}
    events = {"total_rw_bytes": "config=0x0", "chan_1_rw_bytes": "config=0x1"}
    unit = FakePmu(
        name="meson_ddr_bw",
        type=20,
        cpumask="0",
        format={"event": "config:0-7"},
        events=events,
        scales=dict.fromkeys(events, scale),
    )
    return _one_socket(root, unit)
