"""Whether a program is limited by address translation: what huge pages take from its time.

Pressure does not reach translation, so the evidence is the same program on base pages and on huge
ones, in the same rounds, with the pages that it got as the kernel showed them. What huge pages save
of page faults is taken off (see `page_facts`), so that the share is a lower bound: they take
from translation what lies within their own reach, and nothing of what is left on them. It is a
share of processor time on base pages.

Huge pages change more than translation and page faults: prefetchers that stop at the end of a page
go on, and lines of a cache collide otherwise. So it is withheld where the program streams or lives
in a cache, and where it refers to no more than a TLB reaches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from memgauge.analysis.diagnose.judgement import MUCH_TRAFFIC, STEADY, Judgement, times
from memgauge.analysis.diagnose.page_facts import Saved, TlbReach
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.units import format_bytes

TranslationKind = Literal["translation", "spared", "little", "cannot tell"]
"""translation: it is on base pages and translation takes part of its time. spared: it is on huge
pages and translation would take part of its time on base pages. little: huge pages take next to
nothing away beside page faults."""

LEAST_SHARE = 0.05
"""Share of processor time, at the lower end, from which on translation limits a program;"""
HUGE = 0.5
"""of its memory on huge pages, from which on it is on huge pages."""
LEAST_CPU_S = 0.5
"""Processor time of a pass, below which the kernel's ticks do not tell user mode from the kernel:
50 of them at 100 a second."""
LEAST_BUSY = 0.5
"""Processor time over time, below which a share of the one tells nothing of the other: without the
time for which it waited for a processor, as beside other programs."""
NEAR_CACHE = 2.0
"""Working set over the last-level cache, or the other way round, within which base pages may
collide in that cache and huge ones not."""


class Translation(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of address translation."""

    kind: TranslationKind
    why: str
    """Sentences."""
    short: str
    """The same in a few words, such as `at least 18% of its processor time`."""
    base: str = ""
    """Treatment on base pages that was compared;"""
    huge: str = ""
    """and on huge ones. Empty: none could be."""
    saved: Saved | None = None
    at_least: float | None = None
    """Share of processor time on base pages that goes to translation, at least; None: not told."""
    contradiction: tuple[tuple[str, str], str] | None = None
    """Two kinds of evidence that contradict each other about it, and what they say."""

    @property
    def share(self) -> Estimate | None:
        """What huge pages take beyond page faults, where it is said that translation took it."""
        return self.saved.beyond_faults if self.saved and self.at_least is not None else None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a statement on translation rests on."""

    is_huge: bool
    """Whether the program as it is has huge pages."""
    base: str
    huge: str
    saved: Saved | None
    """None: the kernel kept no accounts, or of too few rounds."""
    gain: Estimate | None
    """Time that huge pages save, over that on base pages, by what is measured of the program."""
    again: Estimate | None
    """Time of the usual way over itself,"""
    again_saved: Saved | None
    """and what it seems to save."""
    judgement: Judgement
    """By pressure and traffic."""
    traffic_share: float | None
    """Of what one CPU can stream; None: not known."""
    working_set_bytes: int | None
    """On base pages, in an eighth of its time: the median; None: not known."""
    why_no_working_set: str = ""
    reach: TlbReach
    llc_bytes: int | None


def untold(why: str) -> Translation:
    """Nothing that could be compared.

    Args:
        why: The end of a sentence.
    """
    return Translation(
        kind="cannot tell",
        why=f"Whether address translation takes part of its time cannot be told: {why}.",
        short=f"cannot be told: {why}",
    )


def judge_translation(evidence: Evidence) -> Translation:
    """The first rule that applies; what it rests on stands beside it."""
    return _Rules(evidence).translation()


class _Rules:
    """Each returns a statement where it applies, else None."""

    def __init__(self, evidence: Evidence) -> None:
        self._of = evidence

    def translation(self) -> Translation:
        of = self._of
        if of.saved is None:
            return self._cannot(
                "too few rounds have the kernel's accounts of processor time on both kinds of pages"
            )
        for rule in (self._unsteady, self._coarse, self._little, self._noise, self._no_gain):
            found = rule(of.saved)
            if found is not None:
                return found
        found = self._within_reach(of.saved)
        if found is not None:
            return found
        other = next(self._other_causes(of.saved), None)
        if other is not None:
            return self._cannot(f"{self._took(of.saved)}, but {other}")
        return self._stands(of.saved)

    def _made(self, kind: TranslationKind, why: str, short: str) -> Translation:
        of = self._of
        return Translation(
            kind=kind, why=why, short=short, base=of.base, huge=of.huge, saved=of.saved
        )

    def _cannot(self, why: str) -> Translation:
        where = " on base pages" if self._of.is_huge else ""
        return self._made(
            "cannot tell",
            f"Whether address translation takes part of its time{where} cannot be told: {why}.",
            f"cannot be told: {why}",
        )

    def _unsteady(self, saved: Saved) -> Translation | None:
        del saved
        again, seems = self._of.again, self._of.again_saved
        if again is None or seems is None:
            return self._cannot("too few rounds show whether its time is steady")
        if again.low > 1 + STEADY or again.high < 1 - STEADY:
            return self._cannot(f"the usual way twice differs by {times(again)}")
        if seems.user.low > STEADY or seems.user.high < -STEADY:
            return self._cannot(
                f"processor time of the usual way twice differs by {_percent(seems.user)}"
            )
        return None

    def _coarse(self, saved: Saved) -> Translation | None:
        if saved.pass_cpu_s < LEAST_CPU_S:
            return self._cannot(
                f"its runs in a round take {saved.pass_cpu_s:.2g} s of processor time, of which "
                f"the kernel tells its own from that in user mode from {LEAST_CPU_S} s on"
            )
        if saved.busy < LEAST_BUSY:
            return self._cannot(
                f"its processor time is {saved.busy:.0%} of the time for which it had a processor "
                "or slept: mostly it sleeps, or its processes are not accounted to it"
            )
        return None

    def _little(self, saved: Saved) -> Translation | None:
        if saved.user.high >= LEAST_SHARE:
            return None
        huge, gain = self._of.huge, self._of.gain
        where = " that it would take on base pages" if self._of.is_huge else ""
        most = f"at most {max(0.0, saved.user.high):.1%}"
        why = f"Huge pages ({huge}) save {most} of the processor time{where} in user mode."
        if gain is not None and gain.low >= LEAST_SHARE:
            why += f" The {_percent(gain)} of time that they save are of page faults and the kernel"
            why += f": {_faults(saved)}."
        return self._made("little", why, f"huge pages save {most} of its time in user mode")

    def _noise(self, saved: Saved) -> Translation | None:
        beyond = saved.beyond_faults
        if beyond.low >= LEAST_SHARE:
            return None
        may = "page faults may explain it" if beyond.high < LEAST_SHARE else "it may be noise"
        return self._cannot(
            f"beyond page faults huge pages ({self._of.huge}) save {_percent(beyond)} of its "
            f"processor time, and {may}"
        )

    def _no_gain(self, saved: Saved) -> Translation | None:
        """Processor time that does not shorten the program was none that it waited for."""
        gain = self._of.gain
        if gain is not None and gain.low >= LEAST_SHARE:
            return None
        words = "an unknown part" if gain is None else _percent(gain)
        made = self._cannot(f"{self._took(saved)}, but of its time they save {words}")
        if gain is None or gain.high >= LEAST_SHARE:
            return made
        text = f"{self._took(saved)}, but its time falls by {words} only"
        return msgspec.structs.replace(made, contradiction=(("pages", "time"), text))

    def _within_reach(self, saved: Saved) -> Translation | None:
        of = self._of
        if of.working_set_bytes is None:
            return self._cannot(
                f"{self._took(saved)}, but its working set is not known"
                + (f" ({of.why_no_working_set})" if of.why_no_working_set else "")
            )
        if of.working_set_bytes > of.reach.bytes:
            return None
        why = (
            f"{self._took(saved)}, but what it refers to, {format_bytes(of.working_set_bytes)} of "
            f"pages, lies within {of.reach.words}"
        )
        made = self._cannot(why)
        if not of.reach.is_measured:
            return made
        return msgspec.structs.replace(made, contradiction=(("pages", "working set"), why))

    def _other_causes(self, saved: Saved) -> Iterator[str]:
        """What else huge pages may have changed, where it cannot be excluded."""
        of, kind = self._of, self._of.judgement.kind
        share = of.judgement.latency_share
        if kind == "cache":
            yield (
                "its data live in the shared cache, where lines of base pages may collide that "
                "those of huge pages do not"
            )
        waits_less = kind == "not memory" and not of.is_huge
        if waits_less and share is not None and saved.beyond_faults.low > share.high:
            return  # more than all that any other cause would show under pressure
        if kind == "bandwidth":
            yield "it streams: prefetchers that stop at the ends of pages may explain it"
        elif kind != "latency" and of.traffic_share is None:
            yield (
                "its traffic is not known: prefetchers that stop at the ends of pages may explain "
                "it, if it streams"
            )
        elif kind != "latency" and (of.traffic_share or 0.0) >= MUCH_TRAFFIC:
            yield (
                f"it moves {of.traffic_share or 0.0:.0%} of what one of its CPUs can stream: "
                "prefetchers that stop at the ends of pages may explain it"
            )
        if of.llc_bytes is None:
            yield "the size of the last-level cache is not known, in which lines may collide"
        elif of.working_set_bytes is not None:
            near = of.working_set_bytes / of.llc_bytes
            if 1 / NEAR_CACHE < near < NEAR_CACHE:
                yield (
                    f"what it refers to, {format_bytes(of.working_set_bytes)} of pages, is about "
                    f"what the last-level cache holds ({format_bytes(of.llc_bytes)}), where lines "
                    "of base pages may collide that those of huge pages do not"
                )

    def _took(self, saved: Saved) -> str:
        return (
            f"huge pages ({self._of.huge}) save {_percent(saved.beyond_faults)} of its processor "
            "time beyond page faults"
        )

    def _stands(self, saved: Saved) -> Translation:
        of = self._of
        gain = of.gain or Estimate(0.0, 0.0, 0.0)
        at_least = min(saved.beyond_faults.low, gain.low)
        goes = "would go" if of.is_huge else "goes"
        where = "On base pages at least" if of.is_huge else "At least"
        pages = 0 if of.working_set_bytes is None else of.working_set_bytes
        base = f"{of.base}: " if of.is_huge else ""
        why = (
            f"{where} {_whole(at_least)} of its processor time {goes} to address translation. Huge "
            f"pages ({of.huge}) save {_percent(saved.user)} of it in user mode, "
            f"{_percent(saved.beyond_faults)} beyond what page faults can explain ({base}"
            f"{_faults(saved)}), and {_percent(gain)} of its time; it refers to "
            f"{format_bytes(pages)} of pages, more than {of.reach.words}."
        )
        share = f"at least {_whole(at_least)} of its processor time"
        short = f"huge pages spare it {share}" if of.is_huge else share
        made = self._made("spared" if of.is_huge else "translation", why, short)
        return msgspec.structs.replace(made, at_least=at_least)


def _whole(share: float) -> str:
    """In whole percent, rounded down: of what is at least so much."""
    return f"{math.floor(100 * share + 1e-9)}%"


def _faults(saved: Saved) -> str:
    return (
        f"page faults of a run fall from {saved.base_faults:,.0f} to {saved.huge_faults:,.0f}, "
        f"time in the kernel by {_percent(saved.system)}"
    )


def _percent(share: Estimate) -> str:
    """Such as `24% (21% to 27%)`."""
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"
