"""A report like the one a survey makes, with every kind of cell, mark and verdict in it."""

import math

from memgauge.analysis.machine.table import system_table
from memgauge.analysis.section import (
    Axis,
    Band,
    Cell,
    Chart,
    Column,
    Headline,
    Mark,
    Report,
    Rule,
    Section,
    Series,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.system import Cache, Capability, Cpu, HugePagePool, Node, System

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def estimate(value: float, share: float = 0.004) -> Estimate:
    return Estimate(value, value * (1 - share), value * (1 + share))


def machine() -> System:
    return System(
        machine_id="0123456789abcdef",
        architecture="x86_64",
        cpu_model="AMD EPYC 9B14",
        kernel="Linux 6.18.0",
        virtualisation="kvm",
        cpus=[Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(2)],
        allowed_cpus=[0, 1],
        caches=[
            *(_cache(1, "data", 32 * KIB, [n]) for n in range(2)),
            *(_cache(2, "unified", MIB, [n]) for n in range(2)),
            _cache(3, "unified", 32 * MIB, [0, 1]),
        ],
        nodes=[Node(node=0, cpus=[0, 1], bytes=16 * GIB, distances={0: 10})],
        memory_bytes=16 * GIB,
        available_bytes=12 * GIB,
        base_page_bytes=4096,
        thp="madvise",
        huge_pages=[HugePagePool(page_bytes=2 * MIB, total=0, free=0, reserved=0)],
        governor=None,
        isas=["avx512", "avx2", "sse2"],
        capabilities=[
            Capability(name="transparent huge pages", available=True, detail="mode madvise"),
            Capability(
                name="2 MiB pages",
                available=False,
                detail="the pool is empty",
                remedy="echo 512 > /proc/sys/vm/nr_hugepages (as root)",
            ),
        ],
        topology_notes=["the hypervisor reports one L3 of 32 MiB; other guests share it"],
    )


def _cache(level: int, type_: str, bytes_: int, cpus: list[int]) -> Cache:
    return Cache(
        level=level,
        type="data" if type_ == "data" else "unified",
        bytes=bytes_,
        line_bytes=64,
        ways=8,
        sets=None,
        cpus=cpus,
    )


def survey() -> Report:
    return Report(
        run_id="2026-11-20T101112Z-1f2e",
        started_at="2026-11-20T10:11:12Z",
        title="Memory survey",
        machine="AMD EPYC 9B14, 2 threads, L1 32 KiB, L2 1 MiB, L3 32 MiB, 16 GiB, kvm, Linux 6.18",
        complete=False,
        status="ended by its budget of 60 s; 38 of 41 points within 1%; 214 rounds",
        precision=0.01,
        headlines=[
            Headline(
                label="Bandwidth",
                value=estimate(84.2),
                unit="GB/s",
                detail="triad, tuned, 2 threads, two core complexes",
            ),
            Headline(
                label="Memory latency",
                value=estimate(151.3, 0.006),
                unit="ns",
                detail="random in 2 MiB blocks, huge pages",
            ),
            Headline(
                label="Last-level cache found",
                value=Estimate(7.5 * MIB, 6 * MIB, 9 * MIB),
                unit="B",
                detail="32 MiB by the topology",
            ),
            Headline(label="Share of peak", value=None, unit="%", detail="peak not told"),
        ],
        verdicts=_verdicts(),
        sections=[stream(), latency(), workingset(), loaded(), stride()],
        system=system_table(machine()),
    )


def _verdicts() -> list[Verdict]:
    return [
        Verdict(
            level="good",
            text="Memory delivers 84.2 GB/s with both threads; one thread alone reaches 41.7 GB/s.",
        ),
        Verdict(
            level="warning",
            text="The machine was in two regimes: 61% of the time both threads shared a core "
            "complex, and two-thread bandwidth then was 2.0 times lower.",
            remedy="compare two-thread figures only within one regime",
        ),
        Verdict(
            level="note",
            text="Transparent huge pages are in mode madvise: programs that do not ask for them "
            "get 4 KiB pages, which cost 6 to 12% of triad here.",
            remedy="echo always > /sys/kernel/mm/transparent_hugepage/enabled (as root)",
        ),
        Verdict(
            level="problem",
            text="Neighbours took 4.1% of the processor's time (steal); latencies of the "
            "last-level cache are not those of a quiet machine.",
        ),
    ]


def stream() -> Section:
    return Section(
        name="stream",
        title="Bandwidth (stream)",
        question="How many bytes a second do the STREAM kernels move, plain and tuned?",
        tables=[_stream_table()],
        charts=[_scaling(), _kernels()],
        verdicts=[
            Verdict(
                level="good", text="Tuned triad is 1.37 times standard: streaming stores pay here."
            )
        ],
    )


def _stream_table() -> Table:
    figures = {"copy": 20.4, "scale": 19.8, "add": 22.0, "triad": 21.6, "read": 35.2}
    rows: list[list[Cell]] = []
    for kernel, base in figures.items():
        for threads in (1, 2):
            tuned = estimate(base * 1.37 * threads**0.9, 0.021 if threads == 2 else 0.004)
            regime = "two complexes" if threads == 2 else None
            standard = None if kernel == "read" else estimate(base * threads**0.9)
            gain = None if standard is None else tuned.value / standard.value
            rows.append([kernel, threads, regime, standard, tuned, gain, 128 * MIB, 214])
    return Table(
        name="stream",
        title="Sustained bandwidth by STREAM's counting",
        columns=[
            Column(title="kernel"),
            Column(title="threads"),
            Column(title="regime"),
            Column(title="standard", unit="GB/s"),
            Column(title="tuned", unit="GB/s"),
            Column(title="gain", digits=2),
            Column(title="each array", unit="B", narrow=False),
            Column(title="samples", narrow=False),
        ],
        rows=rows,
        note="Read has no STREAM form; it is measured tuned only.",
    )


def _scaling() -> Chart:
    threads: list[float | str] = [1, 2, 4, 8, 16]
    series = []
    for name, base in (("triad, tuned", 29.6), ("copy, tuned", 27.9), ("triad, standard", 21.6)):
        y: list[float | None] = [base * float(t) ** 0.72 for t in threads]
        if name.startswith("copy"):
            y[2] = None
        series.append(
            Series(
                name=name,
                x=threads,
                y=y,
                low=[None if v is None else v * 0.96 for v in y],
                high=[None if v is None else v * 1.04 for v in y],
            )
        )
    return Chart(
        name="stream-scaling",
        title="Bandwidth over threads",
        kind="line",
        x=Axis(title="Threads", unit="", scale="log2"),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=series,
        rules=[Rule(label="theoretical peak", axis="y", value=230.4)],
    )


def _kernels() -> Chart:
    kernels: list[float | str] = ["copy", "scale", "add", "triad", "read", "write"]
    standard: list[float | None] = [20.4, 19.8, 22.0, 21.6, None, None]
    tuned: list[float | None] = [39.1, 28.6, 30.1, 29.6, 35.2, 28.4]
    return Chart(
        name="stream-kernels",
        title="Kernels with one thread",
        kind="bar",
        x=Axis(title="Kernel", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[_bars("standard", kernels, standard), _bars("tuned", kernels, tuned)],
        note="Bars are the 90th percentile of speed; whiskers its 95% interval.",
    )


def _bars(name: str, x: list[float | str], y: list[float | None]) -> Series:
    return Series(
        name=name,
        x=x,
        y=y,
        low=[None if v is None else v * 0.97 for v in y],
        high=[None if v is None else v * 1.03 for v in y],
    )


def latency() -> Section:
    levels: list[list[Cell]] = [
        ["L1", estimate(1.09, 0.001), estimate(4.0, 0.001), 16 * KIB, "thp"],
        ["L2", estimate(3.82, 0.002), estimate(14.0, 0.002), 512 * KIB, "thp"],
        ["L3", estimate(13.7, 0.034), None, 4 * MIB, "thp"],
        ["memory", estimate(151.3, 0.006), None, 256 * MIB, "thp"],
        ["memory", estimate(182.7, 0.009), None, 256 * MIB, "4k"],
    ]
    chart = Chart(
        name="latency-levels",
        title="Load-to-use latency of each level",
        kind="bar",
        x=Axis(title="Level", unit=""),
        y=Axis(title="Latency", unit="ns", scale="log10"),
        series=[
            _bars("huge pages", ["L1", "L2", "L3", "memory"], [1.09, 3.82, 13.7, 151.3]),
            _bars("4 KiB pages", ["L1", "L2", "L3", "memory"], [1.09, 3.9, 15.2, 182.7]),
        ],
    )
    return Section(
        name="latency",
        title="Idle latency",
        question="How long does one dependent load take from each level?",
        tables=[
            Table(
                name="latency",
                title="Load-to-use latency",
                columns=[
                    Column(title="level"),
                    Column(title="latency", unit="ns", digits=2),
                    Column(title="cycles", digits=1),
                    Column(title="footprint", unit="B"),
                    Column(title="pages"),
                ],
                rows=levels,
            )
        ],
        charts=[chart],
    )


def _curve(x: float) -> float:
    steps = ((32 * KIB, 2.8), (MIB, 9.5), (7.5 * MIB, 138.0))
    return 1.09 + sum(h / (1 + math.exp(-5 * math.log2(x / (at * 1.3)))) for at, h in steps)


def workingset() -> Section:
    footprints = [float(4 * KIB * 2 ** (n / 3)) for n in range(46)]
    y: list[float | None] = [_curve(x) for x in footprints]
    y[30] = None
    four_k: list[float | None] = [_curve(x) * (1 + 0.02 * n / 4) for n, x in enumerate(footprints)]
    read: list[float | None] = [260.0 / (1 + _curve(x) / 28) for x in footprints]
    bands = [
        Band(label="L1", start=4 * KIB, end=32 * KIB),
        Band(label="L2", start=32 * KIB, end=MIB),
        Band(label="L3", start=MIB, end=7.5 * MIB),
        Band(label="memory", start=7.5 * MIB, end=footprints[-1]),
    ]
    return Section(
        name="workingset",
        title="Working sets",
        question="How large is each level as a program sees it, and what does leaving it cost?",
        verdicts=[
            Verdict(
                level="warning",
                text="The curve leaves L3 at 7.5 MiB; the topology claims 32 MiB.",
                remedy="plan for 7.5 MiB: other guests use the rest",
            )
        ],
        charts=[
            Chart(
                name="workingset-latency",
                title="Latency over footprint",
                kind="line",
                x=Axis(title="Footprint", unit="B", scale="log2"),
                y=Axis(title="Latency", unit="ns", scale="log10"),
                series=[
                    _wide("huge pages", footprints, y),
                    _wide("4 KiB pages", footprints, four_k),
                ],
                bands=bands,
                rules=[Rule(label="L3 by topology", axis="x", value=32 * MIB)],
            ),
            Chart(
                name="workingset-bandwidth",
                title="Read bandwidth over footprint",
                kind="line",
                x=Axis(title="Footprint", unit="B", scale="log2"),
                y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
                series=[
                    _wide("read, one thread", footprints, read),
                    Series(
                        name="published",
                        x=[footprints[0], footprints[-1]],
                        y=[210.0, 36.0],
                        dashed=True,
                    ),
                ],
                bands=bands,
            ),
        ],
        tables=[
            Table(
                name="levels",
                title="Levels found and claimed",
                columns=[
                    Column(title="level"),
                    Column(title="found", unit="B"),
                    Column(title="topology", unit="B"),
                    Column(title="latency", unit="ns"),
                    Column(title="share of topology", unit="%"),
                    Column(title="agrees"),
                ],
                rows=[
                    ["L1", Estimate(32 * KIB, 30 * KIB, 34 * KIB), 32 * KIB, 1.09, 1.0, True],
                    ["L2", Estimate(MIB, 0.95 * MIB, 1.1 * MIB), MIB, 3.9, 1.0, True],
                    ["L3", Estimate(7.5 * MIB, 6 * MIB, 9 * MIB), 32 * MIB, 13.7, 0.234, False],
                    ["memory", None, None, 151.3, None, None],
                ],
            )
        ],
    )


def _wide(name: str, x: list[float], y: list[float | None]) -> Series:
    return Series(
        name=name,
        x=list(x),
        y=y,
        low=[None if v is None else v * 0.94 for v in y],
        high=[None if v is None else v * 1.08 for v in y],
    )


_USED = (0.02, 0.1, 0.2, 0.4, 0.6, 0.8, 0.86, 0.92, 0.97, 1.0, 0.985)
"""Shares of the peak at falling delays: past saturation bandwidth falls again."""

_DELAYS = (20_000, 5_000, 2_000, 900, 400, 150, 90, 40, 20, 4, 0)


def loaded() -> Section:
    peaks = {"100% reads": 31.0, "75% reads": 27.0, "50% reads": 24.0}
    curves = [_loaded_curve(name, peak) for name, peak in peaks.items()]
    points: list[list[Cell]] = [
        [name, delay, estimate(peak * used), 96.0 + at]
        for name, peak in peaks.items()
        for at, (used, delay) in enumerate(zip(_USED, _DELAYS, strict=True))
    ]
    return Section(
        name="loaded",
        title="Loaded latency",
        question="How long does a load wait while others keep memory busy?",
        charts=[
            Chart(
                name="loaded-curves",
                title="Latency over bandwidth",
                kind="line",
                x=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
                y=Axis(title="Latency", unit="ns"),
                series=curves,
                marks=[
                    Mark(
                        label=f"knee, {curve.name}",
                        x=float(curve.x[6]),
                        y=curve.y[6] or 0.0,
                        x_low=float(curve.x[5]),
                        x_high=float(curve.x[7]),
                    )
                    for curve in curves
                ],
            )
        ],
        tables=[
            Table(
                name="loaded",
                title="Knees",
                columns=[Column(title="load"), Column(title="knee", unit="GB/s")],
                rows=[[name, estimate(peak * _USED[6], 0.05)] for name, peak in peaks.items()],
            ),
            Table(
                name="loaded-points",
                title="Every point of the curves",
                columns=[
                    Column(title="load", narrow=False),
                    Column(title="delay", narrow=False),
                    Column(title="bandwidth", unit="GB/s", narrow=False),
                    Column(title="latency", unit="ns", narrow=False),
                ],
                rows=points,
            ),
        ],
    )


def _loaded_curve(name: str, peak: float) -> Series:
    y: list[float | None] = [96.0 + 7 * used / (1.05 - used) for used in _USED[:-1]]
    return Series(
        name=name,
        x=[peak * used for used in _USED],
        y=[*y, 280.0],
        notes=[f"delay {delay}" for delay in _DELAYS],
    )


def stride() -> Section:
    strides: list[float | str] = [float(64 << n) for n in range(11)]
    rows = {
        f"{order}, {access} B": [
            None if float(x) < access else cost * (float(x) / 64) ** 0.3 * (access / 64) ** 0.5
            for x in strides
        ]
        for order, cost in (("sequential", 3.0), ("random", 90.0))
        for access in (64, 256, 1024)
    }
    return Section(
        name="stride",
        title="Strides and granularity",
        question="What does an access cost by pattern and size?",
        charts=[
            Chart(
                name="stride-cost",
                title="Cost of a dependent access",
                kind="heatmap",
                x=Axis(title="Stride", unit="B", scale="log2"),
                y=Axis(title="Time per access", unit="ns", scale="log10"),
                rows=Axis(title="Order, access", unit=""),
                series=[Series(name=name, x=strides, y=y) for name, y in rows.items()],
            )
        ],
    )


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e]]>[bold]'\"&\x07"


def hostile() -> Report:
    """Every string that a run can bring, hostile."""
    bad = HOSTILE
    axis = Axis(title=bad, unit=bad)
    chart = Chart(
        name=bad,
        title=bad,
        kind="line",
        x=axis,
        y=axis,
        series=[Series(name=bad, x=[1.0, 2.0], y=[1.0, None], notes=[bad, bad])],
        bands=[Band(label=bad, start=1, end=2)],
        marks=[Mark(label=bad, x=1.0, y=1.0)],
        rules=[Rule(label=bad, axis="y", value=1)],
        note=bad,
    )
    table = Table(
        name=bad, title=bad, columns=[Column(title=bad, unit=bad)], rows=[[bad], [None]], note=bad
    )
    return Report(
        run_id=bad,
        started_at=bad,
        title=bad,
        machine=bad,
        complete=True,
        status=bad,
        verdicts=[Verdict(level="problem", text=bad, remedy=bad)],
        sections=[
            Section(name=bad, title=bad, question=bad, charts=[chart], tables=[table]),
            Section(name=bad, title=bad, question=bad),
        ],
        system=table,
        headlines=[Headline(label=bad, value=bad, unit=bad, detail=bad)],
    )
