"""Counters around a piece of a Python program: `with memgauge.counters("auto") as reading:`.

Opening takes milliseconds and happens before; a region's begin and end are one native reading each,
a few microseconds for a socket's controllers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import TracebackType
from typing import Self

import msgspec

from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.host import Host, this_host
from memgauge.counters.opening import OpenCounters, find, opened
from memgauge.model.arguments import pid_of, text_of
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.counting.events import MEMORY_TRAFFIC, Basis, Counter, Quantity, added_up
from memgauge.model.counting.readings import Counted, counted
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted


class SocketTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """Memory traffic of one socket, in bytes; None: not counted, or a counter could not be read."""

    read_bytes: float | None
    write_bytes: float | None
    traffic_bytes: float | None
    """Reads, writes and what is counted of both together."""


class RegionCounts:
    """What was counted in one region; to be asked once it has ended."""

    def __init__(self, name: str, counters: Sequence[Counter], before: _core.Reading) -> None:
        self.name = name
        self.counters = counters
        """With their basis, socket, scale and what verification said of them."""
        self._before = before
        self._after: _core.Reading | None = None

    def end(self, after: _core.Reading) -> None:
        """Note the reading that ends it."""
        self._after = after

    @property
    def seconds(self) -> float:
        """Between the two readings."""
        return (self._ended.begin_ns - self._before.end_ns) * 1e-9

    @cached_property
    def values(self) -> Mapping[str, Counted | None]:
        """By counter: the value in its unit, the raw count, whether it is an estimate.

        None where a counter could not be read or never ran: missing, not zero.
        """
        before, after = self._before.values, self._ended.values
        return {counter.name: counted(counter, before, after) for counter in self.counters}

    @property
    def missing(self) -> list[str]:
        """Counters without a value."""
        return [name for name, value in self.values.items() if value is None]

    @property
    def is_estimate(self) -> bool:
        """Whether some counter shared its hardware and is scaled up."""
        return any(value.is_estimate for value in self.values.values() if value is not None)

    @property
    def basis(self) -> Basis | None:
        """Whether the bytes of memory below are measured or modelled; None: none are counted."""
        return self._memory[0].basis if self._memory else None

    @property
    def read_bytes(self) -> float | None:
        """Bytes read from memory, by all counters of the first back end that counts them."""
        return self._sum({"read_bytes"}, self._memory)

    @property
    def write_bytes(self) -> float | None:
        """Bytes written to memory, likewise."""
        return self._sum({"write_bytes"}, self._memory)

    @property
    def traffic_bytes(self) -> float | None:
        """Reads, writes and what is counted of both together, likewise."""
        return self._sum(MEMORY_TRAFFIC, self._memory)

    @property
    def by_socket(self) -> dict[int | None, SocketTraffic]:
        """Memory traffic by socket; None is for counters whose socket is not known."""
        grouped: dict[int | None, list[Counter]] = {}
        for counter in self._memory:
            grouped.setdefault(counter.socket, []).append(counter)
        return {
            socket: SocketTraffic(
                read_bytes=self._sum({"read_bytes"}, mine),
                write_bytes=self._sum({"write_bytes"}, mine),
                traffic_bytes=self._sum(MEMORY_TRAFFIC, mine),
            )
            for socket, mine in grouped.items()
        }

    @property
    def _ended(self) -> _core.Reading:
        if self._after is None:
            raise RequestError(
                f"region {quoted(self.name)}: has not ended; read it after the with block"
            )
        return self._after

    @cached_property
    def _memory(self) -> list[Counter]:
        """Of one back end and basis: others count the same traffic again, or model it."""
        every = [counter for counter in self.counters if counter.quantity in MEMORY_TRAFFIC]
        measured = [counter for counter in every if counter.basis == "measured"] or every
        return added_up(
            [
                counter
                for counter in measured
                if (counter.back_end, counter.basis) == (measured[0].back_end, measured[0].basis)
            ]
        )

    def _sum(
        self, quantities: frozenset[Quantity] | set[Quantity], counters: Sequence[Counter]
    ) -> float | None:
        mine = [self.values[one.name] for one in counters if one.quantity in quantities]
        known = [value.value for value in mine if value is not None]
        return sum(known) if mine and len(known) == len(mine) else None


class Counters:
    """Counters to be read around pieces of this program.

    As a context manager it opens the counters, counts until it is left, and closes them:

        with memgauge.counters("auto") as reading:
            work()
        print(reading.read_bytes, reading.write_bytes, reading.seconds)

    Opened once, it counts many regions:

        with memgauge.counters("auto").opened() as counters:
            with counters.region("solve") as reading:
                solve()
    """

    def __init__(self, *events: str, pid: int | None = None, host: Host | None = None) -> None:
        self.pid = pid_of(pid, "counters: pid")
        self._host = host or this_host()
        named = [text_of(event, "counters") for event in events]
        self._events = find(named or (AUTOMATIC,), self._host)
        self._stack = ExitStack()
        self._open: OpenCounters | None = None
        self._whole: RegionCounts | None = None

    def open(self) -> None:
        """Open the counters; nothing where they are open.

        Raises:
            CounterRefused: one may not be opened; the message says what would change it.
        """
        if self._open is None:
            target = Target(pids=[os.getpid() if self.pid is None else self.pid], inherit=True)
            made = opened(self._events, name="region", target=target, host=self._host)
            self._open = self._stack.enter_context(made)

    def close(self) -> None:
        """Close the counters; what was read stays."""
        self._open = None
        self._stack.close()

    @contextmanager
    def opened(self) -> Iterator[Self]:
        """Open for the length of a block."""
        self.open()
        try:
            yield self
        finally:
            self.close()

    @property
    def counters(self) -> list[Counter]:
        """Those that are open."""
        return self._opened.set.of

    @property
    def notes(self) -> list[str]:
        """What opening fell back to."""
        return self._opened.set.notes

    @contextmanager
    def region(self, name: str) -> Iterator[RegionCounts]:
        """Count until the block is left; regions may nest.

        Raises:
            RequestError: the counters are not open.
        """
        at = self._opened
        counts = RegionCounts(text_of(name, "region"), at.set.of, at.reader.read())
        try:
            yield counts
        finally:
            counts.end(at.reader.read())

    @property
    def _opened(self) -> OpenCounters:
        if self._open is None:
            raise RequestError("counters: not open; call open(), or use 'with counters.opened():'")
        return self._open

    def __enter__(self) -> RegionCounts:
        """Open, and begin to count."""
        self.open()
        self._whole = RegionCounts("whole", self._opened.set.of, self._opened.reader.read())
        return self._whole

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End counting, and close."""
        if self._whole is not None:
            self._whole.end(self._opened.reader.read())
        self.close()
