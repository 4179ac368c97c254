"""What limits the program: a rule over intervals, each of which must hold on its own.

In this order: were there rounds enough, is the program's own time steady, did pressure reach
memory, and does nothing else differ; then whether pressure slows the program at all; whether it
suffers from the loss of cache more than anything that waits for memory does; and whether it slows
down like what uses bandwidth, or like what waits for memory. What two kinds of evidence say
differently is said, not averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from memgauge.analysis.diagnose.figures import WAITING_EITHER, Diagnosis, Treated
from memgauge.analysis.diagnose.shares import LEAST_ROUNDS
from memgauge.analysis.diagnose.traffic import Basis
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHE,
    CACHED,
    COMPUTE_AGAIN,
    LATENCY,
    READ,
    WAITING,
    WRITE,
)
from memgauge.model.units import format_count

Kind = Literal[
    "bandwidth", "latency", "memory", "cache", "translation", "not memory", "cannot tell"
]
"""Interference and traffic show all but translation, which is judged by pages (`translation`)."""
OF_MEMORY: frozenset[Kind] = frozenset({"bandwidth", "latency", "memory"})
"""Verdicts that say that it waits for memory: shares of its time have a meaning."""

STEADY = 0.02
"""Two equal treatments that differ by more, at the nearer end of the interval, are not equal."""
LEAST_DOSE = 1.20
"""Slowdown of a reference under writes, at the lower end, from which on pressure can tell."""
LEAST_CACHE_DOSE = 1.30
"""The same of the cached reference, under pressure on the cache."""
NOTHING = 1.05
"""A program that slows down by less, at the upper end, is not limited by what was pressed."""
SOMETHING = 1.03
"""One that slows down by more, at the lower end, is."""
CACHE_EXCESS = 1.05
"""Slowdown over that of what waits for memory, under pressure on the cache, at the lower end: of
what lives in the cache;"""
NO_CACHE_EXCESS = 1.20
"""and at the upper end: of what may be said to wait for memory."""
BEYOND = 1.05
"""Slowdown over that of what waits for memory, at the lower end, of what does not only wait."""
MUCH_TRAFFIC = 0.25
"""Share of the bandwidth at hand, from which on traffic may limit a program."""
LIKE_BANDWIDTH = 0.70
"""Least share, by the bandwidth reference, of what is bound by bandwidth."""
EXPLAINED = 0.5
"""Of the share for which it waits by pressure, at the lower end, that its traffic must explain."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on interference, with the figures that it rests on."""

    kind: Kind
    why: str
    """A sentence."""
    latency_share: Estimate | None = None
    bandwidth_share: Estimate | None = None
    resolvable_share: float | None = None
    """The least share by the latency reference that these rounds could tell from none."""
    regime: str = ""
    needs_traffic: bool = False
    """Whether its traffic would decide, and more rounds would not."""


def judgement_of(diagnosis: Diagnosis) -> Judgement:
    """The verdict on a whole diagnosis: interference and traffic together."""
    if not diagnosis.pressures and diagnosis.has_pressure:
        return Judgement(
            kind="cannot tell",
            why="No run under pressure could be paired with one beside arithmetic; "
            f"{LEAST_ROUNDS} rounds are needed.",
        )
    return judge_with(diagnosis.treated, diagnosis)


def judge_with(treated: Sequence[Treated], diagnosis: Diagnosis) -> Judgement:
    """The verdict on what treatments did, with the traffic of a whole diagnosis.

    Args:
        treated: What each treatment did, in each regime.
        diagnosis: Has the traffic.
    """
    traffic = diagnosis.traffic
    if traffic is None:
        return judge(treated)
    return judge(treated, traffic.peak_share, traffic.basis, waits=diagnosis.waits)


def judge(
    treated: Sequence[Treated],
    traffic_share: float | None = None,
    traffic_basis: Basis = "simulated",
    *,
    is_most: bool = False,
    waits: tuple[float, float] | None = None,
) -> Judgement:
    """By the regime with most rounds in which anything can be told, or traffic would tell it.

    Args:
        treated: What each treatment did, in each regime.
        traffic_share: Traffic over the bandwidth at hand; None: not known.
        traffic_basis: Whether that traffic was counted or simulated.
        is_most: Whether it is an upper bound: where that is little, so is the traffic.
        waits: Least and most of its time that it would wait for the lines that it reads from
            memory, if it waited for each: a share, above 1 where it waits for several at once.
            None: not known.
    """
    writes = [one for one in treated if one.name == WRITE]
    if not writes:
        return Judgement(kind="cannot tell", why="No pressure was applied.")
    enough = [one for one in writes if one.rounds >= LEAST_ROUNDS]
    if not enough:
        most = format_count(max(one.rounds for one in writes), "round")
        where = " at one distance of the cores" if any(one.regime for one in writes) else ""
        return Judgement(
            kind="cannot tell",
            why=f"Only {most} could be paired{where}; {LEAST_ROUNDS} are needed.",
        )
    traffic = _TrafficShare(share=traffic_share, basis=traffic_basis, is_most=is_most, waits=waits)
    judged = [_in_regime(one.regime, treated, traffic) for one in enough]
    told = [one for one in judged if one.kind != "cannot tell"]
    nearly = [one for one in judged if one.needs_traffic]
    return next(iter(told or nearly or judged))


class _TrafficShare(msgspec.Struct, frozen=True, kw_only=True):
    share: float | None
    basis: Basis
    is_most: bool
    waits: tuple[float, float] | None

    @property
    def words(self) -> str:
        """At the end of a sentence; empty where nothing is known."""
        if self.share is None:
            return ""
        most = "at most " if self.is_most else ""
        return f"; {self.basis}, it moves {most}{self.share:.0%} of the bandwidth"


def _in_regime(regime: str, treated: Sequence[Treated], traffic: _TrafficShare) -> Judgement:
    of = {one.name: one for one in treated if one.regime == regime}
    write = of[WRITE]
    found = _Evidence(write, of.get(CACHE), of.get(READ), of.get(COMPUTE_AGAIN), traffic)
    return msgspec.structs.replace(
        found.judgement(),
        regime=regime,
        latency_share=write.shares.get(WAITING_EITHER),
        bandwidth_share=write.shares.get(BANDWIDTH),
        resolvable_share=_resolvable(write),
    )


def _resolvable(write: Treated) -> float | None:
    """Half the width of the interval of the program's slowdown, as a share of the reference's."""
    reference = write.references.get(LATENCY)
    if write.program is None or reference is None or reference.value <= 1:
        return None
    return (write.program.high - write.program.low) / 2 / (reference.value - 1)


class _Evidence:
    """Of one regime."""

    def __init__(
        self,
        write: Treated,
        cache: Treated | None,
        read: Treated | None,
        again: Treated | None,
        traffic: _TrafficShare,
    ) -> None:
        self._write = write
        self._cache = cache
        self._read = read
        self._again = again
        self._traffic = traffic

    def judgement(self) -> Judgement:
        """The first rule that applies."""
        for rule in (
            self._unsteady,
            self._weak,
            self._faster,
            self._nothing,
            self._of_cache,
            self._of_memory,
        ):
            found = rule()
            if found is not None:
                return found
        one, under = self._unclear[0]
        return Judgement(
            kind="cannot tell",
            why="Whether the program slows down under pressure lies within the noise: "
            f"{times(one.program)} {under}.",
        )

    @property
    def _unclear(self) -> list[tuple[Treated, str]]:
        """Pressures that slow it down, or may, each with the words for it."""
        kinds = [
            (self._write, "under writes"),
            (self._cache, "under pressure on the shared cache"),
            (self._read, "under reads"),
        ]
        return [
            (one, under)
            for one, under in kinds
            if one is not None and (one.program is None or one.program.high >= NOTHING)
        ]

    def _unsteady(self) -> Judgement | None:
        again = self._again.program if self._again else None
        if again is not None and again.low <= 1 + STEADY and again.high >= 1 - STEADY:
            return None
        why = "The program's time is not steady: "
        if again is None:
            return Judgement(kind="cannot tell", why=f"{why}too few rounds show whether it is.")
        return Judgement(
            kind="cannot tell",
            why=f"{why}the same treatment twice differs by {times(again)}.",
        )

    def _weak(self) -> Judgement | None:
        doses = [self._write.references.get(name) for name in (LATENCY, BANDWIDTH)]
        if any(dose is not None and dose.low >= LEAST_DOSE for dose in doses):
            return None
        under = f"latency {times(self._write.references.get(LATENCY))} under writes."
        if any(dose is not None and dose.high >= LEAST_DOSE for dose in doses):
            why = f"What pressure does to memory lies within the noise: {under}"
        else:
            why = f"The generators here have too little effect on memory to tell: {under}"
        return Judgement(kind="cannot tell", why=why)

    def _faster(self) -> Judgement | None:
        """Something else differs from the control, by which a slowdown may be hidden."""
        for one, pressure in ((self._write, "writes"), (self._read, "reads")):
            program = one.program if one is not None else None
            if program is not None and program.high < 1 and program.low < 2 - NOTHING:
                return Judgement(
                    kind="cannot tell",
                    why=f"It is faster beside {pressure} than beside arithmetic: "
                    f"{times(program)}. More than memory differs between the two, such as the "
                    "clock rate, and may hide what memory takes.",
                )
        return None

    def _nothing(self) -> Judgement | None:
        """Not limited by memory, nor by the cache where its pressure could tell."""
        if self._unclear:
            return None
        share = self._write.shares.get(WAITING_EITHER)
        most = f"at most {max(0.0, share.high):.0%}" if share else "little"
        return Judgement(
            kind="not memory",
            why=f"Pressure does not slow it down: {times(self._write.program)} under writes, so it "
            f"waits for memory {most} of its time.",
        )

    def _of_cache(self) -> Judgement | None:
        cache = self._cache
        if cache is None or cache.program is None:
            return None
        cached = cache.references.get(CACHED)
        if cached is None or cached.low < LEAST_CACHE_DOSE:
            return None
        excess = [cache.over.get(name) for name in (WAITING_EITHER, BANDWIDTH)]
        if any(one is None or one.low < CACHE_EXCESS for one in excess):
            return None
        return Judgement(
            kind="cache",
            why=f"It takes {times(cache.program)} where others use the shared cache, more than "
            "anything that waits for memory does there: its data live in that cache.",
        )

    def _not_of_memory(self, program: Estimate) -> Judgement | None:
        """Why it is not said to wait for memory, which could also be the cache; None: it is.

        Pressure on memory slows down what lives in the shared cache too. Its traffic tells; else
        pressure on the cache, where it shows that it would have slowed such a program down.
        """
        takes = f"It takes {times(program)} under writes, but"
        share, waits = self._write.shares.get(WAITING_EITHER), self._traffic.waits
        if share is not None and waits is not None:
            if is_unexplained(self._write, waits):
                return Judgement(
                    kind="cannot tell",
                    why=f"{takes}, {self._traffic.basis}, what it reads from memory keeps it "
                    f"waiting for {waits[1]:.0%} of its time at most: the two contradict each "
                    "other, and its data may lie in a cache that is slower under pressure too.",
                )
            if waits[0] >= EXPLAINED * share.low:
                return None
        if self._cache is None or CACHED not in self._cache.references:
            return None  # no shared cache is known
        dose = self._cache.references[CACHED]
        if dose is None or dose.low < LEAST_CACHE_DOSE:
            return Judgement(
                kind="cannot tell",
                why=f"{takes} whether it waits for memory or for the shared cache cannot be told: "
                "pressure on that cache has too little effect here to tell.",
                needs_traffic=waits is None,
            )
        over = [self._cache.over.get(name) for name in (*WAITING, BANDWIDTH)]
        if any(one is not None and one.high < NO_CACHE_EXCESS for one in over):
            return None
        return Judgement(
            kind="cannot tell",
            why=f"{takes} whether it waits for memory or loses the shared cache lies within the "
            "noise.",
        )

    def _of_memory(self) -> Judgement | None:
        program = self._write.program
        if program is None or program.low < SOMETHING:
            return None
        not_of_memory = self._not_of_memory(program)
        if not_of_memory is not None:
            return not_of_memory
        bandwidth = self._write.shares.get(BANDWIDTH)
        over_waiting = self._write.over.get(WAITING_EITHER)
        is_beyond = over_waiting is not None and over_waiting.low > BEYOND
        traffic, moved = self._traffic.share, self._traffic.words
        if is_beyond and traffic is not None and traffic < MUCH_TRAFFIC:
            return Judgement(
                kind="memory",
                why=f"It takes {times(program)} under writes, more than what waits for each load"
                f"{moved}: the two contradict each other, so its kind cannot be told.",
            )
        if bandwidth is not None and bandwidth.low >= LIKE_BANDWIDTH and is_beyond:
            return Judgement(
                kind="bandwidth",
                why=f"It takes {times(program)} under writes, more than what waits for each load "
                f"and like what streams{moved}.",
            )
        if traffic is not None and traffic < MUCH_TRAFFIC:
            return Judgement(
                kind="latency",
                why=f"It takes {times(program)} under writes{moved}: too little to be limited "
                "by it.",
            )
        return Judgement(kind="memory", why=f"It takes {times(program)} under writes{moved}.")


def is_unexplained(write: Treated, waits: tuple[float, float]) -> bool:
    """Whether it slows down under writes as its traffic does not explain.

    Args:
        write: What writes do to it.
        waits: As of `judge`.
    """
    program, share = write.program, write.shares.get(WAITING_EITHER)
    if program is None or share is None:
        return False
    return program.low >= SOMETHING and waits[1] < EXPLAINED * share.low


def times(estimate: Estimate | None) -> str:
    """Such as `1.52 times as long (1.48 to 1.55)`; None: an unknown time."""
    if estimate is None:
        return "an unknown time"
    return f"{estimate.value:.2f} times as long ({estimate.low:.2f} to {estimate.high:.2f})"
