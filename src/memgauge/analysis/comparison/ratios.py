"""Figures of several sources side by side: differences, ratios with intervals, verdicts.

The first source is the baseline; each other one is compared with it. A ratio's interval is made of
both figures' intervals (see `memgauge.analysis.statistics.ratios`) and widened by the run-to-run
drift of both machines: figures of two runs also differ because the machines' pace did, which no
interval made within one run includes. The widening adds the variances of the logs. Where the
widened interval leaves 1 out, the two runs differ; whether the machines do, one run a side cannot
tell. Without intervals nothing is concluded.

Several runs a side tell: see `judged_runs`. A figure is then faster or slower apart from the common
pace of the runs. Of many comparisons some differ by chance: see `significance`.

What would invalidate it: machines that change more slowly than a run is long; a figure whose name
is the same and whose meaning is not.
"""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from memgauge.analysis.comparison.best import any_kernels, best_teams, loaded_ends
from memgauge.analysis.comparison.diagnoses import DiagnosisPair, matching, pair_diagnoses
from memgauge.analysis.comparison.figures import Comparable, Direction, Source, is_one_machine
from memgauge.analysis.comparison.judged_runs import Paces, RowOfRuns, rows_of_runs
from memgauge.analysis.comparison.partners import Unpaired, pair_up, unpaired
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.statistics.significance import p_value

DIFFERS: Literal["differs between these two runs"] = "differs between these two runs"
"""Of one run a side: not necessarily a difference of what was measured."""
Outcome = Literal[
    "faster", "slower", "more", "less", "differs between these two runs", "same", "not known"
]
"""more, less: of amounts, which are no speeds."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One figure in two sources."""

    name: str
    unit: str
    direction: Direction
    statistic: str
    """How the figures were made; of both where they differ."""
    regime: str
    baseline: Estimate
    other: Estimate
    ratio: Estimate
    """Other over baseline, by the figures' own intervals; none of several runs a side."""
    widened: Estimate
    """The same with what is known of the difference between runs: of one run a side the run-to-run
    drift, of several their spread, common pace included."""
    apart: Estimate | None = None
    """Of several runs a side: apart from their common pace; None: of one run a side."""
    outcome: Outcome
    """By `apart`, or by `widened` of one run a side."""
    p_value: float | None
    """Of a ratio this far from 1 by chance; None without intervals."""
    stands: bool
    """Several runs a side show it, with all comparisons taken together; never of one run a side."""
    differs: dict[str, str]
    """Facts of the two points that are not the same."""

    @property
    def difference(self) -> float:
        """Other less baseline, in the unit."""
        return self.other.value - self.baseline.value

    @property
    def speed(self) -> Estimate:
        """How fast the other is as a share of the baseline: the inverse for latencies.

        Of an amount, the ratio itself.
        """
        if self.direction != "lower":
            return self.widened
        low, high = self.widened.low, self.widened.high
        return Estimate(1 / self.widened.value, 1 / high, 1 / low if low else math.inf)


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The baseline and one other source."""

    baseline: Source
    other: Source
    rows: list[Row]
    unpaired: list[Unpaired]
    paces: Paces | None = None
    """Of several runs a side, where there are enough figures."""
    diagnosis: DiagnosisPair | None = None
    """Where all runs of both sides are diagnoses."""

    @property
    def has_several_runs(self) -> bool:
        """Whether one side or both were measured in several runs."""
        return bool(self.baseline.runs or self.other.runs)

    @property
    def judged(self) -> list[Row]:
        """Rows with intervals."""
        return [row for row in self.rows if row.p_value is not None]

    @property
    def judged_speeds(self) -> list[Row]:
        """Those of them that are faster or slower, without amounts."""
        return [row for row in self.judged if row.direction != "neither"]

    def of(self, outcome: Outcome) -> list[Row]:
        """Rows of one outcome."""
        return [row for row in self.rows if row.outcome == outcome]

    def slower_than(self, share: float) -> list[Row]:
        """Rows whose interval lies wholly beyond `share` slower than the baseline.

        Of several runs a side these are only rows that stand as different, or all where the common
        pace of the runs differs.
        """
        anyway = not self.has_several_runs or (self.paces is not None and self.paces.differs)
        return [
            row
            for row in self.judged_speeds
            if row.speed.high < 1 - share and (row.stands or anyway)
        ]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All sources, and a pair for each but the first."""

    sources: list[Source]
    pairs: list[Pair]


def compare(sources: Sequence[Source]) -> Comparison:
    """Each source against the first; at least two are needed."""
    baseline, *others = sources
    return Comparison(
        sources=list(sources), pairs=[compare_two(baseline, other) for other in others]
    )


def only(source: Source, pattern: str) -> Source:
    """The source with the figures whose names match a glob such as `stream/copy/*`."""
    kept = [one for one in source.comparables if fnmatchcase(one.name, pattern)]
    diagnosis = matching(source.diagnosis, pattern)
    return msgspec.structs.replace(source, comparables=kept, diagnosis=diagnosis)


def compare_two(baseline: Source, other: Source) -> Pair:
    """Every figure that both have, in the baseline's order, and those without a partner.

    Of two machines the best teams and the ends of loaded curves are compared too, and beside
    another tool's file the best kernels, where the two have no kernel in common.
    """
    if not is_one_machine(baseline, other):
        baseline, other = _with_best(baseline), _with_best(other)
    if baseline.tool != other.tool and not _have_kernels_in_common(baseline, other):
        baseline, other = _with_any_kernels(baseline), _with_any_kernels(other)
    partners = pair_up(baseline, other)
    rows, paces = _rows(baseline, other, partners)
    return Pair(
        baseline=baseline,
        other=other,
        rows=rows,
        unpaired=[
            *unpaired(baseline, other, "baseline", {(a.name, a.regime) for a, _ in partners}),
            *unpaired(other, baseline, "other", {(b.name, b.regime) for _, b in partners}),
        ],
        paces=paces,
        diagnosis=pair_diagnoses(baseline.diagnoses, other.diagnoses),
    )


def _rows(
    baseline: Source, other: Source, partners: Sequence[tuple[Comparable, Comparable]]
) -> tuple[list[Row], Paces | None]:
    """A row for each pair of partners, by one run or by several a side."""
    rows = [_row(a, b, _drift(baseline, other)) for a, b in partners]
    if not (baseline.runs or other.runs):
        return rows, None
    judged, paces = rows_of_runs(baseline, other, partners)
    return [_by_runs(row, found) for row, found in zip(rows, judged, strict=True)], paces


def _by_runs(row: Row, judged: RowOfRuns | None) -> Row:
    """The row with what several runs say of it instead of intervals within runs."""
    if judged is None:
        bare = Estimate(row.ratio.value, 0.0, math.inf)
        return msgspec.structs.replace(
            row, ratio=bare, widened=bare, outcome="not known", p_value=None
        )
    return msgspec.structs.replace(
        row,
        ratio=Estimate(row.ratio.value, 0.0, math.inf),
        widened=judged.total,
        apart=judged.apart,
        outcome=_direction(judged.apart, row.direction),
        p_value=judged.p_value,
        stands=judged.stands,
    )


def _with_best(source: Source) -> Source:
    """With the figures that machines of different size share, where it does not hold them."""
    return _with(source, [*best_teams(source.comparables), *loaded_ends(source.comparables)])


def _have_kernels_in_common(one: Source, other: Source) -> bool:
    names = {figure.name for figure in one.comparables if figure.name.startswith("stream/")}
    return any(figure.name in names for figure in other.comparables)


def _with_any_kernels(source: Source) -> Source:
    return _with(source, any_kernels(source.comparables))


def _with(source: Source, made: Sequence[Comparable]) -> Source:
    known = {one.name for one in source.comparables}
    new = [one for one in made if one.name not in known]
    return msgspec.structs.replace(source, comparables=[*source.comparables, *new])


def widen(estimate: Estimate, drift: float) -> Estimate:
    """The ratio with a further half width of its log, independent of its own."""
    if not has_interval(estimate) or estimate.low <= 0:
        return estimate
    below = math.hypot(math.log(estimate.value / estimate.low), drift)
    above = math.hypot(math.log(estimate.high / estimate.value), drift)
    return Estimate(
        estimate.value, estimate.value * math.exp(-below), estimate.value * math.exp(above)
    )


def _drift(baseline: Source, other: Source) -> float:
    """Of both machines together, as half width of the log; what is not known adds nothing."""
    return math.hypot(*(math.log1p(source.run_to_run_drift or 0.0) for source in (baseline, other)))


def _row(one: Comparable, other: Comparable, drift: float) -> Row:
    plain = ratio(other.estimate, one.estimate) or Estimate(math.nan, 0.0, math.inf)
    # The pace of a machine moves its speeds, and no bytes.
    widened = plain if one.direction == "neither" else widen(plain, drift)
    same = one.statistic == other.statistic
    return Row(
        name=one.name,
        unit=one.unit,
        direction=one.direction,
        statistic=one.statistic if same else f"{one.statistic} against {other.statistic}",
        regime=one.regime or other.regime,
        baseline=one.estimate,
        other=other.estimate,
        ratio=plain,
        widened=widened,
        outcome=_outcome(widened),
        p_value=p_value(widened),
        stands=False,
        differs=_differing(one, other),
    )


def _outcome(widened: Estimate) -> Outcome:
    if p_value(widened) is None:
        return "not known"
    return "same" if widened.low <= 1 <= widened.high else DIFFERS


def _direction(apart: Estimate, direction: Direction) -> Outcome:
    if apart.low <= 1 <= apart.high:
        return "same"
    if direction == "neither":
        return "more" if apart.value > 1 else "less"
    return "faster" if (apart.value > 1) == (direction == "higher") else "slower"


def _differing(one: Comparable, other: Comparable) -> dict[str, str]:
    """Facts known of both that differ; shares and times, which never repeat, are left out."""
    return {
        key: f"{fact} against {other.facts[key]}"
        for key, fact in one.facts.items()
        if key in other.facts and not isinstance(fact, float) and fact != other.facts[key]
    }
