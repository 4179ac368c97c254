"""Summary of a node's run for comparing nodes: figures, facts, and disturbances."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from memgauge.analysis.comparison.figures import Comparable, of_run
from memgauge.analysis.figures.run import Figures, figures_of
from memgauge.analysis.report.run import status_line
from memgauge.analysis.report.verdicts import run_verdicts
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.records import Environment
from memgauge.model.run import Run
from memgauge.model.storage.cluster import (
    CLUSTER_VERSION,
    LEAST_VALUE,
    MOST_VALUE,
    FigureOfNode,
    NodeFigures,
)

_KEPT = ("stream/", "latency/", "numa/", "controllers/")
"""Experiments whose points are the same on machines of one kind. Curves are left to the node's own
report: what they are made of follows the machine, or what it measured."""


def node_figures(run: Run) -> NodeFigures:
    """The figures of a run; of one that was killed, those of what was measured."""
    figures = figures_of(run)
    source = of_run(figures, "")
    start = run.start
    reported = run.environment
    shares = {"steal": _share(run, reported, lambda one: one.steal_s)}
    shares["other programs"] = _share(run, reported, lambda one: one.others_s)
    return NodeFigures(
        format_version=CLUSTER_VERSION,
        memgauge_version=start.memgauge_version,
        run_id=start.run_id,
        started_at=start.started_at,
        status=status_line(figures),
        ended=run.end.status if run.end else None,
        facts=_facts(run, source.traits),
        shares={name: share for name, share in shares.items() if share is not None},
        clock_ghz=_clock_ghz(run),
        cpus=len(start.system.cpus),
        sockets=len({cpu.socket for cpu in start.system.cpus}),
        numa_nodes=len(start.system.nodes),
        figures=_figures(source.comparables),
        problems=_problems(figures),
    )


def _figures(found: list[Comparable]) -> list[FigureOfNode]:
    kept: dict[tuple[str, str], FigureOfNode] = {}
    for one in found:
        if not one.name.startswith(_KEPT) or not LEAST_VALUE <= one.estimate.value <= MOST_VALUE:
            continue
        if one.direction == "neither":
            continue
        known = has_interval(one.estimate)
        made = FigureOfNode(
            name=one.name,
            regime=one.regime,
            unit=one.unit,
            direction=one.direction,
            statistic=one.statistic,
            value=one.estimate.value,
            low=one.estimate.low if known else None,
            high=one.estimate.high if known else None,
        )
        # Of whole passes and of slices the first is kept: slices, whose interval is known.
        kept.setdefault((one.name, one.regime), made)
    return list(kept.values())


def _facts(run: Run, traits: dict[str, str]) -> dict[str, str]:
    software = run.start.software
    reported = dict(traits)
    reported["CPUs of the survey"] = str(len(run.start.system.allowed_cpus))
    reported["memgauge"] = run.start.memgauge_version
    reported |= {name: software[name] for name in ("libc", "microcode") if name in software}
    return reported


def _share(
    run: Run, reported: list[Environment], seconds: Callable[[Environment], float | None]
) -> float | None:
    """Of the processors' time while the run was measured; None: not known."""
    pairs = [(found, one.interval_s) for one in reported if (found := seconds(one)) is not None]
    total_s = sum(interval for _, interval in pairs) * len(run.start.system.cpus)
    return sum(found for found, _ in pairs) / total_s if total_s else None


def _clock_ghz(run: Run) -> float | None:
    reported = [one.frequency_khz * 1e-6 for one in run.environment if one.frequency_khz]
    measured = reported or [
        sample.cycles_per_ns
        for samples in run.samples.values()
        for sample in samples
        if sample.cycles_per_ns is not None
    ]
    return median(measured) if measured else None


def _problems(figures: Figures) -> list[str]:
    return [one.text for one in run_verdicts(figures) if one.level == "problem"]
