"""Generators of pressure: threads of this process that work until they are told to end.

They end with this process, however it ends.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

import msgspec

from memgauge import _core
from memgauge.experiments.diagnose.pressure.steps import pause_for
from memgauge.experiments.diagnose.treatments import Pressure
from memgauge.model.errors import SystemFailure

LEAST_BYTES = 16 << 10
PIECE_S = 0.01
"""Of work between two looks at whether to end."""
TRIAL_S = 0.003
"""Of the work by which pauses are found: a step takes about a dozen trials."""
SETTLE_S = 0.03
"""After which pressure has its full effect: 3 ms after the start of writes latency has risen by
half of what it rises by in the end."""


class Generators:
    """The memory of all kinds of pressure on the CPUs that generate it."""

    def __init__(
        self, cpus: list[int], pressures: Mapping[str, Pressure], stack: ExitStack
    ) -> None:
        """Allocate and fill; kinds that are alike share their memory.

        Args:
            cpus: One generator on each.
            pressures: By name of the treatment.
            stack: Frees all when it is closed.
        """
        self._cpus = cpus
        self._team = _core.Team(cpus)
        self._traffic: dict[int, _core.Traffic] = {}
        for pressure in pressures.values():
            if pressure.bytes not in self._traffic:
                traffic = _core.Traffic(self._team, pressure.bytes)
                stack.callback(traffic.close)
                self._traffic[pressure.bytes] = traffic
        self._pressures = {name: self._with_pauses(one) for name, one in pressures.items()}
        self._piece_bytes = {
            name: self._bytes_in(PIECE_S, one) for name, one in self._pressures.items()
        }

    @contextmanager
    def at_work(self, name: str, between: Callable[[], None]) -> Iterator[None]:
        """Pressure of that kind, settled, as long as this context is open.

        Args:
            name: Of the treatment.
            between: Called between two pieces of work, on a generator's CPU.

        Raises:
            SystemFailure: the generators failed meanwhile.
        """
        pressure = self._pressures[name]
        traffic, spec = self._traffic[pressure.bytes], pressure.spec()
        piece_bytes = self._piece_bytes[name]
        stop = threading.Event()
        failed: list[BaseException] = []

        def work() -> None:
            # Beside its own generators, so that the program's CPUs are left alone.
            os.sched_setaffinity(0, self._cpus)
            try:
                while not stop.is_set():
                    traffic.run(spec, piece_bytes)
                    between()
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)

        thread = threading.Thread(target=work, name="pressure", daemon=True)
        thread.start()
        try:
            time.sleep(SETTLE_S)
            yield
        finally:
            stop.set()
            thread.join()
        if failed:
            raise SystemFailure(f"generators of pressure {name!r} failed: {failed[0]}")

    def pause_units(self, name: str) -> int | None:
        """The pause that was found for a part dose; None: none was needed.

        Args:
            name: Of the treatment.
        """
        pressure = self._pressures[name]
        return pressure.delay if pressure.part < 1 else None

    def _with_pauses(self, pressure: Pressure) -> Pressure:
        """The pressure with the delay that leaves its part of the traffic."""
        if pressure.part >= 1:
            return pressure
        trial_bytes = self._bytes_in(TRIAL_S, pressure)

        def time_ns(delay: int) -> float:
            return self._time_ns(msgspec.structs.replace(pressure, delay=delay), trial_bytes)

        return msgspec.structs.replace(pressure, delay=pause_for(pressure.part, time_ns))

    def _bytes_in(self, seconds: float, pressure: Pressure) -> int:
        """Bytes that take so long, by how long some take here."""
        ns = self._time_ns(pressure, LEAST_BYTES)
        return max(LEAST_BYTES, min(1 << 30, int(LEAST_BYTES * seconds * 1e9 / max(ns, 1))))

    def _time_ns(self, pressure: Pressure, bytes_: int) -> float:
        taken = self._traffic[pressure.bytes].run(pressure.spec(), bytes_, LEAST_BYTES)
        return max(thread.end_ns[-1] - thread.begin_ns[0] for thread in taken.threads)
