"""Experiments of a survey that this machine could not do, and what would make them possible."""

from __future__ import annotations

from memgauge.analysis.section import Section, Verdict
from memgauge.model.experiments import title_of
from memgauge.model.records import Warning
from memgauge.model.run import Run

LEFT_OUT = "left-out"
"""Code of the warnings that say so."""


def is_left_out(warning: Warning) -> bool:
    """Whether it says that an experiment was left out."""
    return warning.code == LEFT_OUT and warning.experiment is not None


def left_out(run: Run) -> Section | None:
    """Experiments by their titles, with the reason and how to name what they lack.

    Those with the same reason share a sentence.
    """
    reasons: dict[str, dict[str, None]] = {}
    for warning in run.warnings:
        if is_left_out(warning):
            reasons.setdefault(_reason(warning), {})[title_of(warning.experiment or "")] = None
    if not reasons:
        return None
    return Section(
        name=LEFT_OUT,
        title="Not measured here",
        question="Which experiments does this machine not allow, and what would allow them?",
        verdicts=[
            Verdict(level="note", text=f"{'; '.join(named)}: {reason}.")
            for reason, named in reasons.items()
        ],
    )


def _reason(warning: Warning) -> str:
    """Without the name that errors begin with."""
    return warning.message.removeprefix(f"{warning.experiment}: ").rstrip(".")
