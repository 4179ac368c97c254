"""Published curves as the analysis takes them. None of them tells an interval."""

import math
from collections.abc import Mapping

from memgauge.analysis.figures.scaling import Team
from memgauge.analysis.pages.comparability import Case
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.knee import LoadPoint
from memgauge.references.library import load

STREAM_KERNELS = ("copy", "scale", "add", "triad")
CORES_OF_THE_SOCKET = 16
FLOAT_BYTES = 4
PUBLISHED_PAGE_BYTES = {"4K": 4 << 10, "2M": 2 << 20, "1G": 1 << 30}
ALL_READS_PEAK_GB_PER_S = 58.9584
"""Of the hybrid desktop, as its loaded-latency tool printed it."""


def alone(value: float) -> Estimate:
    """A figure without an interval."""
    return Estimate(value, 0.0, math.inf)


def desktop_curve() -> list[LoadPoint]:
    """Loaded latency of the hybrid desktop: GB/s and ns, the longest delay first."""
    table = load("hybrid12-loaded-latency")
    pairs = zip(table.column("bandwidth_MBps"), table.column("latency_ns"), strict=True)
    return [LoadPoint(alone(mb / 1e3), alone(ns)) for mb, ns in pairs][::-1]


def stream_teams(kernel: str, *, cores: int | None = CORES_OF_THE_SOCKET) -> list[Team]:
    """STREAM on one socket with 1 to 32 threads; `cores=None` hides which share a core."""
    table = load("nvdimm-dram")
    return [
        Team(int(threads), alone(mb / 1e3), None if cores is None else min(int(threads), cores))
        for threads, mb in zip(table.column("threads"), table.column(f"{kernel}_MBps"), strict=True)
    ]


def strided_case(row: Mapping[str, str]) -> Case:
    """A row of the published table `hybrid12-tlb`: a walk over floats by a stride in elements."""
    elements, stride = int(row["elements"]), int(row["stride"])
    page_bytes = PUBLISHED_PAGE_BYTES[row["page"]]
    accesses = elements // stride
    apart = stride * FLOAT_BYTES
    pages = accesses if apart >= page_bytes else -(-elements * FLOAT_BYTES // page_bytes)
    return Case(
        name=row["case"], accesses=accesses, pages=pages, time_ns=float(row["runtime_ms"]) * 1e6
    )
