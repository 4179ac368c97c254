"""Looks at NUMA nodes of the guest, at pages of every size, and at devices that become nodes."""

from __future__ import annotations

import msgspec
from tests.lab import devices, pagemap
from tests.lab.measuring import Seen, measured, said

from memgauge import _core, api
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.treatments import Treatment
from memgauge.experiments.diagnose.variants.memory_placements import memory_placements
from memgauge.model.records import MeasuredWeights
from memgauge.system.memory.policy import MemoryPolicy, inherited, refusal
from memgauge.system.programs.memory_seen import Viewpoint

MEASURED = MeasuredWeights(
    run_id="earlier", started_at="2026-11-28T00:00:00Z", kernels=["copy"], weights={0: 3, 1: 1}
)


def ordinary() -> Seen:
    """One node, and one that is not there."""
    return {"node": measured(memory="node:1"), "missing": measured(memory="node:7")}


def interleaved() -> Seen:
    """Where the kernel says that the pages of three arrays are."""
    return {
        "even": _shares([0, 1], []),
        "three_to_one": _shares([0, 1], [3, 1]),
        "run": measured(memory="interleave:0=3,1=1", pages="4k"),
    }


def moved() -> Seen:
    """Where the memory of a program was that was started on the wrong node, by treatment."""
    treatments, not_tried = memory_placements([0], api.system(), refusal(), [MEASURED])
    usual = Treatment(name="as it is", kind="variant")
    # In one block from the start: one that grows has two layouts while it is copied.
    words = ["perl", "-e", 'my $x = "x" x $ARGV[0]; sleep 3', "8000000"]
    runs = ProgramRuns(words, [0], viewpoint=Viewpoint(by_node=True))
    with inherited(MemoryPolicy(mode="bind", nodes=[1])):
        seen = {one.name: runs.run(one, look=True).memory for one in (usual, *treatments)}
    return {
        "bytes": {name: one.node_bytes for name, one in seen.items() if one},
        "changes": {one.name: one.change for one in treatments},
        "not_tried": [one.name for one in not_tried],
    }


def _shares(nodes: list[int], weights: list[int]) -> Seen:
    before = pagemap.mappings()
    memory = _core.Memory(nodes, weights)
    arrays = _core.StreamArrays(_core.Team([0]), 16 << 20, pages="4k", memory=memory)
    placed = pagemap.by_numa_maps(before), pagemap.by_move_pages(before)
    known = [dict(one.nodes) for one in arrays.backing()]
    arrays.close()
    return {
        "numa_maps": _share(placed[0]),
        "move_pages": _share(placed[1]),
        "shares": known,
    }


def _share(placed: dict[int, int]) -> dict[int, float]:
    return {node: size / sum(placed.values()) for node, size in placed.items()}


def huge_pages() -> Seen:
    """Explicit pages, wherever they are and on a node; node 1 alone has one of 1 GiB."""
    return {
        "2m": measured(pages="2m"),
        "2m on node 1": measured(pages="2m", memory="node:1"),
        "1g": measured("stride", pages="1g"),
        "1g on node 1": measured("stride", pages="1g", memory="node:1"),
        "1g on node 0": measured("stride", pages="1g", memory="node:0"),
    }


def kmem() -> Seen:
    """An NVDIMM as a node without CPU."""
    return _new_node(devices.as_node(devices.devdax()))


def cxl() -> Seen:
    """A CXL device as a node without CPU."""
    return _new_node(devices.cxl_node())


def _new_node(node: int) -> Seen:
    system = api.system()
    return {
        "node": node,
        "tiers": [msgspec.to_builtins(tier) for tier in system.tiers],
        "cpus": {one.node: one.cpus for one in system.nodes},
        "system": said("system"),
        "run": measured(memory=f"node:{node}"),
    }
