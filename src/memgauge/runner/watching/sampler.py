"""One row of raw numbers a period: the counters of this machine, then what the probe found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Protocol, Self

import msgspec

from memgauge.analysis.watch.moments import (
    BANDWIDTH,
    DISTURBED,
    LATENCY,
    OWN_BYTES,
    OWN_TIME,
    PROBE,
)
from memgauge.counters.base import Target
from memgauge.counters.host import Host
from memgauge.counters.opening import find, moved, opened
from memgauge.counters.registry import load
from memgauge.experiments.watch.probe import HOPS, Pass
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.counting.events import Counter, Event
from memgauge.model.errors import CounterRefused, MemgaugeError, UnknownEvent
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import NOT_WATCHED, Warning
from memgauge.runner.watching.parameters import WatchParameters
from memgauge.system.environment.clock import stamp_clock

SET = "watch"
"""Name of the counter set, of its lane and, with `.lane`, of its file."""
OF_PROCESS = ("cpu_time", "resident_bytes", "minor_faults", "major_faults", "run_delay")
OF_GROUP = (
    "memory.current",
    "memory.stat/pgfault",
    "memory.stat/pgmajfault",
    "cpu.stat/usage_usec",
)

_SCHEDULED_TIME = 2
"""Of a process's clock: its identifier is the complement of the process number, and in the lowest
three bits the kind of time (Linux, include/linux/posix-timers.h)."""


class Row(msgspec.Struct, frozen=True):
    """One sample, raw."""

    begin_ns: int
    end_ns: int
    values: list[int | None]


class AnyProbe(Protocol):
    """What makes passes; tests put another in the place of the native one."""

    cpu: int

    def run(self) -> Pass:
        """One pass."""
        ...

    def close(self) -> None:
        """Free its memory."""
        ...


class Sampler:
    """Opens what can be counted here, and the probe; a context manager."""

    def __init__(
        self, parameters: WatchParameters, host: Host, probe: Callable[[], AnyProbe] | None
    ) -> None:
        """Open all that works, each by itself, so that one refusal costs no other.

        Args:
            parameters: What was asked for.
            host: The machine.
            probe: Makes the probe; None: there is none.

        Raises:
            RequestError: the probe, or what `--pid` or `--cgroup` names, cannot be had.
        """
        self.warnings: list[Warning] = []
        """What is not watched, and why."""
        self.children: list[int] = []
        """Running processes whose processor time is part of the cost of watching."""
        self._stack = ExitStack()
        self._clock_ns = stamp_clock()
        self._bytes = self._disturbed = 0
        self._readers: list[_Reader] = []
        self._probe: AnyProbe | None = None
        counters: list[Counter] = []
        slots = 0
        notes: list[str] = []
        try:
            for events, target in self._events(parameters, host):
                made = self._opened(events, target, host)
                if made is None:
                    continue
                reader, found = made
                self._readers.append(reader)
                counters += [moved(one, slots) for one in found.of]
                notes += found.notes
                slots += found.slots
            if probe is not None:
                self._probe = probe()
                self._stack.callback(self._probe.close)
        except BaseException:
            self.close()
            raise
        own = _own_counters(slots, None if self._probe is None else self._probe.cpu)
        self.counters = CounterSet(
            counters=SET,
            slots=slots + len(own),
            of=[*counters, *(one for one in own if self._probe or one.event == OWN_TIME)],
            notes=notes,
        )
        """All slots of a row."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close counters and probe; a second call does nothing."""
        self._stack.close()

    def sample(self) -> Row:
        """Read the counters, then let the probe make its pass."""
        begin_ns = self._clock_ns()
        values: list[int | None] = [one for r in self._readers for one in r.read().values]
        end_ns = max(self._clock_ns(), begin_ns + 1)
        found = None if self._probe is None else self._probe.run()
        if found is not None:
            self._bytes += found.bytes
            self._disturbed += found.was_disturbed
        clean = None if found is None or found.was_disturbed else found
        values += [
            None if clean is None else clean.chase_ns,
            None if clean is None else clean.bytes_per_s,
            self._disturbed,
            self._bytes,
            own_cpu_ns(self.children),
        ]
        return Row(begin_ns, end_ns, values)

    def _events(
        self, parameters: WatchParameters, host: Host
    ) -> Iterator[tuple[list[Event], Target]]:
        machine = Target()
        yield [one for one in load("kernel", host).events() if one.state == "ready"], machine
        try:
            yield find([AUTOMATIC], host), machine
        except CounterRefused as error:
            self._missing(f"memory traffic: {error}")
        if parameters.pid is not None:
            target = Target(pids=[parameters.pid], inherit=True)
            yield find([f"proc:{name}" for name in OF_PROCESS], host), target
        if parameters.cgroup is not None:
            group = parameters.cgroup.rstrip("/")
            for name in OF_GROUP:
                try:
                    yield find([f"cgroup:{group}/{name}"], host), machine
                except UnknownEvent as error:
                    self._missing(str(error))

    def _opened(
        self, events: list[Event], target: Target, host: Host
    ) -> tuple[_Reader, CounterSet] | None:
        if not events:
            return None
        try:
            made = self._stack.enter_context(opened(events, name=SET, target=target, host=host))
        except MemgaugeError as error:
            if target.pids:
                raise
            self._missing(str(error))
            return None
        return made.reader, made.set

    def _missing(self, reason: str) -> None:
        self.warnings.append(Warning(code=NOT_WATCHED, message=reason))


class _Reading(Protocol):
    @property
    def values(self) -> list[int | None]: ...


class _Reader(Protocol):
    def read(self) -> _Reading: ...


def own_cpu_ns(children: Sequence[int] = ()) -> int:
    """Processor time of this process and of children that run.

    Args:
        children: Their process numbers; one that has ended counts no more.
    """
    total_ns = time.process_time_ns()
    for pid in children:
        with suppress(OSError):
            total_ns += time.clock_gettime_ns(~pid << 3 | _SCHEDULED_TIME)
    return total_ns


def _own_counters(first: int, cpu: int | None) -> list[Counter]:
    """What the probe finds, and what watching costs, in the order of `sample`."""
    where = "machine" if cpu is None else f"cpu{cpu}"
    forms = (
        (LATENCY, "ns", 1 / HOPS, True),
        (BANDWIDTH, "B/s", 1.0, True),
        (DISTURBED, "", 1.0, False),
        (OWN_BYTES, "B", 1.0, False),
        (OWN_TIME, "s", 1e-9, False),
    )
    return [
        Counter(
            name=f"{event}@{where}",
            event=event,
            back_end=PROBE,
            quantity="count",
            domain="software",
            scope="machine",
            unit=unit,
            scale=scale,
            scale_source="stamps of the run's clock",
            gauge=gauge,
            instance=where,
            cpu=cpu,
            slot=first + number,
            route="probe",
        )
        for number, (event, unit, scale, gauge) in enumerate(forms)
    ]
