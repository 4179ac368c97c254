"""A run in memory: its records sorted by kind. Nothing is computed here."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.record_kinds.programs import Process, Referenced, Region, SampledRegions
from memgauge.model.record_kinds.replayed import Replayed
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import (
    AnyRecord,
    Environment,
    MeasuredCurve,
    MeasuredReach,
    MeasuredWeights,
    Point,
    RunEnd,
    RunStart,
    Sample,
    Validation,
    Warning,
)
from memgauge.model.rules import StreamRules


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All records of a run; lists are in the order of writing. Its texts are untrusted."""

    directory: Path
    """Directory of its files; the working directory for a run that was never written."""
    starts: list[RunStart]
    """The first record and one for each resumption; never empty."""
    points: dict[str, Point]
    samples: dict[str, list[Sample]]
    """Samples by name of point; a point without samples has an empty list."""
    legs: dict[str, list[int]]
    """Beside `samples`: the index in `starts` of the leg each was taken in. Stamps of different
    legs are on different clocks."""
    environment: list[Environment]
    environment_legs: list[int]
    """Beside `environment`: as in `legs`."""
    validations: list[Validation]
    warnings: list[Warning]
    counters: dict[str, CounterSet]
    """Counter sets by name; the latest if a resumption declared one again."""
    counter_legs: dict[str, int]
    """The leg that declared each counter set, by name of the set."""
    lanes: list[Lane]
    processes: list[Process]
    """The latest of each process, by its pid and begin."""
    regions: list[Region]
    machines: dict[str, SimulatedMachine]
    """Whose caches were simulated, by name."""
    simulated: dict[str, dict[str, Simulated]]
    """By name of point and of machine; the latest of each."""
    curves: list[MeasuredCurve]
    """Latency beside bandwidth by an earlier run that was named."""
    replays: list[Replayed]
    """The profile that is replayed; at most one."""
    reaches: list[MeasuredReach]
    """How far the TLB reaches, by the same."""
    weights: list[MeasuredWeights]
    """Of interleaved nodes, by an earlier run that was named."""
    referenced: list[Referenced]
    """Of a program under diagnosis, one for each leg at most."""
    sampled_regions: list[SampledRegions]
    """Of such a program too, by counters as they were declared latest; one at most."""
    end: RunEnd | None
    """None if the run was killed, or is still being written."""
    notes: list[str]
    """Notes on what the reader had to leave out."""

    @property
    def start(self) -> RunStart:
        """How the run began."""
        return self.starts[0]

    @property
    def parameters(self) -> dict[str, dict[str, Scalar]]:
        """Requested parameters by experiment as text, for `memgauge.model.parameters.build`."""
        return self.start.parameters

    @property
    def rounds(self) -> int:
        """Rounds begun, over all resumptions: one more than the highest round of a sample."""
        return max((s.round + 1 for samples in self.samples.values() for s in samples), default=0)

    def samples_of(self, point: str) -> list[Sample]:
        """Samples of a point in their order; empty if it has none or is unknown."""
        return self.samples.get(point, [])

    def counted_samples_of(self, point: str) -> list[Sample]:
        """Samples of a point with a reading of counters as they were declared latest.

        Readings of earlier legs are left out: a resumption may have opened others in their slots.
        """
        return [
            sample
            for sample, leg in zip(self.samples_of(point), self.legs.get(point, []), strict=True)
            if sample.reading is not None and self.counter_legs[sample.reading.counters] == leg
        ]

    def points_of(self, experiment: str) -> list[Point]:
        """Points of an experiment in the order of declaration."""
        return [point for point in self.points.values() if point.experiment == experiment]


def run_of(
    records: Iterable[AnyRecord], notes: Iterable[str] = (), directory: Path = Path()
) -> Run:
    """Build a run from records.

    Args:
        records: Records in the order of writing.
        notes: What the reader had to leave out; read after the last record.
        directory: Directory of the run's files; the default is for a run that was never written.

    Raises:
        ValueError: there is no record, or the records break the rules of the stream.
    """
    rules = StreamRules()
    run = Run(
        directory=directory,
        starts=[],
        points=rules.points,
        samples={},
        legs={},
        environment=[],
        environment_legs=[],
        validations=[],
        warnings=[],
        counters={},
        counter_legs={},
        lanes=[],
        processes=[],
        regions=[],
        machines={},
        simulated={},
        curves=[],
        replays=[],
        reaches=[],
        weights=[],
        referenced=[],
        sampled_regions=[],
        end=None,
        notes=[],
    )
    end: RunEnd | None = None
    for record in records:
        rules.check(record)
        end = record if isinstance(record, RunEnd) else end
        if isinstance(record, RunStart):
            end = None
        _file(run, record)
    if not run.starts:
        raise ValueError("contains no record")
    return msgspec.structs.replace(run, end=end, notes=[*notes], processes=_latest(run.processes))


def _latest(processes: list[Process]) -> list[Process]:
    """What was recorded last of each process, in that order."""
    found: dict[tuple[int, int], Process] = {}
    for one in processes:
        found.pop((one.pid, one.begin_ns), None)
        found[one.pid, one.begin_ns] = one
    return [*found.values()]


def _file(run: Run, record: AnyRecord) -> None:
    match record:
        case RunStart():
            run.starts.append(record)
        case Point():
            run.samples.setdefault(record.point, [])
            run.legs.setdefault(record.point, [])
        case Sample():
            run.samples[record.point].append(record)
            run.legs[record.point].append(len(run.starts) - 1)
        case Environment():
            run.environment.append(record)
            run.environment_legs.append(len(run.starts) - 1)
        case Validation():
            run.validations.append(record)
        case Warning():
            run.warnings.append(record)
        case CounterSet():
            run.counters[record.counters] = record
            run.counter_legs[record.counters] = len(run.starts) - 1
            # A resumption may have opened other counters in the same slots.
            kept = [one for one in run.sampled_regions if one.counters != record.counters]
            run.sampled_regions[:] = kept
        case SimulatedMachine():
            run.machines[record.machine.name] = record
        case Simulated():
            run.simulated.setdefault(record.point, {})[record.machine] = record
        case Lane() | Process() | Region() | Referenced() | SampledRegions():
            _file_program(run, record)
        case MeasuredCurve() | MeasuredReach() | MeasuredWeights() | Replayed():
            _file_named(run, record)
        case RunEnd():
            pass


def _file_program(run: Run, record: Lane | Process | Region | Referenced | SampledRegions) -> None:
    match record:
        case Lane():
            run.lanes.append(record)
        case Process():
            run.processes.append(record)
        case Region():
            run.regions.append(record)
        case Referenced():
            run.referenced.append(record)
        case SampledRegions():
            run.sampled_regions[:] = [record]


def _file_named(
    run: Run, record: MeasuredCurve | MeasuredReach | MeasuredWeights | Replayed
) -> None:
    match record:
        case MeasuredCurve():
            run.curves.append(record)
        case MeasuredReach():
            run.reaches.append(record)
        case MeasuredWeights():
            run.weights.append(record)
        case Replayed():
            run.replays.append(record)
