"""Facts of points: what is written is read back, and what is none of it is missing."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.model import points
from memgauge.model.points.facts import Facts, Share
from memgauge.model.record_kinds.fields import Scalar

for module in pkgutil.iter_modules(points.__path__):
    importlib.import_module(f"{points.__name__}.{module.name}")


def descendants(of: type[Facts]) -> list[type[Facts]]:
    return [found for one in of.__subclasses__() for found in (one, *descendants(one))]


KINDS = descendants(Facts)
few = settings(max_examples=20)
"""Examples of a kind: there are some fifty kinds, of fields of five types."""


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_every_fact_is_missing_and_none_is_recorded(kind: type[Facts]) -> None:
    assert kind.of({}) == kind()
    assert kind().recorded() == {}


VALUES: dict[Any, st.SearchStrategy[Scalar]] = {
    str: st.text(),
    bool | None: st.none() | st.booleans(),
    int | None: st.none() | st.integers(),
    float | None: st.none() | st.floats(allow_nan=False),
    Share | None: st.none() | st.floats(0, 1),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@few
def test_what_is_recorded_is_read_back(kind: type[Facts], data: Any) -> None:
    fields = {one.name: data.draw(VALUES[one.type]) for one in msgspec.structs.fields(kind)}
    facts = kind(**fields)
    recorded = facts.recorded()
    assert all(isinstance(fact, str | int | float | bool) for fact in recorded.values())
    assert kind.of(recorded) == facts


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@few
def test_facts_of_another_type_are_missing(kind: type[Facts], data: Any) -> None:
    names = [field.name for field in msgspec.structs.fields(kind)]
    recorded: dict[str, Scalar] = data.draw(st.dictionaries(st.sampled_from(names), scalars))
    facts = kind.of(recorded | {"of something else": 1})
    for name, fact in facts.recorded().items():
        given = recorded[name]
        # JSON has one kind of number: an integer in a field of floats is the nearest float.
        if isinstance(fact, float) and isinstance(given, int):
            given = float(given)
        assert fact == given
    assert kind.of(facts.recorded()) == facts
