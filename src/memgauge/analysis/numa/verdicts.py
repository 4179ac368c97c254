"""What the matrices mean: the cost of remote memory, asymmetry, what all get at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memgauge.analysis.figures.run import Figures
from memgauge.analysis.numa.figures import (
    Matrix,
    Pair,
    both_ways,
    claim_of,
    over_local,
    sum_of_local,
    total_at_once,
)
from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.estimate import Estimate
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.statistics.ratios import ratio

ASYMMETRIC = 0.05
"""Two directions that differ by more, by the whole interval, are called unlike."""
CLAIM_OFF = 0.25
"""SLIT's ratios are coarse: only those further off are called far from what was measured."""
SLIT_LOCAL = 10


def verdicts(figures: Figures, found: Sequence[Matrix]) -> Iterator[Verdict]:
    """Latency first, then each kernel."""
    for matrix in found:
        if matrix.at_once:
            yield from _at_once(figures, matrix, found)
        else:
            yield from _remote(figures, matrix)
            yield from _asymmetry(figures, matrix)


def _noun(matrix: Matrix) -> str:
    return "latency" if matrix.is_latency else f"{matrix.what} bandwidth"


def _times(found: Estimate) -> str:
    if not has_interval(found):
        return f"{found.value:.2f} (too few rounds for an interval) times"
    return f"{found.value:.2f} ({found.low:.2f}..{found.high:.2f}) times"


def _name(pair: Pair) -> str:
    return f"from node {pair[0]} to memory of node {pair[1]}"


def _remote(figures: Figures, matrix: Matrix) -> Iterator[Verdict]:
    """The dearest remote pair, and what the firmware claims of it."""
    ratios = over_local(figures, matrix)
    if not ratios:
        return
    worst = (max if matrix.is_latency else min)(ratios, key=lambda pair: ratios[pair].value)
    least = (min if matrix.is_latency else max)(ratios, key=lambda pair: ratios[pair].value)
    local = matrix.local(worst[0])
    of_what = "that of " + ("the node's own memory" if local is not None else "its best memory")
    figure = matrix.results[worst].figure
    unit = "ns" if matrix.is_latency else "GB/s"
    value = f": {figure.value:.1f} {unit}" if figure is not None else ""
    text = f"Remote {_noun(matrix)} is at worst {_times(ratios[worst])} {of_what}"
    text += f" ({_name(worst)}{value})"
    if least != worst:
        text += f", at best {_times(ratios[least])} ({_name(least)})"
    few = not has_interval(ratios[worst])
    yield Verdict(
        level="warning" if few else "good",
        text=f"{text}.",
        remedy="increase --budget" if few else None,
    )
    if matrix.is_latency:
        yield from _slit(figures, worst, ratios[worst])


def _slit(figures: Figures, pair: Pair, measured: Estimate) -> Iterator[Verdict]:
    """The firmware's distances beside the measured ratio of latencies."""
    system = figures.run.start.system
    claims = {node: claim_of((pair[0], node), system).distance for node in (pair[0], pair[1])}
    local, remote = claims[pair[0]] or SLIT_LOCAL, claims[pair[1]]
    if remote is None or not has_interval(measured):
        return
    claimed = remote / local
    off = claimed > measured.high * (1 + CLAIM_OFF) or claimed < measured.low * (1 - CLAIM_OFF)
    how = "far from" if off else "near"
    yield Verdict(
        level="note",
        text=f"By the firmware's distances (SLIT, not measured), access {_name(pair)} takes "
        f"{claimed:.1f} times as long as local access: {how} the measured {measured.value:.2f}.",
    )


def _asymmetry(figures: Figures, matrix: Matrix) -> Iterator[Verdict]:
    """The two nodes whose directions differ most."""
    ways = {p: r for p, r in both_ways(figures, matrix).items() if has_interval(r)}
    unlike = {p: r for p, r in ways.items() if r.low > 1 + ASYMMETRIC or r.high < 1 - ASYMMETRIC}
    if not unlike:
        return
    pair = max(unlike, key=lambda pair: max(unlike[pair].value, 1 / unlike[pair].value))
    yield Verdict(
        level="note",
        text=f"The two directions differ: {_noun(matrix)} {_name(pair)} is {_times(unlike[pair])} "
        f"that {_name((pair[1], pair[0]))}.",
    )


def _at_once(figures: Figures, matrix: Matrix, found: Sequence[Matrix]) -> Iterator[Verdict]:
    """What all pairs get together, against every node alone on its own memory."""
    total = total_at_once(figures, matrix)
    if total is None:
        return
    text = f"All pairs at once reach {total.value:.1f} GB/s ({matrix.what})"
    added = sum_of_local(found, matrix.what)
    share = ratio(total, added)
    if added is not None and share is not None:
        text += (
            f", {_times(share)} what nodes reach on their own memory one at a time, added "
            f"({added.value:.1f} GB/s)"
        )
    yield Verdict(level="good" if has_interval(total) else "note", text=f"{text}.")
