"""Lanes that run: counters opened for a target, sampled by native threads into files of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from memgauge import _core
from memgauge.counters.base import Target
from memgauge.counters.components import LanePlan
from memgauge.counters.host import Host
from memgauge.counters.opening import opened
from memgauge.model.records import CounterSet, Lane

NS_PER_S = 1_000_000_000


class RunningLane(msgspec.Struct, frozen=True, kw_only=True):
    """Counters that are being sampled."""

    plan: LanePlan
    counters: CounterSet
    record: Lane
    native: _core.Lane


@contextmanager
def sampled(
    plan: LanePlan, *, target: Target, directory: Path, host: Host, cpu: int | None = None
) -> Iterator[RunningLane]:
    """Sample until left; the first sample is taken on entering, the last on leaving.

    Args:
        plan: Events of the lane and their rate; its name becomes that of the counter set.
        target: Processes or threads to count, for events that can be bound to them.
        directory: Existing directory of the run, in which the lane's file is made.
        host: Machine whose counters are opened.
        cpu: CPU that the sampling thread is pinned to; None leaves it unpinned.

    Raises:
        CounterRefused, RequestError: a counter cannot be opened; nothing stays open.
        SystemFailure: the file cannot be made, or a thread not be started.
    """
    interval_ns = round(NS_PER_S / plan.rate_hz)
    record = Lane(counters=plan.name, file=f"{plan.name}.lane", interval_ns=interval_ns)
    with opened(plan.events, name=plan.name, target=target, host=host) as counters:
        native = _core.Lane(
            counters.reader,
            str(directory / record.file),
            interval_ns,
            name=f"mg/{plan.name}",
            cpu=cpu,
        )
        try:
            yield RunningLane(plan=plan, counters=counters.set, record=record, native=native)
        finally:
            native.stop()
