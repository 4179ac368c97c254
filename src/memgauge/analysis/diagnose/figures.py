"""What a diagnosis found: its passes paired by round and by how near the cores were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from memgauge.analysis.diagnose.axes import Axes, axes_of, cached_bytes_of
from memgauge.analysis.diagnose.memory_seen import (
    MemorySeen,
    memory_seen,
    node_list,
    without_effect,
)
from memgauge.analysis.diagnose.on_curve import OnCurve, on_curve
from memgauge.analysis.diagnose.page_facts import PageFacts, page_facts
from memgauge.analysis.diagnose.passes import MORE, MOVED, ONE_CORE, Pass, matched, passes_of
from memgauge.analysis.diagnose.process import RunningProcess, process_of
from memgauge.analysis.diagnose.shares import share, slowdown, spanning, spanning_shares
from memgauge.analysis.diagnose.traffic import (
    Traffic,
    counted_traffic,
    mean_ns,
    simulated_traffic,
    why_not_counted,
)
from memgauge.analysis.figures.run import Figures, once
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.paired import paired
from memgauge.model.points.diagnose import (
    AS_IT_IS,
    AS_IT_IS_AGAIN,
    COMPUTE,
    COMPUTE_AGAIN,
    LATENCY,
    PROGRAM,
    REFERENCES,
    WAITING,
    WRITE,
    DiagnoseActual,
    DiagnoseRequested,
)
from memgauge.model.records import Point
from memgauge.model.run import Run

NAME = "diagnose"
AGAIN = {COMPUTE: COMPUTE_AGAIN, AS_IT_IS: AS_IT_IS_AGAIN}
"""The same treatment a second time in each round, by baseline."""
WAITING_EITHER = "waiting"
"""By whichever of the references that wait for each load: how many of a program's loads walk page
tables is not known."""


class Treated(msgspec.Struct, frozen=True, kw_only=True):
    """What one treatment did, in the rounds and the regime in which its baseline was too."""

    name: str
    kind: str
    baseline: str
    change: str
    regime: str
    rounds: int
    program: Estimate | None
    """Slowdown of the program; None: too few rounds."""
    references: dict[str, Estimate | None]
    """Slowdown of each reference."""
    shares: dict[str, Estimate | None]
    """Share of the program's time by each reference, and by those that wait together: from the
    least to the most by any of them that is possible."""
    over: dict[str, Estimate | None]
    """The program's slowdown over that of each reference, likewise."""
    pages_wanted: str = ""
    """huge, base, or empty: pages are not what differs."""
    nodes_wanted: str = ""
    """Empty: nodes are not what differs."""
    axes: Axes = Axes()
    """What it left of memory and cache."""
    step_of: str = ""
    part: float | None = None
    """Of a part dose, as `DiagnoseRequested` has them."""


class PressurePasses(msgspec.Struct, frozen=True, kw_only=True):
    """Passes under pressure, the control included, and those of them that are in no figure."""

    made: int
    moved: int
    """In which the cores were at two distances."""
    on_one_core: int
    """In which the program and a generator were threads of one core."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """All that the passes of a run show."""

    command: str
    metric: str | None
    region: str | None
    """In which the time of the program is taken; None: all of it, or the metric."""
    treated: list[Treated]
    """By treatment and regime; regimes with most rounds first."""
    program_time: Estimate | None
    """Of one run beside arithmetic, or as it is: seconds, or what was printed."""
    is_rate: bool
    """Whether more of what was printed is faster."""
    process: RunningProcess | None = None
    """None: the program is a command that was started."""
    reference_values: dict[str, tuple[float, float]]
    """Median of each reference beside arithmetic and, in the same unit, under writes: ns, GB/s."""
    has_pressure: bool
    """Whether pressure was planned, whatever came of it."""
    passes: PressurePasses
    traffic: Traffic | None
    """Counted; else simulated; None: neither."""
    simulated: Traffic | None
    """None: not simulated."""
    memory: dict[str, MemorySeen] = {}
    """By treatment; those in which nothing was seen are missing."""
    not_tried: list[tuple[str, str]] = []
    """What was not tried, and why."""
    on_curve: OnCurve | None
    """Where the traffic lies on a curve of this machine; None: no curve was named."""
    not_counted: str
    """Why no counter was read; empty: one was, or nobody asked."""
    cached_bytes: int | None = None
    """Ring of the cached reference; None: there was none."""
    page_facts: PageFacts | None = None
    """What translation is judged by; None: not looked for."""

    @property
    def waits(self) -> tuple[float, float] | None:
        """Least and most of its time that it would wait for what it reads, as `judge` takes them.

        None: its traffic is not known, or is that of more than what is timed.
        """
        values = self.reference_values.get(LATENCY)
        if self.traffic is None or values is None or self.metric or self.region or self.process:
            return None
        most = self.traffic.waits_share(values[0])
        # Counted bytes are those of the whole machine.
        return (self.simulated.waits_share(values[0]) if self.simulated else 0.0), most

    @property
    def pressures(self) -> list[Treated]:
        """Treatments by generators; empty: only other ways to start it were tried."""
        return [one for one in self.treated if one.kind == "pressure"]

    @property
    def variants(self) -> list[Treated]:
        """Other ways to start the program."""
        return [one for one in self.treated if one.kind == "variant"]

    @property
    def usual_memory(self) -> MemorySeen | None:
        """That of the usual way to run it; None: not seen."""
        return self.memory.get(AS_IT_IS) or self.memory.get(AS_IT_IS_AGAIN)

    def without_effect(self, one: Treated) -> str | None:
        """Why a variant of pages or memory nodes did not reach the program's memory.

        None: it did, it is not known, or it is another kind of treatment.
        """
        seen = self.memory.get(one.name)
        if seen is None:
            return None
        return without_effect(
            seen,
            self.usual_memory,
            pages_wanted=one.pages_wanted,
            nodes=node_list(one.nodes_wanted),
        )


@once
def diagnosis_of(figures: Figures) -> Diagnosis | None:
    """The diagnosis of a run; None: it holds none."""
    points = figures.run.points_of(NAME)
    if not points:
        return None
    parameters = figures.run.start.parameters.get(NAME, {})
    passes = passes_of(points, figures.run.samples)
    metric, region = parameters.get("metric"), parameters.get("region")
    requested = {
        one.treatment: one
        for point in points
        if (one := DiagnoseRequested.of(point.requested)).subject == PROGRAM
    }
    if not requested:
        return None  # no run of a program was declared
    treated = [
        found
        for one in requested.values()
        if one.baseline in passes
        for found in treated_of(one, passes)
    ]
    not_tried = [
        (name, reason)
        for point in points
        for line in DiagnoseActual.of(point.actual).not_tried.splitlines()
        for name, _, reason in [line.partition(": ")]
    ]
    first = next(iter(requested))
    simulated = simulated_traffic(figures.run, points)
    traffic = counted_traffic(figures.run, points) or simulated
    is_rate = requested[first].metric_better == MORE
    times = [1 / one.program if is_rate else one.program for one in passes.get(first, [])]
    return Diagnosis(
        command=str(parameters.get("command") or ""),
        metric=str(metric) if metric else None,
        region=str(region) if region else None,
        treated=treated,
        program_time=paired(times) or (_lone(times) if times else None),
        is_rate=is_rate,
        process=process_of(points, parameters),
        reference_values=reference_values(figures.run, points),
        has_pressure=any(one.kind == "pressure" for one in requested.values()),
        passes=_pressure_passes(requested, passes),
        traffic=traffic,
        simulated=simulated,
        on_curve=on_curve(traffic, figures.run.curves),
        not_counted=why_not_counted(points),
        memory=_memory(figures.run, points),
        not_tried=not_tried,
        cached_bytes=cached_bytes_of(points),
        page_facts=page_facts(figures, points, not_tried),
    )


def _pressure_passes(
    requested: Mapping[str, DiagnoseRequested], passes: Mapping[str, Sequence[Pass]]
) -> PressurePasses:
    regimes = [
        one.regime
        for name, of in requested.items()
        if of.kind == "pressure"
        for one in passes.get(name, ())
    ]
    return PressurePasses(
        made=len(regimes), moved=regimes.count(MOVED), on_one_core=regimes.count(ONE_CORE)
    )


def _memory(run: Run, points: Iterable[Point]) -> dict[str, MemorySeen]:
    found = {
        DiagnoseRequested.of(point.requested).treatment: memory_seen(
            one.program_memory
            for one in run.samples.get(point.point, [])
            if one.program_memory is not None
        )
        for point in points
        if DiagnoseRequested.of(point.requested).subject == PROGRAM
    }
    return {name: seen for name, seen in found.items() if seen is not None}


def _lone(times: Sequence[float]) -> Estimate:
    return Estimate(median(times), 0.0, float("inf"))


def treated_of(
    requested: DiagnoseRequested,
    passes: Mapping[str, Sequence[Pass]],
    confidence: float = 0.95,
) -> list[Treated]:
    """What a treatment did, in each regime; regimes with most pairs first.

    A baseline that is measured twice in each round stands in for itself, where the cores moved in
    one of the two.

    Args:
        requested: The treatment.
        passes: Of all treatments, by name, in order of rounds.
        confidence: Of all intervals, from 0 to 1.
    """
    baselines = [*passes.get(requested.baseline, ())]
    again = AGAIN.get(requested.baseline, "")
    if again != requested.treatment:
        baselines = sorted([*baselines, *passes.get(again, ())], key=lambda one: one.round)
    own = passes.get(requested.treatment, ())
    regimes = dict.fromkeys(one.regime for one in own if one.regime not in {MOVED, ONE_CORE})
    pairs = {
        regime: matched(
            [one for one in own if one.regime == regime],
            [one for one in baselines if one.regime == regime],
        )
        for regime in regimes
    }
    ordered = sorted(pairs.items(), key=lambda item: -len(item[1]))
    return [_of_regime(requested, regime, found, confidence) for regime, found in ordered if found]


def _of_regime(
    requested: DiagnoseRequested,
    regime: str,
    pairs: Sequence[tuple[Pass, Pass]],
    confidence: float,
) -> Treated:
    names = [
        name
        for name in REFERENCES
        if all(name in one.references and name in base.references for one, base in pairs)
    ]
    rounds = [
        (
            one.program / base.program,
            {name: one.references[name] / base.references[name] for name in names},
        )
        for one, base in pairs
    ]
    shares = {
        name: share([(program, of[name]) for program, of in rounds], confidence) for name in names
    }
    over = {
        name: slowdown([program / of[name] for program, of in rounds], confidence) for name in names
    }
    for each, combined in ((shares, spanning_shares), (over, spanning)):
        if LATENCY in each:
            each[WAITING_EITHER] = combined([each[name] for name in WAITING if name in each])
    return Treated(
        name=requested.treatment,
        kind=requested.kind,
        baseline=requested.baseline,
        change=requested.change,
        regime=regime,
        rounds=len(pairs),
        program=slowdown([program for program, _ in rounds], confidence),
        references={name: slowdown([of[name] for _, of in rounds], confidence) for name in names},
        shares=shares,
        over=over,
        pages_wanted=requested.pages_wanted,
        nodes_wanted=requested.nodes_wanted,
        axes=axes_of([(one.references, base.references) for one, base in pairs], confidence),
        step_of=requested.step_of,
        part=requested.part,
    )


def reference_values(run: Run, points: Iterable[Point]) -> dict[str, tuple[float, float]]:
    """Of latency and cached in ns a load, of bandwidth in GB/s: beside arithmetic, under writes.

    Args:
        run: The run.
        points: Of its diagnosis.
    """
    found: dict[str, dict[str, float]] = {}
    for point in points:
        requested = DiagnoseRequested.of(point.requested)
        samples = run.samples.get(point.point, [])
        if requested.subject == PROGRAM or not samples:
            continue
        ns = median(map(mean_ns, samples))
        value = ns / point.accesses if point.accesses else point.bytes_counted / ns
        found.setdefault(requested.subject, {})[requested.treatment] = value
    return {
        subject: (values[COMPUTE], values[WRITE])
        for subject, values in found.items()
        if COMPUTE in values and WRITE in values
    }
