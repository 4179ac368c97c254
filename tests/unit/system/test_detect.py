from pathlib import Path

import msgspec
import pytest
from tests.unit.system.trees import CPUS, MACHINES, Files, guest, hybrid, plant, x86, xeon

from memgauge.model.system import System
from memgauge.system.detect import detect
from memgauge.system.environment.processor import read_processor


def found(root: Path, files: Files) -> System:
    plant(root, files)
    return detect(root)


@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_is_a_record_that_survives_json(tmp_path: Path, name: str) -> None:
    system = found(tmp_path, MACHINES[name]())
    assert msgspec.json.decode(msgspec.json.encode(system), type=System) == system
    online = {cpu.cpu for cpu in system.cpus}
    assert set(system.allowed_cpus) == online
    assert set().union(*(node.cpus for node in system.nodes)) == online
    assert all(set(cache.cpus) <= online for cache in system.caches)


def test_nothing_at_all_is_detected_without_a_crash_and_without_an_invention(
    tmp_path: Path,
) -> None:
    system = detect(tmp_path)
    assert system.cpus == []
    assert system.caches == []
    assert system.memory_bytes == 0
    assert system.governor is None
    assert system.thp is None
    assert system.theoretical_bandwidth_bytes_per_s is None
    assert any("no cache is reported" in note for note in system.topology_notes)


def test_garbage_in_every_file_is_survived(tmp_path: Path) -> None:
    files = dict.fromkeys(xeon() | guest(), "\x00 9999999999999999999999-x ,, : kB")
    system = found(tmp_path, files)
    assert msgspec.json.decode(msgspec.json.encode(system), type=System) == system


def test_the_machine_id_is_stable_and_tells_machines_apart(tmp_path: Path) -> None:
    ids = {name: found(tmp_path / name, make()).machine_id for name, make in MACHINES.items()}
    again = found(tmp_path / "again", xeon() | {"/proc/sys/kernel/osrelease": "7.0\n"})
    assert again.machine_id == ids["xeon"]
    assert len(set(ids.values())) == len(ids)


def test_the_machine_id_forgives_what_another_kernel_keeps_of_the_memory(tmp_path: Path) -> None:
    files = xeon()
    files["/proc/meminfo"] = files["/proc/meminfo"].replace(str(64 << 20), str((63 << 20) + 99))
    less = found(tmp_path / "less", files)
    assert less.machine_id == found(tmp_path / "more", xeon()).machine_id


def test_names_of_processors(tmp_path: Path) -> None:
    def name(cpuinfo: str, architecture: str) -> str:
        return read_processor(plant(tmp_path, {"/proc/cpuinfo": cpuinfo}), architecture).name

    arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: {}\n"
    assert name(x86("Xeon  Example"), "x86_64") == "Xeon Example"
    assert name(arm.format("0xd0c"), "aarch64") == "Arm Neoverse N1"
    assert name(arm.format("0x123"), "aarch64") == "Arm implementer 0x41 part 0x123"
    both = arm.format("0xd0b") + arm.format("0xd08") + arm.format("0xd0b")
    assert name(both, "aarch64") == "Arm Cortex-A76 + Arm Cortex-A72"
    assert name("cpu\t\t: POWER9, altivec supported\n", "ppc64le") == "POWER9, altivec supported"
    assert name("", "riscv64") == "unknown riscv64"


def test_a_mask_smaller_than_the_machine_is_respected(tmp_path: Path) -> None:
    files = hybrid()
    files["/proc/self/status"] = "Cpus_allowed_list:\t2-3,40\n"
    system = found(tmp_path, files)
    assert system.allowed_cpus == [2, 3]
    capability = {c.name: c for c in system.capabilities}["all CPUs"]
    assert not capability.available
    assert capability.remedy is not None


def test_hidden_topology_is_said_and_not_guessed(tmp_path: Path) -> None:
    files = {path: text for path, text in xeon().items() if "/topology/" not in path}
    system = found(tmp_path, files)
    assert len({cpu.core for cpu in system.cpus}) == 16
    assert any("hides the cores of CPUs 0-15" in note for note in system.topology_notes)
    assert any("hides the sockets of CPUs 0-15" in note for note in system.topology_notes)


def test_hidden_caches_are_said_and_not_guessed(tmp_path: Path) -> None:
    files = {path: text for path, text in xeon().items() if "/cache/" not in path}
    system = found(tmp_path, files)
    assert system.caches == []
    assert any("reports no caches of CPUs 0-15" in note for note in system.topology_notes)


def test_offline_cpus_come_from_their_own_files_when_the_list_is_hidden(tmp_path: Path) -> None:
    files = MACHINES["sparse"]()
    del files[f"{CPUS}/online"]
    assert [cpu.cpu for cpu in found(tmp_path, files).cpus] == [0, 2, 1024, 1027, 1536]


def test_this_machine_is_read_without_surprise() -> None:
    system = detect()
    assert system.cpus
    assert 0 < system.available_bytes <= system.memory_bytes
    assert system.allowed_cpus
    assert system.base_page_bytes in {4096, 16384, 65536}
