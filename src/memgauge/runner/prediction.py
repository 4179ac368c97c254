"""What a survey is going to do and to take, without memory or threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec

from memgauge.experiments.shared.base import Experiment, Group
from memgauge.model.parameters import CommonParameters
from memgauge.model.system import System
from memgauge.model.units import format_bytes, format_count, format_duration
from memgauge.runner.batches import Planned, batches
from memgauge.runner.budget import BudgetPlan
from memgauge.runner.costs import cost_model
from memgauge.runner.fitting import LeftOut, fitting
from memgauge.runner.thinning import Choice, choose
from memgauge.system.limits.room import room

NAMED_GROUPS = 3
"""Of an experiment, in a plan; a large machine has a thousand."""
STARTUP_S = 0.7
"""Until the machine is detected and the survey is planned, on a quiet machine."""


class Prediction(msgspec.Struct, frozen=True, kw_only=True):
    """A survey before it is made."""

    system: System
    budget_s: float
    points: int
    """Of the whole survey, as `points_of` counts them."""
    choice: Choice
    report_s: float
    batch_bytes: list[int]
    """Memory that is allocated at the same time."""
    impossible: list[tuple[str, str]]
    """Experiments and groups that this machine does not allow, with reasons."""

    def lines(self) -> Iterator[str]:
        """For a reader."""
        choice = self.choice
        yield (
            f"Predicted for {self.system.cpu_model}, "
            f"{format_count(len(self.system.allowed_cpus), 'CPU')}, "
            f"{format_count(len(self.system.nodes), 'memory node')}, and a budget of "
            f"{format_duration(self.budget_s)}. Nothing was measured."
        )
        yield ""
        yield f"set-up        {format_duration(choice.setup_s)}"
        yield f"one round     {format_duration(choice.round_s)}"
        yield f"rounds        {choice.rounds}{self._thinned()}"
        yield f"report        {format_duration(self.report_s)}"
        memory = " + ".join(map(format_bytes, self.batch_bytes))
        yield f"memory        {memory}"
        yield f"points        {points_of(choice.kept)} of {self.points}"
        yield ""
        yield "Kept"
        yield from self._kept()
        yield from self._not_measured()

    def _thinned(self) -> str:
        """How often points are sampled that are not in every round."""
        stride = self.choice.others_stride
        return "" if stride == 1 else f", of which 1 in {stride} for points that are not essential"

    def _kept(self) -> Iterator[str]:
        """A line for each experiment, with its first groups."""
        groups: dict[str, list[Group]] = {}
        for experiment, _, group in self.choice.kept:
            groups.setdefault(experiment.name, []).append(group)
        for name, members in groups.items():
            points = sum(len(group.leaders) for group in members)
            names = "; ".join(group.name for group in members[:NAMED_GROUPS])
            more = len(members) - NAMED_GROUPS
            also = f"; {format_count(more, 'more group')}" if more > 0 else ""
            yield f"  {name}: {format_count(points, 'point')} ({names}{also})"

    def _not_measured(self) -> Iterator[str]:
        left = [message for _, message in self.choice.left.taken_messages()]
        for title, messages in (
            ("Left out for want of time", left),
            ("Not possible here", [message for _, message in self.impossible]),
        ):
            if messages:
                yield ""
                yield title
                yield from (f"  {message}" for message in messages)


def points_of(planned: Sequence[Planned]) -> int:
    """Points that are measured for themselves, as those that are left out are counted too."""
    return sum(len(group.leaders) for _, _, group in planned)


def predict(
    requested: Sequence[tuple[Experiment, CommonParameters]], system: System, budget_s: float
) -> Prediction:
    """Plan a survey.

    Args:
        requested: Experiments with their parameters.
        system: The machine, this one or another.
        budget_s: How long the survey may take, in seconds.

    Raises:
        RequestError: no experiment can be measured there.
    """
    left_out = LeftOut(requested)
    planned = fitting(
        [(one, parameters.for_budget(budget_s)) for one, parameters in requested],
        system,
        left_out,
    )
    times = BudgetPlan(total_s=budget_s, spent_s=STARTUP_S)
    choice = choose(planned, cost_model(system), times)
    packed = batches(choice.kept, partial(room, system))
    return Prediction(
        system=system,
        budget_s=budget_s,
        points=points_of(planned),
        choice=choice,
        report_s=times.report_s(choice.points),
        batch_bytes=[sum(group.bytes for _, _, group in batch) for batch in packed],
        impossible=[(one.experiment or "", one.message) for one in left_out.found],
    )
