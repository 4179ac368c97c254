"""What two routes count stands once on a timeline, and is checked by the other."""

from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.profile.runs import MS, Made, counter, of_process, profile, reads
from tests.unit.model.storage.lanes import Sample

from memgauge.analysis.profile.latest import Latest
from memgauge.analysis.profile.phases import phases_of, roles_of
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.verdicts import verdicts_of
from memgauge.model.counting.events import Counter
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.run import Run

SECOND = 100


def of_perf(slot: int, event: str, quantity: str, scale: float = 1.0, unit: str = "") -> Counter:
    changes = {"quantity": quantity, "domain": "process", "scope": "process", "unit": unit}
    return counter(f"perf:{event}@pid 7", slot, **changes, scale=scale, socket=None)


def clock(slot: int = 0) -> Counter:
    return of_perf(slot, "task-clock", "time", 1e-9, "s")


def in_proc(slot: int, name: str, quantity: str, scale: float = 1.0, unit: str = "") -> Counter:
    one = of_process(slot, quantity, unit, scale)
    return msgspec.structs.replace(one, name=f"proc:{name}@tree", event=f"proc:{name}")


def line(per_sample: int, seconds: float = 3.0) -> list[Sample]:
    count = round(seconds * SECOND)
    return [[at * 10 * MS, at * 10 * MS, at * per_sample] for at in range(count + 1)]


def both(directory: Path, proc_share: float = 1.0, name: str = "slow") -> Run:
    """Two CPUs' seconds each second by perf, and by /proc that share of it."""
    fast = Made([clock()], line(20 * MS), name="fast")
    per_sample = round(20 * MS * proc_share)
    proc = Made([in_proc(0, "cpu_time", "time", 1e-9, "s")], line(per_sample), name=name)
    return profile(directory, proc, fast)


def timeline(run: Run) -> Timeline:
    made, notes = timeline_of(run)
    assert made is not None
    assert notes == []
    return made


def test_one_track_is_shown_under_its_plain_name(tmp_path: Path) -> None:
    made = timeline(both(tmp_path))
    assert [traced.track.name for traced in made.tracks] == ["CPU use"]
    assert made.tracks[0].track.counters[0].event == "perf:task-clock"
    assert [traced.track.name for traced in made.doubles] == ["CPU use [proc:cpu_time]"]


def test_what_was_named_by_hand_is_shown(tmp_path: Path) -> None:
    made = timeline(both(tmp_path, name="counters-proc"))
    assert len(made.tracks) == 2
    assert made.doubles == []


def test_where_the_better_one_could_not_be_read_the_other_is_shown(tmp_path: Path) -> None:
    silent: list[Sample] = [[at * 10 * MS, at * 10 * MS, None] for at in range(101)]
    proc = Made([in_proc(0, "cpu_time", "time", 1e-9, "s")], line(5 * MS, 1.0), name="slow")
    made = timeline(profile(tmp_path, proc, Made([clock()], silent)))
    known = [traced for traced in made.tracks if traced.covered_s[-1] > 0]
    assert [traced.track.counters[0].event for traced in known] == ["proc:cpu_time"]


@pytest.mark.parametrize(("share", "level"), [(1.0, "good"), (0.97, "good"), (0.8, "warning")])
def test_two_routes_are_checked_by_each_other(tmp_path: Path, share: float, level: str) -> None:
    run = both(tmp_path, share)
    made = timeline(run)
    verdicts = verdicts_of(run, made, phases_of(made), [])
    (found,) = [verdict for verdict in verdicts if "by /proc" in verdict.text]
    assert found.level == level
    if share != 1:
        assert f"{1 - share:.1%}" in found.text


def test_faults_are_checked_by_the_sum_of_both_kinds(tmp_path: Path) -> None:
    kinds = [
        in_proc(0, "minor_faults", "page_faults"),
        in_proc(1, "major_faults", "page_faults"),
    ]
    samples: list[Sample] = [[at * 10 * MS, at * 10 * MS, 300 * at, 100 * at] for at in range(101)]
    fast = Made([of_perf(0, "page-faults", "page_faults")], line(400, 1.0), name="fast")
    run = profile(tmp_path, Made(kinds, samples, name="slow"), fast)
    made = timeline(run)
    assert [traced.track.name for traced in made.tracks] == ["page faults", "page faults, major"]
    (found,) = [v.text for v in verdicts_of(run, made, phases_of(made), []) if "by /proc" in v.text]
    assert "agree within 0.1%" in found
    total = sum(traced.total(0, made.bins) or 0 for traced in roles_of(made).faults)
    assert total == pytest.approx(40_000)


def test_the_live_view_shows_one_too() -> None:
    latest = Latest()
    sets = [
        CounterSet(counters="process", slots=1, of=[in_proc(0, "cpu_time", "time", 1e-9, "s")]),
        CounterSet(counters="fast", slots=1, of=[clock()]),
        CounterSet(counters="memory", slots=1, of=[reads(0)]),
    ]
    for at in (0, 1):
        for one in sets:
            latest.take(one, at * 500 * MS, at * 500 * MS, [at * 250 * MS])
    names = [level.name for level in latest.levels()]
    assert names == ["CPU use", "memory read, socket 0"]
    assert latest.levels()[0].value == pytest.approx(0.5)
