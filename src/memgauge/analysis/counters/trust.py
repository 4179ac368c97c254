"""Whether the counters that a run's figures rest on were verified, shown beside the figures."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.counters_verify.messages import NEVER, verdict_text
from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.section import Level, Verdict
from memgauge.model.counting.calibration import CALIBRATION_VARIABLE, calibrated_text, factor_text
from memgauge.model.counting.events import MEMORY_TRAFFIC, EventVerdict
from memgauge.model.run import Run
from memgauge.model.text import plain

_BAD = frozenset({"mis-scaled", "faulty", "partial", "dead"})
VERIFY = "memgauge counters verify"


def counter_verdicts(run: Run) -> Iterator[Verdict]:
    """Lines on each event of memory traffic that verification found fault with, and on the rest.

    None for a run that itself verifies.
    """
    if run.points_of("counters_verify"):
        return
    counters = {
        plain(counter.event): counter
        for made in run.counters.values()
        for counter in made.of
        if counter.quantity in MEMORY_TRAFFIC and counter.basis == "measured" and not counter.gauge
    }
    events = {event: counter.verdict for event, counter in counters.items()}
    known = {event: verdict for event, verdict in events.items() if verdict is not None}
    for event, verdict in known.items():
        factor = counters[event].calibration
        if factor is not None:
            yield _calibrated(event, factor, verdict)
        elif verdict.verdict != "verified":
            yield _doubt(event, verdict, _remedy(run))
    unknown = [event for event in events if event not in known]
    if unknown:
        text = f"{NEVER.capitalize()} on this machine and kernel: {', '.join(unknown)}."
        yield Verdict(level="warning", text=text, remedy=_remedy(run))
    good = [event for event, verdict in known.items() if verdict.verdict == "verified"]
    if good:
        ratios = "; ".join(f"{event} {verdict_text(known[event])}" for event in good)
        yield Verdict(level="note", text=f"Counters were verified on this machine: {ratios}.")


def _remedy(run: Run) -> str:
    """How the counters of the memory that the run measured are verified."""
    on_gpu = next((gpu for point in run.points.values() if (gpu := gpu_of(point))), None)
    return f"{VERIFY} --memory {on_gpu}" if on_gpu else VERIFY


def _calibrated(event: str, factor: float, verdict: EventVerdict) -> Verdict:
    text = (
        f"Figures here rest on {event}, {calibrated_text(factor)}: its scale was multiplied by "
        f"{factor_text(factor)}, for it was found mis-scaled on {plain(verdict.made_at[:10])}: "
        f"{plain(verdict.evidence).removesuffix('.')}."
    )
    remedy = f"to have it without the factor, measure with {CALIBRATION_VARIABLE}=none"
    return Verdict(level="note", text=text, remedy=remedy)


def _doubt(event: str, verdict: EventVerdict, verify: str) -> Verdict:
    text = (
        f"Figures here rest on {event}, which was found {plain(verdict_text(verdict))} on "
        f"{plain(verdict.made_at[:10])}: {plain(verdict.evidence).removesuffix('.')}."
    )
    remedy = f"choose another event, or verify it again: {verify}"
    level: Level = "problem" if verdict.verdict in _BAD else "warning"
    return Verdict(level=level, text=text, remedy=remedy)
