"""What to run and where to record it, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.records import MeasuredCurve, MeasuredReach, MeasuredWeights, Warning
from memgauge.model.system import System
from memgauge.runner.budget import (
    REPORT_SHARE,
    SURVEY_REPORT_SHARE,
    Beginning,
)
from memgauge.runner.fitting import Requested
from memgauge.system.earlier_runs import KeptRun


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands, for whoever shows it."""

    phase: str
    done_share: float
    reached: int
    points: int
    remaining_s: float


OnProgress = Callable[[Progress], None]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to run, and where to record it."""

    experiments: Sequence[Requested]
    budget_s: float
    precision: float
    directory: Path
    system: System
    resume: bool = False
    warnings: Sequence[Warning] = ()
    """What was noticed before the run, to be recorded with it."""
    known: Sequence[MeasuredCurve | MeasuredReach | MeasuredWeights | Replayed] = ()
    """What earlier runs measured that the user named, to be recorded with this one."""
    earlier: Sequence[KeptRun] = ()
    """Runs that are known, of which those made alike are recorded."""
    began: Beginning | None = None
    """From when on the budget counts; None: from the call."""

    @property
    def is_survey(self) -> bool:
        """Whether points may be left out for want of time."""
        return len(self.experiments) > 1

    @property
    def report_share(self) -> float:
        """Of the budget, what is kept for the report at most."""
        return SURVEY_REPORT_SHARE if self.is_survey else REPORT_SHARE
