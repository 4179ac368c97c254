from pathlib import Path

import pytest
from tests.unit.system.trees import (
    CPUS,
    NODES,
    Files,
    altra,
    guest,
    hybrid,
    plant,
    power9,
    sparse,
    with_cxl,
    xeon,
)

from memgauge.system.topology.cpus import Topology, read_topology


def read(root: Path, files: Files, architecture: str = "x86_64") -> Topology:
    return read_topology(plant(root, files), architecture)


def test_smt_siblings_share_a_core_and_are_ranked(tmp_path: Path) -> None:
    cpus = {cpu.cpu: cpu for cpu in read(tmp_path, xeon()).cpus}
    assert [cpus[cpu].core for cpu in (0, 8, 7, 15)] == [0, 0, 7, 7]
    assert [cpus[cpu].sibling for cpu in (0, 8, 7, 15)] == [0, 1, 0, 1]
    assert [cpus[cpu].socket for cpu in (3, 4, 11, 12)] == [0, 1, 0, 1]
    assert [cpus[cpu].node for cpu in (3, 4, 11, 12)] == [0, 1, 0, 1]


def test_smt4(tmp_path: Path) -> None:
    topology = read(tmp_path, power9(), "ppc64le")
    assert len({cpu.core for cpu in topology.cpus}) == 8
    assert [cpu.sibling for cpu in topology.cpus[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert {cpu.socket for cpu in topology.cpus} == {0, 8}


def test_distances_belong_to_node_numbers_not_to_columns(tmp_path: Path) -> None:
    nodes = {node.node: node for node in read(tmp_path, power9(), "ppc64le").nodes}
    assert nodes[0].distances == {0: 10, 8: 40}
    assert nodes[8].distances == {0: 40, 8: 10}


def test_package_numbers_of_the_firmware_are_kept(tmp_path: Path) -> None:
    topology = read(tmp_path, altra(), "aarch64")
    assert {cpu.socket for cpu in topology.cpus} == {36, 3180}
    assert all(cpu.sibling == 0 for cpu in topology.cpus)
    assert all(cpu.core_type is None for cpu in topology.cpus)


def test_a_node_without_cpus_is_a_node(tmp_path: Path) -> None:
    nodes = read(tmp_path, with_cxl()).nodes
    assert [node.cpus == [] for node in nodes] == [False, False, True]
    assert nodes[2].bytes == 128 << 30
    assert nodes[2].distances == {0: 14, 1: 24, 2: 10}


def test_core_types_of_an_intel_hybrid(tmp_path: Path) -> None:
    types = {cpu.cpu: cpu.core_type for cpu in read(tmp_path, hybrid()).cpus}
    assert {types[cpu] for cpu in range(8)} == {"performance"}
    assert {types[cpu] for cpu in range(8, 12)} == {"efficiency"}


def arm(count: int = 4) -> Files:
    return {path: text for path, text in altra().items() if "cpu/cpu" not in path} | {
        f"{CPUS}/online": f"0-{count - 1}\n"
    }


def test_core_types_of_arm_by_capacity(tmp_path: Path) -> None:
    files = arm() | {
        f"{CPUS}/cpu{cpu}/cpu_capacity": "1024" if cpu > 1 else "446" for cpu in range(4)
    }
    types = [cpu.core_type for cpu in read(tmp_path, files, "aarch64").cpus]
    assert types == ["efficiency", "efficiency", "performance", "performance"]


def test_core_types_of_arm_by_pmu_and_by_id_register(tmp_path: Path) -> None:
    devices = "/sys/bus/event_source/devices"
    pmus = {f"{devices}/armv8_a{n}/cpus": f"{n},{n + 2}\n" for n in (0, 1)}
    by_pmu = read(tmp_path / "pmu", arm() | pmus, "aarch64")
    assert [cpu.core_type for cpu in by_pmu.cpus] == ["armv8_a0", "armv8_a1"] * 2
    register = "regs/identification/midr_el1"
    midr = {f"{CPUS}/cpu{cpu}/{register}": f"0x{cpu % 2}" for cpu in range(4)}
    by_midr = read(tmp_path / "midr", arm() | midr, "aarch64")
    assert [cpu.core_type for cpu in by_midr.cpus] == ["midr 0x0", "midr 0x1"] * 2


def test_equal_cores_have_no_type(tmp_path: Path) -> None:
    files = arm() | {f"{CPUS}/cpu{cpu}/cpu_capacity": "1024" for cpu in range(4)}
    assert {cpu.core_type for cpu in read(tmp_path, files, "aarch64").cpus} == {None}


def test_sparse_numbers_and_offline_cpus(tmp_path: Path) -> None:
    topology = read(tmp_path, sparse())
    assert [cpu.cpu for cpu in topology.cpus] == [0, 2, 1024, 1027, 1536]
    assert [cpu.core for cpu in topology.cpus] == [0, 1, 2, 3, 4]
    assert "CPUs 1,3 are offline" in topology.notes


def test_an_offline_sibling_leaves_its_core_with_one_thread(tmp_path: Path) -> None:
    files = xeon() | {f"{CPUS}/online": "0-7\n"}
    cpus = read(tmp_path, files).cpus
    assert [(cpu.core, cpu.sibling) for cpu in cpus] == [(core, 0) for core in range(8)]


def test_hidden_nodes_become_one_with_a_note(tmp_path: Path) -> None:
    files = {path: text for path, text in xeon().items() if not path.startswith(NODES)}
    topology = read(tmp_path, files)
    assert [(node.node, node.bytes) for node in topology.nodes] == [(0, 64 << 30)]
    assert any("no NUMA nodes" in note for note in topology.notes)


def test_a_negative_package_is_a_hidden_socket(tmp_path: Path) -> None:
    files = guest()
    for cpu in range(4):
        files[f"{CPUS}/cpu{cpu}/topology/physical_package_id"] = "-1\n"
    topology = read(tmp_path, files)
    assert {cpu.socket for cpu in topology.cpus} == {0}
    assert any("sockets of CPUs 0-3" in note for note in topology.notes)


@pytest.mark.parametrize("text", ["0-", "x", "3-1", "0,0"])
def test_a_malformed_list_falls_back_to_the_directories(tmp_path: Path, text: str) -> None:
    cpus = read(tmp_path, xeon() | {f"{CPUS}/online": text}).cpus
    assert [cpu.cpu for cpu in cpus] == list(range(16))
