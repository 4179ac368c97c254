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
from memgauge.counters.opening import OpenCounters, opened
from memgauge.model.record_kinds.counters import CounterSet, Lane
from memgauge.model.record_kinds.programs import ThreadCount, ThreadUse

NS_PER_S = 1_000_000_000


class RunningLane(msgspec.Struct, frozen=True, kw_only=True):
    """Counters that are being sampled."""

    plan: LanePlan
    counters: CounterSet
    record: Lane
    native: _core.Lane
    ledgers: list[_core.ThreadLedger] = []
    """Of each process tree that is followed."""
    by_thread: int = 0
    """Events that are counted for each of its threads."""


class TreeUse(msgspec.Struct, frozen=True, kw_only=True):
    """What a process tree used by thread, and how much was resident."""

    threads: list[ThreadUse]
    left_out: int
    """Threads that there was no room for."""
    first_peak_bytes: int
    """Largest resident size of the root for as long as it stayed what it was first; 0: none."""
    later_peak_bytes: int
    """Of any other process, and of the root since; 0: none."""


def trees_of(lane: RunningLane) -> list[TreeUse]:
    """What each process tree that the lane follows used, up to its last reading."""
    return [
        TreeUse(
            threads=[_thread(one, lane.by_thread) for one in ledger.threads()],
            left_out=ledger.left_out,
            first_peak_bytes=ledger.first_peak_bytes,
            later_peak_bytes=ledger.later_peak_bytes,
        )
        for ledger in lane.ledgers
    ]


def _thread(one: _core.ThreadUse, events: int) -> ThreadUse:
    counts = [one.count(at) for at in range(events)]
    return ThreadUse(
        pid=one.pid,
        tid=one.tid,
        name=one.name.decode("utf-8", "replace"),
        cpu_ns=one.cpu_ns,
        run_delay_ns=one.run_delay_ns,
        voluntary_switches=one.voluntary_switches,
        involuntary_switches=one.involuntary_switches,
        counts=[
            found and ThreadCount(value=found[0], enabled_ns=found[1], running_ns=found[2])
            for found in counts
        ],
    )


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
    with (
        opened(plan.events, name=plan.name, target=target, host=host) as counters,
        sampling(counters, directory / record.file, interval_ns, cpu) as native,
    ):
        yield RunningLane(
            plan=plan,
            counters=counters.set,
            record=record,
            native=native,
            ledgers=counters.ledgers,
            by_thread=len(target.by_thread),
        )


@contextmanager
def sampling(
    counters: OpenCounters, path: Path, interval_ns: int, cpu: int | None = None
) -> Iterator[_core.Lane]:
    """Sample counters that are open until left; nobody else may read them meanwhile.

    Args:
        counters: What is sampled; the name of their set becomes part of the thread's.
        path: Of the lane's file, which must not exist.
        interval_ns: From one sample to the next.
        cpu: CPU that the sampling thread is pinned to; None leaves it unpinned.

    Raises:
        SystemFailure: the file cannot be made, or a thread not be started.
    """
    name = f"mg/{counters.set.counters}"
    native = _core.Lane(counters.reader, str(path), interval_ns, name=name, cpu=cpu)
    try:
        yield native
    finally:
        native.stop()
