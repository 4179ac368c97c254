"""What the `mix` points say: bandwidth as reads make way for writes."""

from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures.gpu_points import WHOLE, gpu_of
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, float_fact, scaled, series, share_fact, text_fact
from memgauge.analysis.figures.write_allocate import words
from memgauge.analysis.loaded.figures import ISSUED_OFF, share_words
from memgauge.analysis.mix import gpu as mix_gpu
from memgauge.analysis.section import Axis, Cell, Chart, Column, Rule, Section, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import LEAST_SAMPLES
from memgauge.model.units import format_count

QUESTION = "What does bandwidth become as reads make way for writes?"
NOTE = (
    "GB/s of the lines read and written by count; the 90th percentile of speed and its 95% "
    "interval. NT: non-temporal stores, past the caches. Moved: with the lines that ordinary "
    "stores read first (write-allocate), unless hardware avoids it."
)

MOST_LINES = 7
STORES = ("temporal", "non-temporal")

Team = tuple[str, int, str]
"""Order, threads and regime."""


class MixResult(msgspec.Struct, frozen=True, kw_only=True):
    """One mix with one kind of stores, by one team in one regime."""

    read_share: float
    share_issued: float | None
    store: str
    """Empty: nothing is written, or by a GPU, which has one kind."""
    order: str
    threads: int
    regime: str
    bandwidth: Estimate
    """GB/s counted."""
    moved: Estimate | None
    """With write-allocate."""
    median: Estimate | None
    cpus: str
    pages: str
    samples: int
    gpu: str = ""
    """That made the mix in its own memory, such as `cuda:0`; empty: threads of the host."""

    @property
    def by(self) -> str:
        """Who made it."""
        return WHOLE if self.gpu else format_count(self.threads, "thread")

    @property
    def team(self) -> Team:
        """What tells the lines of a picture apart, besides stores."""
        return self.order, self.threads, self.regime

    @property
    def words(self) -> str:
        """Such as `75% reads, non-temporal stores, 2 threads`."""
        stores = f"{self.store} stores" if self.store else ""
        order = "" if self.order == "sequential" else self.order
        mix = share_words(self.read_share)
        return ", ".join(filter(None, (mix, stores, order, self.by, self.regime)))


def analyse(figures: Figures) -> Section:
    """Table, charts and verdicts of the mixes of a run."""
    cells = mix_cells(figures)
    if any(cell.gpu for cell in cells):
        return _on_gpu(figures, [cell for cell in cells if cell.gpu])
    peak = figures.run.start.system.theoretical_bandwidth_bytes_per_s
    return Section(
        name="mix",
        title="Read-write mixes",
        question=QUESTION,
        verdicts=_verdicts(cells),
        tables=[_table(cells)] if cells else [],
        charts=_charts(cells, peak * 1e-9 if peak else None),
    )


def _on_gpu(figures: Figures, cells: Sequence[MixResult]) -> Section:
    peak = mix_gpu.peak_of(figures)
    title = mix_gpu.title_of(figures)
    return Section(
        name="mix",
        title="Read-write mixes in the GPU's memory",
        question=QUESTION,
        verdicts=[*_verdicts(cells), *mix_gpu.share_verdict(cells, peak)],
        tables=[mix_gpu.table(cells, peak)],
        charts=[
            msgspec.structs.replace(chart, title=title, note=mix_gpu.CHART_NOTE)
            for chart in _charts(cells, peak)
        ],
    )


def mix_cells(figures: Figures) -> list[MixResult]:
    """Every mix that was measured, in the order of declaration."""
    found = []
    for point, summary in figures.slices("mix"):
        share = share_fact(point.requested, "read_share")
        if share is None or summary.sustained is None:
            continue
        counted, moved = point.bytes_counted, point.bytes_moved
        found.append(
            MixResult(
                read_share=share,
                share_issued=float_fact(point.actual, "read_share_issued"),
                store=text_fact(point.requested, "store"),
                order=text_fact(point.requested, "order"),
                threads=point.threads,
                regime=summary.regime,
                bandwidth=summary.sustained,
                moved=scaled(summary.sustained, moved / counted) if counted and moved else None,
                median=summary.median,
                cpus=text_fact(point.actual, "cpus"),
                pages=text_fact(point.actual, "pages"),
                samples=summary.samples,
                gpu=gpu_of(point),
            )
        )
    return found


def _table(cells: Sequence[MixResult]) -> Table:
    regimes = any(cell.regime for cell in cells)
    orders = len({cell.order for cell in cells}) > 1
    columns = [
        Column(title="mix"),
        Column(title="stores"),
        Column(title="order", narrow=orders),
        Column(title="by"),
        Column(title="threads", narrow=regimes),
        Column(title="bandwidth", unit="GB/s"),
        Column(title="moved", unit="GB/s"),
        Column(title="median", unit="GB/s", narrow=False),
        Column(title="reads requested", unit="%", narrow=False),
        Column(title="reads issued", unit="%", narrow=False),
        Column(title="regime", narrow=False),
        Column(title="CPUs", narrow=False),
        Column(title="pages", narrow=False),
        Column(title="samples", narrow=False),
    ]
    rows = [_row(cell) for cell in cells]
    return Table(name="mix", title="Bandwidth by mix", columns=columns, rows=rows, note=NOTE)


def _row(cell: MixResult) -> list[Cell]:
    return [
        share_words(cell.read_share),
        {"non-temporal": "NT"}.get(cell.store, cell.store) or None,
        cell.order,
        cell.threads,
        regime_kind(cell.regime) or None,
        cell.bandwidth,
        cell.moved,
        cell.median,
        cell.read_share,
        cell.share_issued,
        cell.regime or None,
        cell.cpus or None,
        cell.pages or None,
        cell.samples,
    ]


def _charts(cells: Sequence[MixResult], peak_gb_per_s: float | None) -> list[Chart]:
    """One picture for each order: lines for stores, teams and regimes, largest teams first."""
    found = []
    for order in dict.fromkeys(cell.order for cell in cells):
        lines = _lines([cell for cell in cells if cell.order == order])
        if lines:
            left_out = len(lines) - MOST_LINES
            found.append(
                _chart(order, dict(list(lines.items())[:MOST_LINES]), peak_gb_per_s, left_out)
            )
    return found


def _lines(cells: Sequence[MixResult]) -> dict[str, list[MixResult]]:
    """Cells by name of line, by read share; all reads end the line of either kind of stores."""
    lines: dict[str, list[MixResult]] = {}
    for team in sorted({cell.team for cell in cells}, key=lambda team: (-team[1], team[2])):
        members = [cell for cell in cells if cell.team == team]
        for store in ("",) if members[0].gpu else STORES:
            line = [cell for cell in members if cell.store in {"", store}]
            if len({cell.read_share for cell in line}) > 1:
                name = ", ".join(filter(None, (line[0].by, store, regime_kind(team[2]))))
                lines[name] = sorted(line, key=lambda cell: cell.read_share)
    return lines


def _chart(
    order: str, lines: dict[str, list[MixResult]], peak_gb_per_s: float | None, left_out: int
) -> Chart:
    note = "By count of the lines read and written, without write-allocate."
    if left_out > 0:
        note += f" {left_out} lines of smaller teams are in the table only."
    return Chart(
        name="mix" if order == "sequential" else f"mix-{order}",
        title="Bandwidth over the share of reads" + ("" if order == "sequential" else f", {order}"),
        kind="line",
        x=Axis(title="Reads among the accesses", unit="%", from_zero=True),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [c.read_share for c in line], [c.bandwidth for c in line])
            for name, line in lines.items()
        ],
        rules=[Rule(label="theoretical peak", axis="y", value=peak_gb_per_s)]
        if peak_gb_per_s
        else [],
        note=note,
    )


def _verdicts(cells: Sequence[MixResult]) -> list[Verdict]:
    if not cells:
        return [Verdict(level="warning", text="No mix of reads and writes was measured.")]
    return [*_best_and_worst(cells), *_write_allocate(cells), *_other_mix(cells)]


def _best_and_worst(cells: Sequence[MixResult]) -> list[Verdict]:
    """Of the largest team, in the regime where it is fastest."""
    known = [cell for cell in cells if cell.samples >= LEAST_SAMPLES] or cells
    most = max(cell.threads for cell in known)
    best = max((c for c in known if c.threads == most), key=lambda cell: cell.bandwidth.value)
    alike = [cell for cell in known if cell.team == best.team]
    worst = min(alike, key=lambda cell: cell.bandwidth.value)
    text = f"The best mix reaches {best.bandwidth.value:.1f} GB/s ({best.words})"
    factor = ratio(best.bandwidth, worst.bandwidth)
    if worst is best or factor is None:
        return [Verdict(level="good", text=f"{text}.")]
    stores = f", {worst.store} stores" if worst.store else ""
    mix = f"{share_words(worst.read_share)}{stores}"
    if has_interval(factor) and factor.low <= 1:
        text += f"; the worst, {mix}, is as fast within the intervals."
    else:
        text += (
            f", {factor.value:.2f} times the worst: {worst.bandwidth.value:.1f} GB/s with {mix}."
        )
    return [Verdict(level="good", text=text)]


def _write_allocate(cells: Sequence[MixResult]) -> list[Verdict]:
    """Ordinary stores against those past the caches, where most is written."""
    kinds: dict[tuple[float, str, int, str], dict[str, MixResult]] = {}
    for cell in cells:
        kinds.setdefault((cell.read_share, *cell.team), {})[cell.store] = cell
    both = {key: kind for key, kind in kinds.items() if set(STORES) <= set(kind)}
    if not both:
        return []
    key = max(both, key=lambda key: (key[1] == "sequential", key[2], -key[0]))
    plain, past = (both[key][store] for store in STORES)
    gain = ratio(past.bandwidth, plain.bandwidth)
    if gain is None or not has_interval(gain):
        return []
    where = plain.words.replace("temporal stores, ", "")
    if gain.low > 1:
        text = f"Ordinary stores cost bandwidth: non-temporal ones reach {gain.value:.2f} times it"
    elif gain.high < 1:
        text = f"Non-temporal stores reach {gain.value:.2f} times the bandwidth of ordinary ones"
    else:
        text = "Ordinary and non-temporal stores are as fast, within the intervals"
    text += f" ({where})"
    most = max(cell.bandwidth.value for cell in cells if cell.team == plain.team)
    text += words(plain.bandwidth, plain.moved, most)
    return [Verdict(level="note", text=f"{text}.")]


def _other_mix(cells: Sequence[MixResult]) -> list[Verdict]:
    """Mixes whose accesses were not those asked for."""
    off = {
        cell.words: (cell.share_issued, cell.read_share)
        for cell in cells
        if cell.share_issued is not None and abs(cell.share_issued - cell.read_share) > ISSUED_OFF
    }
    if not off:
        return []
    words, (got, requested) = max(off.items(), key=lambda entry: abs(entry[1][0] - entry[1][1]))
    text = (
        f"{len(off)} mixes were issued otherwise than requested, the worst with {got:.1%} reads "
        f"instead of {requested:.1%} ({words})."
    )
    return [Verdict(level="warning", text=text)]
