"""What pressure is called in tables and pictures."""

from __future__ import annotations

from memgauge.model.points.diagnose import (
    CACHE,
    CACHE_PART,
    COMPUTE_AGAIN,
    FEWER_WAYS,
    READ,
    THROTTLE,
    WRITE,
)

KINDS_OF_PRESSURE = {
    WRITE: "writes past the caches",
    READ: "reads",
    CACHE: "reads within the shared cache",
    THROTTLE: "throttled by the processor",
    FEWER_WAYS: "few ways of the shared cache",
    COMPUTE_AGAIN: "arithmetic, again",
}
"""By treatment, or that of which it is a part dose."""
_PARTS = {WRITE: "{} of writes past the caches", CACHE: "{} of the shared cache"}


def treatment_words(name: str, step_of: str = "", part: float | None = None) -> str:
    """One treatment by pressure.

    Args:
        name: Of the treatment.
        step_of: Of a part dose: the treatment that applies all of it.
        part: Of a part dose: its part.
    """
    if name == CACHE:
        step_of, part = CACHE, CACHE_PART
    if step_of in _PARTS and part is not None:
        return _PARTS[step_of].format("half" if part == 0.5 else f"{part:.0%}")
    return KINDS_OF_PRESSURE.get(name, name)
