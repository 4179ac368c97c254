"""Counters that are opened where they may be, and requests for them that are kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("memgauge._core")

from memgauge.experiments.shared.counted import unless_refused
from memgauge.model.errors import CounterRefused


def refusing(names: Sequence[str]) -> str:
    raise CounterRefused(f"{', '.join(names)}: ask the administrator")


def test_what_was_not_requested_may_be_refused_and_the_reason_is_kept() -> None:
    assert unless_refused(None, ", ".join) == ("auto", "")
    assert unless_refused(("perf:a", "perf:b"), ", ".join) == ("perf:a, perf:b", "")
    assert unless_refused(None, refusing) == (None, "auto: ask the administrator")
    assert unless_refused(("none",), refusing) == (None, "--counters none")


@pytest.mark.parametrize("requested", [("auto",), ("perf:a",)])
def test_what_was_requested_and_is_refused_is_an_error(requested: tuple[str, ...]) -> None:
    with pytest.raises(CounterRefused, match=f"{requested[0]}: ask"):
        unless_refused(requested, refusing)
