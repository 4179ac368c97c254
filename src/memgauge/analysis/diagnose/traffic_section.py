"""The program's traffic in words and tables: how much, how near to what memory gives, and where."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.diagnose.curve_section import place_words
from memgauge.analysis.diagnose.figures import Diagnosis
from memgauge.analysis.diagnose.traffic import Traffic
from memgauge.analysis.figures.simulated_places import EVICTIONS, place_columns, place_rows
from memgauge.analysis.section import Table, Verdict


def traffic_verdicts(found: Diagnosis) -> Iterator[Verdict]:
    """Bytes and rates, the place on a curve, and what was not known.

    Args:
        found: The diagnosis.
    """
    traffic = found.traffic
    if traffic is not None:
        yield Verdict(level="note", text=_moved(traffic))
        if found.on_curve is not None:
            yield Verdict(level="note", text=place_words(found.on_curve, traffic))
    if found.not_counted:
        yield Verdict(
            level="note",
            text=f"Traffic was not counted: {found.not_counted}.",
            about="conditions",
        )


def functions_table(traffic: Traffic | None) -> Table | None:
    """The functions that make most of the simulated traffic; None: none is known."""
    if traffic is None or not traffic.places:
        return None
    return Table(
        name="diagnose-functions",
        title="Functions that make most of its memory traffic, simulated",
        columns=place_columns("function"),
        rows=place_rows(traffic.places, round(traffic.total_bytes)),
        note=f"Simulated with the caches of this machine, not counted. {EVICTIONS} "
        "memgauge simulate --by line -- COMMAND shows source lines.",
    )


def basis_words(traffic: Traffic) -> str:
    """In brackets after a figure."""
    if traffic.basis == "simulated":
        return "simulated bytes over measured time, not counted"
    return f"counted by {traffic.by}, other programs of the machine included"


def _moved(traffic: Traffic) -> str:
    share = traffic.peak_share
    of = "" if share is None else f", {share:.0%} of what one of its CPUs can stream"
    rate = f"{traffic.gb_per_s:.2f} GB/s over its measured time{of}"
    if traffic.basis == "simulated":
        return (
            f"By a simulation of this machine's caches a run {_read_and_written(traffic)}: {rate}. "
            "Not counted."
        )
    spread = ""
    if traffic.runs > 1 and traffic.least_bytes is not None and traffic.most_bytes is not None:
        spread = (
            f" (of {traffic.runs} runs between {traffic.least_bytes / 1e6:,.0f} and "
            f"{traffic.most_bytes / 1e6:,.0f} MB)"
        )
    estimate = " The counters took turns: an estimate." if traffic.is_estimate else ""
    return (
        f"Counted by {traffic.by}, a run {_read_and_written(traffic)}{spread}: {rate}. These are "
        f"counters of the whole machine: other programs are in it.{estimate}"
    )


def _read_and_written(traffic: Traffic) -> str:
    if traffic.read_bytes is None or traffic.write_bytes is None:
        return f"reads and writes {traffic.total_bytes / 1e6:,.0f} MB"
    return (
        f"reads {traffic.read_bytes / 1e6:,.0f} MB and writes {traffic.write_bytes / 1e6:,.0f} MB"
    )
