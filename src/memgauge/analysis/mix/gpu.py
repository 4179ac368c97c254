"""How mixes in a GPU's memory are shown: by one team, the whole GPU, with one kind of stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memgauge.analysis.figures.gpu_points import gpu_name, gpu_peak_gb_per_s
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.analysis.loaded.figures import share_words
from memgauge.analysis.section import Column, Table, Verdict

if TYPE_CHECKING:
    from memgauge.analysis.mix.section import MixResult

CHART_NOTE = "By count of the bytes read and written."


def peak_of(figures: Figures) -> float | None:
    """Theoretical GB/s of the GPU's memory; None: not known."""
    return gpu_peak_gb_per_s(figures.run.points_of("mix"))


def title_of(figures: Figures) -> str:
    """Of the picture."""
    return f"Bandwidth over the share of reads, {gpu_name(figures.run.points_of('mix'))}"


def table(cells: Sequence[MixResult], peak_gb_per_s: float | None) -> Table:
    """A row for each mix."""
    return Table(
        name="mix",
        title=f"Bandwidth by mix of {cells[0].gpu}",
        columns=[
            Column(title="mix"),
            Column(title="bandwidth", unit="GB/s"),
            Column(title="of peak", unit="%", narrow=peak_gb_per_s is not None),
            Column(title="median", unit="GB/s"),
            Column(title="reads requested", unit="%", narrow=False),
            Column(title="reads issued", unit="%", narrow=False),
            Column(title="samples", narrow=False),
        ],
        rows=[
            [
                share_words(cell.read_share),
                cell.bandwidth,
                scaled(cell.bandwidth, 1 / peak_gb_per_s) if peak_gb_per_s else None,
                cell.median,
                cell.read_share,
                cell.share_issued,
                cell.samples,
            ]
            for cell in cells
        ],
        note="GB/s of the bytes read and written by count, by the whole GPU in its own memory; the "
        "90th percentile of speed and its 95% interval. A GPU writes without reading first: what "
        "memory moves is what is counted.",
    )


def share_verdict(cells: Sequence[MixResult], peak_gb_per_s: float | None) -> list[Verdict]:
    """A mix that is faster than the memory can be."""
    best = max(cells, key=lambda cell: cell.bandwidth.value)
    if not peak_gb_per_s or best.bandwidth.value <= peak_gb_per_s:
        return []
    return [
        Verdict(
            level="problem",
            text=f"The best mix is {best.bandwidth.value / peak_gb_per_s:.1%} of the "
            f"theoretical {peak_gb_per_s:.1f} GB/s. More than all is impossible: the "
            "memory was cached, or the driver reports a wrong clock.",
        )
    ]
