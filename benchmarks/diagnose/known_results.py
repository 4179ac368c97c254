"""What diagnoses of known programs found: kept line by line, and summed up by program."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.diagnose.replicated import head, row
from memgauge.analysis.diagnose.document import diagnosis_figures
from memgauge.analysis.document_figure import Figure
from memgauge.analysis.figures.run import figures_of
from memgauge.model.run import Run

WORK = "work"
"""Region of a known program, without its set-up."""


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """How a diagnosis was made: only those made alike are summed up together."""

    budget: str
    only: str
    work: float
    """The work of each program, over that listed."""
    has_neighbour: bool
    """Whether another program used memory in bursts meanwhile."""


class KnownResult(msgspec.Struct, frozen=True, kw_only=True):
    """One diagnosis of one program."""

    program: str
    conditions: Conditions
    verdict: str
    why: str
    share: Figure | None
    """Of its time, like waiting for memory; with its interval."""
    true_share: float | None
    """As the program measured it of itself; None: it does not."""
    run_s: float | None
    """Of one run of the program."""
    rounds: int
    """Of pressure."""
    since_round: int | None
    """From which on the verdict was the same; None: it cannot be told."""
    until_then_s: float | None
    """From the begin of the first round to the end of that one."""
    elapsed_s: float
    """Of the whole diagnosis."""
    translation: str | None = None
    translation_at_least: float | None = None
    why_no_translation: str | None = None


def result_of(
    program: str, run: Run, conditions: Conditions, true_share: float | None
) -> KnownResult | None:
    """What a diagnosis found; None: it has not ended, or found nothing.

    Args:
        program: Its name.
        run: The diagnosis.
        conditions: How it was made.
        true_share: Of its time that the program waits, by itself; None: not known.
    """
    found = diagnosis_figures(figures_of(run))
    if found is None or run.end is None:
        return None
    work = next((one for one in found.regions if one.name == WORK), None)
    if work is None:
        return None
    since = found.verdict_since_round if found.verdict == work.verdict else None
    translation = found.translation
    is_untold = translation is not None and translation.verdict == "cannot tell"
    return KnownResult(
        program=program,
        conditions=conditions,
        verdict=work.verdict,
        why=work.why,
        share=work.latency_share,
        true_share=true_share,
        run_s=work.time_s.value if work.time_s else None,
        rounds=found.pressure_rounds,
        since_round=since,
        until_then_s=None if since is None else rounds_s(run, since),
        elapsed_s=run.end.elapsed_s,
        translation=translation.verdict if translation else None,
        translation_at_least=translation.at_least if translation else None,
        why_no_translation=translation.why if translation and is_untold else None,
    )


def rounds_s(run: Run, rounds: int) -> float:
    """Seconds that the first rounds of a run took, the time between them included.

    Args:
        run: Of one leg.
        rounds: So many.
    """
    stamps = [
        (thread.begin_ns[0], thread.end_ns[-1])
        for of in run.samples.values()
        for sample in of
        if sample.round < rounds
        for thread in sample.threads[:1]
    ]
    if not stamps:
        return 0.0
    return (max(end for _, end in stamps) - min(begin for begin, _ in stamps)) * 1e-9


def true_share_of(command: Sequence[str], runs: int = 3) -> float | None:
    """The share of its time that a mixture waited, which it prints; None: it prints none.

    Args:
        command: Of the program.
        runs: Of which the median is taken.
    """
    if "mixture" not in command:
        return None
    shares = []
    for _ in range(runs):
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r"share ([0-9.]+)", printed)
        shares += [float(found[1])] if found else []
    return median(shares) if shares else None


def kept(path: Path | None) -> list[KnownResult]:
    """The results that a file holds; none where there is no file yet.

    Args:
        path: JSON, one result a line; a line that was cut off when it was written is left out.
    """
    if path is None or not path.exists():
        return []
    return [*_decoded(path.read_bytes().splitlines())]


def _decoded(lines: Iterable[bytes]) -> Iterator[KnownResult]:
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=KnownResult)
        except msgspec.DecodeError:
            continue


def keep(path: Path | None, result: KnownResult) -> None:
    """Append a result to the file.

    Args:
        path: None: it is kept nowhere.
        result: The result.
    """
    if path is not None:
        with path.open("ab") as file:
            file.write(msgspec.json.encode(result) + b"\n")


def outcome(result: KnownResult, right: AbstractSet[str]) -> str:
    """right, cannot tell, or WRONG.

    Args:
        result: Of a program.
        right: Verdicts that are.
    """
    if result.verdict == "cannot tell":
        return "cannot tell"
    return "right" if result.verdict in right else "WRONG"


def share_words(result: KnownResult) -> str:
    """Such as `51% (45% to 58%)`."""
    share = result.share
    if share is None or share.low is None or share.high is None:
        return "-"
    return f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})"


def summarise(results: Sequence[KnownResult], right: Mapping[str, AbstractSet[str]]) -> None:
    """Print a row for each program.

    Args:
        results: Made alike.
        right: Right verdicts by program.
    """
    head(
        [
            *("program", "diagnoses", "right", "cannot tell", "wrong", "verdicts"),
            *("share of waiting", "true", "intervals that hold it", "rounds", "the same since"),
            *("a run, s", "rounds until then, s", "whole, s"),
        ]
    )
    for name, verdicts in right.items():
        of = [one for one in results if one.program == name]
        if of:
            row(_cells(name, of, verdicts))


def _cells(name: str, of: Sequence[KnownResult], right: AbstractSet[str]) -> list[str]:
    outcomes = Counter(outcome(one, right) for one in of)
    verdicts = Counter(one.verdict for one in of)
    return [
        name,
        str(len(of)),
        *(str(outcomes[one]) for one in ("right", "cannot tell", "WRONG")),
        ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()),
        _middle((one.share.value for one in of if one.share), ".0%"),
        _middle((one.true_share for one in of), ".0%"),
        _coverage(of),
        _middle((one.rounds for one in of), "g"),
        _middle((one.since_round for one in of), "g"),
        _middle((one.run_s for one in of), ".2f"),
        _middle((one.until_then_s for one in of), ".0f"),
        _middle((one.elapsed_s for one in of), ".0f"),
    ]


def _coverage(of: Sequence[KnownResult]) -> str:
    """Of the diagnoses that state an interval of a share that is known."""
    known = [
        one.share.low <= one.true_share <= one.share.high
        for one in of
        if one.verdict != "cannot tell" and one.true_share is not None
        if one.share and one.share.low is not None and one.share.high is not None
    ]
    return f"{sum(known)} of {len(known)}" if known else "-"


def _middle(values: Iterable[float | None], form: str) -> str:
    """Median and range, such as `52% (48% to 57%)`."""
    known = sorted(one for one in values if one is not None)
    if not known:
        return "-"
    middle = f"{median(known):{form}}"
    return middle if len(known) == 1 else f"{middle} ({known[0]:{form}} to {known[-1]:{form}})"
