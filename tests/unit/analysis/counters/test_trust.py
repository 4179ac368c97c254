"""A verdict stands beside every later figure from a counter."""

from __future__ import annotations

import msgspec
import pytest
from tests.unit.analysis.counters_verify.runs import Machine, event_of, records

from memgauge.analysis.counters.trust import counter_verdicts
from memgauge.analysis.counters_verify.messages import trust_in, verdict_text
from memgauge.analysis.profile.tracks import tracks_of
from memgauge.analysis.report.run import analyse_run
from memgauge.model.counting.events import EventVerdict, Quantity, VerdictWord
from memgauge.model.record_kinds.counters import CounterSet
from memgauge.model.records import AnyRecord, Point
from memgauge.model.run import Run, run_of

READ: Quantity = "read_bytes"


def later_run(word: VerdictWord | None, **changes: object) -> Run:
    """A run of another experiment whose counters carry a verdict."""
    fields = {
        "event": event_of(READ),
        "verdict": word,
        "evidence": "counted 64 (64 to 64) of the known bytes read",
        "machine": "0123456789ab",
        "kernel": "6.12",
        "made_at": "2026-01-02T03:04:05+00:00",
    }
    verdict = None if word is None else msgspec.convert(fields | changes, EventVerdict)

    def changed(record: AnyRecord) -> AnyRecord:
        if isinstance(record, Point):
            return msgspec.structs.replace(record, experiment="stream")
        if isinstance(record, CounterSet):
            of = [msgspec.structs.replace(counter, verdict=verdict) for counter in record.of]
            return msgspec.structs.replace(record, of=of)
        return record

    return run_of([changed(record) for record in records(1, Machine(), {}, 1, (READ,))])


@pytest.mark.parametrize("word", ["mis-scaled", "partial", "dead", "noisy"])
def test_a_fault_is_a_warning_with_its_evidence(word: VerdictWord) -> None:
    [said] = counter_verdicts(later_run(word))
    assert said.level == ("warning" if word == "noisy" else "problem")
    assert word in said.text
    assert "counted 64" in said.text
    assert "2026-01-02" in said.text


def test_what_was_verified_says_its_ratio_and_what_was_not_says_how_to() -> None:
    [said] = counter_verdicts(later_run("verified", ratio=1.002))
    assert said.level == "note"
    assert "verified: 1.002 of known traffic" in said.text
    [said] = counter_verdicts(later_run(None))
    assert "Never verified" in said.text
    assert said.remedy is not None
    assert "memgauge counters verify" in said.remedy


def test_the_report_of_a_later_run_holds_it() -> None:
    texts = [verdict.text for verdict in analyse_run(later_run("dead")).verdicts]
    assert any("was found dead" in text for text in texts)


def test_a_calibration_stands_in_every_name_of_a_figure() -> None:
    """In the verdict on the run, in the table's column and in the track of a timeline."""
    run = later_run("mis-scaled", factor=64.0)
    [made] = run.counters.values()
    of = [msgspec.structs.replace(one, scale=1.0, calibration=1 / 64) for one in made.of]
    run.counters[made.counters] = msgspec.structs.replace(made, of=of)
    [said] = counter_verdicts(run)
    assert f"{event_of(READ)}, calibrated x1/64" in said.text
    assert "MEMGAUGE_CALIBRATION=none" in (said.remedy or "")
    assert trust_in(of) == "calibrated x1/64"
    dead = msgspec.convert({**msgspec.to_builtins(of[0].verdict), "verdict": "dead"}, EventVerdict)
    beside = msgspec.structs.replace(of[0], calibration=None, verdict=dead)
    assert trust_in([*of, beside]) == "dead, calibrated x1/64"
    tracks = tracks_of(run.counters[made.counters])
    assert tracks
    assert all(track.name.endswith("calibrated x1/64") for track in tracks)


def test_a_run_that_verifies_says_it_itself() -> None:
    run = run_of(list(records(1, Machine(), {}, 1, (READ,))))
    assert list(counter_verdicts(run)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"verdict": "mis-scaled", "factor": 64.0}, "mis-scaled by 64"),
        ({"verdict": "mis-scaled", "factor": 1 / 8}, "mis-scaled by 1/8"),
        ({"verdict": "dead"}, "dead"),
        ({"verdict": "partial", "missing": ["imc_3"]}, "partial: nothing from imc_3"),
        ({"verdict": "verified", "ratio": 1.001}, "verified: 1.001 of known traffic"),
        (
            {"verdict": "verified", "ratio": 1.001, "ratio_low": 0.99, "ratio_high": 1.01},
            "verified: 1.001 (0.990 to 1.010) of known traffic",
        ),
    ],
)
def test_verdicts_are_said_in_a_few_words(changes: dict[str, object], said: str) -> None:
    fields = {"event": "e", "evidence": "", "machine": "", "kernel": "", "made_at": ""}
    assert verdict_text(msgspec.convert(fields | changes, EventVerdict)) == said
