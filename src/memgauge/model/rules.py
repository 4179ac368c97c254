"""Rules on which records may follow which. The writer follows them and the reader enforces them."""

from collections.abc import Iterable
from itertools import chain, pairwise

import msgspec

from memgauge.model.record_kinds.counters import CounterSet, Lane, RegionReading
from memgauge.model.record_kinds.fields import LARGEST_INTEGER
from memgauge.model.record_kinds.programs import SampledRegions
from memgauge.model.record_kinds.simulated import Simulated, SimulatedMachine
from memgauge.model.records import AnyRecord, Point, RunEnd, RunStart, Sample
from memgauge.model.text import quoted

MOST_LANES = 64
"""Most lanes of a run: a profile has one for all fast counters, and one for each slow source."""


class StreamRules:
    """Follows a stream of records; `check` raises ValueError for a record out of place.

    A run begins with a `run` record. After an `end` only a resumption may follow, on the same
    machine. A point is declared once before its samples, and may be declared again by a resumption
    if its work is the same. A sample has as many threads as its point, and every iteration of it
    took time. It may sum up some threads, never all, and none whose work lies in a window. Counters
    are declared before they are read, and a reading has all their slots; a resumption may declare
    them anew. Each lane has a file of its own; stamps of readings that a record holds rise. A
    machine is declared before what is simulated of it.
    """

    def __init__(self) -> None:
        self.points: dict[str, Point] = {}
        self._start: RunStart | None = None
        self._ended = False
        self._declared: set[str] = set()
        self._sets: dict[str, CounterSet] = {}
        self._machines: set[str] = set()
        self._lanes: set[str] = set()

    def check(self, record: AnyRecord) -> None:
        """Check the next record and remember it; raises ValueError if it may not come here."""
        if isinstance(record, RunStart):
            self._check_start(record)
        elif self._start is None:
            raise ValueError("comes before the record that starts the run")
        elif self._ended:
            raise ValueError("comes after the record that ends the run")
        elif isinstance(record, Point):
            self._check_point(record)
        elif isinstance(record, CounterSet):
            self._check_counters(record)
        elif isinstance(record, Lane):
            self._check_lane(record)
        elif isinstance(record, Sample):
            self._check_sample(record)
        elif isinstance(record, SampledRegions):
            self._check_sampled(record)
        elif isinstance(record, SimulatedMachine):
            self._machines.add(record.machine.name)
        elif isinstance(record, Simulated):
            self._check_simulated(record)
        elif isinstance(record, RunEnd):
            self._ended = True

    def _check_start(self, start: RunStart) -> None:
        if self._start is not None:
            if not start.resumed:
                raise ValueError("starts a second run in the same stream")
            if start.system.machine_id != self._start.system.machine_id:
                raise ValueError("resumes the run on another machine")
        _check_integers(msgspec.to_builtins(start.system))
        self._start = start
        self._ended = False
        self._declared.clear()

    def _check_point(self, point: Point) -> None:
        name = quoted(point.point)
        if point.point in self._declared:
            raise ValueError(f"declares point {name} a second time")
        if point.quantity == "bandwidth" and not point.bytes_counted:
            raise ValueError(f"declares point {name} of bandwidth without bytes")
        if point.quantity == "latency" and not point.accesses:
            raise ValueError(f"declares point {name} of latency without accesses")
        if point.work == "counted" and point.quantity != "bandwidth":
            raise ValueError(f"declares point {name} of counted work that is not a bandwidth")
        leader = point.measured_with
        if leader is not None and leader not in self.points:
            raise ValueError(
                f"declares point {name} before {quoted(leader)}, with which it is measured"
            )
        before = self.points.get(point.point)
        if before is not None and work_of(before) != work_of(point):
            raise ValueError(f"declares point {name} again with other work")
        self._declared.add(point.point)
        self.points[point.point] = point

    def _check_sample(self, sample: Sample) -> None:
        name = quoted(sample.point)
        point = self.points.get(sample.point)
        if point is None:
            raise ValueError(f"is a sample of point {name}, which was not declared")
        recorded = len(sample.threads)
        if sample.others is not None:
            recorded += sample.others.threads
            if not sample.threads or point.work == "window":
                raise ValueError(f"sums up threads of point {name} whose stamps are needed")
        if recorded != point.threads:
            raise ValueError(f"has {recorded} threads where point {name} has {point.threads}")
        for thread in sample.threads:
            if len(thread.begin_ns) != len(thread.end_ns):
                raise ValueError(f"has a thread of point {name} with unequal numbers of stamps")
            if any(b >= e for b, e in zip(thread.begin_ns, thread.end_ns, strict=True)):
                raise ValueError(f"has an iteration of point {name} that took no time")
        for reading in (sample.reading, sample.idle, *(use.reading for use in sample.uses)):
            if reading is not None:
                self._check_reading(reading)

    def _check_counters(self, made: CounterSet) -> None:
        name = quoted(made.counters)
        if any(slot >= made.slots for counter in made.of for slot in counter.slots):
            raise ValueError(f"declares a counter of {name} in a slot that the set does not have")
        self._sets[made.counters] = made

    def _check_simulated(self, simulated: Simulated) -> None:
        name = quoted(simulated.point)
        if simulated.point not in self.points:
            raise ValueError(f"simulates point {name}, which was not declared")
        if simulated.machine not in self._machines:
            machine = quoted(simulated.machine)
            raise ValueError(f"simulates point {name} on {machine}, which was not declared")

    def _check_lane(self, lane: Lane) -> None:
        if lane.file in self._lanes:
            raise ValueError(f"names the file {quoted(lane.file)} of another lane")
        if len(self._lanes) == MOST_LANES:
            raise ValueError(f"is a lane beyond the limit of {MOST_LANES} per run")
        self._lanes.add(lane.file)
        if lane.counters not in self._sets:
            raise ValueError(f"samples counters {quoted(lane.counters)}, which were not declared")
        if not lane.file or "/" in lane.file or lane.file.startswith("."):
            raise ValueError(f"names a file {quoted(lane.file)} outside the run's directory")

    def _check_sampled(self, sampled: SampledRegions) -> None:
        made, name = self._sets.get(sampled.counters), quoted(sampled.counters)
        if made is None:
            raise ValueError(f"samples counters {name}, which were not declared")
        if any(len(one.values) != made.slots for one in sampled.readings):
            raise ValueError(f"samples counters {name} with another number of slots")
        middles = [(one.begin_ns + one.end_ns) >> 1 for one in sampled.readings]
        if any(late <= early for early, late in pairwise(middles)):
            raise ValueError(f"samples counters {name} with stamps that run backwards")
        spans = [*chain(*sampled.regions.values()), (sampled.begin_ns, sampled.end_ns)]
        if any(end <= begin for begin, end in spans):
            raise ValueError(f"samples counters {name} over a time that ends before it begins")

    def _check_reading(self, reading: RegionReading) -> None:
        made = self._sets.get(reading.counters)
        name = quoted(reading.counters)
        if made is None:
            raise ValueError(f"reads counters {name}, which were not declared")
        if len(reading.before) != made.slots or len(reading.after) != made.slots:
            raise ValueError(f"reads counters {name} with another number of slots")


def work_of(point: Point) -> tuple[object, ...]:
    """What all samples of a point have in common; samples of other work belong to another point."""
    return (
        point.experiment,
        point.quantity,
        point.bytes_counted,
        point.bytes_moved,
        point.accesses,
        point.threads,
        point.role,
        point.work,
        point.measured_with,
    )


def _check_integers(value: object) -> None:
    """Refuse integers beyond 64 bits anywhere in the value: arithmetic on them may overflow."""
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        raise ValueError("describes the machine with a number beyond 64 bits")
    inner: Iterable[object] = ()
    if isinstance(value, dict):
        inner = chain(value.keys(), value.values())
    elif isinstance(value, list):
        inner = value
    for item in inner:
        _check_integers(item)
