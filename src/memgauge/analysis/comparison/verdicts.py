"""What must be known before two sources are compared, and what the comparison found, in words."""

from collections import Counter
from collections.abc import Sequence

from memgauge.analysis.comparison.figures import Source, is_one_machine
from memgauge.analysis.comparison.memory import OF_MEMORY, memory_verdicts
from memgauge.analysis.comparison.names import labels_of, named
from memgauge.analysis.comparison.ratios import Comparison, Pair
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.significance import FALSE_SHARE
from memgauge.model.units import format_count


def source_verdicts(comparison: Comparison) -> list[Verdict]:
    """What each source is, and how each differs from the baseline, loudest first."""
    found = []
    labels = labels_of(comparison.sources)
    for label, pair in zip(labels[1:], comparison.pairs, strict=True):
        found += _machines(label, pair)
        found += _settings(label, pair)
    for label, source in zip(labels, comparison.sources, strict=True):
        found += _of_source(label, source)
    return found + _caveats(labels, comparison.sources)


def pair_verdicts(label: str, pair: Pair) -> list[Verdict]:
    """What was found, how far chance goes, and what was not compared."""
    return [
        *_outcome(label, pair),
        *_untold(pair),
        *memory_verdicts(label, pair),
        *_unlike(label, pair),
        *_unpaired(label, pair),
    ]


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """What both tell and tell differently, as `kernel: 6.1 against 6.2`."""
    return [
        f"{key}: {known} against {other[key]}"
        for key, known in one.items()
        if key in other and known != other[key]
    ]


def _machines(label: str, pair: Pair) -> list[Verdict]:
    a, b = pair.baseline, pair.other
    if a.run_id is not None and a.run_id == b.run_id:
        return [Verdict(level="warning", text=f"A and {label} are the same run.")]
    if not is_one_machine(a, b):
        return [_two_machines(label, pair)]
    if a.published:
        return [Verdict(level="note", text=f"A and {label} were measured on one machine.")]
    changed = differing(a.traits, b.traits)
    if not changed:
        text = f"A and {label} are runs of one machine; nothing recorded of it differs."
        return [Verdict(level="note", text=text)]
    text = f"One machine, but not as it was (A against {label}): {'; '.join(changed)}."
    return [Verdict(level="warning", text=text)]


def _two_machines(label: str, pair: Pair) -> Verdict:
    a, b = (source.traits.get("processor", "not known") for source in (pair.baseline, pair.other))
    which = "both name themselves " + a if a == b else f"A is {a}, {label} is {b}"
    return Verdict(
        level="warning",
        text=f"These are two machines: {which}. A difference is one of whole machines and of how "
        "they were measured; no single part explains it.",
    )


def _settings(label: str, pair: Pair) -> list[Verdict]:
    changed = differing(pair.baseline.settings, pair.other.settings)
    if not changed or pair.baseline.published or pair.other.published:
        return []
    return [
        Verdict(
            level="warning",
            text=f"The runs were not made alike (A against {label}): {'; '.join(changed)}.",
        )
    ]


def _of_source(label: str, source: Source) -> list[Verdict]:
    if source.published:
        text = (
            f"{label} is published: neither its intervals nor the run-to-run drift of its "
            "machine are known, so no verdict is given on its figures, only ratios."
        )
        return [Verdict(level="warning", text=text)]
    found = []
    if not source.complete:
        text = f"The run {label} was ended before its time; it is compared as far as it went."
        found.append(Verdict(level="warning", text=text))
    if source.run_to_run_drift is None:
        found.append(
            Verdict(
                level="warning",
                text=f"The run-to-run drift of the machine is not known from {label}: the run is "
                "too short or has too few points of one thread. Verdicts then hold for these "
                "stretches of time, not for the machine.",
                remedy="give a longer --budget, and more points of one thread, as a survey has",
            )
        )
    else:
        text = (
            f"The run-to-run drift of the machine was ±{100 * source.run_to_run_drift:.1f}% in "
            f"{label}; the intervals of ratios include it."
        )
        found.append(Verdict(level="note", text=text))
    return found


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
    judged = len(pair.judged)
    if not judged:
        return []
    changed = [*pair.of("faster"), *pair.of("slower")]
    standing = sum(row.stands for row in changed)
    counts = ", ".join(f"{len(pair.of(o))} {o}" for o in ("faster", "slower", "same"))
    chance = (
        f"By chance alone about {_expected(judged)} of {judged} would differ at 95%; "
        f"{standing} of {len(changed)} differences stand when at most 5% of them may be false "
        "(Benjamini and Hochberg)"
        f"{'; the others carry a question mark.' if standing < len(changed) else '.'}"
    )
    if not changed:
        text = f"{label} cannot be distinguished from A: {counts}."
        return [Verdict(level="good", text=text)]
    slow = any(row.stands for row in pair.of("slower"))
    text = f"{label} against A: {counts}. {chance}"
    return [Verdict(level="problem" if slow else "note", text=text)]


def _expected(judged: int) -> str:
    """Differences among so many comparisons of equal figures."""
    expected = FALSE_SHARE * judged
    return f"{expected:.0f}" if expected >= 1 else f"{expected:.1g}"


def _untold(pair: Pair) -> list[Verdict]:
    untold = pair.of("not known")
    if not untold or pair.baseline.published or pair.other.published:
        return []
    have = "has" if len(untold) == 1 else "have"
    return [
        Verdict(
            level="warning",
            text=f"{format_count(len(untold), 'figure')} {have} too few samples for an interval, "
            f"so no verdict: {named([row.name for row in untold])}.",
            remedy="give a longer --budget",
        )
    ]


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
        text = f"Points of one name were not measured alike (A against {label}): {named(said)}."
        found.append(Verdict(level="warning", text=text))
    if made:
        said = [f"{kind} ({format_count(n, 'figure')})" for kind, n in made.most_common()]
        text = f"Figures were not made alike (A against {label}): {named(said)}."
        found.append(Verdict(level="warning", text=text))
    return found


def _unpaired(label: str, pair: Pair) -> list[Verdict]:
    found = []
    for side, here, there in (("baseline", "A", label), ("other", label, "A")):
        for why in ("not measured there", "in another regime there"):
            left = {u.name: u for u in pair.unpaired if u.source == side and u.why == why}
            if left:
                reason = why.replace("there", f"in {there}")
                figures = format_count(len(left), "figure")
                text = f"Only in {here}: {figures} ({reason}): {named([*left])}."
                found.append(Verdict(level="note", text=text))
    return found
