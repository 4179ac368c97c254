"""Runs of `tiers` made by formula: threads of given speeds, with stamps of every iteration."""

import random
from collections.abc import Callable, Sequence
from functools import partial

from tests.unit.analysis.records import bandwidth_point, latency_point, sample_of
from tests.unit.analysis.runs import start, system

from memgauge.model.record_kinds.fields import Scalar
from memgauge.model.records import AnyRecord, Point, Sample, ThreadSample
from memgauge.model.run import Run, run_of
from memgauge.model.system import Cpu, System

BYTES = 100_000
"""Of one iteration of one thread."""
VISIT_NS = 1_000_000

Speeds = Callable[[int], tuple[float, float]]
"""GB/s of a thread in A and of one in B, by number of threads in B."""


def cores(count: int) -> System:
    cpus = [Cpu(cpu=n, core=n, socket=0, node=0, sibling=0) for n in range(count)]
    return system(cpus=cpus, allowed_cpus=list(range(count)))


def even(a: float, b: float) -> Speeds:
    """Threads that never disturb each other."""
    return lambda k: (a, b) if k >= 0 else (0.0, 0.0)


def points(
    k: int,
    *,
    threads: int,
    what: str = "copy",
    a: tuple[str, str] = ("dram", "dram"),
    b: tuple[str, str] = ("node:2", "node:2"),
    fixed_iterations: int | None = None,
    share: float | None = None,
) -> dict[str, Point]:
    """Those of one visit, by group."""
    sizes = {"a": threads - k, "b": k}
    there = [group for group, size in sizes.items() if size]
    stem = f"tiers/{what}/{threads}t/k{k}"
    return {
        group: bandwidth_point(
            f"{stem}/{group}",
            experiment="tiers",
            threads=sizes[group],
            work="window",
            bytes_counted=BYTES,
            bytes_moved=BYTES,
            measured_with=None if group == there[0] else f"{stem}/{there[0]}",
            requested={
                **work_facts(what, share),
                "group": group,
                "threads": threads,
                "group_threads": sizes[group],
                "b_threads": k,
                "source": (a if group == "a" else b)[0],
                "destination": (a if group == "a" else b)[1],
                "pages": "auto",
                "fixed_iterations": fixed_iterations,
            },
            actual={"cpus": f"0-{threads - 1}", **access_facts(what, group, share)},
        )
        for group in there
    }


def work_facts(what: str, share: float | None = None) -> dict[str, Scalar]:
    """Of a kernel, or of a mix whose name holds its pauses."""
    if share is None:
        kernel, _, access = what.partition("-")
        return {"kernel": kernel, "access": access or "direct"}
    _, _, pauses = what.partition("/d")
    a_ns, _, b_ns = pauses.partition("-")
    return {"read_share": share, "delay_a_ns": int(a_ns or 0), "delay_b_ns": int(b_ns or 0)}


def access_facts(what: str, group: str, share: float | None) -> dict[str, Scalar]:
    """Only B has a pool, in which addresses can be translated."""
    if share is not None:
        return {}
    return {"access": work_facts(what)["access"] if group == "b" else "direct"}


def probe(
    k: int, group: str, *, threads: int, what: str = "copy", share: float | None = None
) -> Point:
    return latency_point(
        f"tiers/{what}/{threads}t/k{k}/latency-{group}",
        experiment="tiers",
        accesses=1000,
        requested={
            **work_facts(what, share),
            "group": group,
            "threads": threads,
            "b_threads": k,
        },
        actual={"cpus": f"0-{threads - 1}"},
    )


def worker(
    rank: int, durations: Sequence[int], begin: int = 1000, *, switches: int = 0
) -> ThreadSample:
    begins, ends = [], []
    for took in durations:
        begins.append(begin)
        begin += took
        ends.append(begin)
    return ThreadSample(
        cpu=rank, begin_ns=begins, end_ns=ends, involuntary_switches=switches, page_faults=0
    )


def visit(
    groups: dict[str, Point],
    durations: Callable[[str, int], Sequence[int]],
    round_: int = 0,
    pingpong_ns: float | None = None,
    switches: int = 0,
) -> list[Sample]:
    """Samples of one visit; `durations` of a group's thread, ns."""
    found: dict[str, list[ThreadSample]] = {}
    first = 0
    for group, point in groups.items():
        ranks = range(first, first + point.threads)
        first += point.threads
        found[group] = [worker(r, durations(group, r), switches=switches) for r in ranks]
    every = [thread for threads in found.values() for thread in threads]
    window = max(t.begin_ns[0] for t in every), min(t.end_ns[-1] for t in every)
    return [
        Sample(
            point=groups[group].point,
            round=round_,
            threads=threads,
            pingpong_ns=pingpong_ns,
            window_ns=window,
        )
        for group, threads in found.items()
    ]


def paced(gb_per_s: float, *, factors: Sequence[float] = (1.0,)) -> list[int]:
    """Durations of iterations that fill a visit, each slower by one of the factors in turn."""
    took: list[int] = []
    spent = 0
    while spent < VISIT_NS:
        took.append(round(BYTES / gb_per_s * factors[len(took) % len(factors)]))
        spent += took[-1]
    return took


def alike(took: dict[str, list[int]], group: str, rank: int) -> Sequence[int]:
    """All threads of a group run alike."""
    del rank
    return took[group]


def tiers_run(
    threads: int,
    speeds: Speeds,
    *,
    splits: Sequence[int] | None = None,
    rounds: int = 40,
    noise: float = 0.002,
    work: Sequence[tuple[str, float | None]] = (("copy", None),),
    latency: Callable[[int, str], float] | None = None,
    b_factors: Sequence[float] = (1.0,),
    pingpong: Callable[[random.Random], float | None] = lambda _: None,
    seed: int = 6,
) -> Run:
    """All splits in turn; each visit's threads are faster or slower together by the noise."""
    rng = random.Random(seed)
    splits = range(threads + 1) if splits is None else splits
    planned = [
        (k, points(k, threads=threads, what=what, share=share))
        for what, share in work
        for k in splits
    ]
    probes = [
        (k, group, probe(k, group, threads=threads, what=what, share=share))
        for what, share in work
        for k in splits
        for group in "ab"
        if latency
    ]
    records: list[AnyRecord] = [start(cores(threads))]
    records += [point for _, groups in planned for point in groups.values()]
    records += [point for _, _, point in probes]
    for round_ in range(rounds):
        for k, groups in planned:
            pace = dict(zip("ab", speeds(k), strict=True))
            off = rng.gauss(1, noise)

            took = {
                group: paced(pace[group] * off, factors=b_factors if group == "b" else (1.0,))
                for group in groups
            }
            records += visit(groups, partial(alike, took), round_, pingpong(rng))
        if latency:
            for k, group, point in probes:
                records.append(sample_of(point, latency(k, group) * rng.gauss(1, noise), round_))
    return run_of(records)
