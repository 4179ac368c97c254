"""Chooses the points of a survey that its budget can measure often enough for an interval.

Points are taken in the order of their importance, as long as they and what must be prepared for
them fit. A sweep that does not fit as a whole is taken in larger steps, never cut off. What does
not fit is left out with its reason and the budget that has room for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import msgspec

from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Work
from memgauge.model.units import format_duration
from memgauge.runner.batches import Planned
from memgauge.runner.budget import PREPARING_SHARE, BudgetPlan, rounded_up
from memgauge.runner.costs import CostModel
from memgauge.runner.point_progress import PASSES

ROUNDS = 48
"""Samples of an essential point: 16 give a speed an interval, and where the host takes processors
or moves threads between two distances, two in three count for another figure or for none."""
OTHERS_STRIDE = 2
"""Rounds that one sample of any other point stands for, where there is no time for more."""
ESSENTIAL_ROUNDS = 6
"""Of essential points, where there is time for no more: they give a median an interval."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one group that are taken together or not at all."""

    place: int
    """Of the group among all."""
    importance: int
    names: Sequence[str]
    works: Sequence[Work]
    """Of each point."""

    @property
    def is_essential(self) -> bool:
        """Whether it is measured unless there is no time for a median of it."""
        return self.importance == Importance.ESSENTIAL


class LeftPoints:
    """How many points of each experiment a survey leaves out, and what would fit them."""

    def __init__(self, planned: Sequence[Planned], total_s: float) -> None:
        self._total_s = total_s
        self._points: Counter[str] = Counter()
        for experiment, _, group in planned:
            self._points[experiment.name] += len(group.leaders)
        self.counts: Counter[str] = Counter()
        self.needed_s: dict[str, float] = {}

    def add(self, experiment: str, points: int, needed_s: float) -> None:
        """Count points as left out.

        Args:
            experiment: Its name.
            points: How many more of its points are left out.
            needed_s: Budget that would fit them, in seconds.
        """
        self.counts[experiment] += points
        self.needed_s[experiment] = max(needed_s, self.needed_s.get(experiment, 0.0))

    def taken_messages(self) -> Iterator[tuple[str, str]]:
        """Each experiment of which points are left out, and the reason; each is given once."""
        counts, self.counts = self.counts, Counter()
        for name, left in counts.items():
            points = self._points[name]
            what = f"all {points}" if left >= points else f"{left} of {points}"
            reason = (
                f"{name}: {what} points are left out, because the budget of "
                f"{format_duration(self._total_s)} has no time to sample them often enough for an "
                f"interval; use --budget {rounded_up(self.needed_s[name])}"
            )
            yield name, reason


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What of a survey is measured, and what it is expected to take."""

    kept: list[Planned]
    """Groups with the points that are kept, in the order in which they were planned."""
    setup_s: float
    round_s: float
    """Of one round, on average."""
    others_stride: int
    """Rounds that a sample of a point stands for at least, unless the point is essential."""
    measuring_s: float
    """Left for rounds after set-up and without the reserve for the report."""
    left: LeftPoints

    @property
    def points(self) -> int:
        """That are kept."""
        return sum(len(group.points) for _, _, group in self.kept)

    @property
    def rounds(self) -> int:
        """That are expected."""
        return int(self.measuring_s / self.round_s) if self.round_s else 0


def steps_of(groups: Sequence[Group]) -> list[Step]:
    """All points of these groups, the most important first."""
    found = [
        Step(
            place=place,
            importance=part.importance if halving == 0 else Importance.FINER + halving - 1,
            names=[part.points[index] for index in indices],
            works=[part.works[index] for index in indices],
        )
        for place, group in enumerate(groups)
        for part in group.parts()
        for halving, indices in enumerate(part.halvings())
    ]
    return sorted(found, key=lambda step: step.importance)


def round_s_of(step: Step, group: Group, model: CostModel) -> float:
    """Seconds of a round that the points of a step take, where others are not in every round.

    Args:
        step: One of `steps_of`.
        group: The group of these points.
        model: What a sample takes.
    """
    whole_walks = group.whole_walks
    return sum(
        model.sample_s(work) * share_of_rounds(step, whole_walks, name)
        for work, name in zip(step.works, step.names, strict=True)
    )


def share_of_rounds(step: Step, whole_walks: Collection[str], name: str) -> float:
    """Of the rounds in which a point is sampled: whole passes are as many as STREAM makes.

    Args:
        step: Of `steps_of`, which the point belongs to.
        whole_walks: Of the group of the point.
        name: Of the point.
    """
    if name in whole_walks:
        return PASSES / ROUNDS
    return 1.0 if step.is_essential else 1 / OTHERS_STRIDE


def essential_points(group: Group) -> frozenset[str]:
    """Names of those that every survey should measure."""
    return frozenset(
        name
        for part in group.parts()
        if part.importance == Importance.ESSENTIAL
        for name in part.points
    )


def choose(
    planned: Sequence[Planned],
    model: CostModel,
    budget: BudgetPlan,
    forced: Collection[str] = (),
) -> Choice:
    """Take points in the order of their importance, as long as there is time.

    Args:
        planned: All groups of the survey.
        model: What preparing and measuring them takes.
        budget: How long the run may take, and what of that is spent otherwise.
        forced: Points that are measured in any case, such as those of the run that is resumed.
    """
    return _Chooser(planned, model, budget, forced).choice()


class _Chooser:
    """What was taken so far."""

    def __init__(
        self,
        planned: Sequence[Planned],
        model: CostModel,
        budget: BudgetPlan,
        forced: Collection[str],
    ) -> None:
        self._planned = planned
        self._model = model
        self._budget = budget
        self._forced = set(forced)
        self._names: dict[int, set[str]] = {}
        self._setups: dict[int, float] = {}
        self._setup_s = 0.0
        """The sum of these."""
        self._round_s = 0.0
        self._whole_round_s = 0.0
        """Of a round in which all points are sampled."""
        self._points = 0
        self._left = LeftPoints(planned, budget.total_s)
        self._wanted_setup_s = 0.0
        self._wanted_round_s = 0.0
        self._wanted_points = 0

    def choice(self) -> Choice:
        """Take all steps that fit."""
        steps = steps_of([group for _, _, group in self._planned])
        cheapest = min((one for one in steps if one.is_essential), key=self._cost_s, default=None)
        for step in steps:
            self._consider(step, is_cheapest=step is cheapest)
        kept = [
            (experiment, parameters, group.keeping(self._with_first(group, self._names[place])))
            for place, (experiment, parameters, group) in enumerate(self._planned)
            if place in self._names
        ]
        measuring_s = max(0.0, self._budget.available_s(self._points) - self._setup_s)
        is_short = measuring_s < ROUNDS * self._whole_round_s
        return Choice(
            kept=kept,
            setup_s=self._setup_s,
            round_s=self._round_s if is_short else self._whole_round_s,
            others_stride=OTHERS_STRIDE if is_short else 1,
            measuring_s=measuring_s,
            left=self._left,
        )

    def _cost_s(self, step: Step) -> float:
        """To measure this step alone."""
        round_s = round_s_of(step, self._planned[step.place][2], self._model)
        return self._setup_s_with(step) + ESSENTIAL_ROUNDS * round_s

    def _consider(self, step: Step, *, is_cheapest: bool) -> None:
        round_s = round_s_of(step, self._planned[step.place][2], self._model)
        group_setup_s = self._setup_s_with(step)
        added_setup_s = group_setup_s - self._setups.get(step.place, 0.0)
        points = self._points + len(step.names)
        self._wanted_setup_s += added_setup_s
        self._wanted_round_s += round_s
        self._wanted_points += len(step.names)
        if (
            is_cheapest
            or self._forced.intersection(step.names)
            or self._fits(step, added_setup_s, self._round_s + round_s, points)
        ):
            self._names.setdefault(step.place, set()).update(step.names)
            self._setups[step.place] = group_setup_s
            self._setup_s += added_setup_s
            self._round_s += round_s
            self._whole_round_s += round_s if step.is_essential else OTHERS_STRIDE * round_s
            self._points = points
            return
        needed_s = self._budget.total_for(
            self._wanted_setup_s, ROUNDS * self._wanted_round_s, self._wanted_points
        )
        self._left.add(self._planned[step.place][0].name, len(step.names), needed_s)

    def _fits(self, step: Step, added_setup_s: float, round_s: float, points: int) -> bool:
        all_setups_s = self._setup_s + added_setup_s
        available_s = self._budget.available_s(points)
        if step.is_essential:
            return all_setups_s + ESSENTIAL_ROUNDS * round_s <= available_s
        if added_setup_s > 0 and all_setups_s > PREPARING_SHARE * available_s:
            return False
        return all_setups_s + ROUNDS * round_s <= available_s

    def _setup_s_with(self, step: Step) -> float:
        """Of the step's group with the step."""
        group = self._planned[step.place][2]
        names = self._names.get(step.place, set()).union(step.names)
        if len(names) < len(group.leaders):
            group = group.keeping(self._with_first(group, names))
        return self._model.setup_s(group.setup())

    @staticmethod
    def _with_first(group: Group, names: Collection[str]) -> set[str]:
        """A group's first point carries what a reader is warned of once."""
        return {group.points[0].point, *names}
