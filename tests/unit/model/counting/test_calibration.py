"""Which factors of `counters verify` are applied, and to which events only."""

import msgspec
import pytest

from memgauge.model.counting.calibration import (
    Calibration,
    calibrated_text,
    calibration_of,
    verdict_on,
)
from memgauge.model.counting.events import Event, EventVerdict

EVENT = Event(
    name="perf:nest_mba_imc/PM_MBA_READ_BYTES/",
    back_end="perf",
    quantity="read_bytes",
    domain="memory",
    scope="controller",
    unit="B",
    scale=1.0,
    meaning="reads",
    encoding="event=0x118 (config=0x118)",
    instances=["nest_mba0_imc@cpu0"],
    source="test",
    state="ready",
)


def verdict(**changes: object) -> EventVerdict:
    fields = {
        "event": EVENT.name,
        "verdict": "mis-scaled",
        "evidence": "counted 0.0156",
        "ratio": 0.0155,
        "factor": 1 / 64,
        "encoding": EVENT.encoding,
        "scale": EVENT.scale,
        "machine": "m",
        "kernel": "k",
        "made_at": "2026-01-02T03:04:05+00:00",
    }
    return msgspec.convert(fields | changes, EventVerdict)


@pytest.mark.parametrize(("mode", "factor"), [("known", 64.0), ("any", 64.0), ("none", None)])
def test_a_factor_of_a_known_cause_is_applied_unless_switched_off(
    mode: Calibration, factor: float | None
) -> None:
    assert calibration_of(verdict(), mode) == factor


@pytest.mark.parametrize(("mode", "factor"), [("known", None), ("any", 1 / 1.37), ("none", None)])
def test_a_factor_of_no_known_cause_is_applied_on_request_only(
    mode: Calibration, factor: float | None
) -> None:
    assert calibration_of(verdict(factor=None, ratio=1.37), mode) == factor


@pytest.mark.parametrize("word", ["verified", "partial", "faulty", "dead", "noisy", "absent"])
def test_what_does_not_count_in_proportion_has_no_factor(word: str) -> None:
    assert calibration_of(verdict(verdict=word), "any") is None


@pytest.mark.parametrize(
    "lacking", [{"encoding": None}, {"scale": None}, {"fault": "one socket", "factor": None}]
)
def test_a_verdict_that_does_not_say_what_it_is_on_gives_no_factor(
    lacking: dict[str, object],
) -> None:
    assert calibration_of(verdict(**lacking), "any") is None


@pytest.mark.parametrize(
    ("change", "says"),
    [({"encoding": "event=0x1"}, "of the encoding"), ({"scale": 64.0}, "made at 64 a count")],
)
def test_a_verdict_on_another_encoding_or_scale_is_not_on_this_event(
    change: dict[str, object], says: str
) -> None:
    """A table that was corrected meanwhile would otherwise be corrected twice."""
    kept = {EVENT.name: verdict(**change)}
    found, why_not = verdict_on(kept, EVENT, EVENT.instances)
    assert found is None
    assert why_not is not None
    assert says in why_not
    assert verdict_on({EVENT.name: verdict()}, EVENT, EVENT.instances) == (verdict(), None)


def test_marks_are_short() -> None:
    assert [calibrated_text(f) for f in (64.0, 0.5, 1 / 1.37)] == [
        "calibrated x64",
        "calibrated x1/2",
        "calibrated x1/1.37",
    ]
