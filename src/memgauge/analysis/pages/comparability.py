"""Whether cases that were measured apart may be compared, by what each of them did."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memgauge.analysis.section import Verdict


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one case."""

    name: str
    accesses: int
    pages: int
    """Distinct pages that they touch."""
    time_ns: float | None = None
    """Of all accesses together; None: not known."""

    @property
    def access_ns(self) -> float | None:
        """Time of one access."""
        return None if self.time_ns is None else self.time_ns / self.accesses


def comparability(cases: Sequence[Case]) -> Verdict:
    """Whether run times, or times of one access, of these cases may be set side by side.

    Run times may where all did the same number of accesses; the time of one access may where, in
    addition or instead, all touched the same number of pages. Else a difference between two cases
    is one of work, not of translation.
    """
    same_accesses = len({case.accesses for case in cases}) <= 1
    same_pages = len({case.pages for case in cases}) <= 1
    if same_accesses:
        text = f"All cases do {cases[0].accesses:,} accesses" if cases else "There are no cases"
        return Verdict(level="good", text=f"{text}: their times can be compared.")
    work = "; ".join(f"{c.name}: {c.accesses:,} accesses to {c.pages:,} pages" for c in cases)
    if same_pages:
        return Verdict(
            level="note",
            text=f"The cases touch the same pages with different numbers of accesses ({work}): "
            f"their run times cannot be compared, the time of one access can.",
        )
    return Verdict(
        level="warning",
        text="The cases cannot be compared: they differ in the number of accesses and in the "
        f"number of pages ({work}){_times(cases)}.",
        remedy="compare the time of one access, over the same number of pages",
    )


def _times(cases: Sequence[Case]) -> str:
    """Time of one access of each case, where known: it differs unlike the run times."""
    known = [f"{case.access_ns:,.3g} ns" for case in cases if case.access_ns is not None]
    return f"; one access took {', '.join(known)}" if len(known) == len(cases) else ""
