"""A diagnosis as plain data, for `--json`."""

from __future__ import annotations

from typing import Literal

import msgspec

from memgauge.analysis.diagnose.by_region.document import RegionFigures, region_figures
from memgauge.analysis.diagnose.by_region.judged import region_diagnoses
from memgauge.analysis.diagnose.contradictions import contradictions
from memgauge.analysis.diagnose.figures import Diagnosis, PressurePasses, Treated, diagnosis_of
from memgauge.analysis.diagnose.judgement import Kind
from memgauge.analysis.diagnose.kernel import KernelUse, kernel_use
from memgauge.analysis.diagnose.memory_seen import MemorySeen
from memgauge.analysis.diagnose.needs import Need, bandwidth_need_of, cache_need_of
from memgauge.analysis.diagnose.on_curve import OnCurve
from memgauge.analysis.diagnose.process import RunningProcess
from memgauge.analysis.diagnose.standing import standing_of
from memgauge.analysis.diagnose.traffic import Basis, Traffic
from memgauge.analysis.diagnose.translation import TranslationKind
from memgauge.analysis.diagnose.translation_evidence import translation_of, verdict_of
from memgauge.analysis.diagnose.working_set import WorkingSet, working_set
from memgauge.analysis.document_figure import Figure, figure
from memgauge.analysis.figures.run import Figures, scaled
from memgauge.model.simulated_program import TrafficPlace


class TreatmentFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What one treatment did, where program and generators were at one distance."""

    name: str
    kind: str
    """pressure or variant."""
    change: str | None
    """What is different in a variant."""
    baseline: str
    """What all is over."""
    regime: str | None
    """None: one distance, or none is known."""
    rounds: int
    """That could be paired."""
    slowdown: Figure | None
    """Time of the program over that under the baseline."""
    reference_slowdowns: dict[str, Figure | None]
    """The same of the references: latency, scattered, bandwidth, cached."""
    shares: dict[str, Figure | None]
    """Share of the program's time for which it behaves like each reference; above 1: it is hurt
    more."""
    memory: ProgramMemoryFigures | None
    """None: it could not be read, or was not looked at, as under pressure."""
    without_effect: str | None
    """Of a variant of pages or memory nodes: why the memory was not where it was to be, or was
    there anyway. None: it was, or it is not known."""
    step_of: str | None
    """Of a part dose: the treatment that applies the same pressure. None: it is none."""
    part: float | None
    """Of a part dose: of all writes, or of the last-level cache."""
    latency_added_ns: Figure | None
    """What it adds to a load from memory on the program's CPU."""
    bandwidth_left_gb_per_s: Figure | None
    """What the bandwidth reference has there."""
    cache_left_bytes: Figure | None
    """What the cached reference finds in the cache there; it walks over half of the cache, so more
    than that is not seen."""


class ProgramMemoryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Memory without a file of the program's largest process, as the kernel showed it."""

    looks: int
    """Rounds in which it was looked at while it ran."""
    anonymous_bytes: int
    """The largest; explicit huge pages included."""
    huge_share_low: float
    """Least share of it in huge pages in any of these rounds,"""
    huge_share_high: float
    """and the greatest."""
    node_shares: dict[int, float]
    """Share on each NUMA node where most was seen; empty: not read, as on a machine with one."""


class NotTriedText(msgspec.Struct, frozen=True, kw_only=True):
    """What could change the program's time and was not tried."""

    name: str
    reason: str


class NeedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Between which amounts lies what the program needs: with less it takes 5% more time."""

    unit: str
    """GB/s, as one of its CPUs streams them; B of the shared cache, as one of its CPUs keeps them.
    """
    low: float | None
    """It needs more; None: not known."""
    high: float | None
    """It needs less; None: not known."""
    why: str | None
    """Why neither is known; None: one is."""


class TrafficFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run."""

    basis: Basis
    """counted: of the whole machine, other programs included. simulated: nothing was counted."""
    by: str
    """The back end that counted it, or the machine whose caches were simulated."""
    total_bytes: float
    read_bytes: float | None
    """None: not told apart."""
    write_bytes: float | None
    least_bytes: float | None
    """Of both together in any run that was counted,"""
    most_bytes: float | None
    """and most."""
    runs: int
    """That were counted; 1 of what was simulated."""
    run_s: float
    """Measured."""
    peak_gb_per_s: float | None
    """Measured: of the bandwidth reference, write-allocate included."""
    peak_share: float | None
    functions: list[TrafficPlace]
    """Those that make most of what was simulated."""


class ContradictionText(msgspec.Struct, frozen=True, kw_only=True):
    """Two kinds of evidence that cannot both be right."""

    kinds: tuple[str, str]
    text: str


class TranslationFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What huge pages take from the program: address translation, beside page faults."""

    verdict: TranslationKind
    """translation: it takes part of the time. spared: it would on base pages, but the program is on
    huge ones. little: huge pages save next to nothing beside page faults. cannot tell."""
    why: str
    at_least: float | None
    """Share of processor time on base pages that goes to translation, at least; None: not told."""
    base_treatment: str | None
    """Compared on base pages;"""
    huge_treatment: str | None
    """and on huge ones. None: none could be."""
    rounds: int
    saved: Figure | None
    """Share of processor time on base pages that huge pages save in user mode, less as much as they
    save in the kernel."""
    user_saved: Figure | None
    """What they save in user mode,"""
    system_saved: Figure | None
    """and in the kernel: page faults, and clearing memory."""
    base_faults: float | None
    """Page faults of a run on base pages,"""
    huge_faults: float | None
    """and on huge ones."""
    reach_bytes: int
    """Memory on base pages that the TLB translates,"""
    reach_is_measured: bool
    """by a run that --curves named; else it is an upper bound."""


class DiagnosisFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What limits a program, by pressure beside it; and what other ways to run it change."""

    command: str
    """Empty: a process that ran already was diagnosed."""
    metric: str | None
    """Regular expression that found the number in what was printed; None: elapsed time, or all that
    the metric command printed."""
    region: str | None = None
    """In which `time` is taken; None: in all of the program."""
    metric_better: Literal["more", "less"] = "less"
    """Of `time`. Slowdowns are of its inverse where more is better."""
    process: RunningProcess | None = None
    """None: a command was started."""
    verdict: Kind
    why: str
    pressure_rounds: int = 0
    """Rounds with writes, the pressure that every verdict but that on pages rests on."""
    pressure_passes: PressurePasses
    """Runs under pressure, and those of them that are in no figure."""
    verdict_since_round: int | None = None
    """After so many of them, and after each one more, the verdict by pressure was what it is; None:
    it cannot be told."""
    regime: str | None
    latency_share: Figure | None
    bandwidth_share: Figure | None
    resolvable_share: float | None
    """Least share by the latency reference that could be told from none."""
    time: Figure | None
    """Of one run without pressure of memory: seconds, or what was printed."""
    bandwidth_need: NeedFigures
    cache_need: NeedFigures
    treatments: list[TreatmentFigures]
    usual_memory: ProgramMemoryFigures | None
    """Of the usual way to run it."""
    not_tried: list[NotTriedText]
    traffic: TrafficFigures | None
    """Counted; else simulated."""
    simulated: TrafficFigures | None
    """What was simulated, also where it was counted."""
    on_curve: OnCurve | None
    """Where `traffic` lies on a curve of this machine that --curves named."""
    not_counted: str | None
    """Why no counter was read."""
    contradictions: list[ContradictionText]
    """Kinds of evidence that contradict each other; nothing is averaged."""
    translation: TranslationFigures | None
    """What pages tell, which pressure does not; None: no other pages were tried."""
    regions: list[RegionFigures]
    """Verdicts on the regions that it marks, the longest first."""
    working_set: WorkingSet | None
    """Pages that it refers to in a stretch of one run; None: not known."""
    kernel: KernelUse | None
    """What the kernel accounts to the usual runs; None: nothing was kept."""


def diagnosis_figures(figures: Figures) -> DiagnosisFigures | None:
    """None: the run holds no diagnosis."""
    found = diagnosis_of(figures)
    if found is None:
        return None
    traffic = found.traffic
    judgement, standing = verdict_of(found), standing_of(figures)
    return DiagnosisFigures(
        command=found.command,
        metric=found.metric,
        region=found.region,
        metric_better="more" if found.is_rate else "less",
        process=found.process,
        verdict=judgement.kind,
        why=judgement.why,
        pressure_rounds=standing.rounds if standing else 0,
        pressure_passes=found.passes,
        verdict_since_round=standing.since if standing else None,
        regime=judgement.regime or None,
        latency_share=figure(judgement.latency_share),
        bandwidth_share=figure(judgement.bandwidth_share),
        resolvable_share=judgement.resolvable_share,
        time=figure(found.program_time),
        bandwidth_need=_need(bandwidth_need_of(found), "GB/s"),
        cache_need=_need(cache_need_of(found), "B"),
        treatments=[_treatment(one, found) for one in found.treated],
        usual_memory=_memory(found.usual_memory),
        not_tried=[NotTriedText(name=name, reason=reason) for name, reason in found.not_tried],
        traffic=_traffic(traffic) if traffic else None,
        simulated=_traffic(found.simulated) if found.simulated else None,
        on_curve=found.on_curve,
        not_counted=found.not_counted or None,
        contradictions=[
            ContradictionText(kinds=one.kinds, text=one.text)
            for one in contradictions(found, working_set(figures))
        ],
        translation=_translation(found),
        regions=[region_figures(one) for one in region_diagnoses(figures)],
        working_set=working_set(figures),
        kernel=kernel_use(figures),
    )


def _traffic(traffic: Traffic) -> TrafficFigures:
    return TrafficFigures(
        basis=traffic.basis,
        by=traffic.by,
        total_bytes=traffic.total_bytes,
        read_bytes=traffic.read_bytes,
        write_bytes=traffic.write_bytes,
        least_bytes=traffic.least_bytes,
        most_bytes=traffic.most_bytes,
        runs=traffic.runs,
        run_s=traffic.run_s,
        peak_gb_per_s=traffic.peak_gb_per_s,
        peak_share=traffic.peak_share,
        functions=traffic.places,
    )


def _translation(found: Diagnosis) -> TranslationFigures | None:
    one, facts = translation_of(found), found.page_facts
    if one is None or facts is None:
        return None
    saved = one.saved
    return TranslationFigures(
        verdict=one.kind,
        why=one.why,
        at_least=one.at_least,
        base_treatment=one.base or None,
        huge_treatment=one.huge or None,
        rounds=saved.rounds if saved else 0,
        saved=figure(saved.beyond_faults) if saved else None,
        user_saved=figure(saved.user) if saved else None,
        system_saved=figure(saved.system) if saved else None,
        base_faults=saved.base_faults if saved else None,
        huge_faults=saved.huge_faults if saved else None,
        reach_bytes=facts.reach.bytes,
        reach_is_measured=facts.reach.is_measured,
    )


def _memory(seen: MemorySeen | None) -> ProgramMemoryFigures | None:
    if seen is None:
        return None
    return ProgramMemoryFigures(
        looks=seen.looks,
        anonymous_bytes=seen.anonymous_bytes,
        huge_share_low=seen.huge_low,
        huge_share_high=seen.huge_high,
        node_shares=seen.nodes,
    )


def _need(need: Need, unit: str) -> NeedFigures:
    return NeedFigures(unit=unit, low=need.low, high=need.high, why=need.why or None)


def _treatment(one: Treated, found: Diagnosis) -> TreatmentFigures:
    ring_bytes = found.cached_bytes
    kept = scaled(one.axes.cache_kept, ring_bytes) if ring_bytes else None
    return TreatmentFigures(
        name=one.name,
        kind=one.kind,
        change=one.change or None,
        baseline=one.baseline,
        regime=one.regime or None,
        rounds=one.rounds,
        slowdown=figure(one.program),
        reference_slowdowns={name: figure(value) for name, value in one.references.items()},
        shares={name: figure(value) for name, value in one.shares.items()},
        memory=_memory(found.memory.get(one.name)),
        without_effect=found.without_effect(one),
        step_of=one.step_of or None,
        part=one.part,
        latency_added_ns=figure(one.axes.latency_added_ns),
        bandwidth_left_gb_per_s=figure(one.axes.bandwidth_gb_per_s),
        cache_left_bytes=figure(kept),
    )
