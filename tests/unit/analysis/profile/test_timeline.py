"""Rates and totals over time are those that the readings prove, and gaps stay gaps."""

import itertools
import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    S,
    cpu_time,
    energy,
    every,
    gpu_power,
    of_process,
    profile,
    ran,
    reads,
    sampled,
    steps,
    writes,
)
from tests.unit.model.storage.lanes import Sample

from memgauge.analysis.profile.rates import Stretch, stretches
from memgauge.analysis.profile.timeline import Timeline, timeline_of
from memgauge.analysis.profile.tracks import Track, distinct, tracks_of
from memgauge.model.counting.events import FULL_DUTY, Counter
from memgauge.model.counting.readings import counted
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.record_kinds.programs import Region
from memgauge.model.run import Run
from memgauge.model.storage.lane_file import LaneReader

SHARED = {"enabled_slot": 0, "running_slot": 1}


def made(run: Run) -> Timeline:
    timeline, notes = timeline_of(run)
    assert timeline is not None
    assert notes == []
    return timeline


def one(tmp_path: Path, samples: list[Sample], counter: Counter, **more: object) -> Timeline:
    return made(profile(tmp_path, Made([counter], samples), **more))  # type: ignore[arg-type]


def rates_of(tmp_path: Path, samples: list[Sample], *counters: Counter) -> list[float | None]:
    """Of the only track, from reading to reading."""
    slots = len(samples[0]) - 2
    profile(tmp_path, Made(list(counters), samples, slots=slots))
    tracks = tracks_of(CounterSet(counters="a", slots=slots, of=list(counters)))
    assert len(tracks) == 1
    found: list[float | None] = []
    for stretch in stretches(LaneReader(tmp_path / "fast.lane", slots), tracks):
        found += amounts_of(stretch, tracks[0].name)
    return found


def amounts_of(stretch: Stretch, name: str) -> Sequence[float | None]:
    """Of each interval, also of a track that goes on at one rate."""
    if name not in stretch.steady:
        return stretch.amounts[name]
    rate = stretch.steady[name]
    gaps = [late - early for early, late in pairwise(stretch.times_ns)]
    return [None if rate is None else rate * gap * 1e-9 for gap in gaps]


def test_a_rate_is_the_difference_over_the_real_time(tmp_path: Path) -> None:
    """Readings come unevenly; the rate of each interval is over its own length."""
    samples: list[Sample] = [[0, 0, 0], [10 * MS, 10 * MS, 100], [40 * MS, 40 * MS, 400]]
    timeline = one(tmp_path, samples, reads(0))
    (traced,) = timeline.tracks
    assert timeline.values(traced) == pytest.approx([640_000.0] * 4)
    assert traced.total(0, 4) == pytest.approx(400 * 64)


def test_a_stamp_is_the_middle_of_its_reading(tmp_path: Path) -> None:
    samples: list[Sample] = [[0, 4 * MS, 0], [10 * MS, 10 * MS, 80]]
    timeline = one(tmp_path, samples, reads(0))
    assert (timeline.begin_ns, timeline.end_ns) == (2 * MS, 10 * MS)
    assert timeline.values(timeline.tracks[0])[0] == pytest.approx(640_000.0)


@given(st.data())
def test_differences_are_those_of_two_readings(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """The fast way over whole blocks against `counted` of each pair."""
    value = st.one_of(st.none(), st.integers(0, 200))
    rows = data.draw(
        st.lists(st.tuples(value, st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12)
    )
    wraps = data.draw(st.sampled_from([None, 256]))
    grouped = data.draw(st.booleans())
    enabled = running = 0
    samples: list[Sample] = []
    for at, (raw, more, part) in enumerate(rows):
        enabled, running = enabled + max(more, part), running + part
        samples.append([at * MS, at * MS, enabled, running, raw])
    beside: dict[str, object] = dict(SHARED) if grouped else {}
    beside |= {"scope": data.draw(st.sampled_from(["controller", "process"]))}
    one_counter = reads(2, wraps_at=wraps, **beside)
    found = rates_of(tmp_path_factory.getbasetemp(), samples, one_counter)
    expected = []
    for before, after in itertools.pairwise(samples):
        pair = counted(one_counter, before[2:], after[2:])
        is_restart = pair is not None and wraps is not None and pair.raw > wraps // 2
        went_back = (after[4] or 0) < (before[4] or 0)
        expected.append(None if pair is None or (is_restart and went_back) else pair.value)
    assert found == pytest.approx(expected)


def test_a_wrap_goes_on_and_a_restart_is_a_gap(tmp_path: Path) -> None:
    def series(*raw: int) -> list[Sample]:
        return [[at * MS, at * MS, value] for at, value in enumerate(raw)]

    wrapping = reads(0, wraps_at=1 << 32)
    assert rates_of(tmp_path, series((1 << 32) - 10, 5, 25), wrapping) == [15 * 64, 20 * 64]
    assert rates_of(tmp_path, series(1000, 5, 25), wrapping) == [None, 20 * 64]
    assert rates_of(tmp_path, series(1000, 5, 25), reads(0)) == [None, 20 * 64]


def test_a_missing_value_is_a_gap_and_never_zero(tmp_path: Path) -> None:
    samples: list[Sample] = [
        [at * 10 * MS, at * 10 * MS, None if 30 <= at < 50 else at * 10] for at in range(101)
    ]
    timeline = one(tmp_path, samples, reads(0))
    (traced,) = timeline.tracks
    values = timeline.values(traced)
    assert values[29:50] == [None] * 21
    assert [value for value in values if value is not None] == pytest.approx([64_000.0] * 79)
    assert traced.low[35] is None
    assert traced.total(0, 100) == pytest.approx(79 * 640)
    assert traced.covered_s[-1] == pytest.approx(0.79)


def test_where_one_controller_is_missing_the_sum_is_not_known(tmp_path: Path) -> None:
    other = reads(1, name="perf:uncore_imc/read/@uncore_imc_1", instance="uncore_imc_1")
    samples: list[Sample] = [[0, 0, 0, 0], [MS, MS, 5, None], [2 * MS, 2 * MS, 10, 10]]
    assert rates_of(tmp_path, samples, reads(0), other) == [None, None]
    whole: list[Sample] = [[0, 0, 0, 0], [MS, MS, 5, 6], [2 * MS, 2 * MS, 10, 10]]
    assert rates_of(tmp_path, whole, reads(0), other) == [11 * 64, 9 * 64]


def test_a_shared_counter_is_scaled_and_counted_as_an_estimate(tmp_path: Path) -> None:
    samples: list[Sample] = [[at * MS, at * MS, at * 100, at * 25, at * 7] for at in range(11)]
    shared = reads(2, enabled_slot=0, running_slot=1)
    timeline = made(profile(tmp_path, Made([shared], samples, MS, slots=3)))
    (traced,) = timeline.tracks
    assert traced.total(0, timeline.bins) == pytest.approx(70 * 64 * 4)
    assert traced.estimates == 10


def test_over_a_restart_of_the_daemon_nothing_is_counted(tmp_path: Path) -> None:
    """Though the new daemon's number stands above that of the old one."""
    by_daemon = reads(1, generation_slot=0)
    samples: list[Sample] = [[at * MS, at * MS, int(at > 1), at * 5] for at in range(4)]
    assert rates_of(tmp_path, samples, by_daemon) == [320, None, 320]
    (traced,) = made(profile(tmp_path, Made([by_daemon], samples, MS, slots=2))).tracks
    assert traced.went_back == 1
    lost: list[Sample] = [[0, 0, 1, 0], [MS, MS, None, 5], [2 * MS, 2 * MS, 1, 9]]
    assert rates_of(tmp_path, lost, by_daemon) == [None, None]


def test_what_a_daemon_has_scaled_up_is_an_estimate(tmp_path: Path) -> None:
    by_daemon = reads(1, duty_slot=0)
    half = FULL_DUTY // 2
    duties = [FULL_DUTY, FULL_DUTY, half, None, FULL_DUTY]
    samples: list[Sample] = [[at * MS, at * MS, duty, at * 5] for at, duty in enumerate(duties)]
    (traced,) = made(profile(tmp_path, Made([by_daemon], samples, MS, slots=2))).tracks
    assert traced.estimates == 2
    assert traced.total(0, 4) == pytest.approx(4 * 320)


def test_a_counter_of_a_program_that_waits_counts_nothing(tmp_path: Path) -> None:
    """It is enabled only while the program runs; one of a controller would be missing."""
    samples: list[Sample] = [[0, 0, 0, 0, 0], [MS, MS, 9, 9, 7], [2 * MS, 2 * MS, 9, 9, 7]]
    own = {**SHARED, "scope": "process", "domain": "process", "quantity": "page_faults"}
    assert rates_of(tmp_path, samples, reads(2, **own, unit="", scale=1.0)) == [7, 0]
    assert rates_of(tmp_path, samples, reads(2, **SHARED)) == [7 * 64, None]


def test_a_gauge_is_a_level_and_energy_is_power(tmp_path: Path) -> None:
    counters = [gpu_power(0), energy(1)]
    levels = steps((0.5, 100_000), (1.0, 300_000))
    samples = sampled([levels, lambda _: 45_000_000.0], counters, every(10 * MS, S))
    timeline = made(profile(tmp_path, Made(counters, samples)))
    gpu, package = timeline.tracks
    assert (gpu.track.unit, package.track.unit) == ("W", "W")
    assert timeline.values(gpu)[10] == pytest.approx(100.0)
    assert timeline.values(gpu)[-10] == pytest.approx(300.0)
    assert package.total(0, timeline.bins) == pytest.approx(45.0)


@given(st.integers(0, 2**32), st.integers(3, 60))
def test_bins_of_any_width_conserve_what_was_counted(
    tmp_path_factory: pytest.TempPathFactory, seed: int, bins: int
) -> None:
    rng = random.Random(seed)
    at, raw = 0, 0
    samples: list[Sample] = []
    for _ in range(rng.randrange(2, 300)):
        samples.append([at, at + 1000, raw])
        at += rng.choice([MS, 2 * MS, 50 * MS])
        raw += rng.randrange(1000)
    run = profile(tmp_path_factory.getbasetemp(), Made([reads(0)], samples, MS))
    timeline, _ = timeline_of(run, most_bins=bins)
    assert timeline is not None
    (traced,) = timeline.tracks
    assert timeline.bins <= bins
    counted_ = samples[-1][2]
    assert counted_ is not None
    assert traced.total(0, timeline.bins) == pytest.approx(counted_ * 64)
    for value, low, high in zip(traced.even, traced.low, traced.high, strict=True):
        assert value is not None
        assert low is not None
        assert high is not None
        assert low * (1 - 1e-9) - 1e-6 <= value <= high * (1 + 1e-9) + 1e-6


def test_a_late_reading_is_an_average_over_the_real_time(tmp_path: Path) -> None:
    samples: list[Sample] = [[t * MS, t * MS, t] for t in (0, 10, 20, 320, 330, 340)]
    timeline = one(tmp_path, samples, reads(0))
    assert timeline.values(timeline.tracks[0]) == pytest.approx([64_000.0] * timeline.bins)
    (pace,) = timeline.paces
    assert (pace.readings, pace.late, pace.longest_ns) == (6, 1, 300 * MS)


def test_totals_of_regions_are_exact_between_marks(tmp_path: Path) -> None:
    samples = sampled([lambda _: 1000.0], [reads(0)], every(10 * MS, S))
    regions = [
        Region(name="inner", pid=1, tid=1, begin_ns=123_456_789, end_ns=623_456_789),
        Region(name="open", pid=1, tid=1, begin_ns=900 * MS, end_ns=None),
    ]
    timeline = one(tmp_path, samples, reads(0), regions=regions)
    found = timeline.between(timeline.tracks[0], 123_456_789, 623_456_789)
    assert found == pytest.approx((500 * 64, 0.5), rel=1e-6)
    assert timeline.regions[1].end_ns == timeline.end_ns


def test_what_is_counted_up_to_no_mark_is_not_known(tmp_path: Path) -> None:
    """A region may end after the last reading, where the last block of a lane is lost."""
    samples = sampled([lambda _: 1000.0], [reads(0)], every(10 * MS, S))
    regions = [Region(name="inner", pid=1, tid=1, begin_ns=100 * MS, end_ns=600 * MS)]
    timeline = one(tmp_path, samples, reads(0), regions=regions)
    for begin_ns, end_ns in ((100 * MS, 2 * S), (2 * S, 3 * S), (100 * MS, 599 * MS)):
        assert timeline.between(timeline.tracks[0], begin_ns, end_ns) is None


def test_the_timeline_is_that_of_the_program(tmp_path: Path) -> None:
    samples = sampled([lambda _: 1000.0], [reads(0)], every(10 * MS, 2 * S))
    process = ran(1.5)
    timeline = one(tmp_path, samples, reads(0), process=process)
    assert (timeline.begin_ns, timeline.end_ns) == (0, 1_500 * MS)
    assert timeline.tracks[0].total(0, timeline.bins) == pytest.approx(1500 * 64, rel=1e-3)


def test_lanes_of_different_paces_share_the_grid(tmp_path: Path) -> None:
    slow = Made([energy(0)], sampled([lambda _: 1e6], [energy(0)], every(S, 4 * S)), S, "slow")
    fast = Made([reads(0)], sampled([lambda _: 1e3], [reads(0)], every(10 * MS, 4 * S)))
    timeline = made(profile(tmp_path, fast, slow))
    assert timeline.bins == 400
    assert timeline.values(timeline.tracks[1]) == pytest.approx([1.0] * 400)


def test_one_lane_missing_leaves_the_others(tmp_path: Path) -> None:
    samples = sampled([lambda _: 1e3], [reads(0)], every(10 * MS, S))
    run = profile(tmp_path, Made([reads(0)], samples), Made([writes(0)], samples, name="gone"))
    (tmp_path / "gone.lane").unlink()
    timeline, notes = timeline_of(run)
    assert timeline is not None
    assert [traced.track.name for traced in timeline.tracks] == ["memory read, socket 0"]
    assert "gone.lane: cannot be opened" in notes[0]


def test_stamps_that_run_backwards_are_left_out(tmp_path: Path) -> None:
    good: list[Sample] = [[at * MS, at * MS, at] for at in range(100)]
    bad: list[Sample] = [[(50 - at) * MS, (50 - at) * MS, at] for at in range(50)]
    timeline, notes = timeline_of(profile(tmp_path, Made([reads(0)], [*good, *bad], MS)))
    assert timeline is not None
    assert timeline.end_ns == 99 * MS
    assert any("run backwards" in note for note in notes)


def test_nothing_read_is_no_timeline(tmp_path: Path) -> None:
    assert timeline_of(profile(tmp_path, Made([reads(0)], [])))[0] is None
    assert timeline_of(profile(tmp_path))[0] is None


def names(*counters: Counter) -> list[str]:
    return [track.name for track in _tracks(*counters)]


def _tracks(*counters: Counter) -> list[Track]:
    return distinct(tracks_of(CounterSet(counters="a", slots=99, of=list(counters))))


def test_controllers_are_added_by_socket_and_nothing_else() -> None:
    second = reads(1, name="perf:uncore_imc/read/@uncore_imc_1", instance="uncore_imc_1")
    far = reads(2, name="perf:uncore_imc/read/@uncore_imc_8", socket=1)
    found = _tracks(reads(0), second, far, writes(3))
    assert [(track.name, len(track.counters)) for track in found] == [
        ("memory read, socket 0", 2),
        ("memory read, socket 1", 1),
        ("memory write, socket 0", 1),
    ]
    assert found[0].panel == found[2].panel != found[1].panel


def test_what_may_count_the_same_twice_is_never_added() -> None:
    free = reads(
        1, name="perf:uncore_imc_free_running/data_read/@0", event="perf:uncore_imc_free_running/x/"
    )
    through_daemon = reads(2, name="pcp:a.read@0", event="pcp:a.read", back_end="pcp")
    modelled = reads(3, name="modelled:read_bytes@all", basis="modelled", back_end="modelled")
    found = names(reads(0), free, through_daemon, modelled)
    assert len(found) == len(set(found)) == 4
    assert "memory read, modelled, socket 0" in found


def test_zones_of_energy_are_apart_and_processes_together() -> None:
    inner = energy(1)
    core = Counter(**{field: getattr(inner, field) for field in inner.__struct_fields__}
                   | {"name": "powercap:intel-rapl:0:0@core", "instance": "core"})  # fmt: skip
    assert names(energy(0), core, cpu_time(2)) == ["power, package-0", "power, core", "CPU use"]
    assert names(of_process(0, "page_faults"), of_process(1, "used_bytes", "B")) == [
        "page faults",
        "resident memory",
    ]
