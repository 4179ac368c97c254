"""Alerts follow their rules: hysteresis, baselines, missing values."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.analysis.watch.baseline import Baseline
from memgauge.analysis.watch.moments import BY_NAME, Moment
from memgauge.analysis.watch.rules import HOLD_S, NEEDED, RULES, WINDOW, Alert, Alerts, Rule
from memgauge.analysis.watch.words import alert_words

NS = 1_000_000_000
BASELINE = {"latency_ns": Baseline(value=100.0, spread=0.01, source="first 2 min")}
BY_RULE = {rule.name: rule for rule in RULES}


def take(alerts: Alerts, values: Sequence[float | None], figure: str = "latency_ns") -> list[Alert]:
    """Feed a value a second; return what began or ended."""
    moments = (
        Moment(at_ns=at * NS, seconds=1.0, values={figure: value})
        for at, value in enumerate(values)
    )
    return [one for moment in moments for one in alerts.take(moment, BASELINE)]


def test_every_rule_is_of_a_figure_and_clears_on_the_milder_side() -> None:
    for rule in RULES:
        assert rule.figure in BY_NAME
        assert rule.clears >= rule.raises if rule.below else rule.clears <= rule.raises
    assert len(BY_RULE) == len(RULES)


def test_an_alert_needs_four_of_five_values() -> None:
    assert take(Alerts((BY_RULE["latency"],)), [100, 130, 130, 130, 100, 100, 130, 130]) == []
    changes = take(Alerts((BY_RULE["latency"],)), [100, 130, 130, 100, 130, 131])
    assert [one.until_ns for one in changes] == [None]
    assert (changes[0].since_ns, changes[0].raised_ns) == (1 * NS, 5 * NS)
    assert changes[0].ratio == pytest.approx(1.31)


def test_an_alert_stays_between_its_limits_and_ends_below_the_milder_one() -> None:
    alerts = Alerts((BY_RULE["latency"],))
    changes = take(alerts, [130.0] * 5 + [115.0] * 50)
    assert len(changes) == 1
    assert alerts.active[0].latest == 115.0
    changes = take(Alerts((BY_RULE["latency"],)), [130.0] * 5 + [150.0] + [105.0] * 4)
    assert [one.until_ns for one in changes] == [None, 6 * NS]
    assert changes[1].worst == 150.0


def test_low_bandwidth_is_bad_and_its_worst_is_the_least() -> None:
    rule = BY_RULE["bandwidth"]
    baselines = {rule.figure: Baseline(value=10e9, spread=0.01, source="first 2 min")}
    alerts = Alerts((rule,))
    for at, value in enumerate([7e9, 7e9, 6e9, 7e9, 5e9, 7e9]):
        alerts.take(Moment(at_ns=at * NS, seconds=1.0, values={rule.figure: value}), baselines)
    assert alerts.active[0].worst == 5e9


def test_limits_widen_with_the_spread_of_single_passes() -> None:
    limits = BY_RULE["latency"].limits(Baseline(value=100.0, spread=0.08, source=""))
    assert limits == pytest.approx((124.0, 112.0))
    assert BY_RULE["latency"].limits(BASELINE["latency_ns"]) == pytest.approx((120.0, 110.0))
    low = BY_RULE["bandwidth"].limits(Baseline(value=1.0, spread=0.5, source=""))
    assert low is not None
    assert low[0] == 0.0, "a spread that wide: no value is low enough"


def test_without_a_baseline_a_relative_rule_says_nothing() -> None:
    alerts = Alerts((BY_RULE["latency"],))
    for at in range(20):
        assert alerts.take(Moment(at_ns=at, seconds=1.0, values={"latency_ns": 1e9}), {}) == []


def test_missing_values_neither_raise_nor_clear() -> None:
    alerts = Alerts((BY_RULE["latency"],))
    assert len(take(alerts, [130.0] * 4 + [None] * 100)) == 1
    assert len(alerts.active) == 1
    assert take(Alerts((BY_RULE["latency"],)), [None] * 100) == []


def test_an_error_raises_at_once_and_holds() -> None:
    rule = BY_RULE["oom-kill"]
    hold = round(HOLD_S)
    values = [0.0, 2.0] + [0.0] * hold
    changes = take(Alerts((rule,)), values, rule.figure)
    assert [(one.since_ns, one.until_ns) for one in changes] == [(NS, None), (NS, NS)]
    assert len(take(Alerts((rule,)), values[:-1], rule.figure)) == 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.floats(50, 300)), max_size=60))
def test_alerts_begin_and_end_by_turns(values: list[float | None]) -> None:
    alerts = Alerts((BY_RULE["latency"],))
    changes = take(alerts, values)
    begun = [one.until_ns is None for one in changes]
    assert begun == [number % 2 == 0 for number in range(len(changes))]
    assert bool(alerts.active) == (len(changes) % 2 == 1)
    beyond = [value is not None and value >= 120 for value in values]
    known = [one for one, value in zip(beyond, values, strict=True) if value is not None]
    could = any(sum(known[at : at + WINDOW]) >= NEEDED for at in range(len(known)))
    assert bool(changes) <= could


def test_words_name_the_figure_the_amount_and_the_time() -> None:
    def when(at_ns: int) -> str:
        return f"12:{at_ns // NS:02d}"

    changes = take(Alerts((BY_RULE["latency"],)), [100, *[131.0] * 4, *[100.0] * 4])
    assert alert_words(changes[0], when) == "latency 1.31 times the baseline since 12:01"
    ended = "latency 1.31 times the baseline at worst, from 12:01 to 12:05"
    assert alert_words(changes[1], when) == ended
    rule = Rule(name="steal", figure="steal_share", raises=0.05, clears=0.02)
    stolen = take(Alerts((rule,)), [0.14] * 4, "steal_share")
    assert alert_words(stolen[0], when) == "steal 14.0% since 12:00"
