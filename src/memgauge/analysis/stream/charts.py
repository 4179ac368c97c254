"""The picture of sustained bandwidth by kernel, of the host's threads or of a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Chart, Rule
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.figures import KernelResult


def kernel_bars(
    title: str,
    results: Iterable[tuple[str, KernelResult]],
    rules: Sequence[Rule] = (),
    *,
    name: str = "stream-kernels",
) -> Chart:
    """Bars of sustained bandwidth, grouped by kernel.

    Args:
        title: Heading of the chart.
        results: A pair for each bar: the name of its set in the legend, and the kernel's figures.
        rules: Lines across the bars, in GB/s, such as the theoretical peak.
        name: Of the picture.
    """
    bars: dict[str, dict[float | str, Estimate | None]] = {}
    kernels: dict[float | str, None] = {}
    for label, result in results:
        kernels.setdefault(result.kernel)
        bars.setdefault(label, {})[result.kernel] = result.sustained
    return Chart(
        name=name,
        title=title,
        kind="bar",
        x=Axis(title="Kernel", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(label, [*kernels], [bar.get(kernel) for kernel in kernels])
            for label, bar in bars.items()
        ],
        rules=[*rules],
        note="Bars: 90th percentile of speed; whiskers: its 95% interval.",
    )
