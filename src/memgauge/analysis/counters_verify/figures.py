"""What each event counted of each load, round by round, beside an idle time of equal length."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_of
from memgauge.analysis.figures.speeds import moved_bytes
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import paired
from memgauge.model.counting.events import Counter, Quantity
from memgauge.model.counting.readings import counted
from memgauge.model.loads import COPY, READ
from memgauge.model.points.counters_verify import VerifyActual, VerifyRequested
from memgauge.model.record_kinds.counters import CounterSet, RegionReading
from memgauge.model.records import Point, Sample
from memgauge.model.run import Run


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """Whose CPUs made a load, and whose memory it went to."""

    load: str
    cpu_node: int
    memory_node: int
    socket: int | None
    """Of the memory; None where the system does not report it, and of a GPU's."""
    gpu: str = ""
    """The placement of the GPU that made it in its own memory; empty: CPUs did."""
    bytes: int | None = None
    """Of the GPU's memory that it walks over, where several sizes are compared."""

    @property
    def is_local(self) -> bool:
        """Whether the CPUs' own memory was used."""
        return self.cpu_node == self.memory_node


class RoundCount(msgspec.Struct, frozen=True, kw_only=True):
    """What one event counted around one region."""

    round: int
    read_bytes: int
    """Known: by the program's own count; so are the next."""
    write_bytes: int
    loaded: Mapping[str, float]
    """Bytes by name of counter; one that could not be read is not in it."""
    idle: Mapping[str, float]
    """In the idle time beside it, for as long as the region took."""
    region_s: float
    went_back: Collection[str] = ()
    """Counters whose raw value decreased, without a known wrap and without a restart."""

    def beyond_idle(self, names: Sequence[str]) -> float | None:
        """Bytes of these counters, idle traffic subtracted; None where one could not be read."""
        if not all(name in self.loaded and name in self.idle for name in names):
            return None
        return sum(self.loaded[name] - self.idle[name] for name in names)


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One event under one load, over all rounds."""

    where: Where
    quantity: Quantity
    """What the event claims to count."""
    rounds: list[RoundCount]
    is_estimate: bool
    """Whether a counter shared its hardware: its values are scaled up."""

    @property
    def names(self) -> list[str]:
        """Counters that were read in every round."""
        if not self.rounds:
            return []
        return [
            name for name in self.rounds[0].loaded if all(name in c.loaded for c in self.rounds)
        ]

    def known(self, count: RoundCount) -> int:
        """Bytes that the load surely moved: what it read, or what it wrote.

        Of a copy, those of the event's own direction.
        """
        if self.where.load == COPY and self.quantity == "traffic_bytes":
            return count.read_bytes + count.write_bytes
        is_read = self.where.load == READ or (
            self.where.load == COPY and self.quantity == "read_bytes"
        )
        return count.read_bytes if is_read else count.write_bytes

    def ratios(self, names: Sequence[str]) -> dict[int, float]:
        """Counted over known bytes, by round."""
        found = {}
        for count in self.rounds:
            beyond = count.beyond_idle(names)
            if beyond is not None and self.known(count):
                found[count.round] = beyond / self.known(count)
        return found

    def ratio(self, names: Sequence[str]) -> Estimate | None:
        """Its median and interval; None with too few rounds."""
        return paired(list(self.ratios(names).values()))

    def idle_gb_per_s(self, names: Sequence[str]) -> Estimate | None:
        """What the event counts while nothing is done here."""
        rates = [
            sum(count.idle[name] for name in names) / count.region_s * 1e-9
            for count in self.rounds
            if all(name in count.idle for name in names)
        ]
        return paired(rates)

    def counts_nothing(self, names: Sequence[str]) -> bool:
        """Whether the raw counts of every region are zero."""
        seen = [c.loaded[name] for c in self.rounds for name in names if name in c.loaded]
        return bool(seen) and not any(seen)


class EventSeries(msgspec.Struct, frozen=True, kw_only=True):
    """Events that add up to all traffic in their direction, with what was counted; often one."""

    events: list[str]
    counters: list[Counter]
    of: list[Series]

    @property
    def names(self) -> list[str]:
        """Its counters."""
        return [counter.name for counter in self.counters]

    def shown(self, name: str) -> str:
        """A counter by its instance, and its event where there are several."""
        if len(self.events) > 1:
            return name
        return next((c.instance for c in self.counters if c.name == name), name)

    @property
    def quantity(self) -> str:
        """What it claims to count."""
        return self.counters[0].quantity

    def under(self, load: str, *, local: bool = True) -> list[Series]:
        """Its series under a load; of memory without CPUs, those of the CPUs that used it."""
        mine = [one for one in self.of if one.where.load == load]
        near = {one.where.memory_node for one in mine if one.where.is_local}
        return [
            one
            for one in mine
            if local == (one.where.is_local or one.where.memory_node not in near)
        ]


def event_series(run: Run, experiment: str) -> list[EventSeries]:
    """All events that were opened for its points, in the order in which they were."""
    found: list[EventSeries] = []
    if not run.points_of(experiment):
        return found
    for made in run.counters.values():
        together: dict[tuple[str, str, str], list[Counter]] = {}
        for counter in made.of:
            key = (counter.back_end, counter.quantity, counter.way or counter.event)
            together.setdefault(key, []).append(counter)
        for counters in together.values():
            of = [
                _series(run, point, made, counters)
                for point in run.points_of(experiment)
                if any(_read_by(sample, made) for sample in run.counted_samples_of(point.point))
            ]
            events = list(dict.fromkeys(counter.event for counter in counters))
            found.append(EventSeries(events=events, counters=counters, of=of))
    return found


def _read_by(sample: Sample, made: CounterSet) -> bool:
    return sample.reading is not None and sample.reading.counters == made.counters


def _series(run: Run, point: Point, made: CounterSet, counters: Sequence[Counter]) -> Series:
    rounds: list[RoundCount] = []
    is_estimate = False
    for sample in run.counted_samples_of(point.point):
        if _read_by(sample, made) and sample.reading is not None and sample.idle is not None:
            loaded = dict(_bytes(counters, sample.reading))
            idle = dict(_bytes(counters, sample.idle))
            region_ns, idle_ns = duration_ns(sample.reading), duration_ns(sample.idle)
            if region_ns <= 0 or idle_ns <= 0:
                continue
            is_estimate |= any(shared for _, shared in (*loaded.values(), *idle.values()))
            read_bytes, write_bytes = moved_bytes(sample)
            rounds.append(
                RoundCount(
                    round=sample.round,
                    read_bytes=read_bytes,
                    write_bytes=write_bytes,
                    loaded={name: value for name, (value, _) in loaded.items()},
                    idle={name: value * region_ns / idle_ns for name, (value, _) in idle.items()},
                    region_s=region_ns * 1e-9,
                    went_back=[c.name for c in counters if _decreased(c, sample.reading)],
                )
            )
    return Series(
        where=where_of(run, point),
        quantity=counters[0].quantity,
        rounds=rounds,
        is_estimate=is_estimate,
    )


def _decreased(counter: Counter, reading: RegionReading) -> bool:
    early, late = reading.before[counter.slot], reading.after[counter.slot]
    slot = counter.generation_slot
    restarted = slot is not None and reading.before[slot] != reading.after[slot]
    if early is None or late is None or counter.wraps_at is not None:
        return False
    return late < early and not restarted


def _bytes(
    counters: Sequence[Counter], reading: RegionReading
) -> Iterator[tuple[str, tuple[float, bool]]]:
    for counter in counters:
        found = counted(counter, reading.before, reading.after)
        if found is not None:
            yield counter.name, (found.value, found.is_estimate)


def duration_ns(reading: RegionReading) -> float:
    """From the middle of the reading before to that of the reading after."""
    return (sum(reading.after_ns) - sum(reading.before_ns)) / 2


def where_of(run: Run, point: Point) -> Where:
    """Who made the load of a point, and in which memory."""
    requested, gpu = VerifyRequested.of(point.requested), gpu_of(point)
    memory_node = requested.memory_node or 0
    sockets = {cpu.socket for cpu in run.start.system.cpus if cpu.node == memory_node}
    return Where(
        load=requested.load,
        cpu_node=requested.cpu_node or 0,
        memory_node=memory_node,
        socket=sockets.pop() if len(sockets) == 1 and not gpu else None,
        gpu=gpu,
        bytes=VerifyActual.of(point.actual).traffic_bytes if gpu else None,
    )
