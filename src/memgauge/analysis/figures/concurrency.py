"""How many lines are in flight at the same time, by Little's law.

In a system that neither gains nor loses requests over the time observed, their mean number is their
rate times the mean time each takes (Little, "A proof for the queuing formula L = lambda W",
Operations Research 9, 1961). Bandwidth over the bytes of a line is the rate, the latency that a
probe sees beside the traffic stands for the time: that of a demand load, to which the generators'
own requests, prefetches among them, need not be equal.
"""

import math

from memgauge.analysis.figures.run import scaled
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.system import System


def lines_in_flight(
    bandwidth_gb_per_s: Estimate | None, latency_ns: Estimate | None, line_bytes: int | None
) -> Estimate | None:
    """Cache lines in flight at the same time: bandwidth x latency / line; None without all three.

    Args:
        bandwidth_gb_per_s: GB/s of all threads together; None: not known.
        latency_ns: Time of one load while that bandwidth is reached; None: not known.
        line_bytes: Size of a cache line in bytes; None or 0: not known.
    """
    return (
        scaled(bytes_in_flight(bandwidth_gb_per_s, latency_ns), 1 / line_bytes)
        if line_bytes
        else None
    )


def bytes_in_flight(
    bandwidth_gb_per_s: Estimate | None, latency_ns: Estimate | None
) -> Estimate | None:
    """Bandwidth x latency; None without both. GB/s times ns is bytes.

    The interval joins those of two independent figures by their logs.
    """
    if bandwidth_gb_per_s is None or latency_ns is None:
        return None
    value = bandwidth_gb_per_s.value * latency_ns.value
    factors = (bandwidth_gb_per_s, latency_ns)
    if not all(has_interval(factor) and factor.low > 0 for factor in factors):
        return Estimate(value, 0.0, math.inf)
    below = math.hypot(*(math.log(factor.value / factor.low) for factor in factors))
    above = math.hypot(*(math.log(factor.high / factor.value) for factor in factors))
    return Estimate(value, value * math.exp(-below), value * math.exp(above))


USUAL_LINE_BYTES = 64
"""Assumed line size if the system reports none."""


def usual_line_bytes(system: System) -> int:
    """Bytes of a line of the cache next to memory, or what most processors have."""
    return line_bytes_of(system) or USUAL_LINE_BYTES


def line_bytes_of(system: System) -> int | None:
    """Bytes of a line of the cache next to memory; None if the system does not report it."""
    known = [(cache.level, cache.line_bytes) for cache in system.caches if cache.line_bytes > 0]
    return max(known)[1] if known else None
