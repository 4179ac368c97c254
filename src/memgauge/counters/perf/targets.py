"""Events bound to threads instead of CPUs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.counters.base import Target
from memgauge.counters.host import Host
from memgauge.counters.perf.places import Place
from memgauge.model.errors import RequestError
from memgauge.system.tree import Tree, too_many_open


def threads_of(host: Host, target: Target) -> list[int]:
    """Thread identifiers of a target; none where the whole machine is meant.

    Raises:
        RequestError: a process that does not exist.
    """
    tree = Tree(host.procfs)
    found = list(target.threads)
    for pid in target.pids:
        threads = tree.numbered(f"/{pid}/task", "")
        if not threads:
            absent = "does not exist, or is not ours to see; name one that runs"
            raise RequestError(f"process {pid}: {too_many_open() or absent}")
        found += threads
    return list(dict.fromkeys(found))


def bound(places: Sequence[Place], threads: Sequence[int]) -> list[Place]:
    """Places of CPUs replaced by one for each thread and core type; others as they are."""
    made: list[Place] = []
    seen: set[tuple[str, int, str | None]] = set()
    for place in places:
        if not place.bindable or not threads:
            made.append(place)
            continue
        for thread in threads:
            key = (place.pmu, thread, place.core_type)
            if key in seen:
                continue
            seen.add(key)
            made.append(
                msgspec.structs.replace(
                    place,
                    cpu=-1,
                    pid=thread,
                    socket=None,
                    controller=None,
                    instance=f"{place.pmu} thread {thread}",
                )
            )
    return made
