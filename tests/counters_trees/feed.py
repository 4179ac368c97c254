"""Counters of a tree that count what this process's kernels are known to move.

Whenever the counters are read, system calls are made for the traffic since the reading before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from memgauge import _core
from memgauge.counters import opening
from memgauge.counters.opening import OpenCounters
from memgauge.model.counting.events import Counter, Quantity

if TYPE_CHECKING:
    import pytest
    from tests.counters_trees.tracepoints import CountingTree


class Feed:
    """Makes counters see the traffic that this process's kernels are known to cause."""

    def __init__(self, tree: CountingTree, cpu: int, reads: float, writes: float) -> None:
        self.tree = tree
        self.cpu = cpu
        self.shares = (reads, writes)
        self.counters: list[Counter] = []
        self._known = _core.Reader([_core.ModelledSource()])
        self._fed = self._known.read().values

    def __call__(self) -> None:
        """Make the calls for what was moved since."""
        now = self._known.read().values
        if not self.counters:
            return
        moved = [(late or 0) - (early or 0) for early, late in zip(self._fed, now, strict=True)]
        self._fed = now
        ways: tuple[tuple[Callable[[int, int], None], Quantity], ...] = (
            (self.tree.read, "read_bytes"),
            (self.tree.write, "write_bytes"),
        )
        for (make, quantity), share, bytes_ in zip(ways, self.shares, moved, strict=True):
            make(round(bytes_ * share / self._bytes_of_a_call(quantity)), self.cpu)

    def _bytes_of_a_call(self, quantity: Quantity) -> float:
        """Every counter on the CPU counts each call; further routes read the same counters."""
        route = self.counters[0].back_end
        mine = [
            c
            for c in self.counters
            if (c.cpu, c.quantity, c.back_end) == (self.cpu, quantity, route)
        ]
        return sum(counter.scale for counter in mine)


@contextmanager
def fed(tree: CountingTree, feed: Feed, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Experiments find the tree's counters instead of this machine's, and they are fed."""
    host = tree.host_as_we_are

    @contextmanager
    def opened(*args: Any, **named: Any) -> Iterator[OpenCounters]:
        first = [_core.StimulusSource(feed)]
        with opening.opened(*args, **named, host=host, first=first) as counters:
            feed.counters = counters.set.of
            yield counters

    with patch.context() as patched:
        patched.setattr("memgauge.experiments.shared.counted.opened", opened)
        patched.setattr("memgauge.counters.opening.this_host", lambda: host)
        yield
