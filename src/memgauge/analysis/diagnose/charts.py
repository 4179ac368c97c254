"""Pictures of a diagnosis: the program's time over what pressure leaves of memory, and variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from memgauge.analysis.diagnose.figures import Diagnosis, Treated
from memgauge.analysis.diagnose.judgement import Judgement, judgement_of
from memgauge.analysis.diagnose.needs import Need, bandwidth_need_of, cache_need_of
from memgauge.analysis.figures.run import scaled
from memgauge.analysis.section import Axis, Band, Chart, Rule, Series
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHE,
    CACHE_PART,
    COMPUTE_AGAIN,
    FEWER_WAYS,
    LATENCY,
    READ,
    THROTTLE,
    WRITE,
)

MIB = 1 << 20
FIT_POINTS = 25
SLOWER = Rule(label="5% longer", axis="y", value=1.05)
_TIME = Axis(title="time of the program, over that beside arithmetic", unit="")
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


class _Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Time by a share of it that behaves like a reference: 1 + share * excess of the reference."""

    name: str
    all_name: str
    share: Estimate | None
    excess: Callable[[float], float]
    """Slowdown of the reference minus 1, at a place of the axis."""


def slowdown_charts(found: Diagnosis) -> Iterator[Chart]:
    """Over latency added, bandwidth left and cache left, where the verdict was found."""
    judgement = judgement_of(found)
    treated = [one for one in found.pressures if one.regime == judgement.regime]
    latency = found.reference_values.get(LATENCY)
    if latency is not None:
        yield from _chart(
            Chart(
                name="diagnose-latency",
                title="Time of the program over latency added",
                kind="line",
                x=Axis(title="latency added to a load on its CPU", unit="ns"),
                y=_TIME,
                series=[],
            ),
            [(one, one.axes.latency_added_ns) for one in treated],
            _Fit(
                name="waits",
                all_name="waits all of its time",
                share=_share(judgement, judgement.latency_share),
                excess=lambda ns: ns / latency[0],
            ),
            end=0.0,
        )
    bandwidth = found.reference_values.get(BANDWIDTH)
    if bandwidth is not None:
        yield from _chart(
            _banded(
                Chart(
                    name="diagnose-bandwidth",
                    title="Time of the program over bandwidth left",
                    kind="line",
                    x=Axis(title="bandwidth left to one of its CPUs", unit="GB/s"),
                    y=_TIME,
                    series=[],
                ),
                bandwidth_need_of(found),
            ),
            [(one, one.axes.bandwidth_gb_per_s) for one in treated],
            _Fit(
                name="streams",
                all_name="streams all of its time",
                share=_share(judgement, judgement.bandwidth_share),
                excess=lambda gb_per_s: bandwidth[0] / gb_per_s - 1,
            ),
            end=bandwidth[0],
        )
    yield from _cache_chart(found, treated)


def _cache_chart(found: Diagnosis, treated: Sequence[Treated]) -> Iterator[Chart]:
    """Of part doses: one dose alone is no curve."""
    ring_bytes = found.cached_bytes
    doses = [one for one in treated if one.name == FEWER_WAYS or CACHE in {one.name, one.step_of}]
    if ring_bytes is None or len(doses) < 2:
        return
    yield from _chart(
        _banded(
            Chart(
                name="diagnose-cache",
                title="Time of the program over shared cache left",
                kind="line",
                x=Axis(title="shared cache that a loop on its CPU keeps", unit="MiB"),
                y=_TIME,
                series=[],
            ),
            cache_need_of(found),
            MIB,
        ),
        [(one, scaled(one.axes.cache_kept, ring_bytes / MIB)) for one in doses],
        None,
        end=0.0,
    )


def _chart(
    bare: Chart,
    places: Sequence[tuple[Treated, Estimate | None]],
    fit: _Fit | None,
    end: float,
) -> Iterator[Chart]:
    known = [
        (at.value, one, one.program)
        for one, at in places
        if at is not None and one.program is not None
    ]
    if len(known) < 2:
        return
    known.sort(key=lambda item: item[0])
    by_kind: dict[str, list[tuple[float, Treated, Estimate]]] = {}
    for item in known:
        by_kind.setdefault(item[1].step_of or item[1].name, []).append(item)
    # In one order, so that a kind has the same colour in all pictures.
    kinds = [*(kind for kind in KINDS_OF_PRESSURE if kind in by_kind)]
    kinds += [kind for kind in by_kind if kind not in KINDS_OF_PRESSURE]
    measured = [_points(KINDS_OF_PRESSURE.get(kind, kind), by_kind[kind]) for kind in kinds]
    first, last = sorted((end, known[0][0] if end > 0 else known[-1][0]))
    modelled = [*_fitted(fit, first, last)] if fit is not None and last > first else []
    yield msgspec.structs.replace(bare, series=[*measured, *modelled], rules=[SLOWER])


def _points(name: str, known: Sequence[tuple[float, Treated, Estimate]]) -> Series:
    return Series(
        name=name,
        x=[x for x, _, _ in known],
        y=[time.value for _, _, time in known],
        low=[time.low for _, _, time in known],
        high=[time.high for _, _, time in known],
        notes=[treatment_words(one.name, one.step_of, one.part) for _, one, _ in known],
        joined=False,
    )


def _fitted(fit: _Fit, first: float, last: float) -> Iterator[Series]:
    """By the share under writes, with its interval; and by all of the time, for comparison."""
    x = [first + (last - first) * at / (FIT_POINTS - 1) for at in range(FIT_POINTS)]
    excess = [fit.excess(place) for place in x]
    share = fit.share
    if share is not None:
        yield Series(
            name=_fit_name(fit, share),
            x=[*x],
            y=[1 + share.value * one for one in excess],
            low=[1 + share.low * one for one in excess],
            high=[1 + share.high * one for one in excess],
            dashed=True,
        )
    yield Series(name=fit.all_name, x=[*x], y=[1 + one for one in excess], dashed=True, muted=True)


def _fit_name(fit: _Fit, share: Estimate) -> str:
    if share.low > 1:
        return f"{share.value:.1f} times what {fit.name} all of its time, by writes"
    return f"{fit.name} {max(0.0, share.value):.0%} of its time, by writes"


def _share(judgement: Judgement, share: Estimate | None) -> Estimate | None:
    """None where the program's slowdown is not that of one that waits for memory."""
    return None if judgement.kind in {"cache", "cannot tell"} else share


def _banded(chart: Chart, need: Need, unit: int = 1) -> Chart:
    """With the stretch in which lies what the program needs, where both ends are known."""
    if need.low is None or need.high is None:
        return chart
    return msgspec.structs.replace(
        chart,
        bands=[Band(label="what it needs", start=need.low / unit, end=need.high / unit)],
    )


def gain_charts(variants: Sequence[Treated]) -> list[Chart]:
    """Time of other ways to run it, as bars."""
    known = [one for one in variants if one.program is not None]
    if not known:
        return []
    estimates = [one.program or Estimate(1, 1, 1) for one in known]
    return [
        Chart(
            name="diagnose-variants",
            title="Time of other ways to run it",
            kind="bar",
            x=Axis(title="variant", unit=""),
            y=Axis(title="time over the usual way", unit="", from_zero=True),
            series=[
                Series(
                    name="time",
                    x=[one.name for one in known],
                    y=[one.value for one in estimates],
                    low=[one.low for one in estimates],
                    high=[one.high for one in estimates],
                )
            ],
            rules=[Rule(label="as it is", axis="y", value=1.0)],
        )
    ]
