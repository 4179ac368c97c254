"""What is thought of one event: pure rules from what it counted of known traffic to a verdict.

Counted over known bytes, idle traffic subtracted, is 1 for an event that counts what it claims. The
factors by which events of today's machines are known to be off are `SIGNATURES`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from memgauge.analysis.counters_verify.faults import (
    NOTHING,
    OTHER_WAY,
    TOLERANCE,
    WIDE,
    NamedFault,
    agrees,
    depends_on_bytes,
    everywhere,
    listed_twice,
    one_socket,
    pooled,
    stopped,
    swapped_directions,
    went_back,
)
from memgauge.analysis.counters_verify.figures import EventSeries, Series
from memgauge.analysis.counters_verify.messages import ratio_text, share_text
from memgauge.analysis.counters_verify.parts import Parts, parts_of
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import LEAST_ROUNDS
from memgauge.model.counting.calibration import factor_text
from memgauge.model.counting.events import EventVerdict, Fault, VerdictWord
from memgauge.model.loads import COPY, NON_TEMPORAL, READ, TEMPORAL, WRITE

SIGNATURES: dict[float, str] = {
    2.0: "two channels, or two requests of half a line, counted for one (LIKWID issues 527, 531)",
    3.0: "a desktop Zen 2's data fabric (LIKWID issue 527)",
    4.0: "two bits of the scale",
    32.0: "64-byte counts taken for halves, or 32-byte beats scaled twice",
    64.0: "a count of bytes multiplied by a line (POWER9's memory buffers)",
    128.0: "a count of bytes multiplied by a POWER line",
    256.0: "the scale of a POWER9 catalogue unit",
    4096.0: "the scale of POWER10's nest units",
    1 / 2: "half of the controllers unseen, or 32-byte bursts taken for lines",
    1 / 4: "one of four controllers seen",
    1 / 8: "one channel of eight counted (ThunderX2), or bits taken for bytes",
    1 / 32: "32-byte beats not scaled",
    1 / 64: "lines not scaled to bytes",
    1 / 128: "POWER lines not scaled to bytes",
    1 / 256: "a catalogue scale left out",
    1 / 4096: "POWER10's scale left out",
}
"""Wrong factors that were seen, and what makes them."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict before its machine is filled in."""

    verdict: VerdictWord
    evidence: str
    ratio: Estimate | None = None
    factor: float | None = None
    fault: Fault | None = None
    missing: list[str] = []


def verdict_of(finding: Finding, event: str, *, machine: str, kernel: str, at: str) -> EventVerdict:
    """A finding as the verdict that is kept for one event and machine.

    Args:
        finding: What the event's counts showed.
        event: Full name of the event, such as `perf:uncore_imc/cas_count_read/`.
        machine: Digest that identifies the kind of machine, as in `System.machine_id`.
        kernel: Version of the kernel that the event was verified under.
        at: Time at which the verifying run started, as ISO 8601, UTC.
    """
    ratio = finding.ratio
    return EventVerdict(
        event=event,
        verdict=finding.verdict,
        evidence=finding.evidence,
        ratio=ratio.value if ratio else None,
        ratio_low=ratio.low if ratio else None,
        ratio_high=ratio.high if ratio else None,
        factor=finding.factor,
        fault=finding.fault,
        missing=finding.missing,
        machine=machine,
        kernel=kernel,
        made_at=at,
    )


def judged_loads(event: EventSeries) -> list[Series]:
    """The loads whose traffic the event is named for: reads, or writes that read nothing first.

    These are writes past the caches, or a GPU's. Writes that read their lines first stand in where
    the processor has no other.
    """
    if event.quantity != "write_bytes":
        return event.under(READ)
    return event.under(NON_TEMPORAL) or event.under(WRITE) or event.under(TEMPORAL)


def judge(event: EventSeries, peers: Sequence[EventSeries] = ()) -> Finding:
    """The verdict on one event that was opened; `peers` are others that were."""
    loads = judged_loads(event)
    overall = pooled(loads, event.names)
    back = went_back(loads)
    if overall is None:
        return _without_ratio(event, loads) if back is None else _faulty(back, event, loads, None)
    fault = stopped(event, loads) or back or _swapped(event, overall)
    if fault is not None:
        return _faulty(fault, event, loads, overall)
    return _judged(event, loads, overall, parts_of(event, loads, peers))


def _judged(
    event: EventSeries, loads: Sequence[Series], overall: Estimate, parts: Parts
) -> Finding:
    """The verdict on an event that counts its own direction, for as long as it is open."""
    evidence = _Evidence(event, loads, overall, parts)
    if _is_dead(event, loads, overall):
        return Finding(verdict="dead", evidence=evidence.dead(), ratio=overall)
    if parts.is_short:
        return _partial(overall, parts, evidence)
    fault = depends_on_bytes(event, loads)
    if fault is not None:
        return _faulty(fault, event, loads, overall)
    fault = (
        everywhere(event, loads) or listed_twice(event, loads, overall) or one_socket(event, loads)
    )
    if fault is not None:
        return _off(fault, event, loads, overall)
    return _scaled(overall, evidence, also=_other_way(event, overall))


def _faulty(
    fault: NamedFault, event: EventSeries, loads: Sequence[Series], overall: Estimate | None
) -> Finding:
    """What no factor corrects."""
    return Finding(
        verdict="faulty",
        evidence=_together(event, loads, [fault.evidence]),
        ratio=overall,
        fault=fault.fault,
        missing=[event.shown(name) for name in fault.names],
    )


def _off(
    fault: NamedFault, event: EventSeries, loads: Sequence[Series], overall: Estimate
) -> Finding:
    """What counts in proportion, by a factor whose cause was recognised, or by several factors."""
    share = f"counted {ratio_text(overall)} of the known bytes"
    return Finding(
        verdict="mis-scaled",
        evidence=_together(event, loads, [share, fault.evidence]),
        ratio=overall,
        factor=fault.factor,
        fault=fault.fault,
    )


def _together(event: EventSeries, loads: Sequence[Series], parts: Sequence[str]) -> str:
    words = [part for part in parts if part]
    if len(event.events) > 1:
        words.append(f"judged together, as they add up: {', '.join(event.events)}")
    if any(load.is_estimate for load in loads):
        words.append("estimated: the counter shared its hardware and counted part of the time")
    return "; ".join(words)


def _swapped(event: EventSeries, overall: Estimate) -> NamedFault | None:
    name, other = _other_direction(event)
    return swapped_directions(overall, other, counts=name) if name else None


def signature(ratio: Estimate) -> float | None:
    """The one known wrong factor that the interval agrees with; None: none, or several."""
    near = [s for s in SIGNATURES if agrees(ratio, s)]
    if not near or ratio.high - ratio.low > 2 * TOLERANCE * ratio.value:
        return None
    nearest = min(near, key=lambda s: abs(math.log(ratio.value / s)))
    return nearest if agrees(Estimate(ratio.value, ratio.value, ratio.value), nearest) else None


def _without_ratio(event: EventSeries, loads: Sequence[Series]) -> Finding:
    """One that gave no value in any round is absent; else too little was seen."""
    rounds = [count for load in loads for count in load.rounds]
    read = {name for count in rounds for name in count.loaded if name in count.idle}
    unread = [event.shown(name) for name in event.names if name not in read]
    if rounds and unread:
        evidence = f"could not be read on {', '.join(unread)}"
        return Finding(verdict="absent", evidence=evidence, missing=unread)
    evidence = (
        f"fewer than {LEAST_ROUNDS} rounds were read: give it more time"
        if loads
        else "no load of what it claims to count was measured: give it more time"
    )
    return Finding(verdict="noisy", evidence=evidence)


def _is_dead(event: EventSeries, loads: Sequence[Series], overall: Estimate) -> bool:
    if all(load.counts_nothing(event.names) for load in loads):
        return True
    return overall.low <= 0 and overall.high < NOTHING


def _partial(overall: Estimate, parts: Parts, evidence: _Evidence) -> Finding:
    """Some count nothing; where whole sockets do, the others show whether the scale is right."""
    rest = parts.rest if parts.whole_places else None
    factor = None if rest is None or agrees(rest, 1.0) else signature(rest)
    return Finding(
        verdict="partial",
        evidence=evidence.partial(rest, factor),
        ratio=overall,
        factor=factor,
        fault=_place_fault(parts),
        missing=evidence.shown(),
    )


def _place_fault(parts: Parts) -> Fault | None:
    if parts.elsewhere:
        return "swapped sockets"
    return "one socket" if parts.whole_places else None


def _scaled(overall: Estimate, evidence: _Evidence, also: str | None) -> Finding:
    half_width = (overall.high - overall.low) / 2
    common: dict[str, Any] = {"ratio": overall}
    if agrees(overall, 1.0):
        if half_width > TOLERANCE:
            return Finding(verdict="noisy", evidence=evidence.noisy(), **common)
        if also is not None:
            return _both(evidence, also, common)
        return Finding(verdict="verified", evidence=evidence.verified(), **common)
    if overall.value <= 0 or half_width > WIDE * overall.value:
        return Finding(verdict="noisy", evidence=evidence.noisy(), **common)
    if also is not None:
        return _both(evidence, also, common)
    factor = signature(overall)
    return Finding(verdict="mis-scaled", evidence=evidence.scaled(factor), factor=factor, **common)


def _both(evidence: _Evidence, also: str, common: dict[str, Any]) -> Finding:
    fault: Fault = "both directions"
    return Finding(verdict="faulty", evidence=evidence.with_other(also), fault=fault, **common)


def _other_way(event: EventSeries, own: Estimate) -> str | None:
    """That an event of one direction counts the other one too, as part of a sentence."""
    name, found = _other_direction(event)
    if found is None or found.low < OTHER_WAY * own.value:
        return None
    return f"it counts {name} too: {ratio_text(found)} of them, where none are due"


def _other_direction(event: EventSeries) -> tuple[str, Estimate | None]:
    """The name of the other direction, and what is counted of it; empty where there is none."""
    if event.quantity == "traffic_bytes":
        return "", None
    if event.quantity == "read_bytes":
        name, loads = "writes", event.under(NON_TEMPORAL) or event.under(WRITE)
    else:
        name, loads = "reads", event.under(READ)
    return name, pooled(loads, event.names)


class _Evidence:
    """The text of a verdict, with the figures that it rests on."""

    def __init__(
        self, event: EventSeries, loads: Sequence[Series], overall: Estimate, parts: Parts
    ) -> None:
        self._event = event
        self._loads = loads
        self._overall = overall
        self._parts = parts

    def verified(self) -> str:
        return self._text([self._counts(), *self._beside(), *self._empty()])

    def with_other(self, also: str) -> str:
        return self._text([self._counts(), f"but {also}"])

    def scaled(self, factor: float | None) -> str:
        known = (
            f"{factor_text(factor)} is a known signature: {SIGNATURES[factor]}"
            if factor is not None
            else "no known signature"
        )
        return self._text([self._counts(), known, *self._empty()])

    def noisy(self) -> str:
        idle = self._idle()
        return self._text(
            [
                f"{self._counts()}: too wide to decide",
                f"{idle} while idle" if idle else "",
                "repeat it with less traffic of others, or with longer regions (--region)",
            ]
        )

    def dead(self) -> str:
        most = max(self._overall.high, 0.0)
        zero = all(load.counts_nothing(self._event.names) for load in self._loads)
        counted = "zero" if zero else f"at most {share_text(most)}, which idle traffic explains,"
        return self._text([f"counted {counted} of {self._known()}"])

    def partial(self, rest: Estimate | None, factor: float | None) -> str:
        names = ", ".join(self._silent())
        share = f"counted {ratio_text(self._overall)} of {self._known()}"
        words = [f"nothing is counted on {names}, which this traffic must reach", share]
        words += self._parts.notes
        if rest is not None and not agrees(rest, 1.0):
            off = f"by {factor_text(factor)}" if factor is not None else "by no known signature"
            words.append(f"what counts is off too: {ratio_text(rest)}, {off}")
        return self._text(words)

    def shown(self) -> list[str]:
        """The silent ones."""
        return [self._event.shown(name) for name in self._parts.silent]

    def _silent(self) -> list[str]:
        """Instances, or the socket where all of its are silent."""
        silent = set(self._parts.silent)
        words = []
        for socket in dict.fromkeys(counter.socket for counter in self._event.counters):
            mine = [c.name for c in self._event.counters if c.socket == socket]
            if socket is not None and silent.issuperset(mine):
                words.append(f"socket {socket}")
                silent -= set(mine)
        return [*words, *(self._event.shown(n) for n in self._parts.silent if n in silent)]

    def _empty(self) -> list[str]:
        silent = self._parts.silent
        if not silent:
            return []
        names = ", ".join(self._silent())
        return [f"{names} counted nothing, and the others account for all of it"]

    def _counts(self) -> str:
        return f"counted {ratio_text(self._overall)} of {self._known()}"

    def _known(self) -> str:
        load = self._loads[0].where.load
        past = " past the caches" if load == NON_TEMPORAL else ""
        return f"the known bytes {'read' if load == READ else 'written'}{past}"

    def _idle(self) -> str:
        rates = [load.idle_gb_per_s(self._event.names) for load in self._loads]
        known = [rate.value for rate in rates if rate is not None]
        return f"{max(known):.3g} GB/s" if known else ""

    def _beside(self) -> list[str]:
        """What ordinary writes showed, or a GPU's copies."""
        copies = pooled(self._event.under(COPY), self._event.names)
        if copies is not None:
            return [f"{ratio_text(copies)} of those of copies"]
        temporal = pooled(self._event.under(TEMPORAL), self._event.names)
        if temporal is None or self._event.quantity == "write_bytes":
            return []
        seen = temporal.value - (self._event.quantity == "traffic_bytes")
        kind = "a write-allocate" if seen > 0.5 else "hardly a write-allocate"
        return [f"ordinary writes cause {kind} ({share_text(seen)} of them is read first)"]

    def _text(self, parts: Sequence[str]) -> str:
        return _together(self._event, self._loads, parts)
