"""What the `stream` points say: bandwidth by kernel, variant, team and regime."""

from memgauge.analysis.counters import summary as hardware_summary
from memgauge.analysis.counters import tables as hardware_report
from memgauge.analysis.counters.bandwidth import hardware_bandwidth
from memgauge.analysis.counters.figures import counts_of
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import Figures, number_fact, text_fact
from memgauge.analysis.section import (
    Cell,
    Chart,
    Column,
    Section,
    Table,
    Verdict,
)
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream import gpu as stream_gpu
from memgauge.analysis.stream import scaling as stream_scaling
from memgauge.analysis.stream import variants as stream_ways
from memgauge.analysis.stream.charts import kernel_bars
from memgauge.analysis.stream.figures import (
    STANDARD,
    TUNED,
    KernelResult,
    best,
    by_key,
    stream_cells,
)
from memgauge.model.units import format_count

QUESTION = "How many bytes a second do simple loops over large arrays move?"
NOTE = (
    "GB/s = 1e9 bytes a second by STREAM's counting; the 90th percentile of speed and its 95% "
    "interval. Gain: tuned over standard. STREAM best: of whole passes with the standard kernel."
)


def analyse(figures: Figures) -> Section:
    """Tables, charts and verdicts of the bandwidth of a run."""
    if any(gpu_of(point) for point in figures.run.points_of("stream")):
        return stream_gpu.analyse(figures)
    found = stream_cells(figures)
    main = [cell for cell in found if cell.is_plain]
    ways = stream_ways.compared(found)
    system = figures.run.start.system
    lines = stream_scaling.lines(main, system)
    peak, usual = system.theoretical_bandwidth_bytes_per_s, stream_scaling.usual_regime(main)
    scaling = (stream_scaling.table(lines), stream_scaling.chart(lines, peak, usual))
    counted = [hardware_bandwidth(counts) for counts in counts_of(figures)]
    compared = (_comparison(main), stream_ways.table(ways), scaling[0])
    tables = (*compared, *hardware_report.tables(counted))
    wide = (_details([cell for cell in found if not cell.candidate]), _search(found))
    return Section(
        name="stream",
        title="Bandwidth",
        question=QUESTION,
        verdicts=[
            *_verdicts(main, found),
            *stream_ways.verdicts(ways),
            *stream_scaling.verdicts(lines),
            *hardware_summary.verdicts(counted),
        ],
        tables=[table for table in (*tables, *wide) if table],
        charts=[
            chart
            for chart in (scaling[1], _kernels(main), *hardware_report.charts(counted))
            if chart
        ],
    )


def _comparison(cells: list[KernelResult]) -> Table | None:
    """Standard beside tuned, a row for each kernel, team and regime."""
    rows: list[list[Cell]] = []
    for (kernel, element, threads, regime), variants in by_key(cells).items():
        standard, tuned = (variants.get(name) for name in (STANDARD, TUNED))
        plain = standard.sustained if standard else None
        fast = tuned.sustained if tuned else None
        whole = standard.best_gb_per_s if standard else None
        name = kernel if element in {"", "double"} else f"{kernel} ({element})"
        if plain or fast or whole:
            rows.append([name, threads, regime or None, plain, fast, ratio(fast, plain), whole])
    if not rows:
        return None
    regimes = any(row[2] for row in rows)
    return Table(
        name="stream",
        title="Sustained bandwidth",
        columns=[
            Column(title="kernel"),
            Column(title="threads"),
            Column(title="regime", narrow=regimes),
            Column(title="standard", unit="GB/s"),
            Column(title="tuned", unit="GB/s"),
            Column(title="gain", digits=2, narrow=not regimes),
            Column(title="STREAM best", unit="GB/s", narrow=not regimes),
        ],
        rows=rows,
        note=NOTE,
    )


def _details(cells: list[KernelResult]) -> Table:
    """Everything of each point; too wide for a terminal."""
    columns = [
        ("kernel", None),
        ("variant", None),
        ("threads", None),
        ("regime", None),
        ("sustained", "GB/s"),
        ("median", "GB/s"),
        ("best of N", "GB/s"),
        ("N", None),
        ("memory moves", "GB/s"),
        ("samples", None),
        ("set aside", None),
        ("noise", "%"),
        ("share of time", "%"),
        ("CPUs", None),
        ("instructions", None),
        ("stores", None),
        ("pages", None),
        ("each array", "B"),
        ("by the STREAM rule", None),
    ]
    return Table(
        name="stream-points",
        title="Every point",
        columns=[Column(title=title, unit=unit, narrow=False) for title, unit in columns],
        rows=[_detail_row(cell) for cell in cells],
        note="Memory moves: with lines that ordinary stores read first (write-allocate), unless "
        "hardware avoids it. Noise: (90th - 10th percentile) / median.",
    )


def _detail_row(cell: KernelResult) -> list[Cell]:
    part, facts = cell.slice, cell.point.actual
    passes = cell.whole.passes if cell.whole else None
    return [
        cell.kernel,
        cell.variant,
        cell.threads,
        cell.regime or None,
        cell.sustained,
        part.median if part else None,
        cell.best_gb_per_s,
        passes.passes if passes else None,
        cell.moved,
        part.samples if part else None,
        part.set_aside if part else None,
        part.noise if part else None,
        part.share if part and cell.regime else None,
        text_fact(facts, "cpus") or None,
        ", ".join(filter(None, (text_fact(facts, "isa"), cell.access))) or None,
        text_fact(facts, "store") or None,
        text_fact(facts, "pages") or None,
        number_fact(facts, "array_bytes"),
        facts.get("stream_conformant"),
    ]


def _search(cells: list[KernelResult]) -> Table | None:
    """The winner of a search for each kernel, team and regime, with its margin over standard."""
    candidates = [cell for cell in cells if cell.candidate]
    plain = by_key(cell for cell in cells if cell.variant == STANDARD)
    rows: list[list[Cell]] = []
    for key in dict.fromkeys((c.kernel, c.element, c.threads, c.regime) for c in candidates):
        mine = [c for c in candidates if (c.kernel, c.element, c.threads, c.regime) == key]
        winner, standard = best(mine), plain.get(key, {}).get(STANDARD)
        if winner is None:
            continue
        margin = ratio(winner.sustained, standard.sustained if standard else None)
        rows.append(
            [key[0], key[2], key[3] or None, winner.candidate, winner.sustained, margin, len(mine)]
        )
    if not rows:
        return None
    return Table(
        name="stream-search",
        title="Best variants found",
        columns=[
            Column(title="kernel"),
            Column(title="threads"),
            Column(title="regime", narrow=False),
            Column(title="winner"),
            Column(title="tuned", unit="GB/s"),
            Column(title="over standard", digits=2),
            Column(title="candidates", narrow=False),
        ],
        rows=rows,
        note="The best of many is partly luck: what lies within the intervals is no difference.",
    )


def _kernels(cells: list[KernelResult]) -> Chart | None:
    """Standard beside tuned for the largest team that was measured."""
    largest = max((cell.threads for cell in cells if cell.sustained), default=None)
    if largest is None:
        return None
    team = [cell for cell in cells if cell.threads == largest and cell.sustained]
    return kernel_bars(
        f"Kernels with {format_count(largest, 'thread')}",
        [(", ".join(filter(None, (cell.variant, cell.regime))), cell) for cell in team],
    )


def _verdicts(main: list[KernelResult], found: list[KernelResult]) -> list[Verdict]:
    verdicts: list[Verdict] = []
    top = best(found)
    if top is None or top.sustained is None:
        return [Verdict(level="warning", text="No bandwidth was measured.")]
    regime = f", {top.regime}" if top.regime else ""
    verdicts.append(
        Verdict(
            level="good",
            text=f"Memory delivers up to {top.sustained.value:.1f} GB/s ({top.title}, "
            f"{format_count(top.threads, 'thread')}{regime}).",
        )
    )
    verdicts += _gain_verdict(main)
    verdicts += _regime_verdict(main)
    if any(cell.point.actual.get("stream_conformant") is False for cell in found):
        verdicts.append(
            Verdict(
                level="warning",
                text="Some arrays are smaller than the STREAM rule asks (4 times the last-level "
                "caches used, or the caches are not known): not STREAM-conformant.",
                remedy="leave --array-bytes out, or give more",
            )
        )
    return verdicts


def _gain_verdict(main: list[KernelResult]) -> list[Verdict]:
    """What tuning gives triad (else the first kernel) with the largest team that has both."""
    gains = []
    for (kernel, _, threads, _), variants in by_key(main).items():
        if STANDARD in variants and TUNED in variants:
            gain = ratio(variants[TUNED].sustained, variants[STANDARD].sustained)
            if gain is not None and has_interval(gain):
                gains.append((kernel == "triad", threads, kernel, gain))
    if not gains:
        return []
    _, threads, kernel, gain = max(gains, key=lambda entry: entry[:2])
    if gain.low > 1:
        text = f"Tuned {kernel} is {gain.value:.2f} times standard with {threads} threads"
    elif gain.high < 1:
        text = f"Tuned {kernel} is slower than standard: {gain.value:.2f} times, {threads} threads"
    else:
        text = f"Tuned {kernel} is as fast as standard, within the intervals, {threads} threads"
    return [Verdict(level="note", text=text.replace(" 1 threads", " 1 thread") + ".")]


def _regime_verdict(main: list[KernelResult]) -> list[Verdict]:
    """How far apart the regimes of the largest team are, for the kernel where it shows most."""
    teams: dict[tuple[str, str, str, int], list[KernelResult]] = {}
    for cell in main:
        if cell.regime and has_interval(cell.sustained):
            key = (cell.kernel, cell.variant, cell.element, cell.threads)
            teams.setdefault(key, []).append(cell)
    apart = []
    for (kernel, variant, _, threads), cells in teams.items():
        if len(cells) > 1:
            faster = best(cells)
            slower = next(cell for cell in cells if cell is not faster)
            gain = ratio(faster.sustained, slower.sustained) if faster else None
            if faster is not None and gain is not None and gain.low > 1:
                apart.append((threads, gain.value, f"{kernel}, {variant}", faster, slower))
    if not apart:
        return []
    threads, factor, what, faster, slower = max(apart, key=lambda entry: entry[:2])
    text = (
        f"Where the host puts the {threads} threads changes bandwidth up to {factor:.2f} times: "
        f"{faster.regime} against {slower.regime} ({what})."
    )
    return [Verdict(level="warning", text=text, remedy="compare figures of one regime only")]
