"""Runs of `core_to_core` made by formula: latencies of pairs, over rounds, and contention."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from tests.unit.analysis.records import latency_point, sample_of
from tests.unit.analysis.runs import start
from tests.unit.experiments.machines import a_machine
from tests.unit.model.topology.test_claimed import with_complexes

from memgauge.model.cpulist import format_cpu_list
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import Run, run_of
from memgauge.model.system import System

Pair = tuple[int, int]

HANDOVERS = 512
OPERATIONS = 8192
COMPLEX_NS, PACKAGE_NS, FAR_NS = 25.0, 110.0, 210.0
SWAP_OVER_STORE = 1.2


def four_complexes() -> System:
    """Two sockets with two complexes of four cores each."""
    return with_complexes(a_machine(8, sockets=2), 4)


def by_complex(pair: Pair) -> float:
    """As a machine of such complexes would answer."""
    one, other = pair
    if one // 8 != other // 8:
        return FAR_NS
    return COMPLEX_NS if one // 4 == other // 4 else PACKAGE_NS


def pair_points(pair: Pair) -> list[Point]:
    made: list[Point] = []
    for operation in ("store", "compare-and-swap"):
        made.append(
            latency_point(
                f"core_to_core/{operation}/c{pair[0]}-c{pair[1]}",
                experiment="core_to_core",
                requested={
                    "operation": operation,
                    "first_cpu": pair[0],
                    "second_cpu": pair[1],
                },
                actual={"cpus": format_cpu_list(sorted(pair)), "node": 0},
                accesses=HANDOVERS,
                threads=2,
                measured_with=made[0].point if made else None,
            )
        )
    return made


def team_point(operation: str, threads: int) -> Point:
    return latency_point(
        f"core_to_core/contended/{operation}/{threads}t",
        experiment="core_to_core",
        requested={"operation": operation, "threads": threads},
        actual={"cpus": format_cpu_list(range(threads)), "operations": OPERATIONS},
        accesses=OPERATIONS,
        threads=threads,
    )


def core_to_core_run(
    system: System,
    ns_of: Callable[[Pair, int], float],
    *,
    pairs: Sequence[Pair] | None = None,
    contended: Mapping[int, float] | None = None,
    rounds: int = 40,
    noise: float = 0.01,
) -> Run:
    """A run of all pairs, or of some.

    Args:
        system: The machine.
        ns_of: Latency of a pair in a round, by stores.
        pairs: What was measured; None: all pairs of the machine.
        contended: Time of each addition, by threads.
        rounds: Of the run.
        noise: Relative standard deviation.
    """
    cpus = sorted(cpu.cpu for cpu in system.cpus)
    rng = random.Random(3)
    of_pairs = {pair: pair_points(pair) for pair in pairs or [*combinations(cpus, 2)]}
    teams = [(team_point("fetch-add", n), ns) for n, ns in (contended or {}).items()]
    declared = [point for points in of_pairs.values() for point in points]
    declared += [team for team, _ in teams]
    declared[0] = declared[0].with_actual({"measured_cpus": format_cpu_list(cpus)})
    records: list[AnyRecord] = [start(system), *declared]
    for round_ in range(rounds):
        for pair, (store, swap) in of_pairs.items():
            ns = ns_of(pair, round_) * rng.gauss(1, noise)
            records.append(sample_of(store, ns, round_, pingpong_ns=ns))
            records.append(sample_of(swap, ns * SWAP_OVER_STORE, round_, pingpong_ns=ns))
        for team, ns in teams:
            pingpong = COMPLEX_NS if team.threads > 1 else None
            made = sample_of(team, ns * rng.gauss(1, noise), round_, pingpong_ns=pingpong)
            records.append(made)
    return run_of(records)
