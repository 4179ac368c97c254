"""What a profile is said to be: phases where they were put, words only from tracks that exist."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.analysis.profile.runs import (
    MS,
    Made,
    Rate,
    S,
    cpu_time,
    energy,
    every,
    gpu_power,
    network,
    of_process,
    profile,
    ran,
    reads,
    sampled,
    steps,
    writes,
)

from memgauge.analysis.profile.messages import looks_like
from memgauge.analysis.profile.phases import Activity, Phase
from memgauge.analysis.profile.section import Profile, profile_of
from memgauge.analysis.profile.tables import BARS, GAP, bars_of
from memgauge.analysis.profile.timeline import MOST_BINS
from memgauge.analysis.profile.units import shown_unit
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Report, Section
from memgauge.model.counting.events import Counter, EventVerdict
from memgauge.model.run import Run
from memgauge.model.storage.run_reader import read_run

if TYPE_CHECKING:
    from tests.unit.model.storage.lanes import Sample

GB = 1e9 / 64
"""Raw counts a second of 1 GB/s."""


def noisy(rate: Rate, share: float = 0.05, seed: int = 1) -> Rate:
    rng = random.Random(seed)
    return lambda at: max(0.0, rate(at) * (1 + rng.gauss(0, share)))


def run_of_tracks(directory: Path, seconds: float, *tracks: tuple[Counter, Rate]) -> Run:
    counters = [counter for counter, _ in tracks]
    samples = sampled([rate for _, rate in tracks], counters, every(10 * MS, round(seconds * S)))
    return profile(directory, Made(counters, samples), process=ran(seconds))


def begins(found: Profile) -> list[float]:
    return [round(phase.begin_s, 3) for phase in found.phases]


def test_phases_are_found_exactly_where_they_begin(tmp_path: Path) -> None:
    """A rank of a 3-D FFT on a GPU: copy in, compute, copy out, re-sort, exchange, re-sort."""
    ends = [0.5, 0.9, 1.4, 2.3, 3.1, 3.7]
    read_gb, write_gb = [9, 0.3, 0.8, 8, 2, 7], [0.5, 0.2, 8, 4, 2, 7]
    watts, net_mb = [45, 240, 45, 40, 40, 40], [0, 0, 0, 0, 900, 0]

    def track(levels: list[float], unit: float) -> Rate:
        return noisy(steps(*((end, level * unit) for end, level in zip(ends, levels, strict=True))))

    run = run_of_tracks(
        tmp_path,
        3.7,
        (reads(0), track([*read_gb], GB)),
        (writes(1), track([*write_gb], GB)),
        (gpu_power(2), track([*watts], 1000)),
        (network(3), track([*net_mb], 1e6)),
    )
    found = profile_of(run)
    assert begins(found) == [0.0, *ends[:-1]]
    said = [looks_like(found.phases, at) or "" for at in range(6)]
    assert "like copying to it" in said[0]
    assert "between copying in and out: like offloading" in said[1]
    assert "like copying back from it" in said[2]
    assert "about twice as many reads as writes" in said[3]
    assert "network busy: like communication" in said[4]
    assert "as many reads as writes" in said[5]


@pytest.mark.parametrize("seed", range(12))
def test_noise_alone_is_one_phase(tmp_path: Path, seed: int) -> None:
    tracks: list[tuple[Counter, Rate]] = [
        (reads(0), noisy(lambda _: 4 * GB, 0.2, seed)),
        (writes(1), noisy(lambda _: 2 * GB, 0.2, seed + 100)),
        (cpu_time(2), noisy(lambda _: 0.9e9, 0.1, seed + 200)),
        (energy(3), noisy(lambda _: 60e6, 0.05, seed + 300)),
        (of_process(4, "context_switches"), noisy(lambda _: 400, 0.5, seed + 400)),
    ]
    assert begins(profile_of(run_of_tracks(tmp_path, 6, *tracks))) == [0.0]


def test_memory_that_fills_evenly_is_one_phase(tmp_path: Path) -> None:
    grows = (of_process(0, "used_bytes", "B"), lambda at: 50e6 + 500e6 * min(at, 3.0))
    faults = (of_process(1, "page_faults"), steps((3.0, 122_000.0), (6.0, 0.0)))
    found = profile_of(run_of_tracks(tmp_path, 6, grows, faults))
    assert begins(found) == [0.0, 3.0]
    assert "allocating and first touch" in (looks_like(found.phases, 0) or "")
    assert looks_like(found.phases, 1) == "no more page faults"


def test_memory_taken_at_once_begins_a_phase(tmp_path: Path) -> None:
    taken = (of_process(0, "used_bytes", "B"), steps((2.0, 10e6), (4.0, 90e6), (6.0, 12e6)))
    busy = (cpu_time(1), noisy(lambda _: 0.9e9))
    found = profile_of(run_of_tracks(tmp_path, 6, taken, busy))
    assert begins(found) == pytest.approx([0.0, 2.0, 4.0], abs=0.051)


def test_parts_are_not_added_to_the_whole(tmp_path: Path) -> None:
    """As `proc` counts CPU time: user and kernel are parts of it; perf counts it once more."""
    whole = of_process(0, "time", "s", 1e-9)
    parts = [
        msgspec.structs.replace(whole, name=f"{event}@tree", event=event, slot=slot, back_end=by)
        for slot, (event, by) in enumerate(
            [("proc:user_time", "proc"), ("proc:system_time", "proc"), ("perf:task-clock", "perf")],
            start=1,
        )
    ]
    cpu = msgspec.structs.replace(whole, name="proc:cpu_time@tree", event="proc:cpu_time")
    tracks = [(one, lambda _: 0.5e9) for one in (cpu, *parts)]
    (phase,) = profile_of(run_of_tracks(tmp_path, 2, *tracks)).phases
    assert phase.activity.cpu_cores == pytest.approx(0.5, rel=0.02)


def test_an_hour_is_reduced_to_a_bounded_number_of_bins(tmp_path: Path) -> None:
    """At one reading a second, so that the file is quickly made; bins do not grow with it."""
    counters = [reads(0), writes(1)]
    hour = steps((1200, 8 * GB), (2400, 1 * GB), (3600, 8 * GB))
    samples = sampled([hour, noisy(lambda _: 3 * GB)], counters, every(S, 3600 * S))
    run = profile(tmp_path, Made(counters, samples, S), process=ran(3600))
    found = profile_of(run)
    assert found.timeline is not None
    assert found.timeline.bins <= MOST_BINS
    assert [phase.begin_s for phase in found.phases] == pytest.approx([0, 1200, 2400], abs=9)
    chart = analyse_run(run).sections[0].charts[0]
    assert sum(len(series.x) for series in chart.series) <= 16_000


def section_of(report: Report) -> Section:
    (section,) = report.sections
    return section


def texts(run: Run) -> list[str]:
    return [verdict.text for verdict in section_of(analyse_run(run)).verdicts]


def simple(tmp_path: Path, **more: object) -> Run:
    counters = [reads(0), cpu_time(1)]
    rates: list[Rate] = [lambda _: GB, lambda _: 0.5e9]
    made = Made(counters, sampled(rates, counters, every(10 * MS, S)))
    return profile(tmp_path, made, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("process", "said"),
    [
        (ran(1.0), "app --fast (pid 77) exited with 0 after 1.00 s."),
        (ran(1.0, 3), "exited with 3"),
        (ran(1.0, None, 9), "was ended by signal 9"),
        (ran(None, None), "still ran when profiling ended"),
    ],
)
def test_how_the_program_ended_is_said(tmp_path: Path, process: object, said: str) -> None:
    assert any(said in text for text in texts(simple(tmp_path, process=process)))


def test_a_killed_run_is_reported_on(tmp_path: Path) -> None:
    simple(tmp_path, killed=True, process=ran(None, None))
    with (tmp_path / "fast.lane").open("r+b") as file:
        file.truncate(file.seek(0, 2) - 7)
    run = read_run(tmp_path)
    said = texts(run)
    assert any("Profiling was killed" in text for text in said)
    assert not any("still ran" in text for text in said)
    (torn,) = [text for text in said if "a block torn while written" in text]
    assert torn.startswith("fast.lane: "), "a file's name stays as it is"
    assert json_document(run).end is None
    assert section_of(analyse_run(run)).tables[0].rows


def test_the_page_begins_with_the_program_its_traffic_and_its_phases(tmp_path: Path) -> None:
    program, memory, phases = section_of(analyse_run(simple(tmp_path, process=ran(1.0)))).opening
    assert program.detail.startswith("app --fast (pid 77) exited with 0 after 1.00 s")
    assert memory.label == "Memory"
    (read,) = (one for one in memory.figures if "read" in one.name)
    assert read.value == pytest.approx(1.0, rel=0.02)
    assert phases.detail == "no change of phase stands out from the noise of the tracks"


def test_how_the_program_of_a_killed_profile_ended_is_not_known(tmp_path: Path) -> None:
    run = simple(tmp_path, killed=True, process=ran(None, None))
    labels = [one.label for one in section_of(analyse_run(run)).opening]
    assert labels == ["Memory", "Phases"]


def test_a_run_without_readings_says_so(tmp_path: Path) -> None:
    run = profile(tmp_path, process=ran(1.0))
    assert any("there is no timeline" in text for text in texts(run))
    assert analyse_run(run).title == "Profile of a program"


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    said = texts(simple(tmp_path))
    assert any(
        text == "Not on this timeline: GPU, power of the processors, network." for text in said
    )


def test_sampling_that_lags_is_said(tmp_path: Path) -> None:
    stamps = [at * 10 * MS + (at // 5) * 40 * MS for at in range(100)]
    samples = sampled([lambda _: GB], [reads(0)], stamps)
    run = profile(tmp_path, Made([reads(0)], samples))
    assert any("of fast did not keep pace" in text for text in texts(run))
    assert any("Sampling of fast kept pace" in text for text in texts(simple(tmp_path)))


def verdict(word: str) -> EventVerdict:
    return EventVerdict(
        event="perf:uncore_imc/read/",
        verdict=word,  # type: ignore[arg-type]
        evidence="ratio 0.50",
        machine="m",
        kernel="k",
        made_at="2026-01-01T00:00:00Z",
    )


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("verified", "Counters were verified on this machine: perf:"),
        ("mis-scaled", ", which was found mis-scaled on"),
        ("dead", ", which was found dead on"),
        (None, "Never verified on this machine and kernel: perf:"),
    ],
)
def test_what_verification_said_stands_beside_the_figures(
    tmp_path: Path, word: str | None, said: str
) -> None:
    counter = reads(0, verdict=verdict(word) if word else None)
    samples = sampled([lambda _: GB], [counter], every(10 * MS, S))
    run = profile(tmp_path, Made([counter], samples))
    report = analyse_run(run)
    assert any(said in verdict.text for verdict in report.verdicts)
    table = next(t for t in section_of(report).tables if t.name == "profile-counters")
    assert table.rows[0][2] == (word or "never verified")


def test_a_restarted_counter_is_said(tmp_path: Path) -> None:
    samples = [[at * MS, at * MS, at if at < 500 else at - 500] for at in range(1000)]
    run = profile(tmp_path, Made([reads(0)], samples, MS))  # type: ignore[arg-type]
    assert any("the counter decreased 1 time" in text for text in texts(run))


ACTIVITIES = st.builds(
    Activity,
    **{
        name: st.one_of(st.none(), st.floats(0, 1e12))
        for name in Activity.__struct_fields__
        if name != "resident_growth_bytes_per_s"
    },
    resident_growth_bytes_per_s=st.one_of(st.none(), st.floats(-1e12, 1e12)),
)
NEEDS: dict[str, tuple[str, ...]] = {
    " reads": ("read_bytes_per_s", "write_bytes_per_s"),
    " writes": ("read_bytes_per_s", "write_bytes_per_s"),
    "network": ("network_bytes_per_s",),
    "GPU": ("gpu_power_w",),
    "CPU": ("cpu_cores",),
    "waiting for a processor": ("cpu_cores", "waiting_threads"),
    "page faults": ("page_faults_per_s",),
    "resident": ("resident_growth_bytes_per_s",),
    "context switches": ("switches_per_s",),
}


def phases(*activities: Activity) -> list[Phase]:
    return [
        Phase(
            number=at + 1,
            begin_bin=at,
            end_bin=at + 1,
            begin_s=at,
            begin_low_s=at,
            begin_high_s=at,
            end_s=at + 1,
            activity=one,
        )
        for at, one in enumerate(activities)
    ]


def test_only_memory_that_shrinks_throughout_is_given_back() -> None:
    shrinks = Activity(cpu_cores=0.9, resident_growth_bytes_per_s=-70e6, resident_bytes=40e6)
    at_once = msgspec.structs.replace(shrinks, resident_bytes=9e6)
    assert looks_like(phases(shrinks), 0) == "resident memory shrinks: memory is released"
    assert looks_like(phases(at_once), 0) == "about 0.9 cores busy"


def test_threads_that_wait_for_a_processor_are_not_idle() -> None:
    idle = Activity(cpu_cores=0.1, waiting_threads=0.0)
    starved = msgspec.structs.replace(idle, waiting_threads=0.9)
    busy = Activity(cpu_cores=4.0, waiting_threads=0.3)
    assert looks_like(phases(idle), 0) == "CPU mostly idle"
    assert (looks_like(phases(starved), 0) or "").startswith("waiting for a processor: 0.9 threads")
    assert looks_like(phases(busy), 0) == "about 4.0 cores busy"


@given(st.lists(ACTIVITIES, min_size=1, max_size=5))
@settings(max_examples=300)
def test_words_come_only_from_tracks_that_exist(activities: list[Activity]) -> None:
    made = phases(*activities)
    for at, activity in enumerate(activities):
        said = looks_like(made, at) or ""
        for word, fields in NEEDS.items():
            if word in said:
                assert all(getattr(activity, field) is not None for field in fields) or (
                    word == "GPU" and any(one.gpu_power_w is not None for one in activities)
                )


def test_no_track_says_nothing() -> None:
    assert looks_like(phases(Activity()), 0) is None
    assert looks_like(phases(Activity(cpu_cores=0.0)), 0) == "CPU idle: waiting"


def test_small_traffic_is_no_signature() -> None:
    busy = Activity(read_bytes_per_s=9e9, write_bytes_per_s=9e9, traffic_bytes_per_s=18e9)
    idle = Activity(read_bytes_per_s=2e8, write_bytes_per_s=1e8, traffic_bytes_per_s=3e8)
    assert "as many reads as writes" in (looks_like(phases(busy, idle), 0) or "")
    assert looks_like(phases(busy, idle), 1) is None


def test_bars_rise_with_the_value_and_gaps_stay() -> None:
    assert bars_of([0.0, 4.0, None, 8.0]) == BARS[0] + BARS[4] + GAP + BARS[-1]
    assert bars_of([0.0, 0.0]) == BARS[0] * 2
    assert bars_of([]) == ""


@pytest.mark.parametrize(
    ("unit", "largest", "shown"),
    [("B/s", 3e9, (1e-9, "GB/s")), ("1/s", 4e3, (1e-3, "10³/s")), ("W", 4e3, (1.0, "W"))],
)
def test_units_fit_the_values(unit: str, largest: float, shown: tuple[float, str]) -> None:
    assert shown_unit(unit, largest) == shown


def test_the_document_holds_phases_tracks_and_totals(tmp_path: Path) -> None:
    found = msgspec.to_builtins(json_document(simple(tmp_path, process=ran(1.0))))["profile"]
    assert found["phases"][0]["duration_s"] == pytest.approx(1.0)
    assert found["phases"][0]["activity"]["read_bytes_per_s"] == pytest.approx(1e9, rel=0.02)
    assert found["tracks"][0]["name"] == "memory read, socket 0"
    assert found["tracks"][0]["total"] == pytest.approx(1e9, rel=0.02)
    assert found["paces"][0]["late"] == 0


Change = Callable[[Run], Run]


@given(seed=st.integers(0, 2**32))
@example(seed=105042)  # two rates are infinite
@settings(max_examples=20)
def test_any_readings_are_analysed(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = random.Random(seed)
    counters = [
        reads(0, wraps_at=rng.choice([None, 2, 1 << 32]), scale=rng.choice([64.0, 1e300])),
        gpu_power(1),
        of_process(2, "used_bytes", "B"),
    ]
    at = 0
    samples: list[Sample] = []
    for _ in range(rng.randrange(60)):
        at += rng.choice([0, 1, MS, 1 << 50])
        raw = [rng.choice([None, 0, rng.randrange(1 << 62)]) for _ in counters]
        samples.append([at, at + rng.randrange(1000), *raw])
    directory = tmp_path_factory.getbasetemp()
    run = profile(directory, Made(counters, samples, 1), process=ran(1e-9))
    analyse_run(run)
    msgspec.json.encode(json_document(run))
