"""A published data set as a report: what was analysed of it, and what the study tells of itself."""

from __future__ import annotations

from memgauge.analysis.section import Cell, Column, Report, Section, Table, Verdict
from memgauge.references.library import PREFIX, Reference


def study_report(reference: Reference, section: Section, *, of: str) -> Report:
    """One section about a study's figures.

    Args:
        reference: the data set.
        section: made of its figures alone.
        of: what they are, such as `counts`.
    """
    described = reference.description
    facts: list[list[Cell]] = [["published result", reference.title], ["study", described.study]]
    facts += [["condition", condition] for condition in described.conditions]
    return Report(
        run_id=f"{PREFIX}{reference.name}",
        started_at="",
        title=f"{section.title}, published",
        machine=described.machine,
        complete=True,
        status=f"published {of}, not measured here: {described.study}",
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
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
