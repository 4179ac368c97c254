"""What the `loaded` curves say in plain words."""

from collections.abc import Iterable, Sequence

from memgauge.analysis.figures import scaling_report
from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.scaling import Scaling, Team
from memgauge.analysis.figures.write_allocate import words
from memgauge.analysis.loaded.figures import ISSUED_OFF, LoadedCurve
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.knee import LEAST_RISE, share_of
from memgauge.analysis.statistics.ratios import ratio
from memgauge.model.system import System
from memgauge.model.units import format_count


def main_curves(curves: Sequence[LoadedCurve]) -> list[LoadedCurve]:
    """The curves put in words, one for each regime: sequential, most reads, most generators."""
    best: dict[str, LoadedCurve] = {}
    for curve in sorted(curves, key=_prominence, reverse=True):
        best.setdefault(regime_kind(curve.regime), curve)
    return sorted(best.values(), key=_samples, reverse=True)


def _prominence(curve: LoadedCurve) -> tuple[bool, float, int]:
    return curve.order == "sequential", curve.read_share, curve.generators


def _samples(curve: LoadedCurve) -> int:
    return sum(point.samples for point in curve.points)


def full_speed_teams(
    curves: Iterable[LoadedCurve], like: LoadedCurve, system: System
) -> list[Team]:
    """Bandwidth without a pause by number of generators, of one load in one regime.

    The probe's core is one of those used: a generator on it shares it.

    Args:
        curves: All curves of the run; those of another load or regime than `like` are skipped.
        like: Curve that sets the share of reads, the kind of store, the order and the regime.
        system: Machine whose topology tells which CPUs share a physical core.
    """
    teams: list[Team] = []
    for curve in curves:
        alike = (curve.read_share, curve.store, curve.order, regime_kind(curve.regime)) == (
            like.read_share,
            like.store,
            like.order,
            regime_kind(like.regime),
        )
        fast = curve.full_speed
        if alike and fast is not None:
            cores = scaling_report.cores_used(system, curve.team_cpus)
            beside = None if cores is None else cores - 1
            teams.append(Team(curve.generators, fast.bandwidth, beside))
    return teams


def verdicts(
    curves: Sequence[LoadedCurve], mains: Sequence[LoadedCurve], scaling: Scaling | None
) -> list[Verdict]:
    """The main curves first, then stores, threads and what spoils the figures.

    Args:
        curves: All curves of the run.
        mains: Those put in words, as `main_curves` chooses them; empty if nothing was measured.
        scaling: How bandwidth grows with generators that never pause; None if there were none.
    """
    if not mains:
        return [Verdict(level="warning", text="No latency under load was measured.")]
    found: list[Verdict] = []
    for main in mains:
        found += [_reached(main), _knee(main)]
    if not any(main.at_knee for main in mains):
        found += _clearest_knee(curves)
    found += _stores(curves)
    if scaling is not None:
        found += scaling_report.verdicts("generators without a pause, all reads", scaling)
    return [*found, *_still_loaded(mains[0]), *_other_mix(curves)]


def where(curve: LoadedCurve) -> str:
    """Of which traffic a sentence is."""
    stores = f"{curve.store} stores" if curve.store else ""
    team = format_count(curve.generators, "generator")
    return ", ".join(filter(None, (curve.load, stores, curve.order, team, curve.regime)))


def _reached(curve: LoadedCurve) -> Verdict:
    most, idle = curve.saturated, curve.unloaded
    under = f"{most.latency.value:.0f} ns while others move {most.bandwidth.value:.1f} GB/s"
    tail = ""
    if has_interval(most.times.p99) and most.times.p99 is not None:
        tail = f", one load in a hundred over {most.times.p99.value:.0f} ns"
    start = "A load from memory takes "
    start += f"{idle.latency.value:.0f} ns without load and " if idle is not None else ""
    return Verdict(level="good", text=f"{start}{under}{tail} ({where(curve)}).")


def _knee(curve: LoadedCurve) -> Verdict:
    knee, at, most = curve.knee, curve.at_knee, curve.saturated
    if knee.bandwidth is not None and at is not None:
        share = share_of(knee, most.bandwidth)
        part = f", {share.value:.0%} of the most" if share is not None else ""
        lines = f", {at.in_flight.value:.0f} lines in flight" if at.in_flight is not None else ""
        text = (
            f"The knee is at {knee.bandwidth.value:.1f} GB/s{part} (between "
            f"{knee.bandwidth.low:.1f} and {knee.bandwidth.high:.1f}): {at.latency.value:.0f} ns"
            f"{lines}. Beyond it latency rises faster than bandwidth ({where(curve)})."
        )
        return Verdict(level="note", text=text)
    text, remedy = _without_knee(curve)
    return Verdict(level="note", text=f"{text[:-1]} ({where(curve)}).", remedy=remedy)


def _without_knee(curve: LoadedCurve) -> tuple[str, str]:
    knee, most, rise = curve.knee, curve.saturated, curve.knee.rise or 0.0
    match knee.status:
        case "unresolved" if knee.bandwidth is not None:
            text = (
                f"The knee is unresolved: it lies between {knee.bandwidth.low:.1f} and "
                f"{knee.bandwidth.high:.1f} GB/s, where too few bandwidths were met."
            )
            remedy = "measure more delays between, with --delays or --sweep fine"
        case "uneven":
            text = (
                "Whether there is a knee cannot be told: latency rises and falls with bandwidth, "
                "by more than its noise."
            )
            remedy = "measure on a quiet machine, or give more --budget"
        case "none" if rise < LEAST_RISE:
            text = (
                f"These generators do not saturate the memory: up to {most.bandwidth.value:.1f} "
                f"GB/s latency stays within {rise:.0%} of its least."
            )
            remedy = "allow more CPUs, or a load that asks for more"
        case "none":
            text = f"No knee: latency rises by {rise:.0%}, evenly with bandwidth."
            remedy = "allow more CPUs: these generators may not saturate the memory"
        case "unclear":
            text = (
                f"Up to {most.bandwidth.value:.1f} GB/s latency rises by {rise:.0%} at most; "
                f"whether it bends lies within the noise: no knee is given."
            )
            remedy = "increase --budget, or measure on a quiet machine"
        case _:
            count = format_count(len(curve.points), "delay")
            text = f"{count} {'is' if len(curve.points) == 1 else 'are'} too few to find a knee."
            remedy = "measure more delays, or with --sweep fine"
    return text, remedy


def _clearest_knee(curves: Sequence[LoadedCurve]) -> list[Verdict]:
    """Of the curve that rises most among those that bend."""
    bent = [curve for curve in curves if curve.at_knee is not None]
    steepest = max(bent, key=lambda curve: curve.knee.rise or 0.0, default=None)
    return [] if steepest is None else [_knee(steepest)]


def _stores(curves: Sequence[LoadedCurve]) -> list[Verdict]:
    """Ordinary stores against those past the caches, for the mix with most writes that has both."""
    kinds: dict[tuple[float, str, int, str], dict[str, LoadedCurve]] = {}
    for curve in curves:
        key = (-curve.read_share, curve.order, curve.generators, curve.regime)
        kinds.setdefault(key, {})[curve.store] = curve
    both = {key: kind for key, kind in kinds.items() if {"temporal", "non-temporal"} <= set(kind)}
    if not both:
        return []
    kind = both[max(both, key=lambda key: (key[0], key[1] == "sequential", key[2]))]
    plain, past = kind["temporal"], kind["non-temporal"]
    gain = ratio(past.saturated.bandwidth, plain.saturated.bandwidth)
    if gain is None or not has_interval(gain):
        return []
    team = (plain.generators, plain.regime)
    most = max(c.saturated.bandwidth.value for c in curves if (c.generators, c.regime) == team)
    return [_stores_verdict(plain, past, gain, most)]


def _stores_verdict(plain: LoadedCurve, past: LoadedCurve, gain: Estimate, most: float) -> Verdict:
    slow, fast = plain.saturated, past.saturated
    if gain.low <= 1 <= gain.high:
        text = "Ordinary and non-temporal stores reach the same bandwidth, within the intervals"
    else:
        text = (
            f"Non-temporal stores reach {gain.value:.2f} times the bandwidth of ordinary ones: "
            f"{fast.bandwidth.value:.1f} GB/s at {fast.latency.value:.0f} ns against "
            f"{slow.bandwidth.value:.1f} GB/s at {slow.latency.value:.0f} ns"
        )
    text += words(slow.bandwidth, slow.moved, most)
    team = format_count(plain.generators, "generator")
    about = ", ".join(filter(None, (plain.load, plain.order, team, plain.regime)))
    return Verdict(level="note", text=f"{text} ({about}).")


def _still_loaded(curve: LoadedCurve) -> list[Verdict]:
    if curve.unloaded is not None:
        return []
    first = curve.points[0]
    text = (
        f"The longest delay measured, {first.delay}, still moves {first.bandwidth.value:.1f} GB/s: "
        f"no unloaded latency is given."
    )
    return [Verdict(level="note", text=text, remedy="add a longer --delay, such as 20000")]


def _other_mix(curves: Sequence[LoadedCurve]) -> list[Verdict]:
    """Mixes whose accesses were not those asked for."""
    off = [
        curve
        for curve in curves
        if curve.share_issued is not None
        and abs(curve.share_issued - curve.read_share) > ISSUED_OFF
    ]
    if not off:
        return []
    worst = max(off, key=lambda c: abs((c.share_issued or 0.0) - c.read_share))
    mixes = "1 mix was" if len(off) == 1 else f"{len(off)} mixes were"
    text = (
        f"{mixes} issued otherwise than requested, the worst with "
        f"{worst.share_issued:.1%} reads for {worst.load} ({where(worst)})."
    )
    return [Verdict(level="warning", text=text)]
