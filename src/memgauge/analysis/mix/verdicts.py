"""What the bandwidths of mixes mean."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.analysis.figures.write_allocate import words
from memgauge.analysis.loaded.figures import ISSUED_OFF
from memgauge.analysis.mix.figures import MixResult
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio
from memgauge.analysis.stream.figures import LEAST_SAMPLES

STORES = ("temporal", "non-temporal")

Results = Sequence[MixResult]


def mix_verdicts(results: Results) -> list[Verdict]:
    """The best mix and the worst, what write-allocate costs, mixes that were not as requested."""
    if not results:
        return [Verdict(level="warning", text="No mix of reads and writes was measured.")]
    return [*_best_and_worst(results), *_write_allocate(results), *_other_mix(results)]


def peak_verdict(results: Results, peak_gb_per_s: float | None) -> list[Verdict]:
    """A mix that is faster than the memory of the GPU can be."""
    best = max(map(_speed, results))
    if not peak_gb_per_s or best <= peak_gb_per_s:
        return []
    return [
        Verdict(
            level="problem",
            text=f"The best mix is {best / peak_gb_per_s:.1%} of the theoretical "
            f"{peak_gb_per_s:.1f} GB/s. More than 100% is impossible: the memory was cached, "
            "or the driver reports a wrong clock.",
        )
    ]


def _best_and_worst(results: Results) -> list[Verdict]:
    """Of the largest team, in the regime where it is fastest."""
    known = [one for one in results if one.samples >= LEAST_SAMPLES] or results
    most = max(one.threads for one in known)
    best = max((one for one in known if one.threads == most), key=_speed)
    alike = [one for one in known if one.team == best.team]
    worst = min(alike, key=_speed)
    text = f"The best mix reaches {best.bandwidth.value:.1f} GB/s ({best.label})"
    factor = ratio(best.bandwidth, worst.bandwidth)
    if worst is best or factor is None:
        return [Verdict(level="good", text=f"{text}.")]
    stores = f", {worst.store} stores" if worst.store else ""
    mix = f"{worst.mix}{stores}"
    if has_interval(factor) and factor.low <= 1:
        text += f"; the worst, {mix}, is as fast within the intervals."
    else:
        text += (
            f", {factor.value:.2f} times the worst: {worst.bandwidth.value:.1f} GB/s with {mix}."
        )
    return [Verdict(level="good", text=text)]


def _write_allocate(results: Results) -> list[Verdict]:
    """Ordinary stores against those past the caches, where most is written."""
    kinds: dict[tuple[float, str, int, str], dict[str, MixResult]] = {}
    for result in results:
        kinds.setdefault((result.read_share, *result.team), {})[result.store] = result
    both = {key: kind for key, kind in kinds.items() if set(STORES) <= set(kind)}
    if not both:
        return []
    key = max(both, key=lambda key: (key[1] == "sequential", key[2], -key[0]))
    plain, past = (both[key][store] for store in STORES)
    gain = ratio(past.bandwidth, plain.bandwidth)
    if gain is None or not has_interval(gain):
        return []
    where = plain.label.replace("temporal stores, ", "")
    if gain.low > 1:
        text = f"Ordinary stores cost bandwidth: non-temporal ones reach {gain.value:.2f} times it"
    elif gain.high < 1:
        text = f"Non-temporal stores reach {gain.value:.2f} times the bandwidth of ordinary ones"
    else:
        text = "Ordinary and non-temporal stores are as fast, within the intervals"
    text += f" ({where})"
    most = max(_speed(one) for one in results if one.team == plain.team)
    text += words(plain.bandwidth, plain.moved, most)
    return [Verdict(level="note", text=f"{text}.")]


def _other_mix(results: Results) -> list[Verdict]:
    """Mixes whose accesses were not those requested."""
    off = {
        result.label: (issued, result.read_share)
        for result in results
        if (issued := result.actual.read_share_issued) is not None
        and abs(issued - result.read_share) > ISSUED_OFF
    }
    if not off:
        return []
    label, (issued, requested) = max(off.items(), key=lambda entry: abs(entry[1][0] - entry[1][1]))
    mixes = "1 mix was" if len(off) == 1 else f"{len(off)} mixes were"
    text = (
        f"{mixes} issued otherwise than requested, the worst with {issued:.1%} reads "
        f"instead of {requested:.1%} ({label})."
    )
    return [Verdict(level="warning", text=text)]


def _speed(result: MixResult) -> float:
    return result.bandwidth.value
