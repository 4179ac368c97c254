"""The picture of sustained bandwidth by kernel, of the host's threads or of a GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memgauge.analysis.figures.run import series
from memgauge.analysis.section import Axis, Chart, Rule
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.figures import KernelResult


def kernel_bars(
    title: str, results: Iterable[tuple[str, KernelResult]], rules: Sequence[Rule] = ()
) -> Chart:
    """Cells side by side for each kernel; each with the name of the bars that it belongs to."""
    bars: dict[str, dict[float | str, Estimate | None]] = {}
    kernels: dict[float | str, None] = {}
    for name, result in results:
        kernels.setdefault(result.kernel)
        bars.setdefault(name, {})[result.kernel] = result.sustained
    return Chart(
        name="stream-kernels",
        title=title,
        kind="bar",
        x=Axis(title="Kernel", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [*kernels], [bar.get(kernel) for kernel in kernels])
            for name, bar in bars.items()
        ],
        rules=[*rules],
        note="Bars: 90th percentile of speed; whiskers: its 95% interval.",
    )
