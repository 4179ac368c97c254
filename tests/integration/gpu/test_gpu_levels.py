"""latency, workingset and mix in a GPU's memory, run whole on a stand-in whose times are scripted.

Its kernels take so many ns for each byte that they load and store, whatever cache that would come
from: what is to be measured is known exactly.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.integration.command import memgauge

from memgauge.analysis.report.document import Document, PointFigures, SectionFigures

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

NS_PER_BYTE = 1.5
NODE_BYTES = 8
"""What one load of a walk reads,"""
LATENCY_NS = NODE_BYTES * NS_PER_BYTE
CLOCK_GHZ = 1.25
L2 = 64 << 10

MACHINE: dict[str, Any] = {
    "clock": "scripted",
    "kernel_ns_per_byte": NS_PER_BYTE,
    "clock_khz": int(CLOCK_GHZ * 1e6),
    "memory": 16 << 20,
    "l2_bytes": L2,
    "multiprocessors": 1,
    "name": "Example GPU",
}


def run_of(gpu: GpuStandIn, place: Path, *arguments: str) -> Document:
    done = memgauge(
        *arguments,
        *("--memory", "cuda:0", "--json", "--output", place / "run"),
        environment=gpu.environment(**MACHINE),
    )
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout, type=Document)


def section(document: Document, name: str) -> SectionFigures:
    return next(section for section in document.sections if section.name == name)


def median_of(point: PointFigures) -> float:
    assert point.median is not None
    return point.median.value


def test_three_experiments_find_what_was_scripted(gpu_stand_in: GpuStandIn, tmp_path: Path) -> None:
    only = ("survey", "--only", "latency,workingset,mix", "--budget", "2m", "--precision", "0.1")
    document = run_of(gpu_stand_in, tmp_path, *only)
    latency, workingset, mix = (section(document, n) for n in ("latency", "workingset", "mix"))
    for point in latency.points:
        assert median_of(point) == pytest.approx(LATENCY_NS, rel=0.01), point.point
        assert point.cycles is not None
        assert point.cycles.value == pytest.approx(LATENCY_NS * CLOCK_GHZ, rel=0.02)
        assert point.actual["gpu"] == "Example GPU"
    assert [point.requested["level"] for point in latency.points] == ["L1", "L2", "DRAM", "DRAM"]
    words = " ".join(verdict.text for verdict in latency.verdicts)
    assert "A load from device memory of Example GPU takes 12.0 ns" in words
    assert "Loads from L1 take 12.0 ns, 100% of those from L2" in words

    for point in workingset.points:
        known = LATENCY_NS if point.quantity == "latency" else 1 / NS_PER_BYTE
        assert median_of(point) == pytest.approx(known, rel=0.02), point.point
        assert point.requested["memory"] == "cuda:0"
    assert {level.name for level in workingset.levels} <= {"L2", "memory", "unnamed"}
    assert {level.claimed_bytes for level in workingset.levels} <= {L2, None}

    for point in mix.points:
        assert median_of(point) == pytest.approx(1 / NS_PER_BYTE, rel=0.01), point.point
        assert point.moved_per_counted == 1
        assert point.actual["read_share_issued"] == pytest.approx(
            point.requested["read_share"], abs=1e-3
        )
    assert [validation.experiment for validation in document.validations] == ["mix"]
    assert all(check.passed for one in document.validations for check in one.checks)
    checked = {check.what for check in document.cross_checks}
    assert "mix, reads alone, GPU" in checked
    assert not [c for c in document.cross_checks if c.outcome == "disagrees"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("mix --store temporal", "--store: does not apply to cuda:0"),
        ("mix --order random", "--order: does not apply to cuda:0"),
        ("latency --cpus 0", "--cpus: does not apply to cuda:0"),
        ("workingset --largest-bytes 1GiB", "workingset: "),
    ],
)
def test_what_makes_no_sense_there_is_one_line(
    gpu_stand_in: GpuStandIn, tmp_path: Path, arguments: str, words: str
) -> None:
    done = memgauge(
        *arguments.split(),
        *("--memory", "cuda:0", "--output", tmp_path / "run"),
        environment=gpu_stand_in.environment(**MACHINE),
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"memgauge: {words}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_ring_in_blocks_is_one_cycle(gpu_stand_in: GpuStandIn) -> None:
    from memgauge import _core

    files = gpu_stand_in.files()
    gpu = _core.Gpu(_core.GpuDriver(files.driver), 0, files.compiler)
    for order, block_bytes in (("random", 0), ("block-random", 4096)):
        ring = _core.GpuChase(
            gpu, 60 << 10, 256, through="l2", order=order, block_bytes=block_bytes
        )
        assert ring.nodes == 240
        assert ring.is_single_cycle()
        walk = ring.run(100, 10, 3, sweeps=1)
        assert len(walk.slice.threads[0].begin_ns) == len(walk.cycles) == 3
        ring.close()
