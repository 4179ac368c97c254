"""Event strings of perf's own grammar, `field=value,flag,...`, and the words they become.

A field may be split over several ranges of bits: its low bits go into the first. A field without a
value means 1. `config`, `config1`, `config2` and `config3` may be given whole where a PMU has no
field of that name.

Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-events; perf-list(1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from memgauge.counters.perf.pmu import WORDS, Bits, Field
from memgauge.model.errors import RequestError
from memgauge.model.text import quoted

WORD_BITS = 64
_LONGEST_TEXT = 4096
_NAME = re.compile(r"[A-Za-z0-9_.:+-]+")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}")
OPEN = "?"
"""The value of a field that whoever asks must give, such as `chip=?`."""


class Term(msgspec.Struct, frozen=True):
    """One `name=value` of an event string, or one name alone."""

    name: str
    value: int | None = None
    """None: no value stands there, or an open one does."""
    is_open: bool = False
    """Whether the value is `?`: the kernel publishes it so where one must be given."""


class Requested(msgspec.Struct, frozen=True):
    """`PMU/terms/`, taken apart."""

    pmu: str
    terms: list[Term]


class Words(msgspec.Struct, frozen=True):
    """Those of perf_event_attr that say which event is meant."""

    config: int = 0
    config1: int = 0
    config2: int = 0
    config3: int = 0


def parse_event(text: str) -> Requested:
    """Take `PMU/field=value,.../` apart.

    Raises:
        RequestError: malformed; the message says where.
    """
    pmu, slash, rest = text.partition("/")
    if len(text) > _LONGEST_TEXT:
        raise _malformed(text, f"is longer than {_LONGEST_TEXT} characters")
    if not slash:
        raise _malformed(text, "lacks the '/' after the PMU: write PMU/EVENT/")
    if not _NAME.fullmatch(pmu):
        raise _malformed(text, f"{quoted(pmu)} before the '/' is not the name of a PMU")
    if not rest:
        raise _malformed(text, "names no event after the '/': write PMU/EVENT/")
    body, closing, after = rest.partition("/")
    if not closing:
        raise _malformed(text, "lacks the '/' at its end")
    if after:
        raise _malformed(
            text,
            f"{quoted(after)} after the last '/' is not understood: modifiers are not supported",
        )
    return Requested(pmu, parse_terms(body, text))


def parse_terms(body: str, whole: str | None = None) -> list[Term]:
    """The terms of `field=value,flag,...`.

    Raises:
        RequestError: malformed, or a field given twice; the message says where.
    """
    text = body if whole is None else whole
    if len(body) > _LONGEST_TEXT:
        raise _malformed(text, f"is longer than {_LONGEST_TEXT} characters")
    terms = [_term(part, at, text) for at, part in enumerate(body.split(","), start=1)]
    names = [term.name for term in terms]
    for name in names:
        if names.count(name) > 1:
            raise _malformed(text, f"gives {quoted(name)} twice")
    return terms


def _term(part: str, at: int, text: str) -> Term:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not name and not equals:
        raise _malformed(text, f"term {at} is empty")
    if not _NAME.fullmatch(name):
        raise _malformed(text, f"term {at}: {quoted(name)} is not the name of a field or an event")
    if not equals:
        return Term(name)
    if value == OPEN:
        return Term(name, None, True)
    if not _NUMBER.fullmatch(value):
        raise _malformed(text, f"term {at}: {quoted(value)} is not a number such as 12 or 0x0c")
    number = int(value, 16) if value[:2] in {"0x", "0X"} else int(value)
    if number >= 1 << WORD_BITS:
        raise _malformed(text, f"term {at}: {quoted(value)} does not fit in 64 bits")
    return Term(name, number)


def encode(terms: Iterable[Term], fields: Mapping[str, Field], what: str) -> Words:
    """The words that the terms mean on a PMU with these fields.

    Args:
        terms: Fields with values, names of events already expanded; a term without a value means 1.
        fields: The PMU's fields by name.
        what: The event, as the beginning of error messages.

    Raises:
        RequestError: a field the PMU does not have, a value too large for one, one left open.
    """
    words = dict.fromkeys(WORDS, 0)
    for term in terms:
        field = fields.get(term.name) or _whole_word(term.name)
        if field is None:
            raise RequestError(
                f"{what}: has no field or event {quoted(term.name)}; its fields are "
                f"{', '.join(fields) or 'none but config, config1 and config2'}"
            )
        if term.is_open:
            raise RequestError(
                f"{what}: field {term.name} has no value; give a number: {term.name}=0"
            )
        value = 1 if term.value is None else term.value
        if value >> field.width:
            raise RequestError(
                f"{what}: {term.name}={value:#x} does not fit its {field.width} bit"
                f"{'s' * (field.width != 1)}; the largest is {(1 << field.width) - 1:#x}"
            )
        words[field.word] |= scattered(value, field.ranges)
    return Words(**words)


def decode(words: Words, fields: Mapping[str, Field]) -> dict[str, int]:
    """The value of each field in the words."""
    return {
        name: gathered(getattr(words, field.word), field.ranges) for name, field in fields.items()
    }


def scattered(value: int, ranges: Iterable[Bits]) -> int:
    """A value put into its ranges, low bits first."""
    word = 0
    for bits in ranges:
        word |= (value & ((1 << bits.width) - 1)) << bits.first
        value >>= bits.width
    return word


def gathered(word: int, ranges: Iterable[Bits]) -> int:
    """The value that stands in the ranges."""
    value = shift = 0
    for bits in ranges:
        value |= (word >> bits.first & ((1 << bits.width) - 1)) << shift
        shift += bits.width
    return value


def expanded(terms: Iterable[Term], published: Mapping[str, str]) -> list[Term]:
    """Names of published events replaced by what they stand for; terms given override those.

    Raises:
        RequestError: what an event publishes is malformed.
    """
    found: dict[str, Term] = {}
    given: dict[str, Term] = {}
    for term in terms:
        if term.value is None and not term.is_open and term.name in published:
            found.update((one.name, one) for one in parse_terms(published[term.name]))
        else:
            given[term.name] = term
    return list((found | given).values())


def shown(terms: Iterable[Term]) -> str:
    """The terms as text again."""
    return ",".join(
        term.name if term.value is None and not term.is_open
        else f"{term.name}={OPEN if term.value is None else hex(term.value)}"
        for term in terms
    )  # fmt: skip


def shown_words(words: Words) -> str:
    """The words that are not zero; `config` always."""
    values = ((name, getattr(words, name)) for name in WORDS)
    return ", ".join(f"{name}={value:#x}" for name, value in values if value or name == "config")


def _whole_word(name: str) -> Field | None:
    return Field(name, name, [Bits(0, WORD_BITS - 1)]) if name in WORDS else None


def _malformed(text: str, why: str) -> RequestError:
    return RequestError(
        f"event {quoted('perf:' + text)}: {why}; 'memgauge counters' lists events in their form"
    )
