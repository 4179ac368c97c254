"""What the levels of a curve mean, against what is claimed of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from memgauge.analysis.section import Verdict
from memgauge.analysis.statistics.level import Level
from memgauge.analysis.workingset.claims import Claim, Finding
from memgauge.model.units import format_bytes


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """The caches that a curve should show, and who reports them."""

    caches: list[Claim]
    by: str
    """topology, or of a GPU the driver."""
    unclaimed: tuple[str, ...] = ()
    """Caches that are there, of a size that is not reported, nearest first."""
    memory: str = "memory"
    """What is beyond the last of them."""
    readers: str = "one thread"
    """Who reads, where bandwidth is measured."""
    of_gpu: bool = False
    """One thread waits, and all of it reads."""
    peak_gb_per_s: float | None = None
    """What all readers can reach in theory, where they are all there are."""
    others: str = "other cores or guests use the rest"
    """What a cache that holds less than claimed may come from."""

    def name_of(self, finding: Finding) -> str:
        """What a level is called."""
        return self.memory if finding.name == "memory" else finding.name


def level_verdicts(findings: Sequence[Finding], claims: Claims) -> Iterator[Verdict]:
    """One for each level that is not as claimed, or one that all are."""
    for finding in findings:
        yield from _level_verdict(finding, claims)
    statuses = {finding.status for finding in findings}
    if statuses and statuses <= {"agrees", "memory", "not known"}:
        if not claims.of_gpu:
            text = "Every cache level is as large as the topology reports."
            yield Verdict(level="good", text=text)
        elif "agrees" in statuses:
            names = " and ".join(f.name for f in findings if f.status == "agrees")
            yield Verdict(level="good", text=f"The {names} is as large as the {claims.by} says.")
    if not any(finding.level for finding in findings):
        yield Verdict(level="warning", text="The curve shows no plateau: no level was found.")
    elif not statuses & {"memory", "end not seen"}:
        text = f"The curve still rises where it ends: no plateau of {claims.memory} was seen."
        yield Verdict(level="note", text=text, remedy="measure larger footprints")


def _level_verdict(finding: Finding, claims: Claims) -> Iterator[Verdict]:
    level, claimed = finding.level, finding.claimed_bytes
    remedy: str | None = None
    size = format_bytes(claimed) if claimed else ""
    match finding.status:
        case "smaller":
            text = f"{finding.name} holds {_between(level)}, not the {size} of the {claims.by}."
            remedy = f"plan with the smaller size: {claims.others}"
        case "larger":
            text = f"{finding.name} holds {_between(level)}, more than the {size} claimed."
        case "hidden":
            text = f"A level of {_between(level)} was found that the {claims.by} does not show."
        case "not known":
            text = (
                f"{finding.name} holds {_between(level)}; the {claims.by} does not show its size."
            )
            yield Verdict(level="note", text=text)
            return
        case "not visible":
            text = f"{finding.name} of {size} is claimed, but the curve shows no such level."
            remedy = "run again when the machine is quiet: neighbours may hold the whole level"
        case "too coarse":
            text = (
                f"{finding.name} of {size} is claimed; too few footprints of its size were "
                "measured to tell whether the curve shows it."
            )
            yield Verdict(level="note", text=text, remedy="increase --budget")
            return
        case "end not seen":
            text = f"The curve ends before the end of {finding.name} ({size or 'not claimed'})."
            yield Verdict(level="note", text=text, remedy="measure larger footprints")
            return
        case _:
            return
    yield Verdict(level="warning", text=text, remedy=remedy)


def _between(level: Level | None) -> str:
    if level is None:
        return "nothing"
    low = format_bytes(level.capacity_low_bytes)
    if level.capacity_high_bytes is None:
        return f"{low} or more"
    return f"{low} to {format_bytes(level.capacity_high_bytes)}"
