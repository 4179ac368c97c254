"""Whether the counters that a run's figures rest on were verified, said beside those figures."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.section import Verdict
from memgauge.analysis.verify_words import verdict_text
from memgauge.model.counters import Counter
from memgauge.model.run import Run

MEMORY = frozenset({"read_bytes", "write_bytes", "traffic_bytes"})
VERIFY = "verify them: memgauge counters verify"


def counter_verdicts(run: Run) -> Iterator[Verdict]:
    """Lines on each event of memory traffic that verification found fault with, and on the rest.

    None for a run that itself verifies.
    """
    if run.points_of("verify"):
        return
    by_event: dict[str, Counter] = {}
    for made in run.counters.values():
        for counter in made.of:
            if counter.quantity in MEMORY and counter.basis == "measured" and not counter.gauge:
                by_event.setdefault(counter.event, counter)
    good = [event for event, one in by_event.items() if _word(one) == "verified"]
    unknown = [event for event, one in by_event.items() if _word(one) is None]
    for event, counter in by_event.items():
        if event not in good and event not in unknown and counter.verdict is not None:
            made_at = counter.verdict.made_at[:10]
            yield Verdict(
                level="warning",
                text=f"Figures here rest on {event}, which was found {verdict_text(counter)} on "
                f"{made_at}: {counter.verdict.evidence}.",
                remedy="choose another event, or verify it again: memgauge counters verify",
            )
    if unknown:
        text = "Whether these counters count what memory moves was never verified here: "
        yield Verdict(level="note", text=f"{text}{', '.join(unknown)}.", remedy=VERIFY)
    if good:
        ratios = "; ".join(f"{event} {verdict_text(by_event[event])}" for event in good)
        yield Verdict(level="note", text=f"Counters were verified on this machine: {ratios}.")


def _word(counter: Counter) -> str | None:
    return counter.verdict.verdict if counter.verdict is not None else None
