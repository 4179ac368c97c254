"""The run as a whole, in plain words: what spoiled it, what is missing, what to change."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from memgauge.analysis.counters.trust import counter_verdicts
from memgauge.analysis.figures.conditions import (
    OTHERS_SHARE,
    SET_ASIDE_SHARE,
    STEAL_SHARE,
    first_by_role,
    measured_slices,
    others_share,
    reached_counts,
    steal_share,
)
from memgauge.analysis.figures.regimes import Regimes, TeamKey, team_of
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.figures.speeds import is_timed_by_gpu
from memgauge.analysis.report.earlier_runs import earlier_verdicts
from memgauge.analysis.report.headlines import headlines, peak_share
from memgauge.analysis.report.left_out import is_left_out
from memgauge.analysis.report.only_simulated import is_only_simulated
from memgauge.analysis.section import QUIET, Verdict
from memgauge.model.memory_hardware import peak_origin
from memgauge.model.records import NOT_WATCHED, Warning
from memgauge.model.run import Run
from memgauge.model.system import System

FREQUENCY_SPREAD = 0.05
NOISY = 0.1
"""Above these a verdict mentions it."""


@once
def run_verdicts(figures: Figures) -> list[Verdict]:
    """All verdicts that are not one experiment's own.

    What may disturb a measurement on this machine is left out where nothing was measured on it, or
    by a GPU alone.
    """
    rules = OF_MODELS if is_only_simulated(figures.run) else RULES
    points = figures.run.points.values()
    if points and all(is_timed_by_gpu(point) for point in points):
        rules = OF_GPUS
    return [verdict for rule in rules for verdict in rule(figures)]


def _validation(figures: Figures) -> Iterator[Verdict]:
    validations = figures.run.validations
    for validation in validations:
        failed = [check for check in validation.checks if not check.passed]
        if failed:
            arrays = ", ".join(check.array for check in failed)
            worst = max(check.average_relative_error for check in failed)
            yield Verdict(
                level="problem",
                text=f"Validation failed ({validation.experiment}: {validation.subject}): arrays "
                f"{arrays} do not hold what the kernels must have left (average relative error "
                f"{worst:.3g}). This may be memory corruption.",
                remedy="test the memory before trusting this machine or these figures",
            )


def _drift(figures: Figures) -> Iterator[Verdict]:
    if figures.run_to_run_drift is not None and figures.run_to_run_drift > figures.precision:
        yield Verdict(
            level="note",
            text=f"The pace of the whole machine drifted while measuring: another run may differ "
            f"by {figures.run_to_run_drift:.1%}, in addition to the intervals of the figures.",
            remedy="fix the clock frequency and stop other programs if you can",
        )


def _peak(figures: Figures) -> Iterator[Verdict]:
    share = peak_share(figures)
    system = figures.run.start.system
    peak = system.theoretical_bandwidth_bytes_per_s
    if share is not None and peak and not share.of_gpu:
        suspicious = share.value > 1
        text = (
            f"The best bandwidth is {share.value:.0%} of the theoretical {peak * 1e-9:.1f} GB/s "
            f"({peak_origin(system)})."
        )
        if suspicious:
            text += " More than 100% is impossible: the arrays were cached, or the peak is wrong."
        yield Verdict(level="problem" if suspicious else "note", text=text)


def _regimes(figures: Figures) -> Iterator[Verdict]:
    """One for each set of CPUs that a host moved: teams of different sizes may run on the same."""
    run = figures.run
    by_cpus: dict[str, dict[TeamKey, Regimes]] = {}
    for team, regimes in figures.teams.items():
        if len(regimes.regimes) > 1:
            by_cpus.setdefault(team[1], {})[team] = regimes
    for cpus, teams in by_cpus.items():
        counts = _regime_counts(run, teams)
        total = sum(counts.values())
        if not total:
            continue  # of points measured with others, whose team states it
        first = next(iter(teams.values())).regimes
        shares = ", ".join(
            f"{counts[index] / total:.0%} of the samples {regime.name}"
            for index, regime in enumerate(first)
        )
        yield Verdict(
            level="note",
            text=f"The host moved the threads on CPUs {cpus} between two distances: {shares}. "
            f"Figures are given for each and never pooled.",
            remedy="compare figures of one regime only",
        )


def _regime_counts(run: Run, teams: Mapping[TeamKey, Regimes]) -> Counter[int]:
    """Samples of all these teams in their nearer and their farther regime, each pass once."""
    counts: Counter[int] = Counter()
    for point in run.points.values():
        regimes = teams.get(team_of(point))
        if regimes is not None and point.measured_with is None:
            found = (regimes.of(sample.pingpong_ns) for sample in run.samples_of(point.point))
            counts.update(regimes.regimes.index(one) for one in found if one is not None)
    return counts


def _steal(figures: Figures) -> Iterator[Verdict]:
    share = steal_share(figures)
    if share is not None and share > STEAL_SHARE:
        yield Verdict(
            level="warning",
            text=f"The hypervisor took {share:.1%} of the processors' time (steal).",
            remedy="measure when the host is quiet, or on dedicated hardware",
        )


def _others(figures: Figures) -> Iterator[Verdict]:
    share = others_share(figures)
    if share is not None and share > OTHERS_SHARE:
        yield Verdict(
            level="warning",
            text=f"Other programs used {share:.1%} of the processors' time while measuring.",
            remedy=QUIET,
        )


def _frequency(figures: Figures) -> Iterator[Verdict]:
    known = [r.frequency_khz for r in figures.run.environment if r.frequency_khz]
    system = figures.run.start.system
    if known and max(known) - min(known) > FREQUENCY_SPREAD * max(known):
        yield Verdict(
            level="note",
            text=f"The core clock varied between {min(known) / 1e6:.2f} and "
            f"{max(known) / 1e6:.2f} GHz while measuring.",
            remedy="fix the frequency, or compare cycles instead of ns",
        )
    if system.governor and system.governor != "performance":
        yield Verdict(
            level="note",
            text=f"The frequency governor is {system.governor}, not performance.",
            remedy="cpupower frequency-set -g performance (as root)",
            about="conditions",
        )


def _huge_pages(figures: Figures) -> Iterator[Verdict]:
    mode = figures.run.start.system.thp
    remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)"
    if mode == "madvise":
        yield Verdict(
            level="note",
            text="Transparent huge pages are given only to programs that request them (madvise): "
            "others get base pages.",
            remedy=remedy.replace("madvise", "always"),
            about="conditions",
        )
    elif mode != "always":
        how = "switched off" if mode else "not built into this kernel"
        text = f"Transparent huge pages are {how}: everything lies in base pages unless reserved."
        yield Verdict(
            level="warning", text=text, remedy=remedy if mode else None, about="conditions"
        )


def _set_aside(figures: Figures) -> Iterator[Verdict]:
    first = first_by_role(figures, "slice")
    total = sum(len(figures.run.samples_of(summary.point)) for summary in first)
    aside = sum(summary.set_aside for summary in first)
    faults = sum(summary.page_faults for summary in first)
    if faults:
        yield Verdict(
            level="warning",
            text=f"In {faults} samples a page had been reclaimed and was faulted in again; these "
            "samples were set aside.",
            remedy="the kernel may reclaim idle pages: free memory, or measure with --pages 2m",
        )
    if total and aside > SET_ASIDE_SHARE * total:
        switched = sum(summary.switched_out for summary in first)
        strays = sum(summary.strays for summary in first)
        others = aside - switched - strays - faults
        reasons = {
            "a thread was switched out": switched,
            "the distance of their threads was not a usual one": strays,
            "a page had gone away": faults,
            "not all were at work at once, or time stamps were unusable": others,
        }
        why = [f"{count} because {reason}" for reason, count in reasons.items() if count]
        yield Verdict(
            level="warning",
            text=f"{aside / total:.0%} of {total} slices were set aside, {', '.join(why)}.",
            remedy="leave a CPU free for the rest of the system: fewer --threads"
            if switched >= max(strays, others)
            else "measure again when the machine, and the host of a virtual one, are quiet",
        )


def _interrupted_passes(figures: Figures) -> Iterator[Verdict]:
    """STREAM sets no pass aside, so its best of N suffers where the slices do not."""
    first = first_by_role(figures, "pass")
    total = sum(len(figures.run.samples_of(summary.point)) for summary in first)
    switched = sum(summary.switched_out for summary in first)
    if total and switched > SET_ASIDE_SHARE * total:
        yield Verdict(
            level="warning",
            text=f"In {switched} of {total} whole passes a thread was switched out; STREAM's "
            "rules include such passes, so its best of N is lower than the sustained "
            "figures.",
            remedy=QUIET,
        )


def _noise(figures: Figures) -> Iterator[Verdict]:
    noisy = sorted(
        ((s.noise, s.point) for s in measured_slices(figures) if s.noise is not None), reverse=True
    )
    over = [entry for entry in noisy if entry[0] > NOISY]
    if over:
        yield Verdict(
            level="note",
            text=f"{len(over)} of {len(noisy)} figures are noisy (spread above {NOISY:.0%}); most "
            f"of all {over[0][1]} with {over[0][0]:.0%}.",
        )


def _precision(figures: Figures) -> Iterator[Verdict]:
    reached, points = reached_counts(figures)
    if reached < points and figures.run.rounds:
        yield Verdict(
            level="note",
            text=f"{points - reached} of {points} points did not reach the requested precision of "
            f"{100 * figures.precision:g}%; their intervals show how well they are known.",
            remedy="increase --budget, or resume the run",
        )


def _unmeasured(figures: Figures) -> Iterator[Verdict]:
    """Of a run that ended while it still prepared: every section of it is empty."""
    run = figures.run
    if run.points and not run.rounds and not run.simulated and run.end is not None:
        reason = {
            "budget": f"The budget of {run.starts[-1].budget_s:g} s was spent on preparing",
            "interrupted": "The run was interrupted while it prepared",
        }.get(run.end.status, "The run ended while it prepared")
        yield Verdict(
            level="warning",
            text=f"{reason}: nothing was measured.",
            remedy="increase --budget, use fewer --threads or smaller arrays, or stop other "
            "programs",
        )


def _recorded(figures: Figures) -> Iterator[Verdict]:
    """Warnings in the run, one verdict for each code, and what reading had to leave out."""
    by_code: dict[str, list[int]] = {}
    for index, warning in enumerate(figures.run.warnings):
        if is_left_out(warning):
            continue  # has a section of its own
        # Each of these has a reason and a remedy of its own.
        alike = warning.message if warning.code == NOT_WATCHED else warning.code
        by_code.setdefault(alike, []).append(index)
    for indices in by_code.values():
        warning = figures.run.warnings[indices[0]]
        more = f" ({len(indices) - 1} more like this)" if len(indices) > 1 else ""
        message = _begun(warning.message)
        yield Verdict(
            level="warning",
            text=f"{message}{more}.",
            remedy=warning.remedy,
            about="conditions" if _is_lacking(figures.run, warning) else "result",
        )
    for note in figures.run.notes:
        yield Verdict(level="warning", text=_begun(note))


def _is_lacking(run: Run, warning: Warning) -> bool:
    """Whether the machine lacks what nobody asked for by name."""
    requested = run.parameters.get("profile", {})
    named = requested.get("components") or requested.get("counters")
    return warning.code == NOT_WATCHED and not named


def _begun(text: str) -> str:
    """With a capital letter; an abbreviation has several."""
    letters = 3 if text.startswith("gpu: ") else 1
    return text[:letters].upper() + text[letters:]


def _topology(figures: Figures) -> Iterator[Verdict]:
    system: System = figures.run.start.system
    for note in system.topology_notes:
        yield Verdict(level="note", text=_begun(note), about="conditions")


def _counters(figures: Figures) -> Iterator[Verdict]:
    yield from counter_verdicts(figures.run)


def _earlier(figures: Figures) -> Iterator[Verdict]:
    yield from earlier_verdicts(figures.run.start.earlier, headlines(figures))


OF_GPUS: tuple[Callable[[Figures], Iterator[Verdict]], ...] = (
    _validation,
    _unmeasured,
    _earlier,
    _counters,
    _drift,
    _set_aside,
    _noise,
    _precision,
    _recorded,
)
"""Nothing that may disturb the host's processors and pages is in a GPU's own times."""
OF_MODELS: tuple[Callable[[Figures], Iterator[Verdict]], ...] = (_recorded,)
RULES: tuple[Callable[[Figures], Iterator[Verdict]], ...] = (
    _validation,
    _unmeasured,
    _earlier,
    _counters,
    _peak,
    _drift,
    _regimes,
    _steal,
    _others,
    _set_aside,
    _interrupted_passes,
    _frequency,
    _huge_pages,
    _noise,
    _precision,
    _topology,
    _recorded,
)
