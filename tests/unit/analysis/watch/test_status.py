"""Moments, baselines and headroom, from rows by formula."""

from collections.abc import Sequence

import pytest
from tests.unit.analysis.watch.rows import BYTES_PER_S, LATENCY_NS, NS, SLOTS, counters, row

from memgauge.analysis.profile.latest import Level
from memgauge.analysis.watch.baseline import LATENCY_KEY
from memgauge.analysis.watch.headroom import headroom_of
from memgauge.analysis.watch.moments import FIGURES, Moments
from memgauge.analysis.watch.status import Watcher
from memgauge.model.records import CurvePoint, EarlierRun, MeasuredCurve


def test_figures_have_names_of_their_own_and_events_of_their_own() -> None:
    assert len({one.name for one in FIGURES}) == len({one.event for one in FIGURES}) == len(FIGURES)


def test_a_moment_has_levels_rates_and_totals() -> None:
    moments = Moments(counters(), cpus=2)
    first = moments.take(NS, NS, row(0, stolen=10))
    assert first.values["steal_share"] is None, "a rate needs two readings"
    assert first.values["latency_ns"] == pytest.approx(LATENCY_NS * 0.99)
    later = moments.take(3 * NS, 3 * NS, row(1, stolen=66, kills=2))
    assert later.seconds == pytest.approx(2.0)
    assert later.values["steal_share"] == pytest.approx(0.56 / 2 / 2), "of two CPUs"
    assert later.values["oom_kills"] == 2
    assert later.values["bandwidth_bytes_per_s"] == BYTES_PER_S
    assert later.values["own_cpu_share"] == pytest.approx(0.004 / 2)
    assert later.total["steal_share"] == pytest.approx(0.66)
    assert "clock_hz" not in later.values, "what the machine lacks has no figure"


def test_what_cannot_be_read_is_missing_and_never_zero() -> None:
    moments = Moments(counters(), cpus=2)
    moments.take(NS, NS, row(0))
    gone = moments.take(2 * NS, 2 * NS, [None] * len(SLOTS))
    assert set(gone.values.values()) == {None}
    assert gone.total == {}
    back = moments.take(3 * NS, 3 * NS, row(2, stolen=5))
    assert back.values["steal_share"] is None, "the reading before was missing"
    assert back.values["latency_ns"] is not None


def watched(ratios: Sequence[float | None], learn_s: float = 30.0, **known: object) -> Watcher:
    watcher = Watcher(counters(), cpus=2, learn_s=learn_s, **known)  # type: ignore[arg-type]
    for at, ratio in enumerate(ratios):
        watcher.take((at + 1) * NS, (at + 1) * NS, row(at, ratio))
    return watcher


def test_the_first_minutes_give_medians_and_spread() -> None:
    watcher = watched([1.0] * 31 + [2.0] * 3)
    baseline = watcher.baselines["latency_ns"]
    assert baseline.value == pytest.approx(LATENCY_NS)
    assert baseline.spread == pytest.approx(1.4826 * 0.01, rel=0.01)
    assert baseline.source == "first 30 s"


def test_a_baseline_needs_enough_passes() -> None:
    assert not watched([1.0] * 10 + [None] * 50, learn_s=30).baselines
    assert not watched([None] * 50).baselines
    later = watched([1.0, None] * 25, learn_s=5)
    assert later.baselines["latency_ns"].source != "first 5 s", "it waits for twenty passes"


def test_earlier_watches_give_the_baseline_and_surveys_do_not() -> None:
    runs = [
        EarlierRun(run_id=str(n), started_at=f"2026-01-0{n}", figures={key: value})
        for n, (key, value) in enumerate(
            [(LATENCY_KEY, 80.0), ("memory latency, random, 4k pages", 7.0), (LATENCY_KEY, 90.0)], 1
        )
    ]
    baseline = watched([1.0] * 40, earlier=runs).baselines["latency_ns"]
    assert (baseline.value, baseline.source) == (85.0, "2 earlier watches")


def test_a_slow_stretch_is_an_alert_of_latency_and_of_bandwidth() -> None:
    watcher = watched([1.0] * 40 + [1.5] * 10)
    moment, _ = watcher.take(60 * NS, 60 * NS, row(60, 1.5))
    status = watcher.status(moment)
    assert [one.rule.name for one in status.active] == ["latency", "bandwidth"]
    assert status.raised == {"latency": 1, "bandwidth": 1}
    assert not status.is_learning


def curve(read_share: float, peak: float, knee: float | None) -> MeasuredCurve:
    points = [CurvePoint(gb_per_s=one, latency_ns=100.0) for one in (1.0, peak, peak * 0.9)]
    return MeasuredCurve(
        run_id="r",
        started_at="2026-01-01",
        load="made up",
        read_share=read_share,
        points=points,
        knee_gb_per_s=knee,
    )


def levels(read: float | None, write: float | None) -> list[Level]:
    return [
        Level("memory read, socket 0", read, "B/s"),
        Level("memory write, socket 0", write, "B/s"),
    ]


def test_headroom_takes_the_nearest_curve_and_none_that_is_far() -> None:
    curves = [curve(1.0, 40.0, 30.0), curve(0.67, 30.0, 25.0)]
    found = headroom_of(levels(10e9, 5e9), curves)
    assert found is not None
    assert found.share_of_peak == pytest.approx(0.5)
    assert found.share_of_knee == pytest.approx(0.6)
    mostly_writes = headroom_of(levels(1e9, 9e9), curves)
    assert mostly_writes is not None
    assert mostly_writes.share_of_peak is None
    idle = headroom_of(levels(1e8, 5e7), curves)
    assert idle is not None
    assert idle.share_of_peak is None, "the mix of an idle machine is chance"
    assert headroom_of(levels(None, 1e9), curves) is None
    assert headroom_of([], curves) is None
