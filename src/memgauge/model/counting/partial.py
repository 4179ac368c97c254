"""Notes of a counter set which state that a sum lacks controllers.

A record has no field for them: the form of the note tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

COUNTED = "controllers counted"
_PARTIAL = re.compile(rf"\d+ of \d+ {COUNTED}: ")


def partial_sums(notes: Iterable[str]) -> list[str]:
    """Those notes, each once, which state how many controllers are in a sum."""
    return list(dict.fromkeys(note for note in notes if _PARTIAL.match(note)))
