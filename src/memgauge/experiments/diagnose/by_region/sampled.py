"""One run of the program, in no other figure, in which counters are sampled beside its regions.

To sample takes time from the machine, and so from a run that is timed. The working set run is
slower than others, and the first one reads its files from disk: rates of neither are those of the
usual run. So there is one run more, where counters are verified and regions are judged.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from memgauge.counters.lanes import NS_PER_S, sampling
from memgauge.counters.opening import OpenCounters
from memgauge.experiments.diagnose.by_region.timed import RegionTimes
from memgauge.experiments.diagnose.program.program_runs import ProgramRuns
from memgauge.experiments.diagnose.program.runs import Runs
from memgauge.experiments.diagnose.treatments import NotTried, Treatment
from memgauge.model.counting.back_ends import BACK_ENDS
from memgauge.model.record_kinds.programs import SampledReading, SampledRegions
from memgauge.model.storage.lane_file import BEGIN, END, FIRST_SLOT, Block, LaneReader
from memgauge.system.environment.clock import ClockPair, on_run_clock
from memgauge.system.programs.work_directory import OUTPUT, work_directory

NAME = "traffic by region"
RATE_HZ = 100.0
"""As a profile samples unless it is told otherwise; slow sources are sampled less often."""
KEPT_EVERY_NS = 100_000_000
"""Between marks a reading is kept for so much time: no counter wraps twice in it."""


class RegionTrafficRun(msgspec.Struct, frozen=True, kw_only=True):
    """What it showed."""

    found: list[SampledRegions] = []
    not_tried: list[NotTried] = []


def region_traffic_run(
    runs: Runs,
    regions: RegionTimes | None,
    counters: OpenCounters | None,
    cpus: Sequence[int] = (),
) -> RegionTrafficRun:
    """Run the program once more and sample counters of memory traffic.

    Args:
        runs: Of the program, which has run before, with `regions`.
        regions: That are judged; None, or none chosen: nothing is run.
        counters: Verified ones; None: nothing is run.
        cpus: That the program does not use: the sampling thread runs on the first; empty: on any.

    Raises:
        SystemFailure: the program failed, or did something else than in its first run.
        KeyboardInterrupt: the program was ended.
    """
    if counters is None or regions is None or not regions.chosen:
        return RegionTrafficRun()
    if not isinstance(runs, ProgramRuns):
        return RegionTrafficRun()
    interval_ns = round(NS_PER_S / rate_hz_of(counters))
    once, cpu = Treatment(name=NAME, kind="variant"), cpus[0] if cpus else None
    with work_directory("diagnose") as directory:
        file, first = directory / f"{OUTPUT}0", ClockPair.now()
        with sampling(counters, file, interval_ns, cpu) as lane:
            run = runs.run(once, is_counted=False)
        to_run_ns = on_run_clock(first, ClockPair.now())
        if (error := lane.state().error) is not None:
            return _not_tried(f"readings could not be written: {error}")
        readings = [
            one
            for block in LaneReader(file, counters.set.slots).blocks()
            for one in readings_of(block)
        ]
    spans = {
        name: cut
        for name, of in regions.spans_of_run(to_run_ns).items()
        if (cut := _within(of, run.begin_ns, run.end_ns))
    }
    if not spans:
        return _not_tried("no region has a begin and an end in the run that was sampled")
    edges = [run.begin_ns, run.end_ns, *(at for of in spans.values() for one in of for at in one)]
    kept = beside(readings, edges)
    if len(kept) < 2:
        return _not_tried("the run that was sampled has fewer than two readings")
    made = SampledRegions(
        counters=counters.set.counters,
        interval_ns=interval_ns,
        begin_ns=run.begin_ns,
        end_ns=run.end_ns,
        readings=kept,
        regions=spans,
    )
    return RegionTrafficRun(found=[made])


def _not_tried(why: str) -> RegionTrafficRun:
    return RegionTrafficRun(not_tried=[NotTried(NAME, why)])


def rate_hz_of(counters: OpenCounters) -> float:
    """At which all of the counters may be read.

    Args:
        counters: Of any back ends.
    """
    highest = (BACK_ENDS[one.back_end].highest_rate_hz for one in counters.set.of)
    return min([RATE_HZ, *(one for one in highest if one is not None)])


def _within(spans: Iterable[tuple[int, int]], begin_ns: int, end_ns: int) -> list[tuple[int, int]]:
    """Cut to the run: two clocks agree to some ns only."""
    cut = ((max(begin, begin_ns), min(end, end_ns)) for begin, end in spans)
    return [(begin, end) for begin, end in cut if begin < end]


def readings_of(block: Block) -> list[SampledReading]:
    """The readings of a block of a lane.

    Args:
        block: Of any lane.
    """
    slots = range(FIRST_SLOT, block.columns)
    present = [block.present(slot) for slot in slots]
    columns = [block.values(slot) for slot in slots]
    begins, ends = block.values(BEGIN), block.values(END)
    return [
        SampledReading(
            begin_ns=begins[at],
            end_ns=ends[at],
            values=[
                column[at] if there is None or there[at] else None
                for column, there in zip(columns, present, strict=True)
            ],
        )
        for at in range(block.samples)
    ]


def beside(readings: Sequence[SampledReading], edges_ns: Iterable[int]) -> list[SampledReading]:
    """The last reading before each edge and the first after it, and some of the others.

    Args:
        readings: In order of time.
        edges_ns: Begins and ends of regions and of the run, in any order.
    """
    times = [(one.begin_ns + one.end_ns) >> 1 for one in readings]
    kept: set[int] = set()
    for edge_ns in edges_ns:
        after = bisect_left(times, edge_ns)
        kept.update((after - 1, after))
    last_ns = 0
    for at, time_ns in enumerate(times):
        if at in kept or time_ns - last_ns >= KEPT_EVERY_NS:
            kept.add(at)
            last_ns = time_ns
    return [one for at, one in enumerate(readings) if at in kept]
