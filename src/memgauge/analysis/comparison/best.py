"""Figures over several points, which machines of different sizes have in common.

Two machines seldom ran teams of one size, nor do two tools delay their traffic by the same units.
What they share is the best that any team reached, the latency under the least traffic, and the
traffic without delay. The best of several figures is partly luck, in both sources alike.
"""

import re
from collections.abc import Iterable

import msgspec

from memgauge.analysis.comparison.figures import Comparable

BEST_TEAM = "best team"
ANY_KERNEL = "any kernel"

_TEAM = re.compile(r"(?P<family>(stream|mix)/.+)/(?P<team>[0-9]+t)")
_KERNEL = re.compile(
    r"stream/(?P<loop>[^/]+)/(?P<kernel>[^/]+)/(?P<rest>[^/]+/(?:[0-9]+t|best team))"
)
_LOADED = re.compile(
    r"loaded/(?P<load>[^/]+)/(?P<order>[^/]+)/(?P<generators>[0-9]+)g/d(?P<delay>[0-9]+)"
    r"(?P<traffic>/traffic)?"
)


def best_teams(comparables: Iterable[Comparable]) -> list[Comparable]:
    """The best figure over all teams and regimes, for each family of points and statistic.

    Its facts name the team. Only for bandwidths; a single team is its own best.
    """
    found: dict[tuple[str, str], Comparable] = {}
    for one in comparables:
        match = _TEAM.fullmatch(one.name)
        if match is None or one.direction != "higher":
            continue
        key = (match["family"], one.statistic)
        if key not in found or one.estimate.value > found[key].estimate.value:
            found[key] = one
    return [_best(family, one) for (family, _), one in found.items()]


def any_kernels(comparables: Iterable[Comparable]) -> list[Comparable]:
    """The best figure over all kernels of a loop, for each team and statistic.

    Two tools never have one kernel, but count the bytes of one loop alike. Its facts name the
    kernel.
    """
    found: dict[tuple[str, str], tuple[str, Comparable]] = {}
    for one in comparables:
        match = _KERNEL.fullmatch(one.name)
        if match is None or match["kernel"] == ANY_KERNEL:
            continue
        key = (f"stream/{match['loop']}/{ANY_KERNEL}/{match['rest']}", one.statistic)
        if key not in found or one.estimate.value > found[key][1].estimate.value:
            found[key] = (match["kernel"], one)
    return [
        _renamed(name, one, {"kernel": kernel, **_team_fact(one)})
        for (name, _), (kernel, one) in found.items()
    ]


def _team_fact(one: Comparable) -> dict[str, str]:
    return {BEST_TEAM: str(one.facts[BEST_TEAM])} if BEST_TEAM in one.facts else {}


def loaded_ends(comparables: Iterable[Comparable]) -> list[Comparable]:
    """Of each load: latency at the longest delay, traffic at the shortest; of most generators."""
    ends: dict[str, tuple[tuple[int, bool, int], Comparable]] = {}
    for one in comparables:
        match = _LOADED.fullmatch(one.name)
        if match is None:
            continue
        delay, generators = int(match["delay"]), int(match["generators"])
        traffic = match["traffic"] is not None
        name = f"loaded/{match['load']}/" + ("least-delay/traffic" if traffic else "unloaded")
        rank = (generators, match["order"] == "sequential", -delay if traffic else delay)
        if name not in ends or rank > ends[name][0]:
            ends[name] = (rank, one)
    return [_renamed(name, one, {"point": one.name}) for name, (_, one) in ends.items()]


def _best(family: str, one: Comparable) -> Comparable:
    team = one.name.rpartition("/")[2].removesuffix("t")
    return _renamed(
        f"{family}/{BEST_TEAM}", one, {BEST_TEAM: f"{team} thread{'s' * (team != '1')}"}
    )


def _renamed(name: str, one: Comparable, facts: dict[str, str]) -> Comparable:
    return msgspec.structs.replace(
        one,
        name=name,
        label=f"{one.label}, as {name}",
        regime="",
        pingpong_ns=None,
        facts={**facts},
    )
