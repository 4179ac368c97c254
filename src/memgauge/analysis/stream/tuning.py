"""What tuning a kernel gives over the plain loop, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.intervals import has_interval
from memgauge.analysis.stream.figures import KernelResult, comparisons

JUDGED = "triad"


def tuning_verdicts(
    results: Iterable[KernelResult], digits: int, team: Callable[[int], str] | None = None
) -> list[Verdict]:
    """Of triad (else the first kernel), with the largest team that has both variants.

    Args:
        results: Figures of both variants, without the candidates of searches.
        digits: Decimals of the gain, which is tuned over standard bandwidth.
        team: Puts a number of threads in words; None if the sentence is to name no team.
    """
    gains = [
        (one.of.kernel == JUDGED, one.of.threads, one.of, one.gain)
        for one in comparisons(results)
        if one.gain is not None and has_interval(one.gain)
    ]
    if not gains:
        return []
    _, threads, of, gain = max(gains, key=lambda entry: entry[:2])
    pages = f" and {of.pages} pages" if of.pages else ""
    kernel, name = of.kernel, f"{team(threads)}{pages}" if team else ""
    with_team, beside_team = (f" with {name}", f", {name}") if name else ("", "")
    if gain.low > 1:
        text = f"Tuned {kernel} is {gain.value:.{digits}f} times standard{with_team}"
    elif gain.high < 1:
        text = f"Tuned {kernel} is slower than standard: {gain.value:.{digits}f} times{beside_team}"
    else:
        text = f"Tuned {kernel} is as fast as standard, within the intervals{beside_team}"
    return [Verdict(level="note", text=f"{text}.")]
