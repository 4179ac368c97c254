"""Few combinations of options in which every pair of values occurs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

Value = str | None
Row = dict[str, Value]
Setting = tuple[str, Value]
Pair = tuple[Setting, Setting]
Factors = Mapping[str, Sequence[Value]]
Refusal = Callable[[Row], str | None]

REPAIRS = 20


@dataclass
class Refused:
    """A value, or a pair of values, that no combination can have."""

    settings: tuple[Setting, ...]
    row: Row
    """It, and otherwise first values."""
    why: str


@dataclass
class Covering:
    """Combinations, and what none of them can have."""

    rows: list[Row] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    reasons: dict[str, Row] = field(default_factory=dict)
    """Why any combination was refused that was looked at, with the first of these."""


def covering(
    factors: Factors, refusal: Refusal, draw: random.Random, enough: int | None = None
) -> Covering:
    """Choose combinations in which every pair of values occurs that is not refused.

    Args:
        factors: the values of each option, the first being what goes with all others best.
        refusal: why a combination cannot be; None: it can.
        draw: decides between equals.
        enough: every value is to occur, and so many combinations beside; None: every pair.
    """
    return _Search(factors, refusal, draw, enough).found


def pairs_of(factors: Mapping[str, Sequence[Value]]) -> list[Pair]:
    """All pairs of values of two options."""
    settings = [[(name, value) for value in values] for name, values in factors.items()]
    return [pair for one, other in combinations(settings, 2) for pair in product(one, other)]


def pairs_in(row: Row) -> list[Pair]:
    """All pairs of a combination."""
    return list(combinations(row.items(), 2))


def enough_for_each_value(rows: Sequence[Row]) -> list[Row]:
    """Few of the combinations, in which every value occurs that occurs in any."""
    missing = {setting for row in rows for setting in row.items()}
    chosen: list[Row] = []
    while missing:
        best = max(rows, key=lambda row: len(missing & set(row.items())))
        chosen.append(best)
        missing -= set(best.items())
    return chosen


class _Search:
    """Greedy: each combination has as many new pairs as can be had."""

    def __init__(
        self, factors: Factors, refusal: Refusal, draw: random.Random, enough: int | None
    ) -> None:
        self.found = Covering()
        self._factors = factors
        self._refusal = refusal
        self._draw = draw
        self._known: dict[Setting, Row] = {}
        self._answers: dict[frozenset[Setting], str | None] = {}
        settings = [(name, value) for name, values in factors.items() for value in values]
        impossible = {one for one in settings if not self._is_possible(one)}
        self._factors = {
            name: [value for value in values if (name, value) not in impossible]
            for name, values in factors.items()
        }
        self._missing = dict.fromkeys(pairs_of(self._factors))
        if enough is not None:
            self._sample(enough)
        while self._missing and enough is None:
            self._cover(next(iter(self._missing)))

    def _sample(self, more: int) -> None:
        """Combinations until every value occurs, and so many beside those that this needs."""
        rows = self.found.rows
        for name, values in self._factors.items():
            for value in values:
                if all(row[name] != value for row in rows):
                    with_it = next((pair for pair in self._missing if (name, value) in pair), None)
                    if with_it is not None:
                        self._cover(with_it)
                if all(row[name] != value for row in rows):
                    rows.append(self._known[name, value])
        while self._missing and len(rows) < len(enough_for_each_value(rows)) + more:
            self._cover(next(iter(self._missing)))

    def _why(self, row: Row) -> str | None:
        asked = frozenset(row.items())
        if asked not in self._answers:
            self._answers[asked] = self._refusal(row)
        why = self._answers[asked]
        if why is not None:
            self.found.reasons.setdefault(why, row)
        return why

    def _is_possible(self, one: Setting) -> bool:
        row = self._accepted((one,), self._near((one,)))
        if row is not None:
            self._known[one] = row
        return row is not None

    def _cover(self, pair: Pair) -> None:
        row = self._repaired(self._greedy(pair), pair) or self._accepted(pair, self._joined(pair))
        self._missing.pop(pair)
        if row is not None:
            self.found.rows.append(row)
            for covered in pairs_in(row):
                self._missing.pop(covered, None)

    def _greedy(self, pair: Pair) -> Row:
        chosen: Row = dict(pair)
        for name in self._draw.sample(sorted(self._factors), len(self._factors)):
            if name not in chosen:
                values = [(self._new(name, value, chosen), value) for value in self._factors[name]]
                most = max(count for count, _ in values)
                chosen[name] = self._draw.choice([v for count, v in values if count == most])
        return {name: chosen[name] for name in self._factors}

    def _new(self, name: str, value: Value, chosen: Row) -> int:
        one = (name, value)
        return sum(
            (one, other) in self._missing or (other, one) in self._missing
            for other in chosen.items()
        )

    def _repaired(self, row: Row, kept: tuple[Setting, ...]) -> Row | None:
        """The best of some ways to give options their first values until it is not refused."""
        if self._why(row) is None:
            return row
        found = [self._reset(row, kept) for _ in range(REPAIRS)]
        possible = [one for one in found if one is not None]
        return max(possible, key=self._new_pairs, default=None)

    def _reset(self, row: Row, kept: tuple[Setting, ...]) -> Row | None:
        names = [name for name in self._factors if name not in dict(kept)]
        for name in self._draw.sample(names, len(names)):
            row = row | {name: self._factors[name][0]}
            if self._why(row) is None:
                return row
        return None

    def _new_pairs(self, row: Row) -> int:
        return sum(pair in self._missing for pair in pairs_in(row))

    def _accepted(self, kept: tuple[Setting, ...], rows: Iterable[Row]) -> Row | None:
        """The first that can be; None, and noted, where all are refused."""
        rows = iter(rows)
        first = next(rows)
        why = self._why(first)
        if why is None:
            return first
        found = next((row for row in rows if self._why(row) is None), None)
        if found is None:
            self.found.refused.append(Refused(kept, first, why))
        return found

    def _plain(self, kept: tuple[Setting, ...]) -> Row:
        return {name: values[0] for name, values in self._factors.items()} | dict(kept)

    def _near(self, kept: tuple[Setting, ...]) -> Iterator[Row]:
        """First values of all other options, then but for one of them, then but for two."""
        plain = self._plain(kept)
        others = [
            (name, value)
            for name, values in self._factors.items()
            if name not in dict(kept)
            for value in values[1:]
        ]
        yield plain
        yield from (plain | {name: value} for name, value in others)
        yield from (plain | dict(both) for both in combinations(others, 2))

    def _joined(self, pair: Pair) -> Iterator[Row]:
        """First values, or what goes with either of the two."""
        one, other = (self._known[setting] for setting in pair)
        plain = self._plain(())
        changed = [
            {name: value for name, value in row.items() if value != plain[name]}
            for row in (one, other)
        ]
        yield plain | dict(pair)
        yield plain | changed[0] | changed[1] | dict(pair)
        yield one | dict(pair)
        yield other | dict(pair)
