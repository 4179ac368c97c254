"""What the `interleave` points show: weights for the most bandwidth, and how to set them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.regimes import regime_kind
from memgauge.analysis.figures.run import Figures, series
from memgauge.analysis.interleave.figures import (
    Choice,
    WeightsResult,
    choices,
    firmware_weights,
    weights_text,
)
from memgauge.analysis.section import (
    Axis,
    Cell,
    Chart,
    Column,
    Mark,
    Section,
    Table,
    Verdict,
    section_of,
)
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.model.interleave_weights import Weights, kernels_weights
from memgauge.model.system import System
from memgauge.model.units import format_count

SYSFS = "/sys/kernel/mm/mempolicy/weighted_interleave"
MOST_LINES = 7
CLOSE = 0.05
"""Where weights may be faster than a node alone by more, though they need not, rounds are few."""
FINE_SUM = 8
"""Sum of weights that can be tried, below which a search hardly finds the best."""


def analyse(figures: Figures) -> Section:
    """Tables, charts and what they show."""
    found = choices(figures)
    return section_of(
        "interleave",
        verdicts=[*_verdicts(found, figures.run.start.system)],
        tables=[*_commands([c for c in found if c.is_known]), _table(found)] if found else [],
        charts=_charts(found),
    )


def _verdicts(found: Sequence[Choice], system: System) -> Iterator[Verdict]:
    if not found:
        yield Verdict(level="warning", text="No interleave weights were measured.")
    yield from _coarse(found)
    for choice in found:
        yield _advice(choice)
        nodes = choice.best.nodes
        yield from _compared(choice, kernels_weights(nodes, system), "The kernel's present weights")
        yield from _compared(
            choice,
            firmware_weights(nodes, system),
            "The weights that Linux would make of the bandwidths claimed by the firmware (HMAT)",
        )


def _coarse(found: Sequence[Choice]) -> Iterator[Verdict]:
    """That pages were too few for finer weights."""
    sums = [choice.best.actual.largest_sum for choice in found]
    most = min((one for one in sums if one is not None), default=FINE_SUM)
    if most < FINE_SUM:
        yield Verdict(
            level="warning",
            text="The arrays have too few pages for weights that add up to more than "
            f"{max(most, 2)}, so finer weights were not tried.",
            remedy="use --pages 4k, or increase --array-bytes",
        )


def _where(result: WeightsResult) -> str:
    team = format_count(result.point.threads, "thread")
    return ", ".join(filter(None, (result.kernel, team, regime_kind(result.summary.regime))))


def times(ratio: Estimate) -> str:
    """Such as `1.24 (1.21..1.27) times`."""
    if not has_interval(ratio):
        return f"{ratio.value:.2f} (too few rounds for an interval) times"
    return f"{ratio.value:.2f} ({ratio.low:.2f}..{ratio.high:.2f}) times"


def _advice(choice: Choice) -> Verdict:
    chosen, alone, gain = choice.chosen, choice.alone, choice.gain
    where = _where(chosen)
    if alone is None:
        text = f"{chosen.text} gives {chosen.bandwidth.value:.1f} GB/s ({where}); no node was "
        return Verdict(level="warning", text=text + "measured alone to compare it with.")
    if chosen is alone or gain is None:
        return _no_gain(choice, alone)
    nodes = ", ".join(map(str, chosen.used))
    text = (
        f"Weights {chosen.text} of nodes {nodes} give {times(gain)} the bandwidth of "
        f"{alone.text}: {chosen.bandwidth.value:.1f} GB/s ({where})"
        f"{_equal(choice)}{_finer(choice)}."
    )
    return Verdict(level="good", text=text, remedy="the table shows how to set them")


def _no_gain(choice: Choice, alone: WeightsResult) -> Verdict:
    """No weights are known to be faster than a node alone."""
    over, best = _best_rival(choice)
    text = f"No weights beat {alone.text} by more than noise"
    if best is not None and over is not None:
        text += f": the best, {best.text}, gives {times(over)} its bandwidth"
    text += f" of {alone.bandwidth.value:.1f} GB/s ({_where(alone)})."
    few = not choice.is_known
    undecided = few or (over is not None and over.high > 1 + CLOSE)
    remedy = "increase --budget" if undecided else None
    return Verdict(level="warning" if few else "note", text=text, remedy=remedy)


def _best_rival(choice: Choice) -> tuple[Estimate | None, WeightsResult | None]:
    """Of the weights that use several nodes, by the rounds they share with the best node alone."""
    rivals = [
        (over, one)
        for one in choice.results
        if not one.is_alone and (over := choice.over_alone.get(one.weights)) is not None
    ]
    known = [rival for rival in rivals if has_interval(rival[0])]
    return max(known or rivals, key=lambda rival: rival[0].value, default=(None, None))


def _equal(choice: Choice) -> str:
    """What equal weights of all nodes give, where others were chosen."""
    equal = (1,) * len(choice.best.nodes)
    ratio = choice.over_alone.get(equal)
    if ratio is None or choice.chosen.weights == equal:
        return ""
    return f"; {weights_text(choice.best.nodes, equal)} gives {times(ratio)} it"


def _finer(choice: Choice) -> str:
    """That the fastest weights are others, but within noise of those chosen."""
    if choice.best is choice.chosen:
        return ""
    return f"; {choice.best.text} was fastest, but not beyond noise"


def _compared(choice: Choice, weights: Weights | None, name: str) -> Iterator[Verdict]:
    """Weights from another source beside those chosen."""
    if weights is None:
        return
    chosen, theirs = choice.chosen, choice.over_best.get(weights)
    text = f"{name}, {weights_text(choice.best.nodes, weights)}, "
    if weights == chosen.weights:
        text += f"are those chosen here ({_where(chosen)})."
    elif weights == choice.best.weights:
        text += f"are the fastest measured here ({_where(chosen)})."
    elif theirs is None:
        text += f"were not measured ({_where(chosen)})."
    else:
        text += f"give {times(theirs)} the bandwidth of the best, {choice.best.text}"
        text += f" ({_where(chosen)})."
    yield Verdict(level="note", text=text)


def _commands(found: Sequence[Choice]) -> list[Table]:
    """How to have pages dealt out like that; nothing where that is not known."""
    if not found:
        return []
    rows: list[list[Cell]] = []
    distinct = {choice.chosen.placement: choice.chosen for choice in found}
    for placement, chosen in distinct.items():
        kernels = [c.chosen.kernel for c in found if c.chosen.placement == placement]
        whose = f"{chosen.text} ({', '.join(dict.fromkeys(kernels))})"
        rows += [[whose, *row] for row in _ways(chosen)]
    return [
        Table(
            name="interleave-commands",
            title="How to set the weights",
            columns=[
                Column(title="weights", narrow=len(distinct) > 1),
                Column(title="by", narrow=False),
                Column(title="command"),
            ],
            rows=rows,
            note="As root, Linux 6.9 or later; numactl 2.0.19 or later. Linux's weights are the "
            "machine's: they hold for every program under the policy. Memory that a program has "
            "already touched stays where it is.",
        )
    ]


def _ways(chosen: WeightsResult) -> Iterator[list[Cell]]:
    nodes = ",".join(map(str, chosen.used))
    if chosen.is_alone:
        yield ["numactl", f"numactl --membind={nodes} program"]
    else:
        for node, weight in chosen.used.items():
            yield ["root", f"echo {weight} > {SYSFS}/node{node}"]
        yield ["numactl", f"numactl --weighted-interleave={nodes} program"]
    yield ["memgauge", f"memgauge stream --memory {chosen.placement}"]


def _table(found: Sequence[Choice]) -> Table:
    regimes = any(choice.best.summary.regime for choice in found)
    columns = [
        Column(title="weights"),
        Column(title="kernel"),
        Column(title="threads", narrow=len({c.best.point.threads for c in found}) > 1),
        Column(title="regime", narrow=regimes),
        Column(title="bandwidth", unit="GB/s"),
        Column(title="over best node", digits=3),
        Column(title="over best weights", digits=3, narrow=False),
        Column(title="chosen"),
        Column(title="median", unit="GB/s", narrow=False),
        Column(title="pages by node", narrow=False),
        Column(title="pages", narrow=False),
        Column(title="array", unit="B", narrow=False),
        Column(title="samples", narrow=False),
    ]
    nodes = ", ".join(map(str, found[0].best.nodes))
    return Table(
        name="interleave",
        title="Bandwidth by weights",
        columns=columns,
        rows=[_row(choice, one) for choice in found for one in _ordered(choice.results)],
        note=f"Weights of nodes {nodes}, in this order. The 90th percentile of speed and its 95% "
        "interval; ratios are medians over the rounds in which both were measured.",
    )


def _ordered(results: Sequence[WeightsResult]) -> list[WeightsResult]:
    """From all pages on the first node to all on the last."""
    return sorted(results, key=lambda one: [-w / sum(one.weights) for w in one.weights])


def _row(choice: Choice, result: WeightsResult) -> list[Cell]:
    return [
        result.text,
        result.kernel,
        result.point.threads,
        regime_kind(result.summary.regime) or None,
        result.bandwidth,
        choice.over_alone.get(result.weights),
        choice.over_best.get(result.weights),
        "chosen" if result is choice.chosen and choice.is_known else None,
        result.summary.median,
        result.actual.shares or None,
        result.actual.pages or None,
        result.actual.array_bytes,
        result.summary.samples,
    ]


def _charts(found: Sequence[Choice]) -> list[Chart]:
    """Of two nodes bandwidth over the second one's share, of more a bar for each weights."""
    pairs = [choice for choice in found if len(choice.best.nodes) == 2]
    more = [choice for choice in found if len(choice.best.nodes) > 2]
    return [*([_lines(pairs)] if pairs else []), *([_bars(more)] if more else [])]


def _name(choice: Choice) -> str:
    return _where(choice.best)


def _second(result: WeightsResult) -> float:
    return result.weights[1] / sum(result.weights)


def _lines(found: Sequence[Choice]) -> Chart:
    first, second = found[0].best.nodes
    lines = {_name(choice): _ordered(choice.results) for choice in found[:MOST_LINES]}
    return Chart(
        name="interleave",
        title=f"Bandwidth over the share of node {second}",
        kind="line",
        x=Axis(title=f"Pages on node {second}, the others on node {first}", unit="%"),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [*map(_second, results)], [one.bandwidth for one in results])
            for name, results in lines.items()
        ],
        marks=[
            Mark(
                label=f"{choice.best.kernel}: {choice.chosen.text}",
                x=_second(choice.chosen),
                y=choice.chosen.bandwidth.value,
            )
            for choice in found[:MOST_LINES]
            if choice.is_known
        ],
        note="Marked: the smallest weights that are as fast as the fastest within noise.",
    )


def _bars(found: Sequence[Choice]) -> Chart:
    labels = list(dict.fromkeys(one.text for c in found for one in _ordered(c.results)))
    bars = {
        _name(choice): {one.text: one.bandwidth for one in choice.results}
        for choice in found[:MOST_LINES]
    }
    nodes = ", ".join(map(str, found[0].best.nodes))
    return Chart(
        name="interleave-weights",
        title=f"Bandwidth by weights of nodes {nodes}",
        kind="bar",
        x=Axis(title="Weights", unit=""),
        y=Axis(title="Bandwidth", unit="GB/s", from_zero=True),
        series=[
            series(name, [*labels], [bar.get(label) for label in labels])
            for name, bar in bars.items()
        ],
    )
