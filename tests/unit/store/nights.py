"""Runs of many nights, made by formula and small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from tests.unit.analysis.runs import records

from memgauge.model.records import AnyRecord, Point, RunStart, Sample

ROUNDS = 20


def usual_records() -> list[AnyRecord]:
    """Of one run: bandwidth and latencies, without curves."""
    return [
        one
        for one in records(rounds=ROUNDS)
        if not (isinstance(one, (Point, Sample)) and one.point.startswith("workingset/"))
    ]


def of_night(usual: Iterable[AnyRecord], run_id: str, day: str) -> Iterator[AnyRecord]:
    """The same as another run, at night of a day."""
    for one in usual:
        if isinstance(one, RunStart):
            yield msgspec.structs.replace(one, run_id=run_id, started_at=f"{day}T02:00:00+00:00")
        else:
            yield one


def slowed(usual: Iterable[AnyRecord], factor: float) -> Iterator[AnyRecord]:
    """The same with every sample longer by a factor."""
    for one in usual:
        if not isinstance(one, Sample):
            yield one
            continue
        threads = [
            msgspec.structs.replace(
                thread,
                end_ns=[
                    begin + round((end - begin) * factor)
                    for begin, end in zip(thread.begin_ns, thread.end_ns, strict=True)
                ],
            )
            for thread in one.threads
        ]
        yield msgspec.structs.replace(one, threads=threads)
