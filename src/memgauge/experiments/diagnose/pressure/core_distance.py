"""How far the program's core is from that of a generator, which a hypervisor may change.

Generators reach a program through the cache and the memory channels of its core complex, and hardly
from another. As threads of one core they reach it by more than memory: the two share the core's own
caches. Hypervisors move virtual CPUs: busy ones apart, and one that another wakes towards it, since
both are taken to share data. So two CPUs that wake each other for some milliseconds are soon near.
On an AMD EPYC guest it took 0.04 s on average from far, while they left each other after 1.3 s of
work.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from statistics import median

from memgauge import _core
from memgauge.experiments.diagnose.pressure.shared_core import SharedCore

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
LEAST_TESTS = 3
"""Of distances as threads of one core, before these are known by the distance;"""
LEAST_CORE_RATIO = 1.2
"""and the median of other near ones is at least this factor greater."""
MORE_THAN_ANY_NS = 1e12
KEPT = 20
"""Distances of a pass that are recorded at most."""


class CoreDistance:
    """Between two CPUs."""

    def __init__(
        self,
        pingpong_ns: Callable[[], float | None],
        shares_core: Callable[[], bool],
        wake: Callable[[], None],
    ) -> None:
        """Nothing is measured yet.

        Args:
            pingpong_ns: Measures the distance; None: a CPU was not to be had.
            shares_core: Tests whether they are threads of one core.
            wake: Has both wake each other.
        """
        self._pingpong_ns = pingpong_ns
        self._shares_core = shares_core
        self._wake = wake
        self._seen_ns: deque[float] = deque(maxlen=MOST_SEEN)
        self._of_one_core_ns: deque[float] = deque(maxlen=MOST_SEEN)
        self._of_two_cores_ns: deque[float] = deque(maxlen=MOST_SEEN)
        self._of_pass_ns: list[float] = []
        self._border_ns: float | None = None
        self.one_core_below_ns: float | None = None
        """Below which they are threads of one core; None: they were not, or it is not known. Where
        they always are, it is more than any distance."""
        self._look_due_s = 0.0
        self._failures = 0
        self._left_alone_until_s = 0.0

    @classmethod
    def between(cls, cpus: Sequence[int], stack: ExitStack) -> CoreDistance:
        """Of two CPUs of this machine.

        Args:
            cpus: The program's, and a generator's.
            stack: Frees what they read when it is closed.
        """
        return cls(
            _core.Team(list(cpus)).pingpong_ns,
            SharedCore(cpus, stack).is_so_now,
            lambda: _wake_each_other(cpus),
        )

    def begin(self) -> None:
        """A pass begins: near each other, on two cores, where the CPUs sometimes are.

        It takes up to 0.3 s where they are not.
        """
        if not self._seen_ns:
            self._look_around()
        self._of_pass_ns = []
        self._bring_near(MOST_TRIES, tests_core=True)
        self._of_pass_ns = self._of_pass_ns[-1:]

    def keep(self) -> None:
        """To be called while the program runs, between two pieces of the generator's work.

        Where the CPUs are moved, it looks whether they still are near, and brings them back.
        """
        is_moving = self._border_ns is not None or self.one_core_below_ns is not None
        if is_moving and time.monotonic() >= self._look_due_s:
            self._bring_near(MOST_TRIES_WITHIN, tests_core=False)

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

    def _bring_near(self, most_tries: int, *, tests_core: bool) -> None:
        if not self._is_off(tests_core) or time.monotonic() < self._left_alone_until_s:
            return
        for _ in range(most_tries):
            self._wake()
            if not self._is_off(tests_core):
                self._failures = 0
                return
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._left_alone_until_s = time.monotonic() + AGAIN_AFTER_S

    def _is_off(self, tests_core: bool) -> bool:
        """Whether they are far from each other, or on one core."""
        now_ns = self._look()
        if now_ns is None:
            return False
        if tests_core:
            is_one_core = self._shares_core()
            (self._of_one_core_ns if is_one_core else self._of_two_cores_ns).append(now_ns)
            self.one_core_below_ns = self._between_one_core_and_two()
            if is_one_core:
                return True
        below_ns = self.one_core_below_ns
        return self._is_beyond(now_ns) or (below_ns is not None and now_ns < below_ns)

    def _between_one_core_and_two(self) -> float | None:
        if len(self._of_one_core_ns) < LEAST_TESTS:
            return None
        near_ns = [ns for ns in self._of_two_cores_ns if not self._is_beyond(ns)]
        if len(near_ns) < LEAST_TESTS:
            return self._border_ns or MORE_THAN_ANY_NS
        one, two = median(self._of_one_core_ns), median(near_ns)
        return math.sqrt(one * two) if two >= LEAST_CORE_RATIO * one else None

    def _is_beyond(self, ns: float) -> bool:
        return self._border_ns is not None and ns >= self._border_ns

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
