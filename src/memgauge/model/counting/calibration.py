"""Corrections of an event's scale by what `counters verify` found: which apply, and their names.

A verdict is evidence on one event of one machine and kernel, as it was then encoded and scaled. Its
factor is applied to no other, and wherever it is applied the counter and all that is shown of it
are marked `calibrated x64`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, get_args

from memgauge.model.counting.events import LEAST_SCALE, MOST_SCALE, Counter, Event, EventVerdict

Calibration = Literal["known", "any", "none"]
"""Which factors are applied. known: those that agree with a known cause. any: every factor of an
event that counts in proportion. none: no factor."""
CALIBRATIONS: tuple[Calibration, ...] = get_args(Calibration)
CALIBRATION_VARIABLE = "MEMGAUGE_CALIBRATION"
"""Environment variable that names a `Calibration`; `known` where it is not set."""

_SAME = 1e-9
"""Relative: two scales that differ by less are one."""


def factor_text(factor: float) -> str:
    """Such as 64 or 1/8."""
    return f"{factor:.4g}" if factor >= 1 else f"1/{1 / factor:.4g}"


def calibrated_text(factor: float) -> str:
    """What stands beside every figure of a calibrated counter."""
    return f"calibrated x{factor_text(factor)}"


def calibrations_of(counters: Iterable[Counter]) -> list[float]:
    """The factors that are contained in a figure of these counters, each once."""
    return list(dict.fromkeys(one.calibration for one in counters if one.calibration is not None))


def calibration_marks(counters: Iterable[Counter]) -> str:
    """What stands beside a figure of these counters; empty where none is calibrated."""
    return ", ".join(map(calibrated_text, calibrations_of(counters)))


def calibration_of(verdict: EventVerdict | None, mode: Calibration) -> float | None:
    """The factor by which an event's scale is multiplied; None: it stays as it is documented.

    Only an event that counts in proportion to the known bytes has one: one of which sockets or
    controllers are silent, or that counts something else, stays wrong under any factor.
    """
    if verdict is None or mode == "none" or verdict.verdict != "mis-scaled":
        return None
    if verdict.fault is not None and not verdict.factor:
        return None
    if verdict.encoding is None or verdict.scale is None:
        return None  # kept by a version that did not record what its verdict was on
    by = verdict.factor or (verdict.ratio if mode == "any" else None)
    if by is None or by <= 0 or not LEAST_SCALE <= verdict.scale / by <= MOST_SCALE:
        return None
    return 1 / by


def verdict_on(
    verdicts: Mapping[str, EventVerdict], one: Event | Counter, instances: Collection[str]
) -> tuple[EventVerdict | None, str | None]:
    """The kept verdict on an event; or why one that was kept under its name is not on it.

    Args:
        verdicts: What was kept of this machine and kernel, by name of event.
        one: The event, or a counter of it that is not calibrated.
        instances: Places where the event is counted.
    """
    verdict = verdicts.get(one.name if isinstance(one, Event) else one.event)
    if verdict is None or not verdict.holds_at(instances):
        return None, None
    changed = _changed(verdict, one.encoding or "", one.scale)
    if changed is None:
        return verdict, None
    return None, f"the verdict of {verdict.made_at[:10]} {changed}: not applied; verify it again"


def _changed(verdict: EventVerdict, encoding: str, scale: float) -> str | None:
    """Why a verdict is on another event than this one of its name; None: it is not."""
    if verdict.encoding is not None and verdict.encoding != encoding:
        return f"was made of the encoding {verdict.encoding}, which now is {encoding}"
    if verdict.scale is not None and abs(verdict.scale - scale) > _SAME * scale:
        return f"was made at {verdict.scale:.10g} a count, which now is worth {scale:.10g}"
    return None
