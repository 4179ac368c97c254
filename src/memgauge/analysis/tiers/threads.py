"""Each thread's bandwidth over the time of one sampling pass, coloured by its group."""

from collections.abc import Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.side_by_side import PassResult, typical
from memgauge.analysis.figures.windows import Window
from memgauge.analysis.section import Axis, Band, Chart, Series
from memgauge.analysis.tiers.figures import Contest, Split
from memgauge.analysis.tiers.verdicts import width
from memgauge.model.records import Sample, ThreadSample

MOST_POINTS = 3000
"""Of one picture, over all threads."""
WORTH_A_BAND = 0.1
"""Share of a sampling pass that is left out of the figures."""
FAR_MORE = 1.5
NS_PER_MS = 1e6
NS_PER_S = 1e9


def threads_chart(contest: Contest) -> Chart | None:
    """Of one split, the sampling pass whose sum is the median of all.

    None where no split has threads in both groups, or none of them was measured.
    """
    split = _chosen(contest)
    passes = None if split is None else contest.passes.get(split.k)
    shown = None if passes is None else typical(passes.clean)
    if split is None or passes is None or shown is None:
        return None
    begin, end = _span(shown)
    unit_ns, unit = (NS_PER_S, "s") if end - begin >= NS_PER_S else (NS_PER_MS, "ms")
    threads = [thread for sample in shown.samples.values() for thread in sample.threads]
    most = max(4, MOST_POINTS // (2 * len(threads)))
    longest = max(len(thread.begin_ns) for thread in threads)
    regime = regime_kind(contest.regime).replace(" ", "-")
    return Chart(
        name="-".join(filter(None, ("tiers-threads", f"{contest.threads}t-k{split.k}", regime))),
        title=f"Each thread over time, {split.k} in B: {contest.name}",
        kind="line",
        x=Axis(title="Time", unit=unit, from_zero=True),
        y=Axis(title="Bandwidth of a thread", unit="GB/s", from_zero=True),
        series=[
            _group(group, sample, passes.iteration_bytes[group], most, (begin, unit_ns))
            for group, sample in sorted(shown.samples.items())
        ],
        bands=_bands(shown.window, (begin, end), unit_ns),
        note=_note(longest, most),
    )


def _chosen(contest: Contest) -> Split | None:
    """The middle split, or that whose iterations vary most if they vary far more than there."""
    shared = contest.shared
    if not shared:
        return None
    middle = shared[(len(shared) - 1) // 2]
    most = max(shared, key=_unevenness)
    return most if _unevenness(most) > FAR_MORE * _unevenness(middle) else middle


def _unevenness(split: Split) -> float:
    return max((width(one) for one in (split.spread_a, split.spread_b) if one), default=0.0)


def _span(shown: PassResult) -> Window:
    threads = [thread for sample in shown.samples.values() for thread in sample.threads]
    return min(t.begin_ns[0] for t in threads), max(t.end_ns[-1] for t in threads)


def _group(
    group: str, sample: Sample, iteration_bytes: int, most: int, clock: tuple[int, float]
) -> Series:
    """One line for each thread of a group, level over each iteration; gaps between threads."""
    begin, unit_ns = clock
    x: list[float | str] = []
    y: list[float | None] = []
    notes: list[str | None] = []
    for thread in sample.threads:
        for at in drawn(thread, most):
            first, last = thread.begin_ns[at], thread.end_ns[at]
            x += [(first - begin) / unit_ns, (last - begin) / unit_ns]
            y += [iteration_bytes / (last - first)] * 2
            notes += [f"CPU {thread.cpu}, iteration {at + 1}"] * 2
        x.append(x[-1])
        y.append(None)
        notes.append(None)
    return Series(name=f"threads of {group.upper()}", x=x, y=y, notes=notes)


def drawn(thread: ThreadSample, most: int) -> Sequence[int]:
    """Iterations that are drawn, at most so many: of each stretch the fastest and the slowest."""
    count = len(thread.begin_ns)
    if count <= most:
        return range(count)
    length = -(-2 * count // most)
    found: list[int] = []
    for start in range(0, count, length):
        stretch = range(start, min(start + length, count))
        took = {at: thread.end_ns[at] - thread.begin_ns[at] for at in stretch}
        found += sorted({min(took, key=took.__getitem__), max(took, key=took.__getitem__)})
    return found


def _bands(window: Window, span: Window, unit_ns: float) -> list[Band]:
    """The time that counts, where it is not nearly all."""
    (begin, end), (first, last) = window, span
    if end - begin > (1 - WORTH_A_BAND) * (last - first):
        return []
    return [
        Band(
            label="all at work, steady",
            start=(begin - first) / unit_ns,
            end=(end - first) / unit_ns,
        )
    ]


def _note(longest: int, most: int) -> str:
    text = "One pass, that with the median sum; a line for each thread, level over each iteration."
    if longest <= most:
        return text
    return f"{text} Of every {-(-2 * longest // most)} iterations the fastest and the slowest."
