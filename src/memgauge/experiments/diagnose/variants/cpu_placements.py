"""Other CPUs for a program: within those that it has, and all of the machine's.

A program is confined to a set of CPUs; its threads are not bound one by one. Most thread libraries
start as many threads as the set has CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memgauge.experiments.diagnose.treatments import NotTried, Treatment, variant
from memgauge.model.cpulist import format_cpu_list
from memgauge.model.points.diagnose import ALL_CPUS
from memgauge.model.system import System
from memgauge.model.units import format_count
from memgauge.system.topology.placement import cpus_for, hides_caches, last_level_caches

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "GOMAXPROCS",
)


class _Candidate(msgspec.Struct, frozen=True):
    """CPUs that a program could have."""

    name: str
    cpus: list[int]
    """Empty: there is no such set."""
    reason: str
    """Why it is not tried where there is none, or it is the usual one."""


def cpu_placements(
    program: Sequence[int], system: System, environment: Mapping[str, str]
) -> tuple[list[Treatment], list[NotTried]]:
    """Sets of the program's CPUs that differ from all of them and from each other.

    Args:
        program: CPUs that the program has.
        system: The machine.
        environment: Of the program: numbers of threads in it are lowered to the CPUs of a set.
    """
    if len(program) < 2:
        return [], [NotTried("other CPUs", "the program has one CPU")]
    made: list[Treatment] = []
    not_tried: list[NotTried] = []
    names = {frozenset(program): ""}
    for one in _candidates(program, system):
        same = names.setdefault(frozenset(one.cpus), one.name) if one.cpus else ""
        if same == one.name:
            made.append(_treatment(one, environment))
        else:
            not_tried.append(NotTried(one.name, f"the same CPUs as {same}" if same else one.reason))
    return made, not_tried


def on_all_cpus(program: Sequence[int], allowed: Sequence[int]) -> list[Treatment]:
    """The usual way on all CPUs, which a diagnosis shares with its generators: what that changes.

    Args:
        program: CPUs that the program has.
        allowed: CPUs that it would have without a diagnosis.
    """
    if set(allowed) <= set(program):
        return []
    count, cpus = format_count(len(allowed), "CPU"), format_cpu_list(sorted(allowed))
    change = f"on all {count}, {cpus}, as without a diagnosis"
    return [replace(variant(ALL_CPUS, change), cpus=sorted(allowed))]


def _candidates(program: Sequence[int], system: System) -> Iterator[_Candidate]:
    mine = replace(system, allowed_cpus=list(program))
    yield _Candidate(
        "one thread a core", cpus_for("cores", None, mine), "the program has one CPU of each core"
    )
    yield _one_complex(program, mine)
    half = len(program) // 2
    too_few = f"needs 4 CPUs, and the program has {len(program)}"
    for name, policy in (("compact CPUs", "compact"), ("scattered CPUs", "scatter")):
        yield _Candidate(name, cpus_for(policy, half, mine) if half > 1 else [], too_few)


def _one_complex(program: Sequence[int], mine: System) -> _Candidate:
    """The last-level cache that most of the program's CPUs share."""
    name = "one cache complex"
    if hides_caches(program, mine):
        return _Candidate(name, [], "the system hides caches of the program's CPUs")
    shares = [
        [cpu for cpu in program if cpu in cache.cpus]
        for cache in last_level_caches(program, mine).caches
    ]
    return _Candidate(name, max(shares, key=len), "the program's CPUs share one last-level cache")


def _treatment(one: _Candidate, environment: Mapping[str, str]) -> Treatment:
    lowered = {
        name: str(len(one.cpus))
        for name in THREAD_VARIABLES
        if (asked := environment.get(name, "")).isdecimal() and int(asked) > len(one.cpus)
    }
    cpus = format_cpu_list(sorted(one.cpus))
    change = f"on {format_count(len(one.cpus), 'CPU')}: {cpus}"
    changed = "".join(f", {name}={value}" for name, value in lowered.items())
    return replace(
        variant(one.name, f"{change}{changed}"), cpus=sorted(one.cpus), environment=lowered
    )
