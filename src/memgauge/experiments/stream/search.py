"""The search for the best tuned kernel: candidates are points like any other, measured in turn.

All candidates start; every few rounds those that are clearly behind the leader of their kernel and
team are measured no more (successive halving, Karnin et al. 2013, with a margin instead of a fixed
half). What they measured stays in the record, and the analysis names the winner with its margin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles

from memgauge import _core
from memgauge.experiments.shared.prefetch import Prefetch, distance_label

DISTANCES = (Prefetch(0), Prefetch(1024), Prefetch(2048), Prefetch(2048, 8192))
"""512 bytes and less cost 8 to 18 per cent, 1 to 3 KiB give 0 to 5."""

LEAST_SAMPLES = 8
MARGIN = 0.05
"""A candidate further behind than this after some rounds will not win."""


def candidates(
    kernel: str, element: str, distances: Iterable[Prefetch] = DISTANCES
) -> list[_core.KernelSpec]:
    """Every compiled variant this machine can run, at each prefetch distance that it has.

    A kernel that reads nothing prefetches nothing: it is a candidate without prefetch.

    Args:
        kernel: Name of the operation.
        element: Type of the array elements.
        distances: Distances of prefetch.
    """
    chosen = [(one.near_bytes, one.far_bytes) for one in distances]
    return _core.tuned_specs(kernel, element, chosen) or _core.tuned_specs(kernel, element)


def label(spec: _core.KernelSpec) -> str:
    """Name of a candidate, such as `avx2-nt-u4-s2-p2048`."""
    store = "nt" if spec.store == "non-temporal" else "t"
    parts = [spec.isa, store, f"u{spec.unroll}", f"s{spec.streams}"]
    if spec.prefetch_near_bytes:
        parts.append(distance_label(Prefetch(spec.prefetch_near_bytes, spec.prefetch_far_bytes)))
    return "-".join(parts)


def eliminated(contests: Mapping[str, str], speeds: Mapping[str, Sequence[float]]) -> set[str]:
    """Candidates whose fast side lies clearly behind that of the leader.

    Args:
        contests: of each candidate's point, what it competes for: candidates of one kernel and team
            have the same.
        speeds: of all points.
    """
    rated: dict[str, dict[str, float]] = {}
    for point, contest in contests.items():
        values = speeds.get(point, ())
        if len(values) >= LEAST_SAMPLES:
            fast_side = quantiles(values, n=10, method="inclusive")[-1]
            rated.setdefault(contest, {})[point] = fast_side
    return {
        point
        for rivals in rated.values()
        for point, speed in rivals.items()
        if speed < max(rivals.values()) * (1 - MARGIN)
    }
