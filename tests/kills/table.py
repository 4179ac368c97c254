"""What came of all trials, by command."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from tests.kills.trials import Outcome

_HEAD = ("command", "kills", "over", "cleaned", "left", "runs", "reported", "resumed")
_HEAD_SIGNALS = ("command", "signals", "over", "left", "runs", "reported", "resumed", "exit codes")


class Tally(msgspec.Struct):
    """Of one command."""

    trials: int = 0
    over: int = 0
    cleaned: int = 0
    faults: int = 0
    runs: int = 0
    reported: int = 0
    resumed: int = 0
    codes: Counter[int | None] = msgspec.field(default_factory=Counter)

    def add(self, one: Outcome) -> None:
        """Count it."""
        self.trials += 1
        self.over += one.was_over
        self.cleaned += one.needed_clean
        self.faults += bool(one.wrong)
        self.runs += one.looked.runs
        self.reported += one.looked.reported
        self.resumed += one.looked.resumed
        self.codes[one.code] += 1


Tallies = defaultdict[str, Tally]


def kills_table(tallies: Tallies) -> str:
    """Of SIGKILL. `over`: had ended before; `cleaned`: left what --clean removed."""
    rows = [
        [name, t.trials, t.over, t.cleaned, t.faults, t.runs, t.reported, t.resumed]
        for name, t in _with_total(tallies)
    ]
    return _aligned([_HEAD, *rows])


def signals_table(tallies: Tallies) -> str:
    """Of the other signals."""
    rows = [
        [name, t.trials, t.over, t.faults, t.runs, t.reported, t.resumed, _codes(t)]
        for name, t in _with_total(tallies)
    ]
    return _aligned([_HEAD_SIGNALS, *rows])


def _with_total(tallies: Tallies) -> list[tuple[str, Tally]]:
    total = Tally()
    for one in tallies.values():
        for name in one.__struct_fields__:
            setattr(total, name, getattr(total, name) + getattr(one, name))
    return [*tallies.items(), ("all", total)]


def _codes(tally: Tally) -> str:
    return " ".join(f"{code}:{n}" for code, n in sorted(tally.codes.items(), key=str))


def _aligned(rows: list[Sequence[object]]) -> str:
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in texts
    )
