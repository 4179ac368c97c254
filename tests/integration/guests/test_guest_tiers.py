"""Every kind of memory, in a guest that has them: two nodes, NVDIMMs, CXL, pages of all sizes.

Function only: an emulated machine has no speed worth a word. `MEMGAUGE_GUEST_TIERS=all` also boots
the guest with CXL memory, twice with the same NVDIMMs, and for the presets of `tiers`.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.lab import devices, guest
from tests.lab.tiers import RESULT

from memgauge import api

pytestmark = [pytest.mark.long, pytest.mark.native]

Seen = dict[str, Any]

SETTINGS = {
    "NODE_MB": "2048",
    "PMEM_MB": "384",
    "MODULES": devices.MODULES,
    "BOOT": "hugepagesz=1G hugepages=1:1 hugepagesz=2M hugepages=0:32,1:32",
}
CXL = {"CXL_MB": "256", "MODULES": devices.CXL_MODULES}
FEW = ["ordinary", "interleaved", "huge_pages", "moved", "not_dax", "permissions", "ext4", "xfs"]
FEW += ["device", "kmem", "competition", "weights", "matrices"]
needs_all = pytest.mark.skipif(
    os.environ.get("MEMGAUGE_GUEST_TIERS") != "all", reason="set MEMGAUGE_GUEST_TIERS=all"
)


@pytest.fixture(scope="module")
def work() -> Path:
    try:
        return guest.built(tiers=True)
    except guest.Unavailable as error:
        pytest.skip(str(error))


def look(work: Path, looks: list[str], **settings: str) -> Seen:
    """What the looks see in one boot."""
    command = shlex.join([sys.executable, "-m", "tests.lab.tiers", ",".join(looks)])
    shown = f"{command} >/lab/said 2>&1 || {{ cat /lab/said; exit 1; }}; cat {RESULT}"
    done = guest.run(work, shown, SETTINGS | settings, limit_s=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


@pytest.fixture(scope="module")
def found(work: Path) -> Seen:
    return look(work, FEW)


def actual(seen: Seen, name: str) -> set[Any]:
    """What all points of a run have for that."""
    assert "actual" in seen, seen
    assert seen["unsound"] == []
    return {point.get(name) for point in seen["actual"].values()}


def refusal(seen: Seen) -> str:
    """The one line of a refused request."""
    assert seen.get("code") == 2, seen
    assert "\n" not in seen["error"]
    return str(seen["error"])


# ---- nodes and pages ----------------------------------------------------------------------------


def test_pages_of_a_node_are_there(found: Seen) -> None:
    assert actual(found["ordinary"]["node"], "node") == {1}


def test_a_missing_node_is_named_with_those_there_are(found: Seen) -> None:
    assert "no node 7 with memory; choose among 0, 1" in refusal(found["ordinary"]["missing"])


@pytest.mark.parametrize(("name", "share"), [("even", 0.5), ("three_to_one", 0.75)])
def test_pages_are_dealt_out_as_asked(found: Seen, name: str, share: float) -> None:
    seen = found["interleaved"][name]
    for oracle in ("numa_maps", "move_pages"):
        assert seen[oracle]["0"] == pytest.approx(share, abs=0.01)
    for known in seen["shares"]:
        assert known["0"] == pytest.approx(share, abs=0.03)
        assert sum(known.values()) == pytest.approx(1)


def test_an_interleaved_run_claims_no_node(found: Seen) -> None:
    assert actual(found["interleaved"]["run"], "node") == {None}


@pytest.mark.parametrize("pages", ["2m", "1g"])
def test_explicit_pages_are_used_and_stay_on_their_node(found: Seen, pages: str) -> None:
    seen = found["huge_pages"]
    assert actual(seen[pages], "pages") == {pages}
    assert actual(seen[f"{pages} on node 1"], "pages") == {pages}
    assert actual(seen[f"{pages} on node 1"], "node") == {1}


def test_a_node_without_such_pages_is_said_to_have_none(found: Seen) -> None:
    said = refusal(found["huge_pages"]["1g on node 0"])
    assert "1 GiB on node 0" in said
    assert "/node0/hugepages/hugepages-1048576kB/nr_hugepages" in said


def test_a_program_on_the_wrong_node_is_moved(found: Seen) -> None:
    seen = found["moved"]
    assert "bytes" in seen, seen
    shares = {name: of.get("0", 0) / sum(of.values()) for name, of in seen["bytes"].items()}
    assert shares["as it is"] < 0.05
    assert shares["local memory"] > 0.95
    assert shares["remote memory"] < 0.05
    assert 0.25 < shares["interleaved memory"] < 0.75  # a few huge pages may not be shared evenly
    # Of 8 MB a turn of 3:1 has 4 units of 2 MiB; the program's small blocks stay on node 1.
    assert 0.5 < shares["large blocks interleaved by weights"] < 0.9
    assert seen["changes"]["local memory"] == "memory on node 0 only"


# ---- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_dax_file_is_the_medium_itself(found: Seen, kind: str) -> None:
    seen = found[kind]["file"]
    assert actual(seen, "dax") == {True}
    assert actual(seen, "map_sync") == {True}
    assert f"({kind}, DAX, MAP_SYNC granted)" in " ".join(seen["text"].split())
    assert seen["left"] == []


def test_a_dax_medium_mounted_without_dax_is_told_from_dax(found: Seen) -> None:
    seen = found["ext4"]["dax_never"]
    assert actual(seen, "dax") == {False}
    assert actual(seen, "map_sync") == {False}
    said = " ".join(seen["text"].split())
    assert (
        "(ext4 without DAX, MAP_SYNC refused): this measures the page cache, which is DRAM" in said
    )


@pytest.mark.parametrize("file_system", ["root", "tmpfs", "pool"])
def test_map_sync_is_refused_elsewhere_and_said_so(found: Seen, file_system: str) -> None:
    seen = found["not_dax"][file_system]
    assert actual(seen, "dax") == {False}
    assert actual(seen, "map_sync") == {False}


def test_shared_memory_needs_no_name(found: Seen) -> None:
    assert actual(found["not_dax"]["shm"], "node") <= {0, None}


@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_a_full_file_system_is_said_to_be_full(found: Seen, kind: str) -> None:
    seen = found["xfs"]["full"]
    said = refusal(seen[kind])
    assert "available in " in said
    assert "/mnt/dax" in said
    assert seen["left"] == ["users"]
    assert seen["unchanged"]


@pytest.mark.parametrize("kind", ["file", "pmemobj"])
def test_a_users_file_is_left_as_it_is(found: Seen, kind: str) -> None:
    seen = found["ext4"]["strangers"]
    assert "/mnt/dax/users" in refusal(seen[kind])
    assert seen["unchanged"]


@pytest.mark.parametrize("kind", ["file", "pool"])
def test_who_may_not_is_told_so(found: Seen, kind: str) -> None:
    said = refusal(found["permissions"][kind])
    assert "/run/secret" in said
    assert "ermission denied" in said


def test_what_kill_left_is_cleaned_and_nothing_else(found: Seen) -> None:
    seen = found["ext4"]["killed"]
    assert seen["left"] == ["arrays", "pool", "users"]
    assert seen["clean"]["code"] == 0
    assert seen["after"] == ["pool", "users"]  # the pool was kept on purpose
    assert seen["unchanged"]


# ---- pools --------------------------------------------------------------------------------------


def test_a_pool_is_gone_with_its_run(found: Seen) -> None:
    seen = found["ext4"]["pool"]
    assert actual(seen["passing"], "dax") == {True}
    assert seen["passed"] == []


def test_a_kept_pool_is_used_again(found: Seen) -> None:
    seen = found["ext4"]["pool"]
    for run in ("first", "again", "translated", "smaller"):
        assert actual(seen[run], "dax") == {True}
    assert seen["kept_bytes"] >= 2 * 4 << 20
    assert seen["same_file"]
    assert seen["left"] == ["pool"]


def test_a_pool_that_is_too_small_is_left_as_it_is(found: Seen) -> None:
    assert "/mnt/dax/pool" in refusal(found["ext4"]["pool"]["larger"])


@needs_all
def test_a_pool_outlives_the_machine(work: Path, tmp_path: Path) -> None:
    kept = look(work, ["keep_pool"], PMEM_DIR=str(tmp_path))["keep_pool"]
    assert actual(kept, "dax") == {True}
    again = look(work, ["kept_pool"], PMEM_DIR=str(tmp_path))["kept_pool"]
    assert actual(again, "dax") == {True}
    assert again["inode"] == again["inode_after"] == kept["inode"]


# ---- devices ------------------------------------------------------------------------------------


def test_a_device_that_holds_data_is_overwritten_only_when_asked(found: Seen) -> None:
    seen = found["device"]
    assert "--overwrite" in refusal(seen["refused"])
    assert seen["unchanged"]
    assert actual(seen["overwritten"], "dax") == {True}


def test_who_may_not_use_a_device_is_told_so(found: Seen) -> None:
    assert "ermission denied" in refusal(found["device"]["nobody"])


def is_a_node_without_cpu(seen: Seen, kind: str) -> Seen:
    """The tier of a device that became a node, where arrays were put."""
    node = seen["node"]
    assert seen["cpus"][str(node)] == []
    assert actual(seen["run"], "node") == {node}
    (tier,) = (one for one in seen["tiers"] if one["nodes"] == [node])
    assert (tier["kind"], tier["placement"]) == (kind, f"node:{node}")
    assert f"node:{node}" in seen["system"]["out"]
    return dict(tier)


def test_an_nvdimm_becomes_a_node(found: Seen) -> None:
    tier = is_a_node_without_cpu(found["kmem"], "nvdimm")
    dram = next(one for one in found["kmem"]["tiers"] if one["placement"] == "node:1")
    assert (tier["nearest_node"], tier["distance"]) == (1, 17)
    assert tier["rank"] > dram["rank"]
    assert tier["firmware"]["read_latency_ns"] == 300
    assert dram["firmware"]["read_latency_ns"] == 80
    assert tier["firmware"]["read_bytes_per_s"] == dram["firmware"]["read_bytes_per_s"] / 5


@needs_all
def test_a_cxl_device_becomes_a_node(work: Path) -> None:
    tier = is_a_node_without_cpu(look(work, ["cxl"], PMEM_MB="0", **CXL)["cxl"], "cxl")
    assert tier["bytes"] == 256 << 20


# ---- experiments on several memories ------------------------------------------------------------


def test_competing_groups_use_the_memories_they_were_given(found: Seen) -> None:
    seen = found["competition"]
    node, points = seen["node"], seen["named"]["actual"]
    splits = {f"tiers/copy/2t/k{split}" for split in ("0/a", "1/a", "1/b", "2/b")}
    assert set(points) == splits
    for name, point in points.items():
        nodes = {point.get("source_node"), point.get("destination_node")}
        assert nodes == {node} if name.endswith("/b") else node not in nodes
    assert "Bandwidth of both groups by threads in B" in seen["named"]["text"]


def test_the_second_memory_of_a_preset_is_found(found: Seen) -> None:
    seen = found["competition"]
    point = seen["found"]["actual"]["tiers/copy/2t/k2/b"]
    assert point["source_node"] == seen["node"]
    assert point.get("destination_node") != seen["node"]


def test_latency_is_probed_in_both_memories(found: Seen) -> None:
    seen = found["competition"]["probed"]
    points = {name.rpartition("/")[2] for name in seen["actual"]}
    assert {"latency-a", "latency-b"} <= points, seen


def test_a_tier_that_is_not_there_is_told_with_those_there_are(found: Seen) -> None:
    said = refusal(found["competition"]["no_hbm"])
    assert "no such tier was found" in said
    assert f"node:{found['competition']['node']} (nvdimm)" in said


def test_interleave_weights_are_tried_on_both_nodes(found: Seen) -> None:
    seen = found["weights"]
    shares = {point["shares"] for point in seen["actual"].values()}
    assert {"0=1", "1=1"} <= shares
    assert len(shares) > 2
    assert "Bandwidth by weights" in seen["text"]


def test_every_node_with_a_cpu_reaches_every_memory(found: Seen) -> None:
    seen = found["matrices"]
    assert "error" not in seen, seen
    assert {point["node"] for point in seen["actual"].values()} >= {0, 1, found["kmem"]["node"]}
    assert "a CPU node has fewer threads than there are memory nodes" in " ".join(
        seen["text"].split()
    )


@needs_all
def test_all_pairs_of_nodes_are_measured_at_once(work: Path) -> None:
    seen = look(work, ["matrices"], PMEM_MB="0", CPUS="2")["matrices"]
    assert "error" not in seen, seen
    assert "All pairs at once" in seen["text"]


@needs_all
def test_the_presets_leave_tables_and_pictures(work: Path, tmp_path: Path) -> None:
    drawn = 0
    for preset, seen in look(work, ["presets"], SAVE=str(tmp_path))["presets"].items():
        if preset == "seconds":
            continue
        assert seen["code"] == 0, seen
        assert "sum (GB/s)" in seen["out"]
        assert seen["files"] == ["records.jsonl", "report.html", "summary.txt"]
        run = api.load(tmp_path / preset)
        drawn += sum(len(section.charts) for section in run.report.sections)
    assert drawn  # a busy host leaves some without a clean visit


@needs_all
def test_a_program_on_the_wrong_node_is_told_which_placement_is_best(work: Path) -> None:
    seen = look(work, ["wrong_node"], PMEM_MB="0")["wrong_node"]
    assert "diagnosis" in seen, seen
    variants = {one["name"]: one for one in seen["diagnosis"]["treatments"]}
    times = {name: one["slowdown"]["value"] for name, one in variants.items()}
    # By the program's model of its time; a few pages may lie elsewhere.
    expected = {"as it is again": 1, "remote memory": 1, "local memory": 1 / 3}
    expected |= {"interleaved memory": 1 / 2, "large blocks interleaved": 1 / 2}
    expected |= {"memory interleaved by weights": 1 / 4}
    expected |= {"large blocks interleaved by weights": 1 / 4}
    assert times == pytest.approx(expected, abs=0.02)
    memory = variants["local memory"]["memory"]
    assert memory is None or memory["node_shares"]["0"] > 0.95  # a short run may not be seen
    text = " ".join(seen["text"].split())
    best = text.index("memory interleaved by weights (memory interleaved over nodes 0-1 by the")
    assert best < text.index("local memory (memory on node 0 only): takes 66")
