"""Verdicts on a comparison: how the sources differ, and what was found."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from memgauge.analysis.comparison.diagnosis_report import diagnosis_verdicts
from memgauge.analysis.comparison.figures import Source, is_one_machine
from memgauge.analysis.comparison.memory import OF_MEMORY, memory_verdicts
from memgauge.analysis.comparison.names import labels_of, named
from memgauge.analysis.comparison.paces import pace_verdicts
from memgauge.analysis.comparison.partners import NOT_IN_EVERY_RUN, Unpaired
from memgauge.analysis.comparison.ratios import DIFFERS, Comparison, Outcome, Pair, Row
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.significance import FALSE_SHARE
from memgauge.model.units import format_count

DECIDES = (
    "measure 3 runs a side (memgauge survey --repeat 3) and compare them: memgauge compare "
    "A1,A2,A3 B1,B2,B3"
)
"""What one run a side cannot tell."""


_WHAT = {"bandwidths": "higher", "latencies": "lower", "amounts of bytes": "neither"}


def source_verdicts(comparison: Comparison) -> list[Verdict]:
    """What each source is, and how each differs from the baseline, most severe first."""
    labels = labels_of(comparison.sources)
    found = condition_verdicts(comparison)
    needs_drift = any(pair.rows and not pair.has_several_runs for pair in comparison.pairs)
    for label, source in zip(labels, comparison.sources, strict=True):
        found += _of_source(label, source, needs_drift=needs_drift and not source.runs)
    return found + _caveats(labels, comparison.sources)


def condition_verdicts(comparison: Comparison) -> list[Verdict]:
    """How the machine and the settings of each source differ from the baseline's."""
    labels = labels_of(comparison.sources)[1:]
    return [
        verdict
        for label, pair in zip(labels, comparison.pairs, strict=True)
        for verdict in (*_machines(label, pair), *_settings(label, pair))
    ]


def pair_verdicts(label: str, pair: Pair) -> list[Verdict]:
    """Findings, how many may be chance, and what was not compared."""
    return [
        *(diagnosis_verdicts(label, pair.diagnosis) if pair.diagnosis else ()),
        *_outcome(label, pair),
        *_untold(pair),
        *_beside_published(label, pair),
        *memory_verdicts(label, pair),
        *_unlike(label, pair),
        *_unpaired(label, pair),
    ]


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Facts that both report with different values, as `kernel: 6.1 against 6.2`."""
    return [
        f"{key}: {known} against {other[key]}"
        for key, known in one.items()
        if key in other and known != other[key]
    ]


def _machines(label: str, pair: Pair) -> list[Verdict]:
    a, b = pair.baseline, pair.other
    if a.run_id is not None and a.run_id == b.run_id:
        return [Verdict(level="warning", text=f"A and {label} are the same run.")]
    if a.tool or b.tool:
        held = " and ".join(name for name, one in (("A", a), (label, b)) if one.tool)
        text = f"Whether A and {label} were measured on one machine is not known from {held}."
        return [Verdict(level="warning", text=text)]
    if not is_one_machine(a, b):
        return [_two_machines(label, pair)]
    if a.published:
        return [Verdict(level="note", text=f"A and {label} were measured on the same machine.")]
    changed = differing(a.traits, b.traits)
    if not changed:
        text = f"A and {label} are runs of the same machine; its recorded properties are equal."
        return [Verdict(level="note", text=text)]
    text = f"The same machine in a different state (A against {label}): {'; '.join(changed)}."
    return [Verdict(level="warning", text=text)]


def _two_machines(label: str, pair: Pair) -> Verdict:
    a, b = (source.traits.get("processor", "not known") for source in (pair.baseline, pair.other))
    which = "both are named " + a if a == b else f"A is {a}, {label} is {b}"
    return Verdict(
        level="warning",
        text=f"These are two machines: {which}. Differences reflect the whole machines and how "
        "they were measured; no single component explains them.",
    )


def _settings(label: str, pair: Pair) -> list[Verdict]:
    changed = differing(pair.baseline.settings, pair.other.settings)
    if not changed or pair.baseline.published or pair.other.published:
        return []
    return [
        Verdict(
            level="warning",
            text=f"The runs were made differently (A against {label}): {'; '.join(changed)}.",
        )
    ]


def _of_source(label: str, source: Source, *, needs_drift: bool) -> list[Verdict]:
    """What a source is; its drift only where some verdict is made with it."""
    if source.published:
        what = f"the output of {source.tool}" if source.tool else "a published result"
        text = (
            f"{label} is {what}: neither its intervals nor the run-to-run drift of "
            "its machine are known, so its figures get ratios but no verdicts."
        )
        return [Verdict(level="warning", text=text)]
    found = []
    if not source.complete:
        which = f"A run of {label}" if source.runs else f"The run {label}"
        text = f"{which} ended early; the comparison uses what it had measured."
        found.append(Verdict(level="warning", text=text))
    if not needs_drift:
        return [*found, *_unlike_runs(label, source)]
    if source.run_to_run_drift is None:
        found.append(
            Verdict(
                level="warning",
                text=f"The run-to-run drift of the machine cannot be estimated from {label}: the "
                "run is too short or has too few single-threaded points. Verdicts hold for the "
                "time of these runs, not for the machine in general.",
                remedy="increase --budget and measure more single-threaded points, as a survey "
                "does",
            )
        )
    else:
        text = (
            f"The run-to-run drift of the machine was ±{100 * source.run_to_run_drift:.1f}% in "
            f"{label}; the intervals of ratios include it."
        )
        found.append(Verdict(level="note", text=text))
    return found


def _unlike_runs(label: str, source: Source) -> list[Verdict]:
    """Runs of one side that were not made alike; they should differ by chance alone."""
    if not source.runs:
        return []
    first, *others = source.runs
    changed = [
        said
        for other in others
        for said in (
            *differing(first.traits, other.traits),
            *differing(first.settings, other.settings),
        )
    ]
    if not changed:
        return []
    return [
        Verdict(
            level="warning",
            text=f"The runs of {label} were not made alike: {named(list(dict.fromkeys(changed)))}. "
            "What varies between them is then not chance alone, and differences are missed.",
        )
    ]


def _caveats(labels: Sequence[str], sources: Sequence[Source]) -> list[Verdict]:
    """What is wrong or unknown in published sets, once where several share it."""
    holders: dict[str, list[str]] = {}
    for label, source in zip(labels, sources, strict=True):
        for caveat in source.caveats:
            holders.setdefault(caveat, []).append(label)
    return [
        Verdict(level="note", text=f"{' and '.join(held)}: {caveat}.")
        for caveat, held in holders.items()
    ]


def _outcome(label: str, pair: Pair) -> list[Verdict]:
    if not pair.judged:
        return []
    if not pair.has_several_runs:
        return [_between_two_runs(label, pair)]
    return [*pace_verdicts(label, pair), _between_sides(label, pair)]


def _between_two_runs(label: str, pair: Pair) -> Verdict:
    """What one run a side shows, which is no difference of machines, and what would decide it."""
    changed = pair.of(DIFFERS)
    if not changed:
        text = f"{label} cannot be distinguished from A: {len(pair.of('same'))} same."
        return Verdict(level="good", text=text)
    speeds = [row for row in changed if row.direction != "neither"]
    slower = sum(row.speed.value < 1 for row in speeds)
    more = sum(row.widened.value > 1 for row in changed if row.direction == "neither")
    how = []
    if speeds:
        how.append(f"{len(speeds) - slower} faster, {slower} slower in {label}")
    if len(changed) > len(speeds):
        how.append(f"{more} more, {len(changed) - len(speeds) - more} fewer bytes in {label}")
    judged = len(pair.judged)
    return Verdict(
        level="note",
        text=f"{format_count(len(changed), 'figure')} of {judged} "
        f"{'differs' if len(changed) == 1 else 'differ'} between these two runs "
        f"({'; '.join(how)}); "
        f"{len(pair.of('same'))} same. By chance alone about {_expected(judged)} of {judged} would "
        "differ at 95%. Two runs of one machine differ too: one run a side does not tell whether "
        "what was measured differs.",
        remedy=DECIDES,
    )


def _between_sides(label: str, pair: Pair) -> Verdict:
    """What several runs a side show."""
    changed = [row for row in pair.judged if row.outcome != "same"]
    amounts = any(row.direction == "neither" for row in pair.judged)
    outcomes: tuple[Outcome, ...] = ("faster", "slower", *(("more", "less") if amounts else ()))
    counts = ", ".join(f"{len(pair.of(o))} {o}" for o in (*outcomes, "same"))
    if not changed:
        return Verdict(level="good", text=f"{label} cannot be distinguished from A: {counts}.")
    standing = sum(row.stands for row in changed)
    chance = (
        f"By chance alone about {_expected(len(pair.judged))} of {len(pair.judged)} would differ "
        f"at 95%; {standing} of {len(changed)} differences remain at a false-discovery rate of 5% "
        "(Benjamini and Hochberg)"
        f"{'; the others are marked with a question mark.' if standing < len(changed) else '.'}"
    )
    slow = any(row.stands for row in pair.of("slower"))
    text = f"{label} against A{_apart(pair)}: {counts}. {chance}"
    return Verdict(level="problem" if slow else "note", text=text)


def _apart(pair: Pair) -> str:
    return "" if pair.paces is None else ", apart from the common pace of the runs"


def _expected(judged: int) -> str:
    """Differences among so many comparisons of equal figures."""
    expected = FALSE_SHARE * judged
    return f"{expected:.0f}" if expected >= 1 else f"{expected:.1g}"


def _untold(pair: Pair) -> list[Verdict]:
    untold = pair.of("not known")
    if not untold or pair.baseline.published or pair.other.published:
        return []
    have, get = ("has", "gets") if len(untold) == 1 else ("have", "get")
    return [
        Verdict(
            level="warning",
            text=f"{format_count(len(untold), 'figure')} {have} too few samples for an interval "
            f"and {get} no verdict: {named([row.name for row in untold])}.",
            remedy="increase --budget",
        )
    ]


def _beside_published(label: str, pair: Pair) -> list[Verdict]:
    """What ratios to published figures say without their intervals: directions and ranges."""
    if not (pair.baseline.published or pair.other.published):
        return []
    found = []
    for what, direction in _WHAT.items():
        rows = [row for row in pair.rows if row.direction == direction]
        if rows:
            text = f"Without verdicts: {_ratios(label, what, rows)}{_of_intervals(pair, rows)}"
            found.append(Verdict(level="note", text=text))
    return found


def _ratios(label: str, what: str, rows: Sequence[Row]) -> str:
    ratios = sorted(row.ratio.value for row in rows)
    above = sum(ratio > 1 for ratio in ratios)
    below = sum(ratio < 1 for ratio in ratios)
    return (
        f"of {len(rows)} {what} {above} are higher in {label} than in A and {below} lower; the "
        f"ratios {label}/A reach from {100 * ratios[0]:.1f}% to {100 * ratios[-1]:.1f}%, their "
        f"median is {100 * median(ratios):.1f}%."
    )


def _of_intervals(pair: Pair, rows: Sequence[Row]) -> str:
    """Where published values lie beside the intervals of a run; empty: there are none."""
    if pair.baseline.published == pair.other.published:
        return ""
    sides = [(row.baseline, row.other) for row in rows]
    of_run = [(b, a.value) if pair.baseline.published else (a, b.value) for a, b in sides]
    known = [(one, value) for one, value in of_run if math.isfinite(one.high)]
    if not known:
        return ""
    inside = sum(one.low <= value <= one.high for one, value in known)
    other = pair.baseline if pair.baseline.published else pair.other
    whose = f"value of {other.tool}" if other.tool else "published value"
    return (
        f" The {whose} lies within the run's own interval in {inside} of {len(known)}; how "
        "far it would vary itself is not known."
    )


def _unlike(label: str, pair: Pair) -> list[Verdict]:
    """Points of one name that were not measured alike, and figures not made alike."""
    facts = Counter(
        f"{key} {said}"
        for row in pair.rows
        for key, said in row.differs.items()
        if key not in OF_MEMORY
    )
    made = Counter(row.statistic for row in pair.rows if " against " in row.statistic)
    found = []
    if facts:
        said = [f"{fact} ({format_count(n, 'figure')})" for fact, n in facts.most_common()]
        text = (
            f"Points of the same name were measured differently (A against {label}): {named(said)}."
        )
        found.append(Verdict(level="warning", text=text))
    if made:
        said = [f"{kind} ({format_count(n, 'figure')})" for kind, n in made.most_common()]
        text = f"Figures were computed differently (A against {label}): {named(said)}."
        found.append(Verdict(level="warning", text=text))
    return found


def _unpaired(label: str, pair: Pair) -> list[Verdict]:
    found = []
    for side, here, there in (("baseline", "A", label), ("other", label, "A")):
        partial = {u.name: u for u in pair.unpaired if u.source == side and _is_partial(u)}
        if partial:
            figures = format_count(len(partial), "figure")
            text = f"Not in every run of {here}: {figures}: {named([*partial])}."
            found.append(Verdict(level="note", text=text))
        source = pair.baseline if side == "baseline" else pair.other
        for why in ("not measured there", "in another regime there", source.apart):
            left = {u.name: u for u in pair.unpaired if u.source == side and u.why == why}
            if left and why:
                reason = why if why == source.apart else why.replace("there", f"in {there}")
                figures = format_count(len(left), "figure")
                text = f"Only in {here}: {figures} ({reason}): {named([*left])}."
                found.append(Verdict(level="note", text=text))
    return found


def _is_partial(one: Unpaired) -> bool:
    return one.why == NOT_IN_EVERY_RUN
