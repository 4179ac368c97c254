"""Where two kinds of evidence contradict each other: both are reported, and nothing is averaged.

The kinds stand on their own: pressure beside the program (interference), limits of the processor
(resctrl), other ways to run it (pages, memory nodes), traffic that was counted or simulated, its
place on a curve of this machine, and the pages that it refers to. Each rule below is a pair of
kinds that cannot both be right, or that together say something which neither says alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.diagnose.figures import WAITING_EITHER, Diagnosis, Treated
from memgauge.analysis.diagnose.judgement import (
    BEYOND,
    LEAST_CACHE_DOSE,
    LEAST_DOSE,
    MUCH_TRAFFIC,
    NOTHING,
    OF_MEMORY,
    Judgement,
    is_unexplained,
    judgement_of,
    times,
)
from memgauge.analysis.diagnose.traffic import Traffic
from memgauge.analysis.diagnose.translation_evidence import translation_of
from memgauge.analysis.diagnose.verdicts import is_faster, is_slower
from memgauge.analysis.diagnose.working_set import WorkingSet
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHED,
    FEWER_WAYS,
    LATENCY,
    THROTTLE,
    WRITE,
)

APART = 2.0
"""Counted over simulated bytes, or the other way round, from which on the two contradict."""
LEAST_BYTES = 10e6
"""Below it counters of the whole machine show what others move, and no contradiction is said."""
MUCH = 0.5
"""Share of what one CPU can stream, that a program which pressure does not slow cannot move."""
FITS = 0.5
"""Share of the last-level cache, up to which pages that a program refers to lie in it."""
MIB = 1 << 20


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two kinds of evidence, and what each says."""

    kinds: tuple[str, str]
    text: str
    remedy: str | None = None
    in_verdict: bool = False
    """Whether the verdict says so itself, and is the weaker one for it."""


def contradictions(found: Diagnosis, pages: WorkingSet | None = None) -> list[Contradiction]:
    """All that there are.

    Args:
        found: The diagnosis.
        pages: What the program referred to; None: not known.
    """
    judgement = judgement_of(found)
    traffic = found.traffic
    return [
        *_counted_simulated(found),
        *(_of_traffic(found, judgement, traffic) if traffic else ()),
        *_of_curve(found, judgement),
        *_of_limits(found, judgement),
        *_of_variants(found, judgement),
        *_of_translation(found),
        *_of_pages(found, judgement, pages),
    ]


def contradiction_verdicts(found: Sequence[Contradiction]) -> list[Verdict]:
    """A warning for each that the verdict does not state itself."""
    return [
        Verdict(
            level="warning",
            text=f"Two kinds of evidence contradict each other ({' and '.join(one.kinds)}): "
            f"{one.text}.",
            remedy=one.remedy,
        )
        for one in found
        if not one.in_verdict
    ]


def _counted_simulated(found: Diagnosis) -> Iterator[Contradiction]:
    counted, simulated = found.traffic, found.simulated
    if counted is None or simulated is None or counted.basis != "counted":
        return
    most = max(counted.total_bytes, simulated.total_bytes)
    least = min(counted.total_bytes, simulated.total_bytes)
    if most >= LEAST_BYTES and most > APART * least:
        yield Contradiction(
            kinds=("counted traffic", "simulated traffic"),
            text=f"they are {counted.total_bytes / 1e6:,.0f} and "
            f"{simulated.total_bytes / 1e6:,.0f} MB a run. Other programs, prefetchers and threads "
            "that share caches are in the counted bytes only",
            remedy="repeat it on a quiet machine (--only interference,traffic)",
        )


def _of_traffic(
    found: Diagnosis, judgement: Judgement, traffic: Traffic
) -> Iterator[Contradiction]:
    share = traffic.peak_share
    if share is None:
        return
    kinds = ("interference", f"{traffic.basis} traffic")
    moves = f"but it moves {share:.0%} of what one of its CPUs can stream"
    over = _over_latency(found, judgement)
    if judgement.kind == "not memory" and share >= MUCH:
        yield Contradiction(kinds=kinds, text=f"pressure does not slow it down, {moves}")
    if judgement.kind == "cache" and share >= MUCH:
        yield Contradiction(kinds=kinds, text=f"its data seem to live in the shared cache, {moves}")
    write, waits = _treated(found, judgement, WRITE), found.waits
    if write is not None and waits is not None and is_unexplained(write, waits):
        yield Contradiction(
            kinds=kinds,
            text=f"pressure slows it down, but what it reads from memory keeps it waiting for "
            f"{waits[1]:.0%} of its time at most",
            in_verdict=judgement.kind == "cannot tell",
        )
    if judgement.kind != "memory" or over is None:
        return
    if over.low > BEYOND and share < MUCH_TRAFFIC:
        yield Contradiction(
            kinds=kinds,
            text=f"it slows down more than what waits for each load, as what streams does, {moves}",
            in_verdict=True,
        )
    if over.high < BEYOND and share >= MUCH:
        yield Contradiction(
            kinds=kinds,
            text=f"it slows down no more than what waits for each load, {moves}",
        )


def _over_latency(found: Diagnosis, judgement: Judgement) -> Estimate | None:
    """Its slowdown under writes over that of what waits for each load."""
    write = _treated(found, judgement, WRITE)
    return write.over.get(WAITING_EITHER) if write else None


def _of_curve(found: Diagnosis, judgement: Judgement) -> Iterator[Contradiction]:
    """Beyond the knee of all generators, each access waits for the others."""
    one, traffic = found.on_curve, found.traffic
    if one is None or traffic is None or one.to_knee_gb_per_s is None:
        return
    if one.to_knee_gb_per_s < 0 and judgement.kind in {"not memory", "latency"}:
        says = "does not slow it down"
        if judgement.kind == "latency":
            says = "shows that it waits for latency only"
        yield Contradiction(
            kinds=("interference", f"{traffic.basis} traffic on the curve"),
            text=f"pressure {says}, but it moves {-one.to_knee_gb_per_s:.1f} GB/s more than memory "
            f"does at the knee of run {one.run_id}",
        )


def _of_limits(found: Diagnosis, judgement: Judgement) -> Iterator[Contradiction]:
    """The processor's own limits beside what generators show."""
    throttle = _reached(_treated(found, judgement, THROTTLE), BANDWIDTH, LEAST_DOSE)
    if throttle is not None:
        kinds = ("interference", "limit of bandwidth")
        if judgement.kind == "not memory" and throttle.low > NOTHING:
            yield Contradiction(
                kinds=kinds,
                text=f"pressure does not slow it down, but throttled by the processor it takes "
                f"{times(throttle)}",
            )
        if judgement.kind == "bandwidth" and throttle.high < NOTHING:
            yield Contradiction(
                kinds=kinds,
                text="under writes it slows down like what streams, but throttled by the processor "
                f"it takes {times(throttle)}",
            )
    ways = _reached(_treated(found, judgement, FEWER_WAYS), CACHED, LEAST_CACHE_DOSE)
    if ways is not None:
        kinds = ("interference", "limit of the cache")
        if judgement.kind == "not memory" and ways.low > NOTHING:
            yield Contradiction(
                kinds=kinds,
                text="pressure does not slow it down, but with few ways of the shared cache it "
                f"takes {times(ways)}",
            )
        if judgement.kind == "cache" and ways.high < NOTHING:
            yield Contradiction(
                kinds=kinds,
                text="pressure on the shared cache slows it down, but with few ways of it it takes "
                f"{times(ways)}",
            )


def _reached(one: Treated | None, reference: str, least: float) -> Estimate | None:
    """What a limit does to the program; None: nothing is known, or it had no effect here."""
    dose = one.references.get(reference) if one else None
    return one.program if one and dose is not None and dose.low >= least else None


def _of_variants(found: Diagnosis, judgement: Judgement) -> Iterator[Contradiction]:
    """Memory that lies elsewhere matters only to what waits for memory."""
    if judgement.kind != "not memory":
        return
    translation = translation_of(found)
    is_explained = translation is not None and translation.kind != "cannot tell"
    for one in found.variants:
        of = "pages" if one.pages_wanted else "memory nodes" if one.nodes_wanted else ""
        differs = is_faster(one.program) or is_slower(one.program)
        if not of or not differs or one.program is None or found.without_effect(one):
            continue
        if one.pages_wanted and is_explained:
            continue  # by translation, or by page faults
        further = ". Page faults and translation, which pressure does not reach, may explain it"
        yield Contradiction(
            kinds=("interference", of),
            text=f"pressure does not slow it down, but with {one.name} it takes "
            f"{times(one.program)}{further if one.pages_wanted else ''}",
        )


def _of_translation(found: Diagnosis) -> Iterator[Contradiction]:
    """Huge pages that save what translation within the reach of the TLB cannot cost, or no time."""
    translation = translation_of(found)
    if translation is not None and translation.contradiction is not None:
        kinds, text = translation.contradiction
        yield Contradiction(kinds=kinds, text=text)


def _of_pages(
    found: Diagnosis, judgement: Judgement, pages: WorkingSet | None
) -> Iterator[Contradiction]:
    """What refers to no more than the cache holds, waits at most for each line once."""
    share, values = judgement.latency_share, found.reference_values.get(LATENCY)
    ring_bytes = found.cached_bytes
    if pages is None or share is None or values is None or ring_bytes is None:
        return
    # The cached reference walks over half of the last-level cache.
    fits = pages.most_bytes <= ring_bytes * 2 * FITS
    if judgement.kind in OF_MEMORY and fits and share.low > pages.cold_share(values[0]):
        yield Contradiction(
            kinds=("interference", "working set"),
            text=f"it slows down like what waits for memory {share.low:.0%} of its time or more, "
            f"but in {pages.interval_s:.2g} s it refers to {pages.most_bytes / MIB:.1f} MiB at "
            "most, which the shared cache holds",
            remedy="repeat it on a quiet machine: other programs may take its share of the cache",
        )


def _treated(found: Diagnosis, judgement: Judgement, name: str) -> Treated | None:
    """At the distance of cores that was judged."""
    return next(
        (one for one in found.treated if (one.name, one.regime) == (name, judgement.regime)), None
    )
