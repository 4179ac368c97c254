"""The diagnosis in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.diagnose.figures import Diagnosis, PressurePasses, Treated
from memgauge.analysis.diagnose.judgement import OF_MEMORY, Judgement, Kind, judgement_of
from memgauge.analysis.diagnose.need_words import need_verdicts
from memgauge.analysis.diagnose.process import RunningProcess
from memgauge.analysis.diagnose.shares import LEAST_ROUNDS
from memgauge.analysis.diagnose.traffic_section import traffic_verdicts
from memgauge.analysis.diagnose.translation_evidence import translation_words, verdict_of
from memgauge.analysis.section import Level, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import ALL_CPUS, LATENCY

KINDS: dict[Kind, str] = {
    "bandwidth": "It is limited by memory bandwidth.",
    "latency": "It is limited by memory latency.",
    "memory": "It waits for memory, whether for its latency or its bandwidth cannot be told.",
    "cache": "It depends on the shared cache.",
    "translation": "It is limited by address translation.",
    "not memory": "It is not limited by memory.",
    "cannot tell": "What limits it cannot be told.",
}
MATTERS = 0.02
"""A variant whose gain is not above this is no remedy."""


def verdicts(diagnosis: Diagnosis) -> Iterator[Verdict]:
    """What limits it, by how much, what would help, and what was not known."""
    process = diagnosis.process
    judgement, verdict = judgement_of(diagnosis), verdict_of(diagnosis)
    if diagnosis.has_pressure:
        level: Level = "warning" if verdict.kind == "cannot tell" else "note"
        yield Verdict(level=level, text=verdict_words(verdict), remedy=_remedy(judgement))
        yield from _shares(judgement)
        yield from need_verdicts(diagnosis, judgement)
        yield from _power(diagnosis, judgement)
        yield from _left_out(diagnosis.passes)
    translation = translation_words(diagnosis)
    if translation:
        yield Verdict(level="note", text=translation)
    yield from traffic_verdicts(diagnosis)
    yield from _variants(diagnosis.variants)
    yield from _without_effect(diagnosis)
    if process is not None:
        yield from _of_process(process)


def _of_process(process: RunningProcess) -> Iterator[Verdict]:
    """What a process that runs on leaves open."""
    if process.shared_cpus:
        yield Verdict(
            level="warning",
            text=f"Process {process.pid} may use the CPUs that generate pressure "
            f"({process.shared_cpus}): threads that the kernel puts there share a CPU and its "
            "caches with a generator, also in the control.",
            remedy="bind it to other CPUs meanwhile (taskset --all-tasks --cpu-list --pid CPUS "
            f"{process.pid}), or give --pressure-cpus that it seldom uses",
            about="conditions",
        )
    if not process.has_reference_cpu:
        yield Verdict(
            level="note",
            text=f"The reference loops ran on a CPU that process {process.pid} may use: where it "
            "was busy between two runs of the metric command, they waited for it. Whether cores "
            "moved between rounds is not known.",
            about="conditions",
        )


def verdict_words(judgement: Judgement) -> str:
    """What limits it, and why."""
    return f"{KINDS[judgement.kind]} {judgement.why}"


def _remedy(judgement: Judgement) -> str | None:
    if judgement.kind != "cannot tell":
        return None
    if judgement.needs_traffic:
        return (
            "let its traffic be simulated (--only interference,traffic; it needs valgrind), of the "
            "whole run or of a region that the program marks, instead of --metric"
        )
    return (
        "give more rounds (--budget, --rounds) on a quiet machine, and the generators CPUs of the "
        "same last-level cache (--pressure-cpus)"
    )


def _shares(judgement: Judgement) -> Iterator[Verdict]:
    if judgement.kind not in OF_MEMORY:
        return
    latency, bandwidth = judgement.latency_share, judgement.bandwidth_share
    parts = []
    if latency is not None and judgement.kind != "bandwidth":
        parts.append(f"that waits for memory {share_words(latency)} of its time")
    if bandwidth is not None:
        parts.append(f"that streams {share_words(bandwidth)} of its time")
    if parts:
        yield Verdict(
            level="note", text=f"Under writes it slows down like a program {', or '.join(parts)}."
        )


def _left_out(passes: PressurePasses) -> Iterator[Verdict]:
    """Passes that are in no figure, since the host moved the cores."""
    if passes.moved:
        yield Verdict(
            level="note",
            text=f"In {passes.moved} of {passes.made} runs under pressure the host moved the cores "
            "from near to far or back: these are in no figure.",
            about="conditions",
        )
    if passes.on_one_core:
        yield Verdict(
            level="note",
            text=f"In {passes.on_one_core} of {passes.made} runs under pressure the program and a "
            "generator were threads of one core, where pressure reaches more than memory: these "
            "are in no figure.",
            remedy="give the generators CPUs of other cores (--pressure-cpus), or take a machine "
            "with more of them"
            if 2 * passes.on_one_core > passes.made
            else None,
            about="conditions",
        )


def _power(diagnosis: Diagnosis, judgement: Judgement) -> Iterator[Verdict]:
    values = diagnosis.reference_values.get(LATENCY)
    if values is None:
        return
    least = judgement.resolvable_share
    told = "" if least is None else f"; shares below {least:.0%} cannot be told from none"
    where = f", {judgement.regime}" if judgement.regime else ""
    process = diagnosis.process
    cpu = "a CPU beside it" if process and process.has_reference_cpu else "the program's CPU"
    yield Verdict(
        level="note",
        text=f"Writes of the generators raise memory latency on {cpu} from "
        f"{values[0]:.0f} to {values[1]:.0f} ns{where}{told}.",
        about="conditions",
    )


def _variants(variants: Sequence[Treated]) -> Iterator[Verdict]:
    """Remedies, the largest gain first; then what harms, and what gains nothing."""
    found = [one for one in variants if one.change]
    helps = [one for one in found if is_faster(one.program)]
    for one in sorted(helps, key=lambda one: gain(one.program), reverse=True):
        if one.name == ALL_CPUS:
            yield _on_all_cpus(one)
            continue
        yield Verdict(level="good", text=f"{one.name} ({one.change}): {_gained(one.program)}.")
    harms = [one for one in found if is_slower(one.program)]
    for one in harms:
        yield Verdict(level="note", text=f"{one.name} ({one.change}): {_gained(one.program)}.")
    untold = [one.name for one in found if one.rounds < LEAST_ROUNDS]
    if untold:
        yield Verdict(
            level="note",
            text=f"Too few rounds to tell what these change: {', '.join(untold)}.",
            remedy="give more time with --budget",
        )
    nothing = [one.name for one in found if one.program and one not in helps and one not in harms]
    if nothing:
        yield Verdict(
            level="note",
            text=f"No gain above {MATTERS:.0%} was found of: {', '.join(nothing)}.",
        )


def _on_all_cpus(one: Treated) -> Verdict:
    """Of a program that uses the CPUs which a diagnosis needs for itself."""
    return Verdict(
        level="note",
        text=f"Without a diagnosis, {one.change.removesuffix(', as without a diagnosis')}, it "
        f"{_gained(one.program)}. The verdict is of the program on fewer CPUs: on all of them it "
        "moves more, and is nearer to a limit of bandwidth.",
    )


def _without_effect(diagnosis: Diagnosis) -> Iterator[Verdict]:
    """Changes of pages and memory nodes that did not reach the program's memory."""
    for one in diagnosis.variants:
        reason = diagnosis.without_effect(one)
        if reason is not None:
            yield Verdict(level="note", text=f"{one.name} ({one.change}): {reason}.")


def is_faster(estimate: Estimate | None) -> bool:
    """Whether the whole interval of time over the usual way lies below 1 by what matters."""
    return estimate is not None and estimate.high < 1 - MATTERS


def is_slower(estimate: Estimate | None) -> bool:
    """Whether the whole interval lies above 1 by what matters."""
    return estimate is not None and estimate.low > 1 + MATTERS


def gain(estimate: Estimate | None) -> float:
    """Time saved as a share; negative: time lost."""
    return 0.0 if estimate is None else 1 - estimate.value


def _gained(estimate: Estimate | None) -> str:
    if estimate is None:
        return "unknown"
    low, high = sorted((1 - estimate.high, 1 - estimate.low))
    value = gain(estimate)
    if value >= 0:
        return f"takes {value:.1%} less time ({low:.1%} to {high:.1%})"
    return f"takes {-value:.1%} more time ({-high:.1%} to {-low:.1%})"


def share_words(estimate: Estimate) -> str:
    """Such as `72% (56% to 80%)`; below 0 is written as 0."""
    low, high = max(0.0, estimate.low), max(0.0, estimate.high)
    return f"{max(0.0, estimate.value):.0%} ({low:.0%} to {high:.0%})"
