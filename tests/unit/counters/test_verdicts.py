"""Verdicts that are kept beside a machine and kernel."""

from pathlib import Path

import msgspec
import pytest

from memgauge.counters.host import Host
from memgauge.counters.verdicts import Place, keep, kept, place_of, with_verdicts
from memgauge.model.counting.events import Counter, EventVerdict
from memgauge.model.errors import SystemFailure
from memgauge.model.record_kinds.counters import CounterSet

EVENT = "perf:uncore_imc/cas_count_read/"
PLACE = Place(machine="0123456789ab", kernel="6.12.1-amd64")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def verdict(event: str = EVENT, word: str = "verified", **changes: object) -> EventVerdict:
    fields = {
        "event": event,
        "verdict": word,
        "evidence": "counted 1.001 of the known bytes",
        "machine": PLACE.machine,
        "kernel": PLACE.kernel,
        "made_at": "2026-01-02T03:04:05+00:00",
    }
    return msgspec.convert(fields | changes, EventVerdict)


def counters() -> CounterSet:
    counter = Counter(
        name=f"{EVENT}@uncore_imc_0@cpu0",
        event=EVENT,
        back_end="perf",
        quantity="read_bytes",
        domain="memory",
        scope="controller",
        unit="B",
        scale=64.0,
        scale_source="test",
        encoding="event=0x04",
        instance="uncore_imc_0@cpu0",
        slot=0,
        route="group",
    )
    return CounterSet(counters="test", slots=1, of=[counter])


def test_what_is_kept_is_read_back() -> None:
    keep(PLACE, [verdict(ratio=1.0, ratio_low=0.9, ratio_high=1.1)])
    assert kept(PLACE).of == {EVENT: verdict(ratio=1.0, ratio_low=0.9, ratio_high=1.1)}
    assert kept(PLACE).note is None


def test_a_verdict_on_a_gpu_is_of_that_gpu_and_its_driver() -> None:
    made = verdict(gpu="NVIDIA H100, GPU-1", instance="uncore_imc_0@cpu0", driver="580.65")
    place = msgspec.structs.replace(PLACE, driver="580.65")
    keep(place, [made])
    assert kept(place).of == {EVENT: made}
    assert kept(msgspec.structs.replace(PLACE, driver="570.1")).of == {}


def test_another_gpu_of_the_same_number_has_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgauge.counters.verdicts.place_of", lambda _: PLACE)
    for instance, known in (("uncore_imc_0@cpu0", True), ("GPU 1", False)):
        keep(PLACE, [verdict(gpu="NVIDIA H100", instance=instance)])
        (counter,) = with_verdicts(counters(), Host()).of
        assert (counter.verdict is not None) == known


def test_newer_verdicts_replace_older_ones_of_the_same_event_only() -> None:
    keep(PLACE, [verdict(), verdict("pcp:x")])
    keep(PLACE, [verdict(word="dead")])
    assert {v.event: v.verdict for v in kept(PLACE).of.values()} == {
        EVENT: "dead",
        "pcp:x": "verified",
    }


@pytest.mark.parametrize(
    "other",
    [
        Place(machine="ba9876543210", kernel=PLACE.kernel),
        Place(machine=PLACE.machine, kernel="7.0"),
    ],
)
def test_verdicts_hold_for_one_machine_and_kernel(other: Place) -> None:
    keep(PLACE, [verdict()])
    assert kept(other).of == {}
    note = kept(other).note
    if other.machine == PLACE.machine:
        assert f"not under {other.kernel}" in (note or "")
    else:
        assert note is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"format": 1}',
        b"null",
        b'{"format":1,"machine":"x","kernel":"y","verdicts":[]}',
    ],
)
def test_a_file_that_cannot_be_used_gives_no_verdict_and_says_so(content: bytes) -> None:
    keep(PLACE, [verdict()])
    PLACE.path.write_bytes(content)
    found = kept(PLACE)
    assert found.of == {}
    assert found.note is not None
    assert str(PLACE.path) in found.note
    keep(PLACE, [verdict()])
    assert kept(PLACE).of == {EVENT: verdict()}


def test_a_newer_format_is_left_alone_and_said() -> None:
    keep(PLACE, [verdict()])
    PLACE.path.write_bytes(PLACE.path.read_bytes().replace(b'"format": 1', b'"format": 2'))
    assert "format 2" in (kept(PLACE).note or "")


def test_a_disk_that_refuses_is_an_error_that_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(SystemFailure, match="verdicts cannot be kept"):
        keep(PLACE, [verdict()])


def test_a_tree_that_stands_in_for_sys_has_verdicts_of_its_own(tmp_path: Path) -> None:
    real, fake, other = (
        place_of(host)
        for host in (Host(), Host(sysfs=tmp_path / "tree"), Host(sysfs=tmp_path / "tree2"))
    )
    assert len({real.machine, fake.machine, other.machine}) == 3
    assert fake.machine.startswith(real.machine)


def test_counters_are_stamped_when_opened() -> None:
    host = Host()
    assert with_verdicts(counters(), host).of[0].verdict is None
    keep(place_of(host), [verdict(word="mis-scaled", factor=64.0)])
    stamped = with_verdicts(counters(), host).of[0].verdict
    assert stamped is not None
    assert stamped.factor == 64.0


def test_a_known_factor_is_applied_marked_and_noted() -> None:
    host = Host()
    made = verdict(word="mis-scaled", factor=64.0, ratio=63.0, encoding="event=0x04", scale=64.0)
    keep(place_of(host), [made])
    stamped = with_verdicts(counters(), host)
    (counter,) = stamped.of
    assert (counter.scale, counter.calibration, counter.documented_scale) == (1.0, 1 / 64, 64.0)
    assert counter.scale_source == "test; calibrated x1/64 by counters verify of 2026-01-02"
    assert any("MEMGAUGE_CALIBRATION=none switches it off" in note for note in stamped.notes)

    off = with_verdicts(counters(), Host(calibration="none"))
    assert (off.of[0].scale, off.of[0].calibration) == (64.0, None)
    assert any("no factor is applied" in note for note in off.notes)


def test_a_factor_of_no_known_cause_waits_for_a_request() -> None:
    made = verdict(word="mis-scaled", ratio=1.6, encoding="event=0x04", scale=64.0)
    keep(place_of(Host()), [made])
    stamped = with_verdicts(counters(), Host())
    assert stamped.of[0].calibration is None
    assert any("any applies x1/1.6" in note for note in stamped.notes)
    requested = with_verdicts(counters(), Host(calibration="any")).of[0]
    assert requested.scale == pytest.approx(40.0)


def test_a_factor_found_at_another_encoding_is_not_applied_and_said() -> None:
    made = verdict(word="mis-scaled", factor=64.0, encoding="event=0x05", scale=64.0)
    keep(place_of(Host()), [made])
    stamped = with_verdicts(counters(), Host(calibration="any"))
    assert (stamped.of[0].verdict, stamped.of[0].scale) == (None, 64.0)
    assert any("not applied; verify it again" in note for note in stamped.notes)


def test_names_of_files_do_not_leave_the_directory() -> None:
    assert Place(machine="../..", kernel="/etc/passwd").path.parent.parent.name == "verdicts"
