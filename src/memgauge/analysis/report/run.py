"""A run, analysed: sections of the experiments in it, verdicts, headlines, machine and status."""

from importlib import import_module

import msgspec

from memgauge.analysis.figures.gpu_points import gpu_name
from memgauge.analysis.figures.run import Figures, figures_of, once
from memgauge.analysis.latency.figures import conditions, memory_latency
from memgauge.analysis.machine.actual_memory import memory_verdicts
from memgauge.analysis.machine.gpus import gpu_titles, with_gpus
from memgauge.analysis.machine.table import machine_line, system_table
from memgauge.analysis.machine.tiers import tiers_table
from memgauge.analysis.report import cross_checks as crosschecks
from memgauge.analysis.report.disturbances import with_disturbances
from memgauge.analysis.report.left_out import left_out
from memgauge.analysis.report.only_simulated import is_only_simulated, simulated_counts
from memgauge.analysis.report.sample_notes import sample_notes
from memgauge.analysis.report.verdicts import peak_share, reached_counts, run_verdicts
from memgauge.analysis.section import Cell, Headline, Report, Section, Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.stream.figures import best, kernel_results
from memgauge.analysis.transfers.section import best_transfers
from memgauge.analysis.workingset.section import claims_for, find
from memgauge.model.experiments import DESCRIPTORS, title_of
from memgauge.model.run import Run
from memgauge.model.units import format_bytes, format_count, format_duration

MOST_HEADLINES = 4
ENDINGS = {
    "complete": "complete",
    "budget": "ended by its budget",
    "interrupted": "interrupted",
    "failed": "failed",
}


def analyse_run(run: Run) -> Report:
    """Everything a renderer needs. Works on a run that was killed at any moment."""
    return report_of(figures_of(run))


def report_of(figures: Figures) -> Report:
    """The same, of a run whose figures are known."""
    run = figures.run
    names = experiments_of(run)
    title = title_of(names[0]) if len(names) == 1 else "Memory survey"
    return Report(
        run_id=run.start.run_id,
        started_at=run.start.started_at,
        title=title,
        machine=", ".join([machine_line(run.start.system), *gpu_titles(run.points.values())]),
        complete=run.end is not None and run.end.status == "complete",
        status=status_line(figures),
        verdicts=[
            *_unknown(names),
            *memory_verdicts(run.points.values(), run.start.system),
            *run_verdicts(figures),
        ],
        sections=sections_of(figures),
        system=with_gpus(system_table(run.start.system), run.points.values()),
        tiers=tiers_table(run.start.system),
        headlines=_headlines(figures),
        precision=figures.precision or None,
    )


def experiments_of(run: Run) -> list[str]:
    """Experiments asked for at any start or with points, in that order."""
    requested = [name for start in run.starts for name in start.experiments]
    return list(dict.fromkeys([*requested, *(p.experiment for p in run.points.values())]))


@once
def sections_of(figures: Figures) -> list[Section]:
    """A section for each experiment with points, one of those left out, then cross-checks.

    What disturbed the samples of an experiment is said in its own section.
    """
    present = {point.experiment for point in figures.run.points.values()}
    present = (present | _without_points(figures.run)) & DESCRIPTORS.keys()
    names = [name for name in experiments_of(figures.run) if name in present]
    disturbed = with_disturbances(figures, names)
    sections = [
        _with(_section_of(name, figures), [*sample_notes(figures, name), *disturbed[name]])
        for name in names
    ]
    further = (left_out(figures.run), crosschecks.section(figures))
    return [*sections, *(section for section in further if section is not None)]


def _without_points(run: Run) -> set[str]:
    """What was recorded over time by a runner of its own, such as a profile."""
    requested = {name for start in run.starts for name in start.experiments}
    return {name for name in requested & DESCRIPTORS.keys() if DESCRIPTORS[name].host is None}


def _section_of(name: str, figures: Figures) -> Section:
    """Of an experiment that has a descriptor; its package is loaded now."""
    section: Section = import_module(f"memgauge.analysis.{name}.section").analyse(figures)
    return section


def _with(section: Section, verdicts: list[Verdict]) -> Section:
    return msgspec.structs.replace(section, verdicts=[*section.verdicts, *verdicts])


def status_line(figures: Figures) -> str:
    """How the run ended, how many points are precise enough, time and rounds."""
    run = figures.run
    parts = _simulated(run) if is_only_simulated(run) else [_ending(run), *_measured(figures)]
    if run.end is not None:
        parts.append(format_duration(run.end.elapsed_s))
    if len(run.starts) > 1:
        parts.append(f"resumed {len(run.starts) - 1} times")
    return "; ".join(parts).replace("resumed 1 times", "resumed once")


def _measured(figures: Figures) -> list[str]:
    run = figures.run
    reached, points = reached_counts(figures)
    known = [f"{reached} of {points} points within {100 * figures.precision:g}%"] if points else []
    if run.points or not _without_points(run):
        known.append(format_count(run.rounds, "round"))
    return known


def _simulated(run: Run) -> list[str]:
    """Of a run without measurements: how much of what was asked for the time was enough for."""
    made, requested = simulated_counts(run)
    is_cut = made < requested and run.end is not None and run.end.status == "complete"
    ending = "ended by --simulate-up-to" if is_cut else _ending(run)
    return [ending, f"{made} of {format_count(requested, 'simulation')}", "nothing was run"]


def _ending(run: Run) -> str:
    if run.end is None:
        return "killed before its end, or still being written"
    ending = ENDINGS[run.end.status]
    return f"{ending}: {run.end.reason}" if run.end.reason else ending


def _unknown(names: list[str]) -> list[Verdict]:
    return [
        Verdict(
            level="warning",
            text=f"The run holds the experiment {name}, which this version does not know.",
            remedy="render it with the version that wrote it",
        )
        for name in names
        if name not in DESCRIPTORS
    ]


def _headlines(figures: Figures) -> list[Headline]:
    found = [_bandwidth(figures), _latency(figures), _last_level(figures), _peak(figures)]
    found.append(best_transfers(figures))
    return [headline for headline in found if headline is not None][:MOST_HEADLINES]


def _bandwidth(figures: Figures) -> Headline | None:
    top = best(kernel_results(figures))
    if top is None or top.sustained is None:
        return None
    by = gpu_name([top.point]) or format_count(top.threads, "thread")
    detail = ", ".join(filter(None, (top.title, by, top.regime)))
    value: Cell = top.sustained
    return Headline(label="Best bandwidth", value=value, unit="GB/s", detail=detail)


def _latency(figures: Figures) -> Headline | None:
    found = memory_latency(figures)
    if found is None:
        return None
    point, estimate = found
    return Headline(label="Memory latency", value=estimate, unit="ns", detail=conditions(point))


def _last_level(figures: Figures) -> Headline | None:
    caches = [f for f in find(figures) if f.level is not None and f.level.capacity_bytes]
    if not caches or caches[-1].level is None:
        return None
    finding, level = caches[-1], caches[-1].level
    claimed = finding.claimed_bytes
    by = claims_for(figures).by
    detail = f"{finding.name}, {format_bytes(claimed)} by the {by}" if claimed else finding.status
    low, high = level.capacity_low_bytes, level.capacity_high_bytes
    value = Estimate(float(low), float(low), float(high or low))
    return Headline(label="Last-level cache found", value=value, unit="B", detail=detail)


def _peak(figures: Figures) -> Headline | None:
    share = peak_share(figures)
    if share is None:
        return None
    detail = "by clock and width of the bus" if share.of_gpu else "of the data sheet"
    return Headline(label="Share of peak", value=share.value, unit="%", detail=detail)
