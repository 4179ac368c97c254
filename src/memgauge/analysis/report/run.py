"""A run, analysed: sections of the experiments in it, verdicts, headlines, machine and status."""

from importlib import import_module

import msgspec

from memgauge.analysis.answer.answer import answer_of, key_lines
from memgauge.analysis.answer.diagnosis import diagnosis_answer
from memgauge.analysis.answer.quality import quality_of
from memgauge.analysis.figures.conditions import reached_counts
from memgauge.analysis.figures.run import Figures, figures_of, once
from memgauge.analysis.machine.actual_memory import memory_verdicts
from memgauge.analysis.machine.gpus import gpu_titles, with_gpus
from memgauge.analysis.machine.table import machine_line, system_table
from memgauge.analysis.machine.tiers import tiers_table
from memgauge.analysis.machine.topology import topology_chart
from memgauge.analysis.report import cross_checks as crosschecks
from memgauge.analysis.report.disturbances import with_disturbances
from memgauge.analysis.report.headlines import headlines
from memgauge.analysis.report.left_out import left_out
from memgauge.analysis.report.only_simulated import is_only_simulated, simulated_counts
from memgauge.analysis.report.sample_notes import sample_notes
from memgauge.analysis.report.verdicts import run_verdicts
from memgauge.analysis.section import Report, Section, Verdict
from memgauge.model.experiments import DESCRIPTORS, title_of
from memgauge.model.run import Run
from memgauge.model.units import format_count, format_duration

DIAGNOSE = "diagnose"
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
    sections = sections_of(figures)
    verdicts = [
        *_unknown(names),
        *memory_verdicts(run.points.values(), run.start.system),
        *verdicts_of(figures),
    ]
    is_survey = len(names) > 1 and not is_only_simulated(run)
    return Report(
        run_id=run.start.run_id,
        started_at=run.start.started_at,
        title=title,
        machine=", ".join([machine_line(run.start.system), *gpu_titles(run.points.values())]),
        complete=run.end is not None and run.end.status in {"complete", "budget"},
        status=status_line(figures),
        verdicts=verdicts,
        sections=sections,
        system=with_gpus(system_table(run.start.system), run.points.values()),
        tiers=tiers_table(run.start.system),
        topology=topology_chart(run.start.system),
        headlines=headlines(figures),
        answer=(
            answer_of(figures, verdicts, sections)
            if is_survey
            else diagnosis_answer(figures, verdicts, sections)
        ),
        opening=[] if is_survey else key_lines(figures),
        quality=quality_of(figures),
        precision=None if names == [DIAGNOSE] else figures.precision or None,
        pictures_first=not is_survey,
    )


def experiments_of(run: Run) -> list[str]:
    """Experiments asked for at any start or with points, in that order."""
    requested = [name for start in run.starts for name in start.experiments]
    return list(dict.fromkeys([*requested, *(p.experiment for p in run.points.values())]))


@once
def verdicts_of(figures: Figures) -> list[Verdict]:
    """Of the run as a whole; none of them good where its quality is poor."""
    return _judged(figures, run_verdicts(figures))


def _judged(figures: Figures, verdicts: list[Verdict]) -> list[Verdict]:
    if quality_of(figures).grade != "poor":
        return verdicts
    replace = msgspec.structs.replace
    return [replace(one, level="note") if one.level == "good" else one for one in verdicts]


@once
def sections_of(figures: Figures) -> list[Section]:
    """A section for each experiment with points, one of those left out, then cross-checks.

    What disturbed the samples of an experiment is said in its own section. No verdict is good
    where the quality of the run is poor.
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
    found = [*sections, *(section for section in further if section is not None)]
    return [msgspec.structs.replace(one, verdicts=_judged(figures, one.verdicts)) for one in found]


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
