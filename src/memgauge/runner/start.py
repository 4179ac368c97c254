"""The first record of a run of any kind."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import FORMAT_VERSION, RankPlace, RunStart
from memgauge.model.system import System
from memgauge.system.earlier_runs import KeptRun, alike
from memgauge.system.environment.clock import clock_record
from memgauge.system.environment.software import software_versions


def run_start(  # noqa: PLR0913 - what a first record holds
    parameters: Mapping[str, dict[str, Scalar]],
    system: System,
    *,
    budget_s: float = 0.0,
    precision: float = 0.0,
    resumed: bool = False,
    software: Mapping[str, str] | None = None,
    earlier: Sequence[KeptRun] = (),
    rank: RankPlace | None = None,
) -> RunStart:
    """Build the first record, with the current time as its start.

    Args:
        parameters: Requested parameters in text form, by experiment, in the order of experiments.
        system: The machine, as detected.
        budget_s: Seconds that the run may take; 0 for a run without a budget.
        precision: Requested half width of an interval over its value; 0 for a run without one.
        resumed: Whether the run continues one that was recorded before.
        software: Versions by name, in addition to those of every run; None means no others.
        earlier: Runs that are known; those made as this one is are recorded.
        rank: Which rank of a job the run is of; None: of none.
    """
    versions = software_versions()
    start = RunStart(
        format_version=FORMAT_VERSION,
        memgauge_version=versions["memgauge"],
        run_id=uuid.uuid4().hex[:12],
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        experiments=list(parameters),
        parameters=dict(parameters),
        budget_s=budget_s,
        precision=precision,
        clock=clock_record(),
        system=system,
        software={**versions, **(software or {})},
        resumed=resumed,
        rank=rank,
    )
    return msgspec.structs.replace(start, earlier=alike(start, earlier))
