"""lscpu and lstopo, where they are installed, must see the machine as we do."""

import json
import os
import shutil
import subprocess
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from memgauge.system.detect import detect
from memgauge.system.topology.caches import parse_size

LSCPU_COLUMNS = "CPU,CORE,SOCKET,NODE,ONLINE"
CACHE_TYPES = {"0": "unified", "1": "data", "2": "instruction"}


def output_of(*command: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} on PATH")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        pytest.skip(f"{command[0]} failed: {done.stderr.strip()[:200]}")
    return done.stdout


@pytest.fixture(scope="module")
def lstopo() -> ET.Element:
    flags = ("--of", "xml", "--no-io", "--whole-system")
    return ET.fromstring(output_of("lstopo-no-graphics", *flags))  # noqa: S314


def objects(root: ET.Element, *types: str) -> list[ET.Element]:
    return [item for item in root.iter("object") if item.get("type") in types]


def cpus_of(item: ET.Element) -> frozenset[int]:
    """hwloc writes a CPU set as 32-bit words, most significant first; 0xf...f is infinite."""
    mask = 0
    for word in (item.get("cpuset") or "").split(","):
        mask = mask << 32 | (int(word, 16) if word else 0)
    return frozenset(bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def test_lscpu_sees_the_same_cpus() -> None:
    known = json.loads(output_of("lscpu", "-J", f"-e={LSCPU_COLUMNS}"))["cpus"]
    online = [row for row in known if row.get("online", True) in {True, "yes"}]
    ours = detect().cpus
    assert sorted(int(row["cpu"]) for row in online) == [cpu.cpu for cpu in ours]
    # lscpu numbers cores and sockets anew: compare how CPUs are grouped, not the numbers.
    for column in ("core", "socket"):
        theirs = Counter(str(row[column]) for row in online)
        mine = Counter(str(getattr(cpu, column)) for cpu in ours)
        assert sorted(theirs.values()) == sorted(mine.values())
    if all(row.get("node") not in {None, "-"} for row in online):
        assert {int(row["cpu"]): int(row["node"]) for row in online} == {
            cpu.cpu: cpu.node for cpu in ours
        }


def test_lscpu_sees_the_same_caches() -> None:
    known = json.loads(output_of("lscpu", "-J", "-C"))["caches"]
    ours = detect().caches
    assert len(known) == len({(cache.level, cache.type) for cache in ours})
    for row in known:
        same = [c for c in ours if (c.level, c.type) == (int(row["level"]), row["type"].lower())]
        assert {c.bytes for c in same} == {parse_size(row["one-size"])}
        assert sum(c.bytes for c in same) == parse_size(row["all-size"])
        assert {c.ways for c in same} == {int(row["ways"])}
        assert {c.sets for c in same} == {int(row["sets"])}
        assert {c.line_bytes for c in same} == {int(row["coherency-size"])}


def test_lstopo_sees_the_same_caches(lstopo: ET.Element) -> None:
    theirs = {
        (
            int(item.attrib["depth"]),
            CACHE_TYPES[item.attrib["cache_type"]],
            int(item.attrib["cache_size"]),
            int(item.attrib["cache_linesize"]),
            cpus_of(item),
        )
        for level in (1, 2, 3, 4)
        for item in objects(lstopo, f"L{level}Cache", f"L{level}iCache")
    }
    ours = {(c.level, c.type, c.bytes, c.line_bytes, frozenset(c.cpus)) for c in detect().caches}
    assert ours == theirs


def test_lstopo_sees_the_same_cores_and_sockets(lstopo: ET.Element) -> None:
    ours = detect().cpus
    for kind, name in (("Core", "core"), ("Package", "socket")):
        theirs = {cpus_of(item) for item in objects(lstopo, kind)}
        numbers = {getattr(cpu, name) for cpu in ours}
        grouped = {frozenset(c.cpu for c in ours if getattr(c, name) == n) for n in numbers}
        assert grouped == theirs


def test_lstopo_sees_the_same_nodes(lstopo: ET.Element) -> None:
    theirs = {
        int(item.attrib["os_index"]): (cpus_of(item), int(item.get("local_memory", "0")))
        for item in objects(lstopo, "NUMANode")
    }
    ours = {node.node: (frozenset(node.cpus), node.bytes) for node in detect().nodes}
    assert {n: cpus for n, (cpus, _) in ours.items()} == {n: c for n, (c, _) in theirs.items()}
    for number, (_, size) in ours.items():
        # hwloc may take huge pages out of a node's memory, and memory may be hot-plugged.
        assert theirs[number][1] <= size
