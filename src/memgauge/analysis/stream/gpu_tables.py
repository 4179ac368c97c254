"""Tables of the bandwidth of a GPU's memory."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.run import number_fact, scaled, text_fact
from memgauge.analysis.section import Cell, Column, Table
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import STANDARD, TUNED, KernelResult, best, by_key

NOTE = (
    "GB/s = 1e9 bytes a second by STREAM's counting, timed by the GPU itself; the 90th percentile "
    "of speed and its 95% interval. Gain: tuned over standard. Of peak: the better of both over "
    "the memory's theoretical bandwidth. STREAM best: of whole walks with the standard kernel."
)


def comparison(cells: Sequence[KernelResult], peak: float | None) -> Table | None:
    """Standard beside tuned, a row for each kernel."""
    rows: list[list[Cell]] = []
    for (kernel, element, *_), variants in by_key(cells).items():
        standard, tuned = (variants.get(name) for name in (STANDARD, TUNED))
        plain = standard.sustained if standard else None
        fast = tuned.sustained if tuned else None
        whole = standard.best_gb_per_s if standard else None
        name = kernel if element in {"", "double"} else f"{kernel} ({element})"
        if plain or fast or whole:
            top = best(variants.values())
            share = _of_peak(top.sustained if top else None, peak)
            rows.append([name, plain, fast, ratio(fast, plain), share, whole])
    if not rows:
        return None
    return Table(
        name="stream",
        title=f"Sustained bandwidth of {gpu_of(cells[0].point)}",
        columns=[
            Column(title="kernel"),
            Column(title="standard", unit="GB/s"),
            Column(title="tuned", unit="GB/s"),
            Column(title="gain", digits=3),
            Column(title="of peak", unit="%", narrow=peak is not None),
            Column(title="STREAM best", unit="GB/s"),
        ],
        rows=rows,
        note=NOTE,
    )


def _of_peak(sustained: Estimate | None, peak: float | None) -> Estimate | None:
    return scaled(sustained, 1 / peak) if peak else None


def details(cells: Sequence[KernelResult], peak: float | None) -> Table | None:
    """Everything of each point; too wide for a terminal."""
    columns: list[tuple[str, str | None]] = [
        ("kernel", None),
        ("variant", None),
        ("memory", None),
        ("sustained", "GB/s"),
        ("median", "GB/s"),
        ("of peak", "%"),
        ("best of N", "GB/s"),
        ("N", None),
        ("samples", None),
        ("set aside", None),
        ("noise", "%"),
        ("work of a thread", None),
        ("unroll", None),
        ("cache hint", None),
        ("threads a block", None),
        ("blocks a multiprocessor", None),
        ("each array", "B"),
        ("by the STREAM rule", None),
    ]
    if not cells:
        return None
    return Table(
        name="stream-points",
        title="Every point",
        columns=[Column(title=title, unit=unit, narrow=False) for title, unit in columns],
        rows=[_row(cell, peak) for cell in cells],
        note="Noise: (90th - 10th percentile) / median. Blocks a multiprocessor: 0, a block for "
        "each tile; else so many that go on through the arrays.",
    )


def _row(cell: KernelResult, peak: float | None) -> list[Cell]:
    part, facts = cell.slice, cell.point.actual
    passes = cell.whole.passes if cell.whole else None
    return [
        cell.kernel,
        cell.variant,
        gpu_of(cell.point),
        cell.sustained,
        part.median if part else None,
        _of_peak(cell.sustained, peak),
        cell.best_gb_per_s,
        passes.passes if passes else None,
        part.samples if part else None,
        part.set_aside if part else None,
        part.noise if part else None,
        text_fact(facts, "isa") or None,
        number_fact(facts, "unroll"),
        text_fact(facts, "store") or None,
        number_fact(facts, "threads_per_block"),
        number_fact(facts, "blocks_per_multiprocessor"),
        number_fact(facts, "array_bytes"),
        facts.get("stream_conformant"),
    ]


def search(cells: Sequence[KernelResult]) -> Table | None:
    """The winner of a search for each kernel, with its margin over both variants."""
    plain = by_key(cell for cell in cells if cell.is_plain)
    rows: list[list[Cell]] = []
    for key in dict.fromkeys((c.kernel, c.element, c.threads, c.regime) for c in cells):
        mine = [c for c in cells if c.candidate and c.kernel == key[0] and c.element == key[1]]
        winner = best(mine)
        if winner is None:
            continue
        own = plain.get(key, {})
        margins = [
            ratio(winner.sustained, own[variant].sustained if variant in own else None)
            for variant in (STANDARD, TUNED)
        ]
        rows.append([key[0], winner.candidate, winner.sustained, *margins, len(mine)])
    if not rows:
        return None
    return Table(
        name="stream-search",
        title="Best variants found",
        columns=[
            Column(title="kernel"),
            Column(title="winner"),
            Column(title="reaches", unit="GB/s"),
            Column(title="over standard", digits=3, narrow=False),
            Column(title="over tuned", digits=3),
            Column(title="candidates", narrow=False),
        ],
        rows=rows,
        note="v16: vectors of 16 bytes; u: loads on their way before a store; ca, cs, na: cached, "
        "streaming, past L1; t: threads a block; b: blocks a multiprocessor, 0 one for each tile. "
        "The best of many is partly luck: what lies within the intervals is no difference.",
    )
