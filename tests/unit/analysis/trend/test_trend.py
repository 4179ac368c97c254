"""Planted changes are found with time and size, chance is not, and what cannot be told is said."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.unit.analysis.trend.histories import BEGAN, FIGURES, facts, history, observations

from memgauge.analysis.schema import trend_schema
from memgauge.analysis.trend.changes import LEAST_RUNS, PACE
from memgauge.analysis.trend.document import TREND_VERSION, trend_document
from memgauge.analysis.trend.fleet import trend_of
from memgauge.analysis.trend.gate import gated, slower_than
from memgauge.analysis.trend.history import histories_of
from memgauge.analysis.trend.report import report_of
from memgauge.model.storage.schema import schema_text
from memgauge.reports.html.page import render as render_page
from memgauge.reports.terminal.report import render

TRIAD = "stream/triad/tuned/double/2t"
DRAM = "latency/DRAM/random/thp"


def texts(trend: object) -> str:
    return " ".join(one.text for section in report_of(trend).sections for one in section.verdicts)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def three() -> object:
    """200 nights with three planted changes."""
    planted = {TRIAD: [(60, 0.9)], DRAM: [(120, 0.95)], "pace": [(170, 0.93)]}
    return trend_of([history(200, changes=planted)])


def test_three_planted_changes_are_found_and_no_others(three) -> None:  # type: ignore[no-untyped-def]
    found = {one.change.key[0]: one for one in three.changes}
    assert len(three.changes) == len(found) == 3
    for name, first, speed in ((TRIAD, 60, 0.9), (DRAM, 120, 0.95), (PACE[0], 170, 0.93)):
        change = found[name].change
        assert change.low <= first <= change.high
        assert change.apart.low <= speed <= change.apart.high
        assert found[name].after < BEGAN + timedelta(days=first) <= found[name].until
    assert [one.change.first for one in three.changes] == sorted(
        (one.change.first for one in three.changes), reverse=True
    )


def test_a_lower_latency_is_faster() -> None:
    (only,) = trend_of([history(80, changes={DRAM: [(40, 1.1)]})]).changes
    assert not only.change.is_slower
    assert only.change.key == (DRAM, "")


def test_figures_that_keep_their_level_while_the_pace_moves_have_not_changed() -> None:
    slower = {name: [(40, 0.9)] for name, _, _ in FIGURES[2:]}
    trend = trend_of([history(80, changes=slower)])
    assert [one.change.key for one in trend.changes] == [PACE]
    assert {one.key[0] for one in trend.kept_level} == {name for name, _, _ in FIGURES[:2]}
    assert "kept their level" in texts(trend)


def test_most_unchanged_histories_have_no_change() -> None:
    alarms = sum(bool(trend_of([history(40, seed)]).changes) for seed in range(12))
    assert alarms <= 2  # at 5% each, more have a probability of 2%


@pytest.mark.parametrize("count", [1, LEAST_RUNS - 1])
def test_a_short_history_tells_nothing_and_says_so(count: int) -> None:
    trend = trend_of([history(count)])
    assert trend.tests == 0
    assert f"too few runs to tell: {count} of the {LEAST_RUNS}" in texts(trend)
    assert "cannot be told" in report_of(trend).sections[0].opening[0].detail


def test_a_machine_whose_memory_was_changed_is_named_and_not_averaged() -> None:
    runs = [facts(at) for at in range(20)]
    runs += [
        facts(at, machine_id="larger", kind="Example Processor, 2 threads, 32 GiB")
        for at in range(20, 40)
    ]
    made = observations(runs, changes={"pace": [(20, 1.5)]})
    trend = trend_of(histories_of({"node": runs}, made))
    assert trend.changes == []
    assert [one.what for one in trend.replaced] == [
        "'Example Processor, 2 threads, 16 GiB' became 'Example Processor, 2 threads, 32 GiB'"
    ]
    assert "another machine description between 2026-01-20 and 2026-01-21" in texts(trend)
    assert [len(era.era) for era in trend.tested["node"]] == [20, 20]
    now = {one.key[0]: one.value.value for one in trend.tested["node"][-1].levels}
    assert now[TRIAD] == pytest.approx(60, rel=0.02)


def test_other_modules_of_the_same_size_are_another_description() -> None:
    runs = [facts(at, modules="8 x 8 GiB" if at < 5 else "4 x 16 GiB") for at in range(9)]
    runs[3] = facts(3)  # not known of this run
    (made,) = histories_of({"node": runs}, observations(runs))
    assert [(era.begin, era.end) for era in made.eras] == [(0, 5), (5, 9)]


def test_what_else_changed_in_that_time_is_named() -> None:
    runs = [
        facts(at, conditions={"kernel": "Linux 6.18" if at < 30 else "Linux 6.19"})
        for at in range(60)
    ]
    made = observations(runs, changes={TRIAD: [(30, 0.9)]})
    (only,) = trend_of(histories_of({"node": runs}, made)).changes
    assert only.beside == ["kernel: 'Linux 6.18' became 'Linux 6.19'"]


def test_runs_without_a_figure_and_nights_without_a_run_are_no_values() -> None:
    runs = [facts(at) for at in range(80) if at % 7 and not 20 < at < 45]
    made = [
        one
        for one in observations(runs, changes={TRIAD: [(30, 0.9)]})
        if not (one.key[0] == TRIAD and int(one.run.rpartition("-")[2]) % 5 == 0)
    ]
    (only_history,) = histories_of({"node": runs}, reversed(made))
    assert None in only_history.tracks[TRIAD, ""].values
    trend = trend_of([only_history])
    assert [one.change.key[0] for one in trend.changes] == [TRIAD]
    assert "no runs for 25 days" in texts(trend)


def test_a_run_that_is_given_twice_counts_once() -> None:
    runs = [facts(at) for at in range(10)]
    made = observations(runs)
    (found,) = histories_of({"node": [*runs, *runs]}, [*made, *made])
    assert len(found.runs) == 10


def test_another_statistic_is_left_out_and_counted() -> None:
    runs = [facts(at) for at in range(12)]
    made = [
        msgspec.structs.replace(one, statistic="median") if one.run == "node-3" else one
        for one in observations(runs)
    ]
    (found,) = histories_of({"node": runs}, made)
    track = found.tracks[TRIAD, ""]
    assert track.statistic == "p90"
    assert track.values[3] is None
    assert track.left_out == 1
    assert "other statistics" in texts(trend_of([found]))


def test_a_machine_that_is_slower_than_its_kind_stands_out() -> None:
    fleet = [
        history(20, seed, {"pace": [(0, 0.8 if seed == 3 else 1.0)]}, f"node{seed}")
        for seed in range(8)
    ]
    trend = trend_of(fleet)
    assert {one.node for one in trend.outliers} == {"node3"}
    assert all(one.is_worse for one in trend.outliers)
    assert "node3 stands out now" in texts(trend)
    assert "cannot be told" in texts(trend_of(fleet[:3]))


def test_the_gate_takes_recent_changes_of_key_figures_and_of_the_pace() -> None:
    planted = {
        TRIAD: [(170, 0.9)],
        DRAM: [(60, 0.9)],
        "workingset/random/64MiB": [(180, 0.9)],
        "latency/L1/random/thp": [(160, 0.9), (185, 1 / 0.9)],
    }
    trend = trend_of([history(200, changes=planted)])
    is_key = gated(trend, keys_only=True)
    within = timedelta(days=45)
    slower = slower_than(trend, 0.05, within, is_key)
    assert [one.key[0] for one in slower] == [TRIAD]  # not what recovered, is old, or no key
    assert slower[0].speed.low <= 0.9 <= slower[0].speed.high
    assert slower_than(trend, 0.05, timedelta(days=10), is_key) == []
    assert slower_than(trend, 0.2, within, is_key) == []
    every = {one.key[0] for one in slower_than(trend, 0.05, within, gated(trend, keys_only=False))}
    assert every == {TRIAD, "workingset/random/64MiB"}


def test_the_document_holds_what_was_found(three) -> None:  # type: ignore[no-untyped-def]
    schema = trend_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    made = json.loads(msgspec.json.encode(trend_document(three)))
    jsonschema.Draft202012Validator(schema).validate(made)
    assert [one["name"] for one in made["changes"]] == ["pace", DRAM, TRIAD]
    assert made["changes"][2]["first_run"].startswith("node-")
    short = json.loads(msgspec.json.encode(trend_document(trend_of([history(3)]))))
    jsonschema.Draft202012Validator(schema).validate(short)


def test_the_published_schema_is_the_one_in_force() -> None:
    published = Path(__file__).parents[4] / "docs" / "schema" / f"trend-{TREND_VERSION}.json"
    assert published.read_text() == schema_text(trend_schema()), (
        f"publish it: memgauge schema --of trend > docs/schema/{published.name}"
    )


@pytest.mark.parametrize("width", [20, 80, 100])
def test_the_report_fits_any_width(three, width: int) -> None:  # type: ignore[no-untyped-def]
    text = render(report_of(three), width=width)
    assert all(len(line) <= width for line in text.splitlines())
    assert "2026-06" in text


def test_the_page_has_a_picture_of_each_figure_that_changed(three) -> None:  # type: ignore[no-untyped-def]
    names = [chart.name for chart in report_of(three).sections[0].charts]
    assert "trend-pace" in names
    assert len(names) == 3
    assert "What changed" in render_page(report_of(three))


def test_a_machine_of_hostile_text_is_shown_without_control_characters() -> None:
    runs = [facts(at, kind="\x1b[2Jmodel", machine_id="a" if at < 9 else "b") for at in range(18)]
    trend = trend_of(histories_of({"no\x1b[2Jde": runs}, observations(runs, machine="no\x1b[2Jde")))
    assert "\x1b" not in render(report_of(trend), width=80)
