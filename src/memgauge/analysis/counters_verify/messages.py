"""Verdicts on counters as text, here and beside every later figure."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.counting.calibration import calibration_marks, factor_text
from memgauge.model.counting.events import Counter, EventVerdict

NEVER = "never verified"


def verdict_text(counter: Counter | EventVerdict | None) -> str:
    """What stands beside a figure of the counter: its verdict, or that there is none."""
    if isinstance(counter, Counter):
        calibrated = counter.calibration is not None
        return calibration_marks([counter]) if calibrated else verdict_text(counter.verdict)
    if counter is None:
        return NEVER
    return f"{counter.verdict}{_particulars(counter)}"


def _particulars(verdict: EventVerdict) -> str:
    if verdict.verdict == "mis-scaled" and verdict.fault != "one socket":
        by = factor_text(verdict.factor) if verdict.factor is not None else _value(verdict.ratio)
        return f" by {by}" if by else ""
    if verdict.verdict == "partial" and verdict.missing:
        return f": nothing from {', '.join(verdict.missing)}"
    if verdict.verdict == "verified" and verdict.ratio is not None:
        return f": {_value(verdict.ratio)}{_bounds(verdict)} of known traffic"
    return f": {verdict.fault}" if verdict.fault else ""


def trust_in(counters: Iterable[Counter]) -> str:
    """What verification found of counters that make one figure: the worst of it, in brief.

    A calibration that is contained in the figure is always named.
    """
    every = list(counters)
    marks = calibration_marks(every)
    verdicts = [counter.verdict for counter in every if counter.calibration is None]
    for word in ("dead", "absent", "faulty", "mis-scaled", "partial", "noisy"):
        worst = next((one for one in verdicts if one is not None and one.verdict == word), None)
        if worst is not None:
            found = verdict_text(worst) if word in {"faulty", "mis-scaled"} else word
            return ", ".join(filter(None, [found, marks]))
    if marks:
        return marks if None not in verdicts else f"{marks}, in part {NEVER}"
    if None not in verdicts:
        return "verified"
    return "in part verified" if any(verdicts) else NEVER


def ratio_text(ratio: Estimate) -> str:
    """A ratio and its interval."""
    return f"{_value(ratio.value)} ({_value(ratio.low)} to {_value(ratio.high)})"


def share_text(share: float) -> str:
    """A share in per cent."""
    return f"{share:.1%}"


def _bounds(verdict: EventVerdict) -> str:
    if verdict.ratio_low is None or verdict.ratio_high is None:
        return ""
    return f" ({_value(verdict.ratio_low)} to {_value(verdict.ratio_high)})"


def _value(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if 0.1 <= abs(value) < 10 else f"{value:.4g}"
