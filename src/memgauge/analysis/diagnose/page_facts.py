"""What is known of pages: processor time on each kind, how far a program goes and a TLB reaches.

The same program on base pages and on huge ones, in the same rounds, differs in three ways that cost
time: it has fewer page faults, its addresses are translated faster, and the kernel clears memory in
larger pieces. The kernel accounts the first and the last as time in the kernel (system time),
translation as time in user mode. A page fault also costs time in user mode afterwards, for it takes
caches and branch predictors from the program. Soares and Stumm (FlexSC, OSDI 2010) found such an
aftermath of system calls; how large that of page faults is, is not known from them. It is assumed
to be at most as large as the faults. So as much again as is saved in the kernel is taken off what
is saved in user mode, and what is left is a lower bound of what huge pages save of translation.

The reach of the TLB is measured, by `pages` in a run that was named, or an upper bound. The
kernel's figure (`TLB size`) is no measure of it: in a virtual machine the hypervisor states it, of
whatever processor; CPUID has 12 bits for it, in which 4096 entries have no place; and processors
may use one entry for several pages that lie beside each other, up to four of 4 KiB (AMD, Software
Optimization Guide for Family 17h). So without a measurement the reach is taken to be that of the
largest TLB known, if the kernel does not report a larger one: 4096 entries (Cohen
and Subramony, Next Generation "Zen 5" Core, Hot Chips 2024) of four pages each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from memgauge.analysis.diagnose.shares import LEAST_ROUNDS, slowdown
from memgauge.analysis.diagnose.working_set import WorkingSet, working_set
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import PROGRAM, DiagnoseActual, DiagnoseRequested
from memgauge.model.record_kinds.programs import RunUse, Usage
from memgauge.model.records import MeasuredReach, Point, Sample
from memgauge.model.run import Run
from memgauge.model.units import format_bytes

AFTERMATH = 1.0
"""Time that page faults may cost in user mode, over that which they cost in the kernel."""
LARGEST_ENTRIES = 4096
PAGES_OF_AN_ENTRY = 4
VIRTUAL = "virtual machine"


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What the runs of one pass used together, by the kernel's accounts at their ends."""

    active_s: float
    """Elapsed time, less that for which its first thread waited for a processor."""
    user_s: float
    system_s: float
    faults: float
    """Of one run: minor and major ones."""

    @property
    def cpu_s(self) -> float:
        """Processor time of all threads."""
        return self.user_s + self.system_s


SpentByRound = Mapping[int, Spent]


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What huge pages save, as shares of the processor time on base pages; medians of rounds."""

    rounds: int
    beyond_faults: Estimate
    """In user mode, less as much as in the kernel: a lower bound of what translation took."""
    user: Estimate
    """In user mode."""
    system: Estimate
    """In the kernel: page faults, and clearing memory."""
    base_faults: float
    """Of a run on base pages,"""
    huge_faults: float
    """and on huge ones."""
    pass_cpu_s: float
    """Processor time of a pass on base pages."""
    busy: float
    """Processor time on base pages over the time in which it did not wait for a processor."""


def spent_by_treatment(run: Run, points: Sequence[Point]) -> dict[str, dict[int, Spent]]:
    """What each pass of the program used, by treatment and round, as far as it is known.

    Args:
        run: With the samples.
        points: Of its diagnosis.
    """
    found: dict[str, dict[int, Spent]] = {}
    for point in points:
        requested = DiagnoseRequested.of(point.requested)
        if requested.subject != PROGRAM:
            continue
        for sample in run.samples.get(point.point, []):
            spent = _spent(sample)
            if spent is not None:
                found.setdefault(requested.treatment, {})[sample.round] = spent
    return found


def _spent(sample: Sample) -> Spent | None:
    thread = sample.threads[0]
    usages = [one.usage for one in sample.uses if _is_known(one)]
    known: list[Usage] = [one for one in usages if one is not None]
    if not known or len(known) < len(thread.begin_ns):
        return None
    elapsed_ns = sum(map(int.__sub__, thread.end_ns, thread.begin_ns))
    delay_ns = sum(one.run_delay_ns or 0 for one in sample.uses)
    return Spent(
        active_s=max(elapsed_ns - delay_ns, 1) * 1e-9,
        user_s=sum(one.user_s for one in known),
        system_s=sum(one.system_s for one in known),
        faults=sum(one.minor_faults + one.major_faults for one in known) / len(known),
    )


def _is_known(use: RunUse) -> bool:
    """A kernel that keeps no accounts reports zeros."""
    return use.usage is not None and use.usage.user_s + use.usage.system_s > 0


def saved_between(base: SpentByRound, huge: SpentByRound, confidence: float = 0.95) -> Saved | None:
    """What huge pages save in rounds in which both ran; None: too few, or too little confidence.

    Args:
        base: On base pages.
        huge: On huge pages.
        confidence: Of all intervals, from 0 to 1.
    """
    pairs = [(one, huge[round_]) for round_, one in sorted(base.items()) if round_ in huge]
    if len(pairs) < LEAST_ROUNDS:
        return None
    beyond_faults = slowdown([_beyond_faults(*pair) for pair in pairs], confidence)
    user = slowdown([(one.user_s - two.user_s) / one.cpu_s for one, two in pairs], confidence)
    system = slowdown([(one.system_s - two.system_s) / one.cpu_s for one, two in pairs], confidence)
    if beyond_faults is None or user is None or system is None:
        return None
    return Saved(
        rounds=len(pairs),
        beyond_faults=beyond_faults,
        user=user,
        system=system,
        base_faults=median(one.faults for one, _ in pairs),
        huge_faults=median(two.faults for _, two in pairs),
        pass_cpu_s=median(one.cpu_s for one, _ in pairs),
        busy=median(one.cpu_s / one.active_s for one, _ in pairs),
    )


def _beyond_faults(base: Spent, huge: Spent) -> float:
    in_user_s = base.user_s - huge.user_s
    in_kernel_s = max(0.0, base.system_s - huge.system_s)
    return (in_user_s - AFTERMATH * in_kernel_s) / base.cpu_s


class TlbReach(msgspec.Struct, frozen=True, kw_only=True):
    """Memory on base pages that the TLB translates at most."""

    bytes: int
    is_measured: bool
    source: str
    """Of what that is the reach, such as `the TLB (measured by run 5)`."""

    @property
    def words(self) -> str:
        """Such as `the reach of the TLB (measured by run 5), 10 MiB`."""
        return f"the reach of {self.source}, {format_bytes(self.bytes)}"


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Of a diagnosis."""

    spent: Mapping[str, Mapping[int, Spent]]
    """By treatment and round."""
    working_set: WorkingSet | None
    why_no_working_set: str
    """Empty: it is known, or nobody asked."""
    reach: TlbReach
    llc_bytes: int | None
    """Of the last-level cache; None: the system hides it."""
    weakened: str
    """Why huge pages gain less than they could, as a sentence; empty: nothing is known of it."""


def page_facts(
    figures: Figures, points: Sequence[Point], not_tried: Sequence[tuple[str, str]]
) -> PageFacts:
    """All that is known.

    Args:
        figures: Of the run.
        points: Of its diagnosis.
        not_tried: What was not tried, and why.
    """
    run = figures.run
    system = run.start.system
    is_virtual = VIRTUAL in (system.virtualisation or "")
    facts = [DiagnoseActual.of(point.actual) for point in points]
    entries = next((one.tlb_entries for one in facts if one.tlb_entries), None)
    return PageFacts(
        spent=spent_by_treatment(run, points),
        working_set=working_set(figures),
        why_no_working_set=dict(not_tried).get("working set", ""),
        reach=reach_of(run.reaches, entries, system.base_page_bytes),
        llc_bytes=next((one.llc_bytes for one in facts if one.llc_bytes), None),
        weakened=_weakened(run.reaches, is_virtual=is_virtual),
    )


def reach_of(measured: Sequence[MeasuredReach], entries: int | None, page_bytes: int) -> TlbReach:
    """The reach that was measured last on such pages, else its upper bound.

    Args:
        measured: By runs that were named.
        entries: As the kernel reports them; None: it reports none.
        page_bytes: Of a base page.
    """
    for one in reversed(measured):
        if one.reach_bytes and one.page_bytes == page_bytes:
            return TlbReach(
                bytes=one.reach_bytes,
                is_measured=True,
                source=f"the TLB (measured by run {one.run_id})",
            )
    if entries is not None and entries > LARGEST_ENTRIES:
        count, source = entries, "the TLB (at most, by what the kernel reports)"
    else:
        count, source = LARGEST_ENTRIES, "the largest TLB known (here it is not measured)"
    bytes_ = count * PAGES_OF_AN_ENTRY * page_bytes
    return TlbReach(bytes=bytes_, is_measured=False, source=source)


def _weakened(measured: Sequence[MeasuredReach], *, is_virtual: bool) -> str:
    known = [one for one in measured if one.splits_huge_pages is not None]
    if known and known[-1].splits_huge_pages:
        return (
            f"By run {known[-1].run_id} huge pages are translated in smaller pieces here, as where "
            "a hypervisor backs them with small pages: they gain less than they could."
        )
    if is_virtual and not known:
        return (
            "This is a virtual machine: where its host backs huge pages with small ones, they gain "
            "less than they could."
        )
    return ""
