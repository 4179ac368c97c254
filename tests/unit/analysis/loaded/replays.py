"""Runs of `loaded --like` made by formula: what each step of a profile asks, moves and costs."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
from tests.unit.analysis.loaded.runs import cores
from tests.unit.analysis.records import bandwidth_point, latency_point
from tests.unit.analysis.runs import start

from memgauge.model.record_kinds.replayed import Replayed, ReplayStep
from memgauge.model.records import AnyRecord, Point, RunEnd, Sample, ThreadSample
from memgauge.model.run import Run, run_of

IDLE_NS = 100.0
HOPS = 1000
GENERATORS = 3


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a replay."""

    seconds: float = 1.0
    gb_per_s: float = 10.0
    read_share: float = 0.75
    got_gb_per_s: float | None = None
    """None: as asked."""
    got_read_share: float | None = None
    ns: float = 150.0
    most_gb_per_s: float | None = None


def replayed(steps: Sequence[Step], **changes: object) -> Replayed:
    made, begin_s = [], 0.0
    for one in steps:
        moved = one.gb_per_s * one.seconds * 1e9
        made.append(
            ReplayStep(
                begin_s=begin_s,
                end_s=begin_s + one.seconds,
                known_s=one.seconds,
                read_bytes=moved * one.read_share,
                write_bytes=moved * (1 - one.read_share),
            )
        )
        begin_s += one.seconds
    fields: dict[str, object] = {
        "run_id": "p1",
        "started_at": "2026-01-02T03:04:05+00:00",
        "command": "app --fast",
        "machine_id": "0123456789abcdef",
        "cpu_model": "Example Processor",
        "basis": "measured",
        "counters": ["memory read, socket 0", "memory write, socket 0"],
        "trust": "verified",
        "pieces_of": "phases",
        "pieces": len(made),
        "bin_s": 0.1,
        "variation_kept": 0.9,
        "busiest_gb_per_s": max(one.gb_per_s for one in steps) * 1.5,
        "profile_s": begin_s,
        "unknown_s": 0.0,
        "replay_s": begin_s,
        "steps": made,
    }
    return Replayed(**(fields | changes))  # type: ignore[arg-type]


def points(number: int, step: Step | None, of: int) -> tuple[Point, Point]:
    leader = "loaded/like-p1/unloaded"
    name = f"loaded/like-p1/{number}-of-{of}" if number else leader
    requested: dict[str, object] = {"step": number, "generators": GENERATORS}
    actual: dict[str, object] = {"cpus": "0-3", "generator_cpus": "1-3", "delay_ns": 40.0}
    if step is not None:
        requested |= {"moved_gb_per_s": step.gb_per_s, "moved_read_share": step.read_share}
        if step.most_gb_per_s is not None:
            actual["most_gb_per_s"] = step.most_gb_per_s
    common = {"experiment": "loaded", "requested": requested, "actual": actual}
    latency = latency_point(
        name,
        accesses=HOPS,
        role="slice" if number else "run",
        measured_with=leader if number else None,
        **common,
    )
    traffic = bandwidth_point(
        f"{name}/traffic",
        bytes_counted=64_000,
        bytes_moved=96_000,
        threads=GENERATORS,
        work="counted",
        measured_with=leader,
        **common,
    )
    return latency, traffic


def passed(
    made: tuple[Point, Point],
    round_: int,
    ns: float,
    moved: tuple[float, float],
    *,
    walks: int = 3,
    switches: int = 0,
) -> list[Sample]:
    """One pass: so many walks of the probe, and traffic of (GB/s moved, share of reads).

    Of three bytes that memory moves two are counted: one is read by write-allocate.
    """
    latency, traffic = made
    walk_ns = round(ns * HOPS)
    stamps = [1000 + at * walk_ns for at in range(walks + 1)]
    probe = ThreadSample(
        cpu=0, begin_ns=stamps[:-1], end_ns=stamps[1:], involuntary_switches=switches
    )
    elapsed_ns = walks * walk_ns
    gb_per_s, share = moved
    total = gb_per_s * elapsed_ns
    written = round(total * (1 - share) / GENERATORS)
    read = round(total * 2 / 3 / GENERATORS) - written
    generator = ThreadSample(
        cpu=1,
        begin_ns=[1000],
        end_ns=[1000 + elapsed_ns],
        involuntary_switches=switches,
        read_bytes=max(0, read),
        write_bytes=written,
    )
    return [
        Sample(point=latency.point, round=round_, threads=[probe], load_ns=[(round(ns) + 10, 300)]),
        Sample(point=traffic.point, round=round_, threads=[generator] * GENERATORS),
    ]


def replay_run(
    steps: Sequence[Step],
    *,
    replays: int = 12,
    noise: float = 0.0,
    pace: float = 0.0,
    disturbed: Sequence[tuple[int, int]] = (),
    of: Replayed | None = None,
    seed: int = 5,
) -> Run:
    """All steps in turn between two looks at the memory without load.

    Args:
        steps: Of the profile.
        replays: How many.
        noise: Standard deviation of each pass, as a share.
        pace: That of whole replays, which slows down all of one alike.
        disturbed: (replay, step) whose passes were switched out; step 0: without load.
        of: The profile, if another than that of the steps.
        seed: Of the noise.
    """
    rng = random.Random(seed)
    idle = points(0, None, len(steps))
    made = [points(at, step, len(steps)) for at, step in enumerate(steps, start=1)]
    first = msgspec.structs.replace(
        start(cores(4)), experiments=["loaded"], parameters={"loaded": {"like": "p"}}
    )
    records: list[AnyRecord] = [first, of or replayed(steps)]
    records += [point for pair in (idle, *made) for point in pair]
    for round_ in range(replays):
        slower = rng.gauss(1, pace)

        def taken(ns: float, times: float = slower) -> float:
            return ns * times * rng.gauss(1, noise)

        def without_load(now: int = round_) -> list[Sample]:
            off = int((now, 0) in disturbed)
            return passed(idle, now, taken(IDLE_NS), (0.001, 1.0), switches=off)

        records += without_load()
        for at, (step, pair) in enumerate(zip(steps, made, strict=True), start=1):
            got = step.gb_per_s if step.got_gb_per_s is None else step.got_gb_per_s
            share = step.read_share if step.got_read_share is None else step.got_read_share
            off = int((round_, at) in disturbed)
            for walks in (3, 1):
                ns = taken(step.ns)
                records += passed(pair, round_, ns, (got, share), walks=walks, switches=off)
        records += without_load()
    records.append(RunEnd(status="complete", elapsed_s=30.0, rounds=replays))
    return run_of(records)
