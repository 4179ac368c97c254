"""The figures of a replayed profile, and what its report says of them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.loaded.replays import IDLE_NS, Step, replay_run, replayed

from memgauge.analysis.comparison.figures import of_run
from memgauge.analysis.comparison.ratios import compare
from memgauge.analysis.comparison.sides import side_of
from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.loaded.replay import ReplayFigures, replay_figures
from memgauge.analysis.loaded.section import analyse
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section, Verdict
from memgauge.model.record_kinds.replayed import Replayed, ReplayStep
from memgauge.model.records import AnyRecord
from memgauge.model.run import Run
from memgauge.reports.terminal.report import render

STEPS = [
    Step(seconds=6.0, gb_per_s=5.0, read_share=1.0, ns=110.0),
    Step(seconds=3.0, gb_per_s=20.0, read_share=2 / 3, ns=180.0),
    Step(seconds=1.0, gb_per_s=12.0, read_share=0.5, ns=140.0),
]


def figures(run: Run) -> ReplayFigures:
    found = replay_figures(figures_of(run))
    assert found is not None
    return found


def section(run: Run) -> Section:
    return analyse(figures_of(run))


def said(run: Run, word: str) -> list[Verdict]:
    return [one for one in section(run).verdicts if word in one.text]


def test_the_mean_weights_each_step_by_its_time_in_the_profile() -> None:
    """(6 x 110 + 3 x 180 + 1 x 140) / 10 = 134 ns."""
    found = figures(replay_run(STEPS))
    assert value(found.latency) == pytest.approx(134)
    assert value(found.slowdown) == pytest.approx(1.34)
    assert value(found.unloaded.latency) == pytest.approx(IDLE_NS)
    assert (found.replays, found.whole_replays) == (12, 12)
    assert found.worst is not None
    assert found.worst.number == 2
    assert not found.is_lower_bound


def test_each_step_has_its_latency_its_traffic_and_its_ratio_of_the_same_replay() -> None:
    found = figures(replay_run(STEPS))
    for step, one in zip(STEPS, found.steps, strict=True):
        assert value(one.latency) == pytest.approx(step.ns)
        assert value(one.slowdown) == pytest.approx(step.ns / IDLE_NS)
        assert value(one.gb_per_s) == pytest.approx(step.gb_per_s, rel=1e-4)
        assert not one.misses
        assert one.times is not None
        assert value(one.times.p99) == pytest.approx(step.ns, abs=1)


def test_a_pace_that_all_of_a_replay_has_in_common_is_in_no_ratio() -> None:
    found = figures(replay_run(STEPS, pace=0.2))
    assert found.slowdown is not None
    assert found.latency is not None
    assert found.slowdown.precision < 0.001
    assert found.latency.precision > 0.05


def test_passes_of_different_length_count_by_their_loads() -> None:
    """Of each replay three walks and one: the noise of the long pass counts three times."""
    run = replay_run([Step(ns=100.0)], replays=1)
    name = "loaded/like-p1/1-of-1"
    long, short = run.samples[name]
    slow = msgspec.structs.replace(
        long,
        threads=[
            msgspec.structs.replace(
                long.threads[0],
                begin_ns=[0, 200_000, 400_000],
                end_ns=[200_000, 400_000, 600_000],
            )
        ],
    )
    run.samples[name][:] = [slow, short]
    found = figures(run)
    assert found.steps[0].latency is not None
    assert found.steps[0].latency.value == pytest.approx((3 * 200 + 100) / 4)


def test_a_replay_with_a_disturbed_step_is_not_in_the_mean() -> None:
    run = replay_run(STEPS, disturbed=[(0, 1), (1, 2), (2, 0)])
    found = figures(run)
    assert (found.replays, found.whole_replays) == (12, 9)
    assert [one.replays for one in found.steps] == [11, 11, 12]
    assert value(found.latency) == pytest.approx(134)
    assert said(run, "3 of 12 replays are not in the mean")


def test_without_a_whole_replay_the_mean_cannot_be_told() -> None:
    run = replay_run(STEPS, disturbed=[(at, 1) for at in range(12)])
    found = figures(run)
    assert (found.latency, found.slowdown) == (None, None)
    assert found.steps[0].latency is None
    (verdict,) = said(run, "cannot be told")
    assert verdict.level == "warning"
    assert json_document(run).replay is not None


def test_a_rate_that_is_not_reached_makes_latency_a_lower_bound() -> None:
    steps = [STEPS[0], Step(gb_per_s=40.0, got_gb_per_s=22.0, most_gb_per_s=22.5, ns=200.0)]
    run = replay_run(steps)
    assert figures(run).is_lower_bound
    (verdict,) = said(run, "got less traffic")
    assert verdict.level == "warning"
    assert "Step 2 got less" in verdict.text
    assert "40 GB/s at 75% reads" in verdict.text
    assert "all that these generators reach" in verdict.text
    assert verdict.remedy is not None
    assert "at least" in section(run).verdicts[0].text
    assert [row["reached"] for row in rows(section(run).tables[0])] == [None, "yes", "less"]


def test_a_step_that_was_held_back_below_the_limit_is_told_apart() -> None:
    (verdict,) = said(replay_run([Step(gb_per_s=10.0, got_gb_per_s=7.0)]), "got less traffic")
    assert "though these generators can do more" in verdict.text
    assert verdict.remedy is not None
    assert "quiet machine" in verdict.remedy


def test_more_traffic_than_asked_and_another_share_of_reads_are_told() -> None:
    steps = [
        Step(gb_per_s=0.5, got_gb_per_s=2.0),
        Step(gb_per_s=10.0, read_share=0.2, got_read_share=0.5),
    ]
    run = replay_run(steps)
    assert "Step 1 got more" in said(run, "got more traffic")[0].text
    assert "20% reads and got 50% reads" in said(run, "another share of reads")[0].text
    assert not figures(run).is_lower_bound


def test_the_report_begins_with_the_answer_and_names_the_worst_step() -> None:
    first, second, *_ = section(replay_run(STEPS)).verdicts
    assert first.text == (
        "Next to app --fast a load from memory takes 134 ns, the mean over its time: "
        "1.34 times (1.34 to 1.34) the 100 ns without it in the same 12 replays."
    )
    assert (
        "worst in step 2 (6.00 s to 9.00 s of the profile, 20 GB/s at 66.7% reads)" in second.text
    )


@pytest.mark.parametrize("basis", ["modelled", "simulated"])
def test_traffic_that_is_not_measured_is_called_so_everywhere_it_is_shown(basis: str) -> None:
    made = section(replay_run(STEPS, of=replayed(STEPS, basis=basis)))
    assert f"app --fast ({basis} traffic)" in made.verdicts[0].text
    assert f"({basis} traffic)" in made.tables[0].title
    assert f"({basis} traffic)" in made.charts[0].title
    assert f"asked, {basis}" in [one.name for one in made.charts[0].series if one.dashed]
    assert any(basis in line.detail for line in made.opening)
    assert any(f"is {basis}, not measured" in verdict.text for verdict in made.verdicts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pieces": 31}, "The profile's 31 phases were condensed to 3 steps"),
        ({"variation_kept": 0.12}, "Between them lies 12% of the variation"),
        ({"variation_kept": None}, "Its rates hardly vary"),
        ({"busiest_gb_per_s": 31.0}, "had 31 GB/s, its busiest step has 20"),
        ({"replay_s": 2.5}, "Time is shortened 4 times: a replay of 10.0 s takes 2.50 s"),
        ({}, "Replayed at the profile's own time, 10.0 s"),
        ({"unknown_s": 3.0, "profile_s": 13.0}, "3.00 s of it are not replayed"),
        ({"machine_id": "ffff"}, "profiled on another machine (Example Processor)"),
        ({"read_share_given": 0.67}, "replayed at the given 67% reads"),
        ({"trust": "never verified"}, "counters of memory traffic: never verified. What it asks"),
    ],
)
def test_what_is_lost_is_told(changes: dict[str, object], words: str) -> None:
    assert said(replay_run(STEPS, replays=6, of=replayed(STEPS, **changes)), words)


def test_a_picture_shows_traffic_and_latency_over_the_time_of_the_profile() -> None:
    (picture,) = section(replay_run(STEPS)).charts
    series = {one.name: one for one in picture.series}
    assert series["asked"].x == [0, 6, 6, 9, 9, 10]
    assert series["asked"].y == pytest.approx([5, 5, 20, 20, 12, 12])
    assert series["beside the load"].y == pytest.approx([110, 110, 180, 180, 140, 140])
    assert series["without load"].y == pytest.approx([100] * 6)
    for panel in picture.panels:
        assert len({tuple(series[name].x) for name in panel.series}) == 1


def test_the_report_fits_a_terminal() -> None:
    text = render(analyse_run(replay_run(STEPS)), width=80, color=False, encoding="utf-8")
    assert "Replay of app --fast" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_document_has_the_replay() -> None:
    document = json_document(replay_run(STEPS)).replay
    assert document is not None
    assert document.latency_ns is not None
    assert document.latency_ns.value == pytest.approx(134)
    assert (document.worst_step, document.lower_bound, document.compression) == (2, False, 1)
    assert [one.as_asked for one in document.steps] == [True] * 3
    assert json.loads(msgspec.json.encode(document))["steps"][1]["slowdown"]["value"]


def test_a_run_without_a_replay_has_none(tmp_path: Path) -> None:
    del tmp_path
    run = replay_run(STEPS)
    assert replay_figures(figures_of(msgspec.structs.replace(run, replays=[]))) is None


def test_a_replay_that_was_killed_early_has_a_report() -> None:
    run = replay_run(STEPS, replays=0)
    assert "cannot be told" in section(run).verdicts[0].text
    bare = msgspec.structs.replace(run, points={}, samples={})
    assert section(bare).verdicts[0].text == "No latency under load was measured."


def test_two_replays_of_one_profile_are_compared_step_by_step() -> None:
    slower = [msgspec.structs.replace(one, ns=one.ns * 1.2) for one in STEPS]
    sides = [
        side_of([of_run(figures_of(replay_run(steps, noise=0.005, replays=40)), name)])
        for steps, name in ((STEPS, "a"), (slower, "b"))
    ]
    (pair,) = compare(sides).pairs
    ratios = {row.name: row.ratio.value for row in pair.rows}
    assert ratios["loaded/like-p1/2-of-3"] == pytest.approx(1.2, rel=0.02)
    assert not any(row.differs for row in pair.rows)


def test_the_record_is_read_back_as_it_was_written() -> None:
    made = replayed(STEPS, read_share_given=0.5, basis="modelled")
    assert msgspec.json.decode(msgspec.json.encode(made), type=AnyRecord) == made
    assert isinstance(made, Replayed)


@pytest.mark.parametrize(
    "changes",
    [
        {"end_s": 0.0},
        {"begin_s": 2.0},
        {"known_s": 1.5},
        {"known_s": 0.0},
        {"read_bytes": -1.0},
    ],
)
def test_a_step_that_makes_no_sense_is_not_read(changes: dict[str, float]) -> None:
    step = {
        "begin_s": 0.0,
        "end_s": 1.0,
        "known_s": 1.0,
        "read_bytes": 1.0,
        "write_bytes": 0.0,
    } | changes
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(step), type=ReplayStep)


def test_steps_that_overlap_are_not_read() -> None:
    made = msgspec.to_builtins(replayed(STEPS))
    made["steps"][1]["begin_s"] = 1.0
    with pytest.raises(msgspec.ValidationError, match="overlap"):
        msgspec.convert(made, Replayed)
