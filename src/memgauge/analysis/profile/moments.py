"""When a phase began and how long it lasted, in digits that are no finer than what is known."""

import math
from collections.abc import Sequence

from memgauge.analysis.profile.phases import Phase


def begins(phase: Phase) -> str:
    """The moment, with half the width of its interval, and no finer than that."""
    if phase.number == 1:
        return "0"
    within_s = _within(phase)
    digits = decimals(within_s)
    return f"{phase.begin_s:.{digits}f} ±{max(within_s, 10.0**-digits):.{digits}f}"


def lasts(phases: Sequence[Phase], at: int) -> str:
    """How long a phase lasted, no finer than its ends are known."""
    ends = [_within(phase) for phase in phases[max(at, 1) : at + 2]]
    return f"{phases[at].duration_s:.{decimals(math.hypot(*ends)) if ends else 2}f}"


def decimals(within_s: float) -> int:
    """Of a moment known within so much: those of the first figure of its uncertainty, 0 to 2."""
    return max(0, min(2, -math.floor(math.log10(within_s)))) if within_s > 0 else 2


def _within(phase: Phase) -> float:
    return max(phase.begin_high_s - phase.begin_s, phase.begin_s - phase.begin_low_s)
