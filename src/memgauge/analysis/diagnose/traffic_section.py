"""The program's traffic in words and tables: how much, how near to what memory gives, and where."""

from __future__ import annotations

from collections.abc import Iterator

from memgauge.analysis.diagnose.figures import Diagnosis
from memgauge.analysis.diagnose.judgement import Judgement
from memgauge.analysis.diagnose.on_curve import OnCurve
from memgauge.analysis.diagnose.traffic import Traffic
from memgauge.analysis.figures.simulated_places import EVICTIONS, place_columns, place_rows
from memgauge.analysis.section import Table, Verdict

APART = 2.0
"""Counted over simulated bytes, or the other way round, from which on the two contradict."""
LEAST_BYTES = 10e6
"""Below it counters of the whole machine show what others move, and no contradiction is said."""
MUCH = 0.5
"""Share of what one CPU can stream, that a program which pressure does not slow cannot move."""


def traffic_verdicts(found: Diagnosis, judgement: Judgement) -> Iterator[Verdict]:
    """Bytes and rates, the place on a curve, what contradicts, and what was not known.

    Args:
        found: The diagnosis.
        judgement: Its verdict by pressure.
    """
    traffic = found.traffic
    if traffic is not None:
        yield Verdict(level="note", text=_moved(traffic))
        if found.on_curve is not None:
            yield Verdict(level="note", text=_placed(found.on_curve, traffic))
        yield from _contradictions(found, traffic, judgement)
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


def _placed(one: OnCurve, traffic: Traffic) -> str:
    marked = "Simulated traffic" if traffic.basis == "simulated" else "Counted traffic"
    text = (
        f"{marked} on the curve of run {one.run_id} ({one.load}; {one.curve_read_share:.0%} of its "
        f"bytes are reads, {one.read_share:.0%} of the program's): {one.peak_share:.0%} of the "
        f"measured peak of {one.peak_gb_per_s:.1f} GB/s"
    )
    if one.latency_ns is None:
        return f"{text}, more than any load there moved: its place cannot be told."
    text += f", where a load takes {one.latency_ns:.0f} ns ({one.unloaded_ns:.0f} ns at least load)"
    if one.knee_gb_per_s is None or one.to_knee_gb_per_s is None:
        return f"{text}; the curve has no knee that could be resolved."
    side = "below" if one.to_knee_gb_per_s >= 0 else "beyond"
    return (
        f"{text}, {abs(one.to_knee_gb_per_s):.1f} GB/s {side} the knee at "
        f"{one.knee_gb_per_s:.1f} GB/s."
    )


def _contradictions(found: Diagnosis, traffic: Traffic, judgement: Judgement) -> Iterator[Verdict]:
    simulated = found.simulated
    if traffic.basis == "counted" and simulated is not None and _differ(traffic, simulated):
        yield Verdict(
            level="warning",
            text=f"Counted and simulated traffic contradict each other: "
            f"{traffic.total_bytes / 1e6:,.0f} and {simulated.total_bytes / 1e6:,.0f} MB a run. "
            "Other programs, prefetchers and threads that share caches are in the counted bytes "
            "only.",
            remedy="repeat it on a quiet machine (--only interference,traffic)",
        )
    share = traffic.peak_share
    if judgement.kind == "not memory" and share is not None and share >= MUCH:
        yield Verdict(
            level="warning",
            text=f"Two kinds of evidence contradict each other: pressure does not slow it down, "
            f"but its {traffic.basis} traffic is {share:.0%} of what one of its CPUs can stream.",
        )


def _differ(one: Traffic, other: Traffic) -> bool:
    most = max(one.total_bytes, other.total_bytes)
    return most >= LEAST_BYTES and most > APART * min(one.total_bytes, other.total_bytes)
