"""A published data set as a report: what was analysed of it, and what the study tells of itself.

Counts of memory controllers and splits of threads are analysed as those of a run are. All other
sets are shown: the table as it was published, and what of it is a figure that can be compared. So
is what a file of another tool holds.
"""

from __future__ import annotations

import msgspec

from memgauge.analysis.published_curves import curve_sections
from memgauge.analysis.section import Cell, Column, Report, Section, Table, Verdict
from memgauge.references.library import PublishedFigure, Reference

_NO_INTERVALS = ("No published set states intervals.", "Files of other tools state no intervals.")


class PublishedFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A published data set, or what a file of another tool holds, as plain data."""

    name: str
    tool: str | None
    """What wrote the file; null: it is published."""
    title: str
    machine: str
    study: str
    conditions: list[str]
    caveats: list[str]
    columns: list[str]
    rows: list[list[str]]
    """The table as published: text, by column."""
    figures: list[PublishedFigure]
    """What of it can be compared."""


def study_report(reference: Reference, section: Section, *, of: str) -> Report:
    """One section about a study's figures.

    Args:
        reference: the data set.
        section: made of its figures alone.
        of: what they are, such as `counts`.
    """
    described = reference.description
    what = "file" if reference.tool else "published result"
    facts: list[list[Cell]] = [[what, reference.title], ["study", described.study]]
    facts += [["condition", condition] for condition in described.conditions]
    return Report(
        run_id=reference.address,
        started_at="",
        title=section.title if reference.tool else f"{section.title}, published",
        machine=described.machine,
        complete=True,
        status=described.study
        if reference.tool
        else f"published {of}, not measured here: {described.study}",
        verdicts=[Verdict(level="note", text=_sentence(caveat)) for caveat in described.caveats],
        sections=[section],
        system=Table(
            name="system",
            title="Study",
            columns=[Column(title="what"), Column(title="value")],
            rows=facts,
        ),
    )


def _sentence(text: str) -> str:
    return f"{_capitalised(text)}{'' if text.endswith('.') else '.'}"


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def published_figures(reference: Reference) -> PublishedFigures:
    """A data set as plain data: the table as published, and its figures."""
    described = reference.description
    return PublishedFigures(
        name=reference.address,
        tool=reference.tool,
        title=reference.title,
        machine=described.machine,
        study=described.study,
        conditions=described.conditions,
        caveats=described.caveats,
        columns=reference.columns,
        rows=_rows(reference),
        figures=reference.figures,
    )


def table_report(reference: Reference) -> Report:
    """A data set as a report: its table, its figures in the units of memgauge, and its curves."""
    section = Section(
        name="published",
        title=_capitalised(reference.title),
        question="What does the file hold?" if reference.tool else "What was published?",
        verdicts=[],
        tables=[_as_published(reference), _comparable(reference)],
        charts=[],
    )
    found = study_report(reference, section, of="table")
    return msgspec.structs.replace(found, sections=[section, *curve_sections(reference)])


def _as_published(reference: Reference) -> Table:
    return Table(
        name="as-published",
        title="As printed" if reference.tool else "As published",
        columns=[Column(title=name.replace("_", " ")) for name in reference.columns],
        rows=[[*row] for row in _rows(reference)],
        note=None
        if reference.tool
        else "Units stand in the names of the columns; ranges are the study's.",
    )


def _comparable(reference: Reference) -> Table:
    units = sorted({one.unit for one in reference.figures})
    return Table(
        name="figures",
        title="Figures that can be compared",
        columns=[
            Column(title="figure"),
            *(Column(title=unit, digits=2) for unit in units),
            Column(title="statistic"),
            Column(title="name", narrow=False),
        ],
        rows=[
            [
                one.label,
                *(one.value if one.unit == unit else None for unit in units),
                one.statistic,
                one.name,
            ]
            for one in reference.figures
        ],
        note=f"GB/s: 1e9 bytes a second. {_NO_INTERVALS[reference.tool is not None]} Beside a run: "
        f"memgauge compare RUN {reference.address}.",
    )


def _rows(reference: Reference) -> list[list[str]]:
    return [[row[name] for name in reference.columns] for row in reference.rows]
