"""Verdicts on counters as text, here and beside every later figure."""

from __future__ import annotations

from collections.abc import Iterable

from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.counting.events import Counter, EventVerdict

NEVER = "never verified"


def verdict_text(counter: Counter | EventVerdict | None) -> str:
    """What stands beside a figure of the counter: its verdict, or that there is none."""
    verdict = counter.verdict if isinstance(counter, Counter) else counter
    if verdict is None:
        return NEVER
    if verdict.verdict == "mis-scaled":
        by = factor_text(verdict.factor) if verdict.factor is not None else _value(verdict.ratio)
        return f"mis-scaled by {by}" if by else "mis-scaled"
    if verdict.verdict == "partial" and verdict.missing:
        return f"partial: nothing from {', '.join(verdict.missing)}"
    if verdict.verdict == "verified" and verdict.ratio is not None:
        return f"verified: {_value(verdict.ratio)}{_bounds(verdict)} of known traffic"
    return verdict.verdict


def trust_in(counters: Iterable[Counter]) -> str:
    """What verification found of counters that make one figure: the worst of it, in brief."""
    verdicts = [counter.verdict for counter in counters]
    for word in ("dead", "absent", "mis-scaled", "partial", "noisy"):
        worst = next((one for one in verdicts if one is not None and one.verdict == word), None)
        if worst is not None:
            return verdict_text(worst) if word == "mis-scaled" else word
    if None not in verdicts:
        return "verified"
    return "in part verified" if any(verdicts) else NEVER


def factor_text(factor: float) -> str:
    """Such as 64 or 1/8."""
    return f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"


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
