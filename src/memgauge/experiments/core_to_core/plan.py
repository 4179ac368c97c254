"""What `core_to_core` measures: pairs of CPUs, and teams that contend for one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.experiments.core_to_core.pairs import Pair, chosen_pairs
from memgauge.experiments.core_to_core.parameters import MOST_PAIRS, CoreToCoreParameters
from memgauge.experiments.shared.base import Group
from memgauge.experiments.shared.importance import Importance, Part, Setup, Work
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.errors import NotPossibleHere
from memgauge.model.memory import MemoryPlacement, on_node
from memgauge.model.points.core_to_core import (
    FETCH_ADD,
    STORE,
    SWAP,
    CoreToCoreActual,
    CoreToCoreRequested,
)
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.topology.claimed import claimed_groups
from memgauge.model.units import format_count
from memgauge.system.topology.memory_nodes import nodes_with_memory
from memgauge.system.topology.placement import cpus_for, default_team_sizes

BATCHES = 8
"""Of a sample; the ping-pong that tells regimes apart is that of the second fastest."""
BATCH_ROUND_TRIPS = 32
ROUND_TRIPS = BATCHES * BATCH_ROUND_TRIPS
OPERATIONS = 8192
"""Of a sample of a contended line."""

HANDOVER_S = 100e-9
"""Assumed, for the plan of a survey: one way between cores of one package."""
OPERATION_S = 100e-9
"""Assumed: of a contended line."""

LINES_BYTES = 4096
"""For each node with CPUs."""
LEAST_PAIRS = 28
"""A survey with less time measures these, evenly over near and far pairs: all of eight CPUs."""
LEAST_TEAMS = 2


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """Threads that contend."""

    operation: str
    cpus: list[int]


class CoreToCoreGroup(Group, frozen=True, kw_only=True):
    """All pairs and teams."""

    pairs: dict[str, Pair]
    """By the point of its stores; the line lies on the node of the first CPU."""
    teams: dict[str, Team]
    """By point."""
    node_of: dict[int, int]
    """Of each CPU."""
    places: dict[int, MemoryPlacement]
    """Where the lines of a node lie."""

    @property
    def cpus(self) -> list[int]:
        """All that are used, rising."""
        names = self._names
        used = {cpu for name, pair in self.pairs.items() if name in names for cpu in pair}
        for name, team in self.teams.items():
            if name in names:
                used.update(team.cpus)
        return sorted(used)

    @property
    def _names(self) -> set[str]:
        return {point.point for point in self.points}

    def parts(self) -> list[Part]:
        """Pairs from near to far, then teams by operation."""
        names = self._names
        pairs = [name for name in self.pairs if name in names]
        handovers = 2 * 2 * (ROUND_TRIPS + BATCH_ROUND_TRIPS)  # there and back, by both operations
        work = Work(seconds=handovers * HANDOVER_S, threads=2)
        sweeps = [
            Part(
                importance=Importance.SHAPES,
                points=pairs,
                works=[work] * len(pairs),
                least=LEAST_PAIRS,
            )
        ]
        for operation in (FETCH_ADD, SWAP):
            teams = {
                name: len(team.cpus)
                for name, team in self.teams.items()
                if name in names and team.operation == operation
            }
            works = [Work(seconds=OPERATIONS * OPERATION_S, threads=n) for n in teams.values()]
            sweeps.append(
                Part(
                    importance=Importance.TEAMS,
                    points=list(teams),
                    works=works,
                    least=LEAST_TEAMS,
                )
            )
        return [one for one in sweeps if one.points]

    def setup(self) -> Setup:
        """A thread for each CPU is started."""
        return Setup(filled_bytes=self.bytes, threads=len(self.cpus))


def plan_of(parameters: CoreToCoreParameters, system: System) -> CoreToCoreGroup:
    """All points, in one group.

    Raises:
        NotPossibleHere: one CPU only, or memory other than that of nodes was requested.
        RequestError: CPUs or numbers of threads that cannot be used.
    """
    if parameters.memory != MemoryPlacement():
        raise NotPossibleHere(
            f"--memory {parameters.memory}: core-to-core measures lines that stay in caches; leave "
            "--memory out"
        )
    cpus = cpus_for(parameters.cpus, None, system)
    if len(cpus) < 2:
        raise NotPossibleHere(
            "core-to-core: only one CPU can be used, and a line passes between two; allow more "
            "CPUs, or list them with --cpus"
        )
    pairs = chosen_pairs(claimed_groups(system, cpus), cpus, parameters.pairs or MOST_PAIRS)
    node_of = {cpu.cpu: cpu.node for cpu in system.cpus}
    homes = sorted({node_of[cpu] for cpu in cpus})
    places = _places(homes, system)
    points: list[Point] = []
    of_points: dict[str, Pair] = {}
    for pair in _directed(pairs, node_of):
        store, swap = _pair_points(pair)
        of_points[store.point] = pair
        points += [store, swap]
    teams = dict(_teams(parameters, system))
    points += [_team_point(name, team) for name, team in teams.items()]
    points[0] = points[0].with_actual(
        CoreToCoreActual(
            pairs_possible=len(cpus) * (len(cpus) - 1) // 2,
            pairs_chosen=len(pairs),
            measured_cpus=format_cpu_list(sorted(cpus)),
        ).recorded()
    )
    return CoreToCoreGroup(
        name=f"{format_count(len(pairs), 'pair')} of {len(cpus)} CPUs",
        points=points,
        bytes=LINES_BYTES * len(homes),
        bytes_in=_bytes_in(places),
        pairs=of_points,
        teams=teams,
        node_of={cpu: node_of[cpu] for cpu in cpus},
        places=places,
    )


def _places(homes: Sequence[int], system: System) -> dict[int, MemoryPlacement]:
    """Bound to the node where there are several; else ordinary memory, which its CPU touches."""
    nodes = nodes_with_memory(system)
    bound = len(nodes) > 1
    return {home: on_node(home) if bound and home in nodes else MemoryPlacement() for home in homes}


def _bytes_in(places: dict[int, MemoryPlacement]) -> dict[MemoryPlacement, int]:
    found: dict[MemoryPlacement, int] = {}
    for place in places.values():
        found[place] = found.get(place, 0) + LINES_BYTES
    return found


def _directed(pairs: Sequence[Pair], node_of: dict[int, int]) -> Iterator[Pair]:
    """Across nodes in both directions: the line lies on the one node, then on the other."""
    for one, other in pairs:
        yield one, other
        if node_of[one] != node_of[other]:
            yield other, one


def _pair_points(pair: Pair) -> tuple[Point, Point]:
    """By stores, and by swaps in the same sampling passes."""
    first, second = pair
    leader: str | None = None
    made = []
    for operation in (STORE, SWAP):
        name = f"core_to_core/{operation}/c{first}-c{second}"
        made.append(
            Point(
                point=name,
                experiment="core_to_core",
                quantity="latency",
                requested=CoreToCoreRequested(
                    operation=operation, first_cpu=first, second_cpu=second
                ).recorded(),
                actual=CoreToCoreActual(
                    cpus=format_cpu_list(sorted(pair)), round_trips=ROUND_TRIPS
                ).recorded(),
                accesses=2 * ROUND_TRIPS,
                threads=2,
                measured_with=leader,
            )
        )
        leader = name
    store, swap = made
    return store, swap


def _teams(parameters: CoreToCoreParameters, system: System) -> Iterator[tuple[str, Team]]:
    sizes = parameters.threads or default_team_sizes(system, parameters.cpus)
    teams = {threads: cpus_for(parameters.cpus, threads, system) for threads in sizes}
    for operation in (FETCH_ADD, SWAP):
        for threads, cpus in teams.items():
            name = f"core_to_core/contended/{operation}/{threads}t"
            yield name, Team(operation=operation, cpus=cpus)


def _team_point(name: str, team: Team) -> Point:
    threads = len(team.cpus)
    # Each thread's last addition finds that all is done.
    done = OPERATIONS + threads if team.operation == FETCH_ADD else OPERATIONS
    return Point(
        point=name,
        experiment="core_to_core",
        quantity="latency",
        requested=CoreToCoreRequested(operation=team.operation, threads=threads).recorded(),
        actual=CoreToCoreActual(
            cpus=format_cpu_list(sorted(team.cpus)), operations=done
        ).recorded(),
        accesses=done,
        threads=threads,
    )
