"""How far counted memory traffic is from what this machine was measured to give at its read share.

Both come from curves of latency beside bandwidth of an earlier run (`--curves`). The nearest curve
by share of reads is taken; one that is further than `FAR` says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.profile.latest import Level
from memgauge.model.records import MeasuredCurve

FAR = 0.15
"""Shares of reads beyond which a curve is of another mix."""
LEAST_SHARE_OF_PEAK = 0.01
"""Below, the mix of a machine at rest would choose the curve by chance."""


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """Traffic of the whole machine beside its measured peak and knee."""

    read_bytes_per_s: float
    write_bytes_per_s: float
    peak_bytes_per_s: float | None = None
    """Measured at the nearest share of reads; None: no curve is near, or there is hardly
    traffic."""
    knee_bytes_per_s: float | None = None

    @property
    def total_bytes_per_s(self) -> float:
        """Reads and writes together."""
        return self.read_bytes_per_s + self.write_bytes_per_s

    @property
    def share_of_peak(self) -> float | None:
        """Of the measured peak."""
        return self.total_bytes_per_s / self.peak_bytes_per_s if self.peak_bytes_per_s else None

    @property
    def share_of_knee(self) -> float | None:
        """Of the traffic at which latency begins to rise steeply."""
        return self.total_bytes_per_s / self.knee_bytes_per_s if self.knee_bytes_per_s else None


def headroom_of(levels: Sequence[Level], curves: Sequence[MeasuredCurve]) -> Headroom | None:
    """Of the levels of memory traffic; None where reads or writes are not known.

    Args:
        levels: Latest levels by track; those of several sockets and nodes are added.
        curves: Measured on this machine; may be empty.
    """
    reads = [one.value for one in levels if one.name.startswith("memory read")]
    writes = [one.value for one in levels if one.name.startswith("memory write")]
    if not reads or not writes or None in reads or None in writes:
        return None
    read = sum(one for one in reads if one is not None)
    write = sum(one for one in writes if one is not None)
    found = Headroom(read_bytes_per_s=read, write_bytes_per_s=write)
    total = read + write
    if not curves or total <= 0:
        return found
    near = min(curves, key=lambda curve: abs(curve.read_share - read / total))
    peak = max(point.gb_per_s for point in near.points) * 1e9
    if abs(near.read_share - read / total) > FAR or total < LEAST_SHARE_OF_PEAK * peak:
        return found
    knee = near.knee_gb_per_s
    return msgspec.structs.replace(
        found, peak_bytes_per_s=peak, knee_bytes_per_s=None if knee is None else knee * 1e9
    )
