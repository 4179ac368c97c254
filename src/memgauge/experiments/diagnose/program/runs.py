"""What a sampling pass runs: the program, or a command that reads a process."""

from __future__ import annotations

from contextlib import ExitStack

from memgauge.counters.opening import OpenCounters
from memgauge.experiments.diagnose.by_region.timed import RegionTime, RegionTimes
from memgauge.experiments.diagnose.parameters import DiagnoseParameters
from memgauge.experiments.diagnose.places import Places
from memgauge.experiments.diagnose.program.process_runs import ProcessRuns, Reading
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.variants.threads import with_threads
from memgauge.system.programs.memory_seen import Viewpoint

Runs = ProgramRuns | ProcessRuns


def runs_of(  # noqa: PLR0913 - the last ones by name
    parameters: DiagnoseParameters,
    places: Places,
    viewpoint: Viewpoint,
    stack: ExitStack,
    *,
    counters: OpenCounters | None = None,
    regions: RegionTimes | None = None,
) -> Runs:
    """Of the program, or of the command that reads the metric of a process.

    Args:
        parameters: What was asked.
        places: CPUs of both.
        viewpoint: From where a program's memory is looked at.
        stack: Lets go of what they hold when it is closed.
        counters: Read around the usual runs of a program; None: none are.
        regions: Of a program, whose time is taken beside its own; None: of none.

    Raises:
        RequestError: there is no such process.
    """
    if parameters.pid is not None:
        reading = Reading(
            command=parameters.metric_command or "",
            metric=parameters.metric,
            prepared_by=parameters.prepare,
        )
        return ProcessRuns(parameters.pid, reading, places.command, stack)
    return ProgramRuns(
        with_threads(parameters.words, len(places.program)),
        places.program,
        metric=RegionTime(parameters.region, stack) if parameters.region else parameters.metric,
        prepared_by=parameters.prepare,
        same_output=parameters.same_output,
        viewpoint=viewpoint,
        counters=counters,
        regions=regions,
    )
