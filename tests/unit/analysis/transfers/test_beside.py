"""What is said of the host's threads beside transfers to a GPU, on runs made by formula."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from tests.unit.analysis.cells import rows, value
from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import start
from tests.unit.analysis.tiers.runs import BYTES, cores, paced, visit, worker

from memgauge.analysis.figures.run import figures_of
from memgauge.analysis.report.document import json_document
from memgauge.analysis.report.run import analyse_run
from memgauge.analysis.section import Section
from memgauge.analysis.tiers.section import analyse
from memgauge.analysis.transfers.beside import besides, is_beside_transfers
from memgauge.model.records import AnyRecord, Point, Sample
from memgauge.model.run import Run, run_of

THREADS = 4
DIRECTIONS = {
    "host-to-device": ("host-to-device",),
    "device-to-host": ("device-to-host",),
    "both": ("host-to-device", "device-to-host"),
}
LEVEL = {"host-to-device": (18.0, 22.0), "device-to-host": (19.0, 24.0), "both": (17.0, 20.0)}
"""GB/s of a thread, of 20 alone, and of each direction, of 25 alone."""


def points(
    work: str | None, transfer: str | None, *, moved: float = 1.0, threads: int = THREADS
) -> dict[str, Point]:
    stem = f"tiers/{work or 'transfers'}/{threads}t/{transfer or 'alone'}"
    found: dict[str, Point] = {}
    requested: dict[str, object] = {
        "kernel": work,
        "threads": threads,
        "transfer": transfer,
        "gpu": "cuda:0",
    }
    if work is not None:
        found["a"] = bandwidth_point(
            f"{stem}/a",
            experiment="tiers",
            threads=threads,
            work="window",
            bytes_counted=BYTES,
            bytes_moved=round(BYTES * moved),
            requested={**requested, "group": "a", "source": "dram", "destination": "dram"},
            actual={"cpus": f"0-{threads - 1}"},
        )
    for direction in DIRECTIONS.get(transfer or "", ()):
        found[direction] = bandwidth_point(
            f"{stem}/{direction}",
            experiment="tiers",
            work="window",
            bytes_counted=BYTES,
            bytes_moved=BYTES,
            measured_with=next(iter(found.values())).point if found else None,
            requested={**requested, "group": "b", "direction": direction, "memory": "cuda:0"},
            actual={} if work is None else {"cpus": f"0-{threads - 1}"},
        )
    return found


def competing(
    levels: Mapping[str, tuple[float, float]] = LEVEL,
    *,
    works: Sequence[str] = ("copy",),
    moved: float = 1.0,
    rounds: int = 40,
    noise: float = 0.002,
    teams: Sequence[int] = (THREADS,),
) -> Run:
    """`levels` of a thread and of each direction, by transfer."""
    rng = random.Random(5)
    visits: list[tuple[dict[str, Point], float, float]] = []
    for threads in teams:
        given: dict[str, Any] = {"moved": moved, "threads": threads}
        visits += [(points(work, None, **given), 20.0, 0.0) for work in works]
        visits += [(points(None, transfer, **given), 0.0, 25.0) for transfer in levels]
        visits += [
            (points(work, transfer, **given), *levels[transfer])
            for work in works
            for transfer in levels
        ]
    records: list[AnyRecord] = [start(cores(THREADS))]
    records += [point for groups, _, _ in visits for point in groups.values()]
    for round_ in range(rounds):
        for groups, mine, its in visits:
            off = rng.gauss(1, noise)

            def durations(
                group: str, rank: int, mine: float = mine, its: float = its, off: float = off
            ) -> list[int]:
                del rank
                return paced((mine if group == "a" else its) * off)

            records += visit(groups, durations, round_)
    return run_of(records)


@pytest.fixture(scope="module")
def section() -> Section:
    return analyse(figures_of(competing()))


def test_each_keeps_a_share_of_what_it_reaches_alone(section: Section) -> None:
    (table,) = section.tables
    assert [row[3] for row in table.rows] == ["to GPU", "from GPU", "both ways"]
    titles = [column.title for column in table.columns]
    assert titles[4:9] == ["threads", "keep", "transfers", "keep", "all"]
    for row, (thread, way) in zip(table.rows, LEVEL.values(), strict=True):
        ways = 2 if row[3] == "both ways" else 1
        assert value(row[4]) == pytest.approx(THREADS * thread, rel=0.01)
        assert value(row[5]) == pytest.approx(thread / 20, rel=0.01)
        assert value(row[6]) == pytest.approx(ways * way, rel=0.01)
        assert value(row[7]) == pytest.approx(way / 25, rel=0.01)
        assert value(row[8]) == pytest.approx(THREADS * thread + ways * way, rel=0.01)


def test_the_first_sentence_answers_what_transfers_cost(section: Section) -> None:
    first = section.verdicts[0].text
    assert re.fullmatch(
        r"Transfers cost host STREAM [78]\.\d GB/s \(copy, 4 threads\): it keeps 90% \(.*\) of its "
        r"\d+\.\d GB/s alone while 2[12]\.\d GB/s are transferred \(host to device\), 0\.3\d GB/s "
        r"lost for each one transferred\.",
        first,
    )
    said = [verdict.text for verdict in section.verdicts]
    assert any(
        text.startswith("The threads cost transfers (both ways): they keep 80% (") for text in said
    )
    assert any("together move 10" in text and "both ways" in text for text in said)


def test_the_page_begins_with_what_each_keeps(section: Section) -> None:
    assert 1 <= len(section.opening) <= 5
    for line in section.opening:
        assert [figure.name for figure in line.figures] == ["threads keep", "transfers keep"]
        assert "beside each other, " in line.detail


def test_what_costs_nothing_is_said_to() -> None:
    run = competing({"host-to-device": (20.0, 25.0)})
    said = [verdict.text for verdict in analyse(figures_of(run)).verdicts]
    assert said[0].startswith("Transfers cost host STREAM nothing to speak of (copy, 4 threads)")
    assert said[1].startswith("Transfers (host to device) lose nothing to speak of")
    assert not any("together move" in text for text in said)


def test_memory_that_is_shared_byte_for_byte() -> None:
    run = competing({"host-to-device": (15.0, 20.0)})
    said = [verdict.text for verdict in analyse(figures_of(run)).verdicts]
    assert any("each byte transferred is one less for the threads" in text for text in said)
    worse = competing({"host-to-device": (12.0, 20.0)})
    said = [verdict.text for verdict in analyse(figures_of(worse)).verdicts]
    assert any("cost that memory more than their own bytes" in text for text in said)


def test_lines_that_ordinary_stores_read_first_count_as_memory_traffic() -> None:
    (one,) = besides(figures_of(competing({"host-to-device": (18.0, 22.0)}, moved=1.5)))
    assert one.moved.value == pytest.approx(1.5 * 72 + 22, rel=0.01)
    assert one.moved_alone is not None
    assert one.moved_alone.value == pytest.approx(120, rel=0.01)


def test_pictures_add_up_and_compare_kernels() -> None:
    section = analyse(figures_of(competing(works=("copy", "triad"))))
    copy, triad, keeps = section.charts
    assert [chart.kind for chart in section.charts] == ["stack", "stack", "bar"]
    assert copy.name != triad.name
    assert copy.series[0].x == ["alone", "host to device", "device to host", "both ways"]
    assert copy.series[0].y[0] == pytest.approx(80, rel=0.01)
    assert copy.series[1].y[0] == 0
    assert [series.name for series in keeps.series] == [
        "host to device",
        "device to host",
        "both ways",
    ]
    assert keeps.series[0].x == ["copy, 4 threads", "triad, 4 threads"]
    assert len(section.tables[0].rows) == 6
    said = [verdict.text for verdict in section.verdicts]
    assert sum(text.startswith("Transfers cost host STREAM") for text in said) == 3
    assert any(re.match(r"triad, 4 threads: keeps 85% .*both ways\) to 95%", text) for text in said)


def test_several_teams_are_drawn_over_their_size() -> None:
    run = competing({"both": LEVEL["both"]}, teams=(1, 2, 4), rounds=12)
    assert [one.threads for one in besides(figures_of(run))] == [1, 2, 4]
    section = analyse(figures_of(run))
    assert "(copy, 4 threads)" in section.verdicts[0].text, "the largest team first"
    chart = section.charts[-1]
    assert chart.name == "tiers-transfers-threads-copy"
    lines = {series.name: series for series in chart.series}
    assert list(lines) == ["threads alone", "threads, both ways", "transfers, both ways"]
    for name, gb_per_s in (("threads alone", 20), ("threads, both ways", 17)):
        assert lines[name].x == [1, 2, 4]
        for threads, speed in zip((1, 2, 4), lines[name].y, strict=True):
            assert speed == pytest.approx(threads * gb_per_s, rel=0.02)


def test_the_latency_meanwhile_is_told_beside_each() -> None:
    run = competing({"both": LEVEL["both"]}, rounds=20)
    truth = {
        (None, None): 90.0,
        ("copy", None): 240.0,
        (None, "both"): 120.0,
        ("copy", "both"): 310,
    }
    probes = [
        latency_point(
            f"tiers/{work}-{transfer}/latency",
            experiment="tiers",
            requested={"kernel": work, "transfer": transfer, "gpu": "cuda:0", "threads": THREADS},
        )
        for work, transfer in truth
    ]
    taken = [
        sample_of(probe, ns, round_)
        for probe, ns in zip(probes, truth.values(), strict=True)
        for round_ in range(20)
    ]
    every = [sample for samples in run.samples.values() for sample in samples]
    made = run_of([run.start, *run.points.values(), *probes, *every, *taken])
    section = analyse(figures_of(made))
    table = section.tables[1]
    assert [row[0] for row in table.rows] == [
        "nothing else",
        "copy",
        "transfers both ways",
        "copy and transfers both ways",
    ]
    assert [value(row[3]) for row in table.rows] == pytest.approx(list(truth.values()), rel=1e-3)
    assert section.verdicts[-1].text == (
        "A load from the host's memory takes 90 ns beside nothing else, 120 ns beside transfers "
        "both ways, 240 ns beside copy, 310 ns beside copy and transfers both ways."
    )


def test_facts_may_be_left_out_instead_of_null() -> None:
    run = competing(rounds=6)
    points = [
        msgspec.structs.replace(
            point, requested={k: fact for k, fact in point.requested.items() if fact is not None}
        )
        for point in run.points.values()
    ]
    assert points != list(run.points.values())
    samples = [sample for samples in run.samples.values() for sample in samples]
    assert analyse(figures_of(run_of([run.start, *points, *samples]))) == analyse(figures_of(run))


def test_a_visit_in_which_a_thread_was_switched_out_is_set_aside() -> None:
    run = competing({"both": LEVEL["both"]})
    spoiled = [
        sample if sample.point != "tiers/copy/4t/both/a" or sample.round % 4 else _slow(sample)
        for samples in run.samples.values()
        for sample in samples
    ]
    made = run_of([run.start, *run.points.values(), *spoiled])
    (one,) = besides(figures_of(made))
    assert (one.passes, one.set_aside) == (30, 10)
    assert one.host.value == pytest.approx(THREADS * 17, rel=0.01)


def _slow(sample: Sample) -> Sample:
    """One of its threads lost most of the time."""
    assert sample.window_ns is not None
    whole = sample.window_ns[1] - sample.window_ns[0]
    lost = worker(0, [whole // 10, whole], switches=1)
    return Sample(
        point=sample.point,
        round=sample.round,
        threads=[lost, *sample.threads[1:]],
        window_ns=sample.window_ns,
    )


def test_nothing_that_counts_is_said() -> None:
    section = analyse(figures_of(competing(rounds=0)))
    assert section.verdicts[0].level == "warning"
    assert section.verdicts[0].text.startswith("Threads and transfers never ran at the same time")
    assert (section.tables, section.charts) == ([], [])


def test_few_visits_claim_no_difference() -> None:
    said = [v.text for v in analyse(figures_of(competing(rounds=3))).verdicts]
    assert all("too few passes for an interval" in text for text in said)


def test_it_is_the_tiers_section_of_its_run_and_nothing_of_other_runs() -> None:
    run = competing(rounds=6)
    assert is_beside_transfers(run)
    (section,) = (one for one in analyse_run(run).sections if one.name == "tiers")
    assert section.title == "The host's bandwidth beside transfers to a GPU"
    document = json_document(run)
    assert document.tiers == []
    assert [one.transfer for one in document.beside_transfers] == list(DIRECTIONS)
    both = document.beside_transfers[-1]
    assert both.host_keeps is not None
    assert both.host_keeps.value == pytest.approx(17 / 20, rel=0.01)
    assert rows(section.tables[0])
