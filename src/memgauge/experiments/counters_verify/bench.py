"""Known traffic with counters around it, and an idle time beside each region.

Real memory traffic does not reach every counter that can be opened: those of a test tree count
system calls, and those of a guest's module what is written to it. A `Stimulus` is called between
the end of a load and the closing reading of the counters, with what the load moved, and may make
such counters count as much; it is the way to exercise them, and to inject faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from memgauge import _core
from memgauge.counters.host import Host
from memgauge.counters.opening import OpenCounters, opened
from memgauge.experiments.counters_verify.loads import Place
from memgauge.experiments.shared.base import Bench
from memgauge.experiments.shared.counted import TeamCounters, Worker
from memgauge.experiments.shared.native import to_sample, to_validation
from memgauge.model.counting.events import Event
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import Point, Sample, Validation

STEP_BYTES = 1 << 20
"""What a thread or a GPU issues is a multiple of this."""

SMALLER = 0.6
"""Bytes of every other region over those of the others. Not a half: of two regions of which one
moves twice the bytes of the other, a counter that wraps may show the same share."""

IDLE = "idle"


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What a load moved, or that nothing was done."""

    load: str
    """`read`, `write-temporal`, `write-non-temporal` or `idle`."""
    place: Place
    read_bytes: int = 0
    write_bytes: int = 0
    allocate_bytes: int = 0
    """Read too, where ordinary stores read their lines first."""


Stimulus = Callable[[Moved], None]


class Amount(msgspec.Struct, frozen=True, kw_only=True):
    """How much a load issues in one region."""

    run: Callable[[], _core.Slice]
    """Issues its bytes once, after its lead-in."""
    moved: Moved | None = None
    """For a stimulus; None of a GPU, which has none."""


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What a point does."""

    worker: Worker
    amounts: Sequence[Amount]
    """Take turns, so that a share that depends on the bytes moved is seen."""
    memory: _core.Traffic | _core.GpuTraffic | _core.LoopNest
    subject: str
    """Which memory that is."""
    turn: int = 0
    """Which group of counters is read around it."""
    lead_in: Callable[[], object] = lambda: None
    """What is done between the idle time and the opening reading, where `run` has none of it."""


def bytes_for(run: Callable[[int], _core.Slice], lead_in_bytes: int, seconds: float) -> int:
    """Bytes that a thread or a GPU issues in a given time, estimated by a short trial.

    Args:
        run: Issues so many bytes on each thread, or on the GPU, after an untimed lead-in.
        lead_in_bytes: Size of that lead-in; the trial issues as much, in whole `STEP_BYTES`.
        seconds: Time that issuing the returned bytes should take.
    """
    taken = run(max(STEP_BYTES, lead_in_bytes // STEP_BYTES * STEP_BYTES))
    begin = min(thread.begin_ns[0] for thread in taken.threads)
    took_ns = max(1, max(thread.end_ns[-1] for thread in taken.threads) - begin)
    issued = taken.threads[0].read_bytes + taken.threads[0].write_bytes
    steps = -(-int(issued * seconds * 1e9 / took_ns) // STEP_BYTES)
    return max(1, steps) * STEP_BYTES


def amounts_of(bytes_: int) -> list[int]:
    """What a thread issues in turn: all bytes, and fewer where it stays a multiple of a step."""
    smaller = int(bytes_ * SMALLER) // STEP_BYTES * STEP_BYTES
    return [bytes_, smaller] if smaller else [bytes_]


def in_turns(point: Point, load: Load, turns: int) -> Iterator[tuple[Point, Load]]:
    """The point and its load, once for each group of counters that takes its turn.

    Args:
        point: Point of the first turn; later turns append `/turn2`, `/turn3` ... to its name.
        load: Load of the first turn; later turns repeat it with another group of counters.
        turns: Number of groups of counters; 1 if all counters can be open together.
    """
    yield point, load
    for turn in range(1, turns):
        name = f"{point.point}/turn{turn + 1}"
        yield (
            msgspec.structs.replace(point, point=name),
            msgspec.structs.replace(load, turn=turn),
        )


class Turns:
    """Counters in groups that can be open together; one group stays open, several take turns."""

    def __init__(
        self, turns: Sequence[Sequence[Event]], name: str, host: Host, stimulus: Stimulus | None
    ) -> None:
        self._turns = turns
        self._name = name
        self._host = host
        self._stimulus = stimulus
        self._pending: list[Moved | None] = []
        self._open: OpenCounters | None = None
        self.sets: list[CounterSet] = []

    @contextmanager
    def ready(self, refused: Mapping[str, str]) -> Iterator[Turns]:
        """Learn what each group opens as; the last set holds what could not be opened."""
        for index in range(len(self._turns)):
            with self._opened(index) as counters:
                self.sets.append(counters.set)
        self.sets[-1] = msgspec.structs.replace(self.sets[-1], refused=dict(refused))
        if len(self._turns) > 1:
            yield self
            return
        with self._opened(0) as self._open:
            yield self

    @contextmanager
    def turn(self, index: int) -> Iterator[OpenCounters]:
        """The counters of one group."""
        if self._open is not None:
            yield self._open
            return
        with self._opened(index) as counters:
            yield counters

    def expect(self, moved: Moved | None) -> None:
        """Hand this to the stimulus at the closing reading, the second from now."""
        self._pending = [None, moved]

    @contextmanager
    def _opened(self, index: int) -> Iterator[OpenCounters]:
        first = [] if self._stimulus is None else [_core.StimulusSource(self._act)]
        name = self._name if len(self._turns) == 1 else f"{self._name}/{index + 1}"
        with opened(self._turns[index], name=name, host=self._host, first=first) as counters:
            yield counters

    def _act(self) -> None:
        moved = self._pending.pop(0) if self._pending else None
        if moved is not None and self._stimulus is not None:
            self._stimulus(moved)


class CountersVerifyBench(Bench):
    """Loads of all places or of one GPU, with the counters they share."""

    def __init__(
        self, loads: Sequence[tuple[Point, Load]], turns: Turns, experiment: str, idle_s: float
    ) -> None:
        self.points = [point for point, _ in loads]
        self.counters = turns.sets
        self._loads = {point.point: load for point, load in loads}
        self._turns = turns
        self._experiment = experiment
        self._idle_s = idle_s
        self._passes = dict.fromkeys(self._loads, 0)

    def measure(self, point: str, round_: int) -> list[Sample]:
        """Rest, then load, with the counters read around both."""
        load = self._loads[point]
        amount = load.amounts[self._passes[point] % len(load.amounts)]
        self._passes[point] += 1
        with self._turns.turn(load.turn) as counters:
            reads = TeamCounters(team=load.worker, counters=counters)
            if amount.moved is not None:
                self._turns.expect(Moved(load=IDLE, place=amount.moved.place))
            idle = reads.idle(self._idle_s)
            load.lead_in()
            self._turns.expect(amount.moved)
            taken, reading = reads.around(amount.run)
        sample = to_sample(point, round_, taken)
        return [msgspec.structs.replace(sample, reading=reading, idle=idle)]

    def validate(self) -> list[Validation]:
        """All that was written holds what it must."""
        memories = {id(load.memory): load for load in self._loads.values()}
        return [
            to_validation(self._experiment, load.subject, load.memory.validate())
            for load in memories.values()
        ]
