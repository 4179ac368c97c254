"""How far the program's core is from that of a generator, which a hypervisor may change.

Generators reach a program through the cache and the memory channels of its core complex, and hardly
from another. Hypervisors move virtual CPUs between complexes: busy ones apart, and one that another
wakes towards it, since both are taken to share data. So two CPUs that wake each other for some
milliseconds are soon near. On an AMD EPYC guest it took 0.04 s on average from far, while they left
each other after 1.3 s of work.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import pairwise
from statistics import median

from memgauge import _core

FIRST_LOOKS = 8
"""Before the first pass, to see whether there are two distances."""
LOOK_EVERY_S = 0.04
"""While a program runs. A look takes 0.1 to 0.3 ms of its CPU."""
LEAST_RATIO = 1.8
"""Medians of two distances differ by at least this factor, and no value lies close to both:"""
LEAST_GAP = 1.25
"""the largest gap between neighbouring values is at least this factor."""
LEAST_LOOKS = 2
"""At a distance, before it counts as one."""
MOST_SEEN = 200
"""Looks by which distances are known: the latest."""
TURNS = 5
"""Of waking each other, between two looks,"""
REST_S = 0.001
"""each after so long a rest, in which a hypervisor takes the CPU away."""
MOST_TRIES = 20
"""Between two passes,"""
MOST_TRIES_WITHIN = 5
"""and after a look while the program runs: pressure rests meanwhile, 10 ms for each."""
MOST_FAILURES = 10
"""In succession, after which the distance is left as it is,"""
AGAIN_AFTER_S = 30.0
"""for so long."""
KEPT = 20
"""Distances of a pass that are recorded at most."""


class CoreDistance:
    """Between two CPUs."""

    def __init__(
        self,
        cpus: Sequence[int],
        pingpong_ns: Callable[[], float | None] | None = None,
        wake: Callable[[], None] | None = None,
    ) -> None:
        """Nothing is measured yet.

        Args:
            cpus: The program's, and a generator's.
            pingpong_ns: Measures the distance; None: a ping-pong between the two does.
            wake: Has both wake each other; None: threads on them do.
        """
        self._pingpong_ns = pingpong_ns or _core.Team(list(cpus)).pingpong_ns
        self._wake = wake or (lambda: _wake_each_other(cpus))
        self._seen_ns: deque[float] = deque(maxlen=MOST_SEEN)
        self._of_pass_ns: list[float] = []
        self._border_ns: float | None = None
        self._look_due_s = 0.0
        self._failures = 0
        self._left_alone_until_s = 0.0

    def begin(self) -> None:
        """A pass begins: from a short distance, where the CPUs are sometimes near."""
        if not self._seen_ns:
            self._look_around()
        self._of_pass_ns = []
        self._shorten(MOST_TRIES)
        self._of_pass_ns = self._of_pass_ns[-1:]

    def keep(self) -> None:
        """To be called while the program runs, between two pieces of the generator's work.

        Where the CPUs are moved, it looks whether they still are near, and brings them back.
        """
        if self._border_ns is not None and time.monotonic() >= self._look_due_s:
            self._shorten(MOST_TRIES_WITHIN)

    def end(self) -> list[float]:
        """The pass ends: distances in ns that were seen, evenly spread from least to greatest.

        Each is the time of a line's way from one CPU to the other. Empty: they were not to be had.
        """
        self._look()
        ordered = sorted(self._of_pass_ns)
        count = min(KEPT, len(ordered))
        return [ordered[(2 * place + 1) * len(ordered) // (2 * count)] for place in range(count)]

    def _look_around(self) -> None:
        for _ in range(FIRST_LOOKS):
            if self._look() is None:
                return
            self._wake()

    def _shorten(self, most_tries: int) -> None:
        if not self._is_far() or time.monotonic() < self._left_alone_until_s:
            return
        for _ in range(most_tries):
            self._wake()
            if not self._is_far():
                self._failures = 0
                return
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._left_alone_until_s = time.monotonic() + AGAIN_AFTER_S

    def _is_far(self) -> bool:
        now_ns = self._look()
        return now_ns is not None and self._border_ns is not None and now_ns >= self._border_ns

    def _look(self) -> float | None:
        found = self._pingpong_ns()
        if found is not None:
            self._seen_ns.append(found)
            self._of_pass_ns.append(found)
            self._border_ns = border_between(self._seen_ns) or self._border_ns
        self._look_due_s = time.monotonic() + LOOK_EVERY_S
        return found


def border_between(seen_ns: Iterable[float]) -> float | None:
    """What parts near from far; None: there is one distance.

    Args:
        seen_ns: Distances in any order.
    """
    ordered = sorted(seen_ns)
    gaps = [
        (far / near, place)
        for place, (near, far) in enumerate(pairwise(ordered), start=1)
        if LEAST_LOOKS <= place <= len(ordered) - LEAST_LOOKS
    ]
    gap, place = max(gaps, default=(1.0, 0))
    if gap < LEAST_GAP or median(ordered[place:]) < LEAST_RATIO * median(ordered[:place]):
        return None
    return math.sqrt(ordered[place - 1] * ordered[place])


def _wake_each_other(cpus: Sequence[int]) -> None:
    """Threads on both CPUs rest in turns, and each wakes the other."""
    to_first, to_second = threading.Semaphore(0), threading.Semaphore(0)

    def stay_on(cpu: int) -> None:
        with suppress(OSError):  # a CPU that was taken from this process meanwhile
            os.sched_setaffinity(0, {cpu})

    def answer() -> None:
        stay_on(cpus[1])
        for _ in range(TURNS):
            to_second.acquire()
            time.sleep(REST_S)
            to_first.release()

    def ask() -> None:
        stay_on(cpus[0])
        for _ in range(TURNS):
            time.sleep(REST_S)
            to_second.release()
            to_first.acquire()

    threads = [threading.Thread(target=one, name="waking", daemon=True) for one in (answer, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
