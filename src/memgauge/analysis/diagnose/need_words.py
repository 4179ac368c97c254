"""The bandwidth and the cache that a program needs, in words."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.diagnose.figures import Diagnosis
from memgauge.analysis.diagnose.judgement import Judgement
from memgauge.analysis.diagnose.needs import Need, bandwidth_need_of, cache_need_of
from memgauge.analysis.section import Verdict
from memgauge.model.points.diagnose import BANDWIDTH

MIB = 1 << 20


def need_verdicts(diagnosis: Diagnosis, judgement: Judgement) -> Iterator[Verdict]:
    """One sentence of each; that it cannot be told only where part doses were to show it.

    Args:
        diagnosis: All that was found.
        judgement: The verdict on it.
    """
    if judgement.kind == "cannot tell":
        return
    has_steps = any(one.step_of for one in diagnosis.pressures)
    bandwidth = bandwidth_need_of(diagnosis)
    if has_steps or not bandwidth.why:
        alone = diagnosis.reference_values.get(BANDWIDTH)
        text = _bandwidth(bandwidth, None if alone is None else alone[0])
        if judgement.kind == "memory" and not bandwidth.why:
            text += " That is its demand if it waits for bandwidth, not for latency."
        yield Verdict(level="note", text=text)
    cache = cache_need_of(diagnosis)
    if has_steps or not cache.why:
        yield Verdict(level="note", text=_cache(cache))


def _bandwidth(need: Need, alone_gb_per_s: float | None) -> str:
    if need.why:
        return f"The bandwidth that it needs cannot be told: {need.why}."
    of = "" if alone_gb_per_s is None else f", of {alone_gb_per_s:.1f} without pressure"
    return f"To take less than 5% more time it needs {_amount(need, 1.0, 'GB/s')} at one CPU{of}."


def _cache(need: Need) -> str:
    if need.why:
        return f"The shared cache that it needs cannot be told: {need.why}."
    return (
        f"To take less than 5% more time it needs {_amount(need, MIB, 'MiB')} of the shared cache, "
        "as a loop on its CPU keeps them."
    )


def need_details(diagnosis: Diagnosis, judgement: Judgement) -> list[str]:
    """What is known of either, each in a few words.

    Args:
        diagnosis: All that was found.
        judgement: The verdict on it.
    """
    if judgement.kind == "cannot tell":
        return []
    found = (
        (bandwidth_need_of(diagnosis), 1.0, "GB/s at one CPU"),
        (cache_need_of(diagnosis), MIB, "MiB of shared cache"),
    )
    return [_amount(need, unit, name) for need, unit, name in found if not need.why]


def _amount(need: Need, unit: float, name: str) -> str:
    low, high = (None if one is None else f"{one / unit:.1f}" for one in (need.low, need.high))
    if low is None:
        return f"less than {high} {name}"
    return f"more than {low} {name}" if high is None else f"between {low} and {high} {name}"
