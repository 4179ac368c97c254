"""The common pace of the runs of both sides: what is said of it, and its table."""

from memgauge.analysis.comparison.judged_runs import Paces
from memgauge.analysis.comparison.ratios import Pair
from memgauge.analysis.section import Column, Table, Verdict

LARGE_ONLY = 4
"""Runs of both sides together that find large differences only."""


def pace_verdicts(label: str, pair: Pair) -> list[Verdict]:
    """Whether the runs of one side are faster as a whole, and what few runs can find."""
    found = [_no_pace() if pair.paces is None else _pace(label, pair.paces)]
    runs = [len(side.each_run) for side in (pair.baseline, pair.other)]
    if sum(runs) <= LARGE_ONLY:
        found.append(
            Verdict(
                level="note",
                text=f"So few runs ({runs[0]} of A, {runs[1]} of {label}) tell little of what "
                "varies between runs: only large differences can be found.",
                remedy="measure 3 runs a side or more, or 5 to hold a new one against",
            )
        )
    return found


def _pace(label: str, paces: Paces) -> Verdict:
    ratio = paces.ratio
    change = f"{100 * abs(ratio.value - 1):.1f}% {'faster' if ratio.value > 1 else 'slower'}"
    interval = f"{100 * (ratio.low - 1):+.1f}% to {100 * (ratio.high - 1):+.1f}%"
    if not paces.differs:
        text = f"Common pace: {label} is {change} than A over all figures ({interval}), which the "
        return Verdict(level="note", text=text + "spread between runs explains.")
    return Verdict(
        level="problem" if ratio.value < 1 else "note",
        text=f"Common pace: {label} is {change} than A over all figures ({interval}), which is "
        "more than the spread between runs explains. Verdicts on figures are apart from it.",
    )


def _no_pace() -> Verdict:
    return Verdict(
        level="note",
        text="The figures are too few to tell a common pace of the runs from their own change: "
        "each is judged alone, by its spread between runs.",
    )


def paces_tables(label: str, pair: Pair) -> list[Table]:
    """The pace of every run, where it is known."""
    if pair.paces is None:
        return []
    return [
        Table(
            name=f"compare-{label}-paces",
            title="Common pace of each run, from the mean of all runs",
            columns=[Column(title=""), Column(title="run"), Column(title="pace", unit="%")],
            rows=[
                [side, run.name, pace]
                for side, source, paces in (
                    ("A", pair.baseline, pair.paces.baseline),
                    (label, pair.other, pair.paces.other),
                )
                for run, pace in zip(source.each_run, paces, strict=True)
            ],
        )
    ]
