"""What a profile watches: components of the machine, the events that tell of each, and its lanes.

A lane is what is read together, at one rate. A back end that is slow (a daemon, a driver that asks
its device), whose values do not change faster, or that costs much to read, has a highest rate, and
for each component a lane of its own, so that it delays no other. All others share one lane: waking
a thread costs more than reading a dozen counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memgauge.counters.base import Probe
from memgauge.counters.host import Host
from memgauge.counters.opening import find
from memgauge.counters.registry import load
from memgauge.model.counting.back_ends import BACK_ENDS, of_component
from memgauge.model.counting.event_names import AUTOMATIC
from memgauge.model.counting.events import Domain, Event
from memgauge.model.errors import CounterRefused, RequestError, UnknownEvent


class Component(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the machine or of the program. Back ends state for which they count."""

    name: str
    domain: Domain | None = None
    """Of events that belong to it; None: any."""
    events: tuple[str, ...] = ()
    """Those it takes; empty: all of its domain that may be chosen automatically."""
    apart: bool = False
    """Whether each back end counts what no other does, so that each one's absence is reported."""
    own: bool = False
    """Whether it is of the program alone, and not of the whole machine or of a control group."""
    by_request: bool = False
    """Whether it is watched only where it is named: beside others it would share their hardware."""


COMPONENTS = (
    Component(name="memory", domain="memory", events=(AUTOMATIC,)),
    Component(name="process", domain="process", own=True),
    Component(
        name="software",
        events=(
            "perf:page-faults",
            "perf:context-switches",
            "perf:cpu-migrations",
            "perf:task-clock",
        ),
        own=True,
    ),
    Component(
        name="core",
        events=(
            "perf:cycles",
            "perf:instructions",
            "perf:branches",
            "perf:branch-misses",
            "perf:cache-references",
            "perf:cache-misses",
        ),
        own=True,
    ),
    Component(
        name="caches",
        events=(
            "perf:l1d-loads",
            "perf:l1d-load-misses",
            "perf:llc-loads",
            "perf:llc-load-misses",
        ),
        by_request=True,
        own=True,
    ),
    Component(
        name="tlb",
        events=("perf:dtlb-loads", "perf:dtlb-load-misses", "perf:page-walks"),
        by_request=True,
        own=True,
    ),
    Component(
        name="flops",
        events=("perf:flops", *(f"perf:flops-{elements}" for elements in (1, 2, 4, 8, 16))),
        by_request=True,
        own=True,
    ),
    Component(name="network", domain="network"),
    Component(name="energy", domain="energy"),
    Component(name="gpu", domain="gpu", apart=True),
    Component(name="cgroup", events=("cgroup:memory.current",)),
)
NAMES = tuple(component.name for component in COMPONENTS)
OF_PROGRAM = frozenset(component.name for component in COMPONENTS if component.own)
USUAL = tuple(component.name for component in COMPONENTS if not component.by_request)
"""Those that are watched where none is chosen."""


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A component, or a part of one, that is not watched."""

    component: str
    reason: str
    remedy: str | None = None


BY_NAME = "counters"
"""Stands for the component of events that were named by hand."""
FAST = "fast-counters"
"""Name of the lane that back ends without a highest rate share."""


class LanePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Events to be sampled together."""

    name: str
    """Also of its counter set and, with `.lane`, of its file."""
    component: str
    events: list[Event]
    rate_hz: float
    parts: list[LanePlan] = []
    """What to sample apart, where they cannot all be opened together."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What will be sampled, and what cannot be."""

    lanes: list[LanePlan]
    missing: list[Missing]


def plan_components(names: Iterable[str], rate_hz: float, host: Host) -> Plan:
    """The lanes of components; each that has no event here is reported with reason and remedy.

    Args:
        names: Components to sample, from `NAMES`; others are ignored.
        rate_hz: Requested samples per second; a slower back end gets its highest rate instead.
        host: Machine whose counters are looked for.
    """
    wanted = set(names)
    plan = Plan(lanes=[], missing=[])
    for component in COMPONENTS:
        if component.name in wanted:
            events, missing = _events_of(component, host)
            events.sort(key=lambda event: event.back_end)
            plan.lanes.extend(_lanes(component.name, events, rate_hz))
            plan.missing.extend(missing)
    return Plan(lanes=_shared(plan.lanes), missing=plan.missing)


def plan_events(texts: Sequence[str], rate_hz: float, host: Host) -> Plan:
    """The lanes of events named by hand; what this machine cannot count now is reported as missing.

    Args:
        texts: Events as `find` takes them, such as `perf:cycles` or `auto`.
        rate_hz: Requested samples per second; a slower back end gets its highest rate instead.
        host: Machine whose counters are looked for.

    Raises:
        UnknownEvent: one is malformed, or its back end works here and knows no such event.
    """
    found: dict[str, Event] = {}
    missing = []
    for text in texts:
        try:
            found.update((event.name, event) for event in find([text], host))
        except CounterRefused as error:
            missing.append(Missing(component=BY_NAME, reason=str(error)))
        except UnknownEvent as error:
            # What is not there, such as a daemon that is down, cannot tell which events it has.
            if (probe := _absent(text, host)) is None:
                raise
            reason = probe.reason or str(error)
            missing.append(
                Missing(component=BY_NAME, reason=f"{text}: {reason}", remedy=probe.remedy)
            )
        except RequestError as error:
            raise UnknownEvent(str(error)) from error
    return Plan(lanes=_lanes(BY_NAME, [*found.values()], rate_hz), missing=missing)


def of_program(plan: Plan) -> Plan:
    """The events of a plan that count the program alone, and not what other programs do too."""
    lanes = [lane for lane in map(_own_part, plan.lanes) if lane.events]
    return Plan(lanes=lanes, missing=plan.missing)


def _own_part(lane: LanePlan) -> LanePlan:
    return msgspec.structs.replace(
        lane,
        events=[event for event in lane.events if _is_own(event)],
        parts=[part for part in map(_own_part, lane.parts) if part.events],
    )


def _is_own(event: Event) -> bool:
    back_end = BACK_ENDS[event.back_end]
    if back_end.per_process:
        return event.domain in {"core", "software"}
    return event.scope == "process" and not back_end.has_other_processes


def _absent(text: str, host: Host) -> Probe | None:
    """What the back end of an event says of itself, where it is absent."""
    name = text.partition(":")[0]
    probe = load(name, host).probe() if name in BACK_ENDS else None
    return probe if probe is not None and probe.state == "absent" else None


def _lanes(component: str, events: Sequence[Event], rate_hz: float) -> list[LanePlan]:
    """One for each back end, in the order of their events: the first that was named is first."""
    names = dict.fromkeys(event.back_end for event in events)
    parts = [(name, [one for one in events if one.back_end == name]) for name in names]
    return [
        LanePlan(
            name=component if len(parts) == 1 else f"{component}-{back_end}",
            component=component,
            events=part,
            rate_hz=min(rate_hz, BACK_ENDS[back_end].highest_rate_hz or rate_hz),
        )
        for back_end, part in parts
    ]


def _shared(lanes: list[LanePlan]) -> list[LanePlan]:
    """One lane for all that have no highest rate, in the place of the first of them."""
    fast = [lane for lane in lanes if _is_fast(lane)]
    if len(fast) < 2:
        return lanes
    whole = LanePlan(
        name=FAST,
        component=FAST,
        events=[event for lane in fast for event in lane.events],
        rate_hz=fast[0].rate_hz,
        parts=fast,
    )
    at = lanes.index(fast[0])
    return [*lanes[:at], whole, *(lane for lane in lanes[at:] if not _is_fast(lane))]


def _is_fast(lane: LanePlan) -> bool:
    return all(BACK_ENDS[event.back_end].highest_rate_hz is None for event in lane.events)


def _events_of(component: Component, host: Host) -> tuple[list[Event], list[Missing]]:
    if component.events == (AUTOMATIC,):
        return _memory(component, host)
    events: list[Event] = []
    reasons: list[Missing] = []
    for name in of_component(component.name):
        back_end = load(name, host)
        probe = back_end.probe()
        known = back_end.events() if probe.state != "absent" else []
        mine = [event for event in known if _belongs(event, component)]
        ready = [event for event in mine if event.state == "ready"]
        # The same by two routes would be added up: the first route is taken.
        if not (BACK_ENDS[name].overlaps and any(BACK_ENDS[e.back_end].overlaps for e in events)):
            events += ready
        if not ready:
            reasons.append(_why(component.name, name, probe, mine))
    if events:
        return events, reasons if component.apart else []
    return [], _joined(component.name, reasons)


def _memory(component: Component, host: Host) -> tuple[list[Event], list[Missing]]:
    try:
        return find([AUTOMATIC], host), []
    except CounterRefused as error:
        return _sampled(component, host), [Missing(component=component.name, reason=str(error))]


def _sampled(component: Component, host: Host) -> list[Event]:
    """Rates that hardware samples by itself, where its counters may not be read."""
    return [
        event
        for name in of_component(component.name)
        for event in load(name, host).events()
        if event.automatic and event.state == "ready" and event.domain == component.domain
    ]


def _belongs(event: Event, component: Component) -> bool:
    if component.events:
        return event.name in component.events
    return event.automatic and event.domain == component.domain


def _why(component: str, back_end: str, probe: Probe, events: Sequence[Event]) -> Missing:
    """Why a back end gives none of the events of a component."""
    reported = next((event for event in events if event.reason), None)
    if reported is not None:
        return Missing(component=component, reason=reported.reason or "", remedy=reported.remedy)
    # What one that works says of itself is about other counters of it.
    if probe.state == "ready" or probe.reason is None:
        return Missing(component=component, reason=f"{back_end} has no counter of {component} here")
    return Missing(component=component, reason=probe.reason, remedy=probe.remedy)


def _joined(component: str, reasons: Sequence[Missing]) -> list[Missing]:
    """All reasons in one, which is what one line can hold."""
    said = list(dict.fromkeys(one.reason for one in reasons)) or ["no back end knows it"]
    remedies = list(dict.fromkeys(one.remedy for one in reasons if one.remedy))
    return [
        Missing(
            component=component,
            reason="; ".join(said),
            remedy=", or ".join(remedies) if remedies else None,
        )
    ]
