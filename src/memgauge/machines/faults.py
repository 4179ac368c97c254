"""What is wrong with a user's machine, in words: where, what, and what may stand there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from memgauge.model.cache_machine import (
    CacheLevel,
    CacheMachine,
    Inclusion,
    Prefetchers,
    Replacement,
    StoreStreams,
)
from memgauge.model.text import did_you_mean, quoted, shortened

if TYPE_CHECKING:
    import msgspec

CHOICES: Mapping[str, tuple[str, ...]] = {
    "replacement": get_args(Replacement),
    "inclusion": get_args(Inclusion),
}
"""Of the keys that take one of a few words."""

_STRUCTS: Mapping[str, type[msgspec.Struct]] = {
    "": CacheMachine,
    "levels": CacheLevel,
    "store_streams": StoreStreams,
    "prefetchers": Prefetchers,
}
"""By the table of the file that holds them."""

_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`")
_MISSING_FIELD = re.compile(r"Object missing required field `(.*)`")
_INVALID_WORD = re.compile(r"Invalid enum value '(.*)'")


def known(error: msgspec.ValidationError) -> str:
    """One line in lower case: `levels[1].replacement: 'fifo' is not known; choose from ...`."""
    match = _PLACE.fullmatch(str(error))
    what, place = (match["what"], match["place"] or "") if match else (str(error), "")
    where = f"{shortened(place)}: " if place else ""
    return where + _reason(what, place)


def _reason(what: str, place: str) -> str:
    if found := _UNKNOWN_FIELD.fullmatch(what):
        return _unknown(found[1], place)
    if found := _MISSING_FIELD.fullmatch(what):
        return f"{found[1]} is missing"
    if found := _INVALID_WORD.fullmatch(what):
        choices = ", ".join(CHOICES.get(place.rpartition(".")[2], ()))
        return f"{quoted(found[1])} is not known; choose from {choices}"
    return what[:1].lower() + what[1:].replace("`", "")


def _unknown(key: str, place: str) -> str:
    struct = _STRUCTS.get(place.partition("[")[0], CacheMachine)
    keys = struct.__struct_fields__
    choices = f"{did_you_mean(key, keys)} choose from {', '.join(keys)}".lstrip()
    return f"there is no key {shortened(key)}; {choices}"
