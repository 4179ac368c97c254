"""Where the simulated traffic of a program arises: a table of its functions or source lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from memgauge.analysis.section import Cell, Column, Table, Verdict
from memgauge.model.simulated_program import SimulatedProgram, TrafficPlace
from memgauge.model.text import plain

MOST_ROWS = 20
LEAST_UNKNOWN = 0.01
"""Share of the traffic without known lines, from which on it is said."""
EVICTIONS = (
    "Reads are those that the place's own loads, stores and instructions caused. A changed line is "
    "written when another one takes its place: writes stand where that happened, which may be "
    "elsewhere than where the data were changed."
)


def places_table(done: SimulatedProgram, machine: str) -> Table | None:
    """The places that moved most; None: none were asked for.

    Args:
        done: The program.
        machine: Whose caches were simulated, for the title.
    """
    if done.by is None:
        return None
    total = done.read_bytes + done.write_bytes
    others = max(0, len(done.places) - MOST_ROWS) + done.left_out_places
    note = EVICTIONS
    if others:
        note += f" {others:,} places that moved less are not shown."
    return Table(
        name="places",
        title=f"Memory traffic by {done.by}, simulated on {machine}",
        columns=place_columns(done.by),
        rows=place_rows(done.places[:MOST_ROWS], total),
        note=note,
    )


def regions_table(done: SimulatedProgram, machine: str) -> Table | None:
    """A row for each region that the program marks; None: none is known.

    Args:
        done: The program.
        machine: Whose caches were simulated, for the title.
    """
    if not done.regions:
        return None
    total = done.read_bytes + done.write_bytes
    return Table(
        name="regions",
        title=f"Memory traffic by region, simulated on {machine}",
        columns=[
            Column(title="region"),
            Column(title="read", unit="B"),
            Column(title="written", unit="B"),
            Column(title="of all", unit="%"),
            Column(title="most of it in", narrow=False),
        ],
        rows=[
            [
                one.name,
                one.read_bytes,
                one.write_bytes,
                (one.read_bytes + one.write_bytes) / total if total else None,
                place_name(one.places[0]) if one.places else None,
            ]
            for one in done.regions
        ],
        note="Of all threads, while at least one was inside; what lies in several regions is in "
        "each. Valgrind executes threads one at a time, and changed lines are written when others "
        "take their place, which may be in a later region.",
    )


def place_columns(by: str) -> list[Column]:
    """Of `place_rows`."""
    return [
        Column(title=by),
        Column(title="read", unit="B"),
        Column(title="written", unit="B"),
        Column(title="of all", unit="%"),
        Column(title="where", narrow=by == "line"),
    ]


def place_rows(places: Sequence[TrafficPlace], total_bytes: int) -> list[list[Cell]]:
    """One row a place.

    Args:
        places: Those that moved most first.
        total_bytes: Read and written by the whole program.
    """
    return [
        [
            place_name(one),
            one.read_bytes,
            one.write_bytes,
            (one.read_bytes + one.write_bytes) / total_bytes if total_bytes else None,
            _where(one),
        ]
        for one in places
    ]


def place_name(one: TrafficPlace) -> str:
    """Such as `solve`, or `solve.c:12`."""
    if one.line is not None and one.file is not None:
        return f"{_short(one.file)}:{one.line}"
    return plain(one.function) if one.function is not None else "no symbol"


def _where(one: TrafficPlace) -> str | None:
    """The function of a line, and the file of a function: its source, or else the object."""
    if one.line is not None:
        return plain(one.function) if one.function is not None else None
    name = one.file or one.object
    return None if name is None else _short(name)


def _short(path: str) -> str:
    return plain(PurePath(path).name or path)


def place_verdicts(done: SimulatedProgram) -> Iterator[Verdict]:
    """What of the traffic has no place."""
    total = done.read_bytes + done.write_bytes
    if done.no_regions:
        yield Verdict(
            level="warning", text=f"What its regions move is not known: {done.no_regions}."
        )
    if done.by is None or not total:
        return
    unknown = (done.without_line_bytes or 0) / total
    if unknown >= LEAST_UNKNOWN:
        yield Verdict(
            level="warning",
            text=f"{unknown:.0%} of the traffic is of code without debug information: its source "
            "lines are not known.",
            remedy="compile the program with -g, and install the debug information of libraries",
        )
