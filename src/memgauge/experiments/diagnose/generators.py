"""Generators of pressure: threads of this process that work until they are told to end.

They end with this process, however it ends.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from memgauge import _core
from memgauge.experiments.diagnose.treatments import Pressure
from memgauge.model.errors import SystemFailure

PIECE_S = 0.01
"""Of work between two looks at whether to end."""
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
        self._pressures = pressures
        self._traffic: dict[int, _core.Traffic] = {}
        for pressure in pressures.values():
            if pressure.bytes not in self._traffic:
                traffic = _core.Traffic(self._team, pressure.bytes)
                stack.callback(traffic.close)
                self._traffic[pressure.bytes] = traffic
        self._piece_bytes = {name: self._calibrated(one) for name, one in pressures.items()}

    @contextmanager
    def at_work(self, name: str) -> Iterator[None]:
        """Pressure of that kind, settled, as long as this context is open.

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

    def _calibrated(self, pressure: Pressure) -> int:
        """Bytes of a piece of work, by how long some take here."""
        traffic, spec = self._traffic[pressure.bytes], pressure.spec()
        least = 16 << 10
        taken = traffic.run(spec, least, least)
        ns = max(thread.end_ns[-1] - thread.begin_ns[0] for thread in taken.threads)
        return max(least, min(1 << 30, int(least * PIECE_S * 1e9 / max(ns, 1))))
