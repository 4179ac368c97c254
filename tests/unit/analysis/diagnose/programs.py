"""Runs of `diagnose` made by hand: programs whose shares are known, on a machine by formula."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import msgspec
from tests.unit.analysis.runs import start

from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.model.points.diagnose import BANDWIDTH, CACHED, LATENCY, PROGRAM
from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.record_kinds.programs import ProgramMemory, RunUse
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import run_of

NEAR: Mapping[str, tuple[float, float, float]] = {
    "write": (1.5, 2.6, 2.6),
    "read": (1.11, 1.5, 6.0),
    "cache": (1.03, 1.03, 3.0),
}
"""By how much each pressure stretches waiting, streaming, and life in the cache."""
PRESSURES = ("compute", "compute again", "write", "cache", "read")
BASE_NS = {PROGRAM: 1e9, LATENCY: 1e7, BANDWIDTH: 2e7, CACHED: 2e6}
"""A load takes 100 ns from memory and 20 ns from the cache; 200 MB take 20 ms: 10 GB/s."""
RING_BYTES = 16 << 20
STEPPED: Mapping[str, tuple[float, float, float]] = {
    "write 25%": (1.06, 1.15, 1.2),
    "write 50%": (1.18, 1.6, 1.6),
    "write 75%": (1.33, 2.0, 2.1),
    "cache 25%": (1.01, 1.01, 1.4),
    "cache 75%": (1.05, 1.05, 4.6),
}
"""The same of part doses."""


def diagnosed(latency: float = 0.0, bandwidth: float = 0.0, **further: Any) -> Figures:
    """The run of a program; see `recorded`."""
    return figures_of(run_of(recorded(latency, bandwidth, **further)))


def recorded(
    latency: float = 0.0,
    bandwidth: float = 0.0,
    cached: float = 0.0,
    *,
    rounds: int = 16,
    noise: float = 0.01,
    stretch: Mapping[str, tuple[float, float, float]] = NEAR,
    pingpongs_ns: tuple[float, ...] = (),
    variants: Mapping[str, float] | None = None,
    unsteady: float = 1.0,
    rate: float | None = None,
    process_cpus: str = "",
    steps: Mapping[str, tuple[float, float, float]] | None = None,
    uses: float = 0.0,
) -> list[AnyRecord]:
    """Records of a program that waits, streams and lives in the cache for these shares.

    Or of one that uses a share of the bandwidth, and slows down where less of it is left. With
    `rate`, that of a process that may use `process_cpus`, and achieves so much in each of its
    seconds; the generators have CPUs 2 and 3, the references CPU 4.
    """
    draw = random.Random(1)
    asked: dict[str, str | None] = {"command": "a.out -n 3", "metric": None}
    if rate is not None:
        asked = {"only": "interference,pages,traffic", "metric_command": "read it", "pid": "77"}
    records: list[AnyRecord] = [
        msgspec.structs.replace(
            start(), experiments=["diagnose"], parameters={"diagnose": {**asked}}
        )
    ]
    samples: list[Sample] = []
    others = {"as it is": 1.0, "as it is again": 1.0, **variants} if variants else {}
    pressures = (*PRESSURES, *(steps or {}))
    stretch = {**stretch, **(steps or {})}
    records += [point for name in pressures for point in _points(name, "pressure", "compute")]
    records += [point for name in others for point in _points(name, "variant", "as it is")]
    for round_ in range(rounds):
        for at, name in enumerate(pressures):
            factors = stretch.get(name, (1.0, 1.0, 1.0))
            rest = 1 - latency - bandwidth - cached
            program = rest + sum(
                share * factor
                for share, factor in zip((latency, bandwidth, cached), factors, strict=True)
            )
            program = max(program, uses * factors[1])
            program *= unsteady if name == "compute again" else 1.0
            times = dict(
                zip((PROGRAM, LATENCY, BANDWIDTH, CACHED), (program, *factors), strict=True)
            )
            chosen = (round_ + at) % len(pingpongs_ns) if pingpongs_ns else None
            pingpong_ns = None if chosen is None else pingpongs_ns[chosen]
            samples += [
                _sample(subject, name, round_, time, draw.lognormvariate(0, noise), pingpong_ns)
                for subject, time in times.items()
            ]
        for name, time in others.items():
            samples.append(
                _sample(PROGRAM, name, round_, time, draw.lognormvariate(0, noise), None)
            )
    if rate is not None:
        records = [_of_process(one, process_cpus) for one in records]
        samples = [_with_rate(one, rate) for one in samples]
    end = RunEnd(status="complete", elapsed_s=10.0, rounds=rounds)
    return [*records, *samples, end]


def with_uses(figures: Figures, uses: Mapping[str, RunUse], *more: AnyRecord) -> Figures:
    """The same run, with what each run of the program used, by treatment, and further records."""
    run = figures.run
    samples = [one for of in run.samples.values() for one in of]
    changed = [
        msgspec.structs.replace(one, uses=[use])
        if (use := uses.get(one.point.removeprefix(f"diagnose/{PROGRAM}/"))) is not None
        else one
        for one in samples
    ]
    return figures_of(run_of([run.start, *run.points.values(), *more, *changed]))


def with_regions(
    figures: Figures,
    regions: Mapping[str, tuple[float, float, float]],
    *,
    noise: float = 0.01,
    missing: Mapping[str, int] | None = None,
) -> Figures:
    """The same run of a program that marks regions.

    Args:
        figures: Of a run made here.
        regions: Shares of the time of each that waits, streams and lives in the cache. Each takes
            half a second, of a run of one.
        noise: Standard deviation of one time, as a share.
        missing: By region: from which round on it is not entered.
    """
    draw, run = random.Random(2), figures.run

    def timed(sample: Sample) -> Sample:
        _, subject, treatment = sample.point.split("/")
        if subject != PROGRAM or treatment not in PRESSURES:
            return sample
        factors = NEAR.get(treatment, (1.0, 1.0, 1.0))
        inside_s = {
            name: [0.5 * _time(shares, factors) * draw.lognormvariate(0, noise)]
            for name, shares in regions.items()
            if sample.round < (missing or {}).get(name, 1000)
        }
        return msgspec.structs.replace(sample, regions_s=inside_s)

    samples = [timed(one) for of in run.samples.values() for one in of]
    return figures_of(run_of([run.start, *run.points.values(), *samples]))


def _time(shares: tuple[float, float, float], factors: tuple[float, float, float]) -> float:
    return 1 + sum(share * (one - 1) for share, one in zip(shares, factors, strict=True))


def _points(treatment: str, kind: str, baseline: str) -> list[Point]:
    subjects = (PROGRAM, LATENCY, BANDWIDTH, CACHED) if kind == "pressure" else (PROGRAM,)
    leader = f"diagnose/{PROGRAM}/{treatment}"
    own = treatment == baseline
    return [
        Point(
            point=f"diagnose/{subject}/{treatment}",
            experiment="diagnose",
            quantity="bandwidth" if subject == BANDWIDTH else "latency",
            requested={
                "subject": subject,
                "treatment": treatment,
                "kind": kind,
                "baseline": "" if own else baseline,
                "change": "" if treatment.startswith("as it is") else f"what {treatment} changes",
                **_part(treatment),
            },
            actual={
                "cpus": "0",
                "llc_bytes": 2 * RING_BYTES,
                **({"footprint_bytes": RING_BYTES} if subject == CACHED else {}),
            },
            accesses=0 if subject == BANDWIDTH else 100_000,
            bytes_counted=200_000_000 if subject == BANDWIDTH else 0,
            bytes_moved=250_000_000 if subject == BANDWIDTH else 0,
            role="run",
            measured_with=None if subject == PROGRAM else leader,
        )
        for subject in subjects
    ]


def _of_process(record: AnyRecord, cpus: str) -> AnyRecord:
    """The point as one of a process that was not started."""
    if not isinstance(record, Point):
        return record
    of_program = record.requested["subject"] == PROGRAM
    facts = {"cpus": cpus if of_program else "4", "pid": 77, "process": "server"}
    return msgspec.structs.replace(
        record,
        requested=record.requested | {"metric_better": "more"},
        actual=record.actual | {**facts, "pressure_cpus": "2-3"},
    )


def _with_rate(sample: Sample, rate: float) -> Sample:
    """What was achieved in a second instead of the time of a run, which then has no meaning."""
    if f"/{PROGRAM}/" not in sample.point:
        return sample
    thread = sample.threads[0]
    took_ns = thread.end_ns[0] - thread.begin_ns[0]
    kept = msgspec.structs.replace(thread, end_ns=[thread.begin_ns[0] + 10**9])
    return msgspec.structs.replace(sample, threads=[kept], printed=[rate * 1e9 / took_ns])


def _part(treatment: str) -> dict[str, Scalar]:
    of, _, percent = treatment.partition(" ")
    return {"step_of": of, "part": int(percent[:-1]) / 100} if percent.endswith("%") else {}


def _sample(  # noqa: PLR0917 - one of many alike
    subject: str, name: str, round_: int, time: float, noise: float, pingpong_ns: float | None
) -> Sample:
    ns = round(BASE_NS[subject] * time * noise)
    return Sample(
        point=f"diagnose/{subject}/{name}",
        round=round_,
        threads=[ThreadSample(cpu=0, begin_ns=[1000], end_ns=[1000 + ns])],
        pingpong_ns=pingpong_ns,
    )


def with_memory(
    figures: Figures,
    memory: Mapping[str, ProgramMemory],
    *,
    wanted: Mapping[str, Mapping[str, str]] | None = None,
    not_tried: str = "",
) -> Figures:
    """The same run, in whose first round the program's memory was seen.

    Args:
        figures: Of a run made here.
        memory: By treatment.
        wanted: More of what is requested, by treatment.
        not_tried: A line for each thing that was not tried.
    """
    run = figures.run
    points = [
        msgspec.structs.replace(
            point,
            requested={
                **point.requested,
                **(wanted or {}).get(str(point.requested["treatment"]), {}),
            },
            actual={**point.actual, **({} if at or not not_tried else {"not_tried": not_tried})},
        )
        for at, point in enumerate(run.points.values())
    ]
    samples = [
        msgspec.structs.replace(
            sample,
            program_memory=None
            if sample.round
            else memory.get(sample.point.removeprefix(f"diagnose/{PROGRAM}/")),
        )
        for taken in run.samples.values()
        for sample in taken
    ]
    return figures_of(run_of([run.start, *points, *samples]))
