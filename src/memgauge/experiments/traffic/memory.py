"""Which sizes of `traffic` are open at once, so that their arrays fit into memory."""

from __future__ import annotations

from collections.abc import Sequence

from memgauge.experiments.shared.base import Group
from memgauge.experiments.traffic.cold import Sets, sets_for
from memgauge.experiments.traffic.parameters import TrafficParameters
from memgauge.experiments.traffic.plan import Team, spec_of
from memgauge.model.errors import RequestError
from memgauge.model.records import Point
from memgauge.model.system import System
from memgauge.model.units import format_bytes, format_count

GROUP_SHARE = 0.75
"""Of the available memory, that sizes which are open at once may take."""
LARGEST_SHARE = 0.8
"""That one set of arrays may take."""


def name_of(team: Team) -> str:
    """As progress and errors call it."""
    return format_count(team.threads, "thread")


def packed(
    parameters: TrafficParameters, team: Team, points: Sequence[Point], system: System
) -> list[Group]:
    """As few groups as memory allows, in the order of sizes: each has the counters for itself."""
    sized = [(point, sets_of(point, team.cpus, system)) for point in points]
    remedy = "--simulate-only needs no memory"
    return packed_into(parameters, name_of(team), sized, system.available_bytes, remedy)


def packed_into(
    parameters: TrafficParameters,
    place: str,
    sized: Sequence[tuple[Point, Sets]],
    available_bytes: int,
    remedy: str,
) -> list[Group]:
    """The same for sets of arrays that are known; `place`: whose they are, in words."""
    found: list[Group] = []
    for point, sets in _possible(parameters, place, sized, available_bytes, remedy):
        together = sets.pool_bytes + (found[-1].bytes if found else 0)
        if found and together <= available_bytes * GROUP_SHARE:
            last = found.pop()
            found.append(Group(name=last.name, points=[*last.points, point], bytes=together))
        else:
            begins = f", from N = {point.requested['size']}" if found else ""
            name = place + begins
            found.append(Group(name=name, points=[point], bytes=sets.pool_bytes))
    return found


def _possible(
    parameters: TrafficParameters,
    place: str,
    sized: Sequence[tuple[Point, Sets]],
    available_bytes: int,
    remedy: str,
) -> list[tuple[Point, Sets]]:
    """Those of which one set fits into memory; of sizes that were asked for all must."""
    room = int(available_bytes * LARGEST_SHARE)
    fitting = [(point, sets) for point, sets in sized if sets.laid_out_bytes <= room]
    if len(fitting) < len(sized) and (parameters.sizes is not None or not fitting):
        point, sets = next(one for one in sized if one not in fitting)
        largest = fitting[-1][0].requested["size"] if fitting else None
        fits = "none fits" if largest is None else f"sizes up to {largest} of these fit"
        raise RequestError(
            f"--sizes {point.requested['size']}: the arrays of {parameters.kernel} by {place} "
            f"take {format_bytes(sets.bytes)}, and {format_bytes(room)} of memory may be used: "
            f"{fits}; {remedy}"
        )
    return fitting


def sets_of(point: Point, cpus: Sequence[int], system: System) -> Sets:
    """How many sets of its arrays a point uses in turn."""
    arrays = [array.bytes for array in spec_of(point).arrays]
    return sets_for(arrays, point.threads, cpus, system)
