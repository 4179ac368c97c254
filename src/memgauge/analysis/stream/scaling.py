"""What the `stream` points show about threads: how bandwidth grows with the team."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from memgauge.analysis.figures import scaling_report
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import series, slug
from memgauge.analysis.figures.scaling import Scaling, Team, scaling_of
from memgauge.analysis.section import Axis, Cell, Chart, Column, Rule, Table, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.stream.figures import KernelResult
from memgauge.model.system import System

SHOWN_KERNELS = ("copy", "scale", "add", "triad", "read")
"""STREAM's four, and reading alone."""
JUDGED_KERNELS = ("triad", "copy", "read")
"""The first of these that was measured is put in words; STREAM's own verdict is by triad."""
MOST_LINES = 7


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel and variant over team sizes, in the regime seen most."""

    kernel: str
    variant: str
    element: str
    pages: str
    """Empty: all arrays of the run have pages of one kind."""
    teams: list[Team]
    scaling: Scaling

    @property
    def name(self) -> str:
        """Such as `triad, tuned`."""
        return ", ".join(filter(None, (self.kernel, self.variant_name)))

    @property
    def variant_name(self) -> str:
        """What it has in common with lines of other kernels, such as `tuned`."""
        element = "" if self.element in {"", "double"} else self.element
        return ", ".join(filter(None, (self.variant, element, self.pages)))


def lines(results: Sequence[KernelResult], system: System) -> list[Line]:
    """Every kernel and variant with at least two team sizes."""
    usual = usual_regime(results)
    teams: dict[tuple[str, str, str, str], list[Team]] = {}
    for result in results:
        if result.sustained is not None and regime_kind(result.regime) in {"", usual}:
            cores = scaling_report.cores_used(system, result.actual.cpus)
            key = (result.kernel, result.variant, result.element, result.pages)
            teams.setdefault(key, []).append(Team(result.threads, result.sustained, cores))
    found = []
    for (kernel, variant, element, pages), members in teams.items():
        scaling = scaling_of(members)
        if scaling is not None and scaling.teams > 1:
            line = {"kernel": kernel, "variant": variant, "element": element, "pages": pages}
            found.append(Line(**line, teams=members, scaling=scaling))
    return found


def judged(found: Sequence[Line]) -> Line | None:
    """The line put in words: of the first of the usual kernels, the variant that gets furthest."""
    for kernel in (*JUDGED_KERNELS, *(line.kernel for line in found)):
        of_kernel = [line for line in found if line.kernel == kernel]
        if of_kernel:
            return max(of_kernel, key=lambda line: line.scaling.best.bandwidth.value)
    return None


def verdicts(found: Sequence[Line]) -> list[Verdict]:
    """Where bandwidth bends and what siblings cost; nothing before most teams have an interval."""
    line = judged(found)
    if line is None or 2 * sum(has_interval(t.bandwidth) for t in line.teams) < len(line.teams):
        return []
    return scaling_report.verdicts(line.name, line.scaling)


def table(found: Sequence[Line]) -> Table | None:
    """A row for each kernel and variant with at least three team sizes."""
    rows: list[list[Cell]] = [
        [
            line.kernel,
            ", ".join(filter(None, (line.variant, line.pages))),
            *scaling_report.row(line.scaling),
        ]
        for line in found
        if line.scaling.teams > 2
    ]
    first = [Column(title="kernel"), Column(title="variant")]
    return scaling_report.table("stream-threads", "Threads", first, rows) if rows else None


def charts(found: Sequence[Line], peak_bytes_per_s: float | None, usual: str) -> list[Chart]:
    """Bandwidth over threads of all four kernels, and of what else was swept.

    More lines than can be told apart are drawn as one picture for each variant, the one that is put
    in words first.

    Args:
        found: All lines of the run; without any, there is no chart.
        peak_bytes_per_s: Theoretical peak of the memory, drawn as a rule; None if not known.
        usual: Regime seen most, to which the lines are limited; empty if no team was seen in two.
    """
    kernels = dict.fromkeys(line.kernel for line in found)
    shown = [*(one for one in SHOWN_KERNELS if one in kernels)] or [*kernels][:MOST_LINES]
    drawn = [line for kernel in shown for line in found if line.kernel == kernel]
    if len(drawn) <= MOST_LINES:
        return [_chart(drawn, "", peak_bytes_per_s, usual)] if drawn else []
    variants: dict[str, list[Line]] = {}
    for line in drawn:
        variants.setdefault(line.variant_name, []).append(line)
    best = judged(drawn)
    first = best.variant_name if best else ""
    return [
        _chart(variants[name], name, peak_bytes_per_s, usual, leads=name == first)
        for name in sorted(variants, key=lambda name: name != first)
    ]


def _chart(
    drawn: Sequence[Line],
    variant: str,
    peak_bytes_per_s: float | None,
    usual: str,
    *,
    leads: bool = True,
) -> Chart:
    """One picture; `variant` is what all its lines have in common, empty where they differ."""
    sizes = sorted({team.threads for line in drawn for team in line.teams})
    axis: list[float | str] = [float(size) for size in sizes]
    line = judged(drawn)
    peak = peak_bytes_per_s
    return Chart(
        name="stream-scaling" if leads else f"stream-scaling-{slug(variant)}",
        title=f"Bandwidth over threads{f', {variant}' if variant else ''}",
        kind="line",
        x=scaling_report.threads_axis(sizes),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(one.kernel if variant else one.name, axis, _over(one, sizes)) for one in drawn
        ],
        bands=scaling_report.bands(line.scaling if line else None, sizes),
        rules=[Rule(label="theoretical peak", axis="y", value=peak * 1e-9)] if peak else [],
        marks=scaling_report.marks(line.scaling, line.teams) if line else [],
        note=f"Teams in the regime seen most: {usual}." if usual else None,
    )


def _over(line: Line, sizes: Sequence[int]) -> list[Estimate | None]:
    by_threads = {team.threads: team.bandwidth for team in line.teams}
    return [by_threads.get(size) for size in sizes]


def usual_regime(results: Sequence[KernelResult]) -> str:
    """The regime with most samples; empty where no team was seen in two."""
    seen: Counter[str] = Counter()
    for result in results:
        if result.regime and result.slice is not None:
            seen[regime_kind(result.regime)] += result.slice.samples
    return seen.most_common(1)[0][0] if seen else ""
