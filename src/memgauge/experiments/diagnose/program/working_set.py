"""One run of the program, in no other figure, in which the kernel shows the pages it refers to."""

from __future__ import annotations

import msgspec

from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.runs import Runs
from memgauge.experiments.diagnose.treatments import NotTried, Treatment
from memgauge.model.record_kinds.programs import Referenced
from memgauge.system.programs.referenced import LEAST_INTERVAL_S

NAME = "working set"
LOOKS = 8
"""In a run: each shows what the program refers to in an eighth of its time."""
LEAST_LOOKS = 2
"""Of a run that is too short for so many, nothing is said."""


class WorkingSetRun(msgspec.Struct, frozen=True, kw_only=True):
    """What it showed."""

    found: list[Referenced] = []
    not_tried: list[NotTried] = []


def working_set_run(
    runs: Runs, run_s: float, *, wanted: bool, base_pages: bool = False
) -> WorkingSetRun:
    """Run the program once more, and look at what it refers to.

    Args:
        runs: Of the program, which has run before.
        run_s: Time that a run takes.
        wanted: False: nothing is run.
        base_pages: Whether its huge pages are switched off, for the kernel counts whole pages.

    Raises:
        SystemFailure: the program failed, or did something else than in its first run.
        KeyboardInterrupt: the program was ended.
    """
    if not wanted or not isinstance(runs, ProgramRuns):
        return WorkingSetRun()
    interval_s = max(LEAST_INTERVAL_S, run_s / LOOKS)
    if run_s < (LEAST_LOOKS + 1) * interval_s:
        why = f"a run takes {run_s * 1e3:.1f} ms, which is too short to look at what it refers to"
        return WorkingSetRun(not_tried=[NotTried(NAME, why)])
    once = Treatment(name=NAME, kind="variant", transparent_huge_pages=not base_pages)
    seen = runs.run(once, references_every_s=interval_s).referenced
    if seen is None or len(seen.looks) < LEAST_LOOKS:
        why = (seen.why_not if seen else "") or "the program ended before it was looked at twice"
        return WorkingSetRun(not_tried=[NotTried(NAME, why)])
    return WorkingSetRun(found=[Referenced(looks=seen.looks, base_pages=base_pages)])
