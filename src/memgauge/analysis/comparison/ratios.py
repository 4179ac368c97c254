"""Figures of several sources side by side: differences, ratios with intervals, verdicts.

The first source is the baseline; each other one is compared with it. A ratio's interval is made of
both figures' intervals (see `memgauge.analysis.statistics.ratios`) and widened by the run-to-run
drift of both machines: figures of two runs also differ because the machines' pace did, which no
interval made within one run includes. The widening adds the variances of the logs. A figure is
faster or slower where the widened interval leaves 1 out; without intervals nothing is concluded.

Of many comparisons some differ by chance: see `significance`.

What would invalidate it: machines that change more slowly than a run is long; a figure whose name
is the same and whose meaning is not.
"""

import math
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

from memgauge.analysis.comparison.best import best_teams, loaded_ends
from memgauge.analysis.comparison.figures import (
    SUSTAINED,
    Comparable,
    Direction,
    Source,
    is_one_machine,
)
from memgauge.analysis.figures.regimes import LEAST_RATIO
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.statistics.significance import p_value, stand

Outcome = Literal["faster", "slower", "same", "not known"]


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
    """Other over baseline, by the figures' own intervals."""
    widened: Estimate
    """The same with the run-to-run drift of both machines; what the verdict is made of."""
    outcome: Outcome
    p_value: float | None
    """Of a ratio this far from 1 by chance; None without intervals."""
    stands: bool
    """It is still a difference when all comparisons are taken together."""
    differs: dict[str, str]
    """Facts of the two points that are not the same."""

    @property
    def difference(self) -> float:
        """Other less baseline, in the unit."""
        return self.other.value - self.baseline.value

    @property
    def speed(self) -> Estimate:
        """How fast the other is as a share of the baseline: the inverse for latencies."""
        if self.direction == "higher":
            return self.widened
        low, high = self.widened.low, self.widened.high
        return Estimate(1 / self.widened.value, 1 / high, 1 / low if low else math.inf)


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that has no partner."""

    name: str
    regime: str
    source: Literal["baseline", "other"]
    why: str


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The baseline and one other source."""

    baseline: Source
    other: Source
    rows: list[Row]
    unpaired: list[Unpaired]

    @property
    def judged(self) -> list[Row]:
        """Rows with intervals."""
        return [row for row in self.rows if row.p_value is not None]

    def of(self, outcome: Outcome) -> list[Row]:
        """Rows of one outcome."""
        return [row for row in self.rows if row.outcome == outcome]

    def slower_than(self, share: float) -> list[Row]:
        """Rows whose interval lies wholly beyond `share` slower than the baseline."""
        return [row for row in self.judged if row.speed.high < 1 - share]


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
    return msgspec.structs.replace(source, comparables=kept)


def compare_two(baseline: Source, other: Source) -> Pair:
    """Every figure that both have, in the baseline's order, and those without a partner.

    Of two machines the best teams and the ends of loaded curves are compared too.
    """
    if not is_one_machine(baseline, other):
        baseline, other = _with_best(baseline), _with_best(other)
    partners = _pair_up(baseline, other)
    rows = [_row(a, b, _drift(baseline, other)) for a, b in partners]
    standing = stand([row.p_value for row in rows])
    paired = {(side, c.name, c.regime) for a, b in partners for side, c in ((0, a), (1, b))}
    return Pair(
        baseline=baseline,
        other=other,
        rows=[
            msgspec.structs.replace(row, stands=stands)
            for row, stands in zip(rows, standing, strict=True)
        ],
        unpaired=[
            *_unpaired(baseline, other, "baseline", {key[1:] for key in paired if key[0] == 0}),
            *_unpaired(other, baseline, "other", {key[1:] for key in paired if key[0] == 1}),
        ],
    )


def _with_best(source: Source) -> Source:
    """With the figures that machines of different size share, where it does not hold them."""
    known = {one.name for one in source.comparables}
    made = [*best_teams(source.comparables), *loaded_ends(source.comparables)]
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


def _pair_up(baseline: Source, other: Source) -> list[tuple[Comparable, Comparable]]:
    """Partners, one pair for each name and regime: of the same statistic where there is one."""
    offers: dict[str, list[Comparable]] = {}
    for one in other.comparables:
        offers.setdefault(one.name, []).append(one)
    same_machine = is_one_machine(baseline, other)
    found: dict[tuple[str, str], tuple[Comparable, Comparable]] = {}
    for one in baseline.comparables:
        for offer in offers.get(one.name, []):
            key = (one.name, one.regime)
            if one.unit == offer.unit and _same_regime(one, offer, same_machine=same_machine):
                known = found.get(key)
                if known is None or _likeness(one, offer) > _likeness(*known):
                    found[key] = (one, offer)
    return list(found.values())


def _likeness(one: Comparable, other: Comparable) -> int:
    return (one.statistic == other.statistic) * 2 + (one.statistic == SUSTAINED)


def _same_regime(one: Comparable, other: Comparable, *, same_machine: bool) -> bool:
    """Equal kinds; else one regime that has no name, at a like distance on the same machine."""
    if one.regime == other.regime:
        return True
    kinds = {one.regime, other.regime}
    if kinds == {"", "one regime"}:
        return True
    if "one regime" not in kinds or not (one.pingpong_ns and other.pingpong_ns):
        return False
    apart = abs(math.log(one.pingpong_ns / other.pingpong_ns))
    return same_machine and apart < math.log(LEAST_RATIO) / 2


def _row(one: Comparable, other: Comparable, drift: float) -> Row:
    plain = ratio(other.estimate, one.estimate) or Estimate(math.nan, 0.0, math.inf)
    widened = widen(plain, drift)
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
        outcome=_outcome(widened, one.direction),
        p_value=p_value(widened),
        stands=False,
        differs=_differing(one, other),
    )


def _outcome(widened: Estimate, direction: Direction) -> Outcome:
    if p_value(widened) is None:
        return "not known"
    if widened.low <= 1 <= widened.high:
        return "same"
    return "faster" if (widened.value > 1) == (direction == "higher") else "slower"


def _differing(one: Comparable, other: Comparable) -> dict[str, str]:
    """Facts known of both that differ; shares and times, which never repeat, are left out."""
    return {
        key: f"{fact} against {other.facts[key]}"
        for key, fact in one.facts.items()
        if key in other.facts and not isinstance(fact, float) and fact != other.facts[key]
    }


def _unpaired(
    source: Source,
    against: Source,
    side: Literal["baseline", "other"],
    paired: set[tuple[str, str]],
) -> list[Unpaired]:
    names = {one.name for one in against.comparables}
    left = {(c.name, c.regime): c for c in source.comparables if (c.name, c.regime) not in paired}
    return [
        Unpaired(
            name=name,
            regime=regime,
            source=side,
            why="in another regime there" if name in names else "not measured there",
        )
        for name, regime in left
    ]
