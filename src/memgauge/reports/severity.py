"""How verdicts are ranked and marked, the same in every renderer."""

from collections.abc import Iterable

from memgauge.analysis.section import Verdict

SYMBOLS = {"problem": "✗", "warning": "!", "note": "·", "good": "✓"}
"""By level, the most severe first."""

_RANKS = {level: rank for rank, level in enumerate(SYMBOLS)}


def ranked(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The most severe first, else in the order given."""
    return sorted(verdicts, key=lambda verdict: _RANKS[verdict.level])
