"""The measuring loop: each open point is sampled over the whole stretch of time.

A round samples every point at a random moment, or one round in two or four where the point is
precise (`turns`). No point stops being sampled because it is precise: its figure would then be that
of the first seconds, and drift would be in no interval.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence

from memgauge.analysis.figures.regimes import TeamKey, find_regimes, team_of
from memgauge.experiments.shared.base import Bench
from memgauge.model.errors import DoesNotFit
from memgauge.model.records import AnyRecord, Point, Sample
from memgauge.model.storage.run_file import RunWriter
from memgauge.runner.budget import FIRST_ROUNDS, Budget
from memgauge.runner.deciding import Deciding
from memgauge.runner.fitting import LeftOut, memory_needed
from memgauge.runner.point_progress import CellValues, PointProgress
from memgauge.runner.turns import Turns
from memgauge.system.environment.conditions import EnvironmentMonitor

ENVIRONMENT_EVERY_S = 1.0
SEARCH_EVERY_ROUNDS = 4

Tick = Callable[[Sequence[PointProgress]], None]
"""Called after each round to show progress."""

Declare = Callable[[Bench, Sequence[Point]], list[PointProgress]]
"""Records further points of a bench and creates their progress objects."""


class Rounds:
    """Samples points round-robin and writes each round as it ends.

    A kill loses at most the round under way. Ctrl-C ends the loop between two native calls, each a
    few milliseconds long; the round's finished samples are written first. A bench that
    runs out of memory is abandoned, and its earlier samples are kept.
    """

    def __init__(
        self,
        writer: RunWriter,
        monitor: EnvironmentMonitor,
        budget: Budget,
        precision: float,
        left_out: LeftOut,
    ) -> None:
        self.completed = 0
        self._writer = writer
        self._monitor = monitor
        self._budget = budget
        self._precision = precision
        self._left_out = left_out
        self._turns = Turns()
        self._deciding = Deciding()
        self._without_memory: set[Bench] = set()
        self._environment_due_s = 0.0
        self._deadline_s = 0.0
        self._before = 0

    def run(
        self,
        tracked: MutableSequence[PointProgress],
        share_s: float,
        least_s: float,
        tick: Tick,
        declare: Declare,
    ) -> None:
        """Run rounds until all points are precise and have spanned `least_s`, or time is over.

        The first few rounds may go on until half of the time for the report is used.

        Args:
            tracked: Points to sample; those that a bench adds while measuring are appended.
            share_s: Most seconds that the rounds may take; they also end with the run's budget.
            least_s: Seconds over which each point is sampled at least, unless time is over before.
            tick: Shows progress after each round.
            declare: Records the points that a bench adds, before they are sampled.
        """
        self._deadline_s = self._budget.elapsed_s + share_s
        self._before = self.completed
        benches = list(dict.fromkeys(progress.bench for progress in tracked))
        look(tracked, self._precision)
        while self._is_unfinished(tracked, least_s) and not self._is_over():
            self._one_round(tracked)
            look(tracked, self._precision)
            self._deciding.look(tracked)
            if self.completed % SEARCH_EVERY_ROUNDS == 0:
                for bench in benches:
                    give_up(bench, tracked)
                    tracked.extend(declare(bench, self._refined(bench, tracked)))
            tick(tracked)

    def _is_unfinished(self, tracked: Sequence[PointProgress], least_s: float) -> bool:
        """Whether a point is not precise, or was not sampled for long enough."""
        sampled = [progress for progress in tracked if progress.to_sample]
        if any(one.wanted for progress in sampled for one in (progress, *progress.followers)):
            return True
        now_s = self._budget.elapsed_s
        return any(one.began_s is None or now_s - one.began_s < least_s for one in sampled)

    def _is_over(self) -> bool:
        rounds = self.completed - self._before
        is_late = rounds >= FIRST_ROUNDS and self._budget.elapsed_s >= self._deadline_s
        return is_late or self._budget.has_ended(rounds)

    def _one_round(self, tracked: Sequence[PointProgress]) -> None:
        records: list[AnyRecord] = []
        try:
            for progress in self._turns.of_round(self.completed, tracked):
                if progress.to_sample:  # its bench may have run out of memory in this round
                    records.extend(self._sample(progress, tracked))
                if self._is_over():
                    break
        finally:
            if self._budget.elapsed_s >= self._environment_due_s:
                self._environment_due_s = self._budget.elapsed_s + ENVIRONMENT_EVERY_S
                records.append(self._monitor.sample())
            self._writer.write(records)
        self.completed += 1

    def _sample(self, progress: PointProgress, tracked: Sequence[PointProgress]) -> list[Sample]:
        if progress.began_s is None:
            progress.began_s = self._budget.elapsed_s
        try:
            with memory_needed(progress.point.point):
                return progress.measure(self.completed)
        except DoesNotFit as error:
            self._give_up_bench(progress.bench, tracked, error)
            return []

    def _refined(self, bench: Bench, tracked: Sequence[PointProgress]) -> list[Point]:
        """Points that a bench adds because of what it has measured so far."""
        if bench in self._without_memory:
            return []
        mine = [progress for progress in tracked if progress.bench is bench]
        try:
            with memory_needed(f"{bench.points[0].experiment}: further points"):
                return bench.refine(CellValues(mine))
        except DoesNotFit as error:
            self._give_up_bench(bench, tracked, error)
            return []

    def _give_up_bench(
        self, bench: Bench, tracked: Sequence[PointProgress], error: DoesNotFit
    ) -> None:
        self._without_memory.add(bench)
        for progress in tracked:
            progress.given_up |= progress.bench is bench
        self._left_out.add(bench.points[0].experiment, error)


def look(tracked: Sequence[PointProgress], precision: float) -> None:
    """Let each point with enough new samples decide whether it is precise, within its regimes."""
    teams: dict[TeamKey, list[PointProgress]] = {}
    for progress in tracked:
        teams.setdefault(team_of(progress.point), []).append(progress)
    for team in teams.values():
        due = [progress for progress in team if progress.due]
        if not due:
            continue
        regimes = find_regimes(ns for progress in team for ns in progress.history.pingpongs_ns)
        for progress in due:
            progress.look(precision, regimes)


def give_up(bench: Bench, tracked: Sequence[PointProgress]) -> None:
    """Stop sampling candidates that a search has eliminated."""
    mine = {
        progress.point.point: progress
        for progress in tracked
        if progress.bench is bench and progress.point.role == "slice"
    }
    for name in bench.eliminated(CellValues(list(mine.values()))):
        mine[name].given_up = True
