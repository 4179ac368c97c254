"""The section of a diagnosis: verdicts, what each treatment did, and the pictures."""

from __future__ import annotations

from memgauge.analysis.diagnose.figures import Diagnosis, Treated, diagnosis_of
from memgauge.analysis.diagnose.kernel import kernel_table, kernel_use, kernel_verdicts
from memgauge.analysis.diagnose.traffic_section import functions_table
from memgauge.analysis.diagnose.verdicts import verdicts
from memgauge.analysis.figures.run import Figures
from memgauge.analysis.section import (
    Axis,
    Chart,
    Column,
    Rule,
    Section,
    Series,
    Table,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.model.points.diagnose import (
    BANDWIDTH,
    CACHE,
    COMPUTE_AGAIN,
    LATENCY,
    READ,
    REFERENCES,
    WRITE,
)

WORDS = {
    COMPUTE_AGAIN: "arithmetic, again",
    WRITE: "writes past the caches",
    READ: "reads",
    CACHE: "half of the shared cache",
}


def analyse(figures: Figures) -> Section:
    """All that a diagnosis found."""
    found = diagnosis_of(figures)
    if found is None:
        return section_of("diagnose")
    pressures, variants = found.pressures, found.variants
    use, functions = kernel_use(figures), functions_table(found.simulated)
    return section_of(
        "diagnose",
        verdicts=[*verdicts(found), *(kernel_verdicts(use) if use else ())],
        tables=[
            *([_pressure_table(found, pressures)] if pressures else []),
            *([_variant_table(found, variants)] if variants else []),
            *([functions] if functions else []),
            *([kernel_table(use)] if use else []),
            *([_not_tried_table(found.not_tried)] if found.not_tried else []),
        ],
        charts=[*_slowdown_charts(pressures), *_gain_charts(variants)],
    )


def _pressure_table(found: Diagnosis, pressures: list[Treated]) -> Table:
    has_regimes = len({one.regime for one in pressures}) > 1
    return Table(
        name="diagnose-pressure",
        title="Time under pressure, over that beside arithmetic",
        columns=[
            Column(title="pressure"),
            *([Column(title="cores")] if has_regimes else []),
            Column(title="rounds", digits=0),
            Column(title="program", digits=2),
            Column(title="latency", digits=2),
            Column(title="bandwidth", digits=2),
            Column(title="cached", digits=2, narrow=False),
        ],
        rows=[
            [
                WORDS.get(one.name, one.name),
                *([one.regime] if has_regimes else []),
                one.rounds,
                one.program,
                *(one.references.get(name) for name in REFERENCES),
            ]
            for one in pressures
        ],
        note="Median of rounds with its 95% interval, each of one round and one distance of cores. "
        "Latency, bandwidth, cached: reference loops on the program's CPU that wait for memory, "
        "stream through it, and live in half of the last-level cache. Pressure that has decided "
        "the verdict gets no more rounds." + _metric_note(found),
    )


def _metric_note(found: Diagnosis) -> str:
    """What time is, where it is not that of the program's run."""
    if found.process is not None:
        what = "what the metric command prints"
    elif found.metric:
        what = f"what the program prints ({found.metric})"
    elif found.region:
        what = f"that inside region {found.region}, in at least one thread"
    else:
        return ""
    return f" Time: {'1 over ' if found.is_rate else ''}{what}."


def _variant_table(found: Diagnosis, variants: list[Treated]) -> Table:
    seen = [found.memory.get(one.name) for one in variants]
    has_memory = any(seen)
    has_nodes = any(one.nodes for one in seen if one)
    return Table(
        name="diagnose-variants",
        title="Other ways to run it, over the usual one",
        columns=[
            Column(title="variant"),
            Column(title="rounds", digits=0),
            Column(title="time", digits=3),
            *([Column(title="huge pages")] if has_memory else []),
            *([Column(title="memory on")] if has_nodes else []),
            Column(title="what is different", narrow=False),
        ],
        rows=[
            [
                one.name,
                one.rounds,
                one.program,
                *([memory.huge_words if memory else None] if has_memory else []),
                *([memory.node_words or None if memory else None] if has_nodes else []),
                one.change or None,
            ]
            for one, memory in zip(variants, seen, strict=True)
        ],
        note="Median of paired rounds with its 95% interval; below 1 is faster. As it is again: "
        "the usual way twice, to show what is noise. A decided variant gets no more rounds."
        + (
            " Memory: that without a file of the program's largest process, as the kernel showed "
            "it in some rounds while the program ran."
            if has_memory
            else ""
        ),
    )


def _not_tried_table(not_tried: list[tuple[str, str]]) -> Table:
    return Table(
        name="diagnose-not-tried",
        title="Not tried",
        columns=[Column(title="what"), Column(title="why")],
        rows=[[name, reason] for name, reason in not_tried],
    )


def _slowdown_charts(pressures: list[Treated]) -> list[Chart]:
    """The program's slowdown over that of the two references of memory, a point a treatment."""
    charts = []
    for name, title in ((LATENCY, "latency added"), (BANDWIDTH, "bandwidth taken")):
        known = [
            (reference, one)
            for one in pressures
            if (reference := one.references.get(name)) is not None and one.program is not None
        ]
        if len(known) < 2:
            continue
        known.sort(key=lambda item: item[0].value)
        most = max(reference.value for reference, _ in known)
        x: list[float | str] = [reference.value for reference, _ in known]
        programs = [one.program for _, one in known if one.program is not None]
        charts.append(
            Chart(
                name=f"diagnose-{name}",
                title=f"Time of the program over {title}",
                kind="line",
                x=Axis(title=f"time of the {name} reference, over that beside arithmetic", unit=""),
                y=Axis(title="time of the program", unit=""),
                series=[
                    Series(
                        name="program",
                        x=x,
                        y=[one.value for one in programs],
                        low=[one.low for one in programs],
                        high=[one.high for one in programs],
                        notes=[WORDS.get(one.name, one.name) for _, one in known],
                    ),
                    Series(
                        name="slows like the reference",
                        x=[1.0, most],
                        y=[1.0, most],
                        dashed=True,
                    ),
                ],
            )
        )
    return charts


def _gain_charts(variants: list[Treated]) -> list[Chart]:
    known = [one for one in variants if one.program is not None]
    if not known:
        return []
    estimates = [one.program or Estimate(1, 1, 1) for one in known]
    return [
        Chart(
            name="diagnose-variants",
            title="Time of other ways to run it",
            kind="bar",
            x=Axis(title="variant", unit=""),
            y=Axis(title="time over the usual way", unit="", from_zero=True),
            series=[
                Series(
                    name="time",
                    x=[one.name for one in known],
                    y=[one.value for one in estimates],
                    low=[one.low for one in estimates],
                    high=[one.high for one in estimates],
                )
            ],
            rules=[Rule(label="as it is", axis="y", value=1.0)],
        )
    ]
