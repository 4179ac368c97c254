"""What is kept of runs for later ones: where, of which runs, and when a file cannot be used."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.runs import start

from memgauge.model.errors import SystemFailure
from memgauge.model.records import EarlierRun, RunStart
from memgauge.system import earlier_runs
from memgauge.system.earlier_runs import (
    IN_RUN,
    MOST_RUNS,
    KeptRun,
    alike,
    forget,
    keep,
    known_before,
    made_as,
    remembered,
)

FIGURES = {"best bandwidth, p90": 33.1}
MACHINE = start().system.machine_id


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(earlier_runs, "_host", lambda: "node-1")
    return tmp_path / "state/memgauge/earlier-runs"


def begun(number: int = 1, **changes: object) -> RunStart:
    started_at = f"2026-01-02T03:{number // 60:02}:{number % 60:02}+00:00"
    fields = {"run_id": f"r{number}", "started_at": started_at} | changes
    return msgspec.structs.replace(start(), **fields)


def known(directory: Path = Path("out"), machine: str = MACHINE) -> list[KeptRun]:
    found = known_before(directory, machine, remembered=True)
    assert not found.warnings
    return found.runs


def test_what_is_remembered_is_known_to_the_next_run(state: Path) -> None:
    assert known() == []
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (one,) = alike(begun(2), known())
    assert (one.run_id, one.figures) == ("r1", FIGURES)
    assert len(list(state.iterdir())) == 1
    assert known_before(Path("out"), MACHINE, remembered=False).runs == []


def test_nothing_is_written_unless_it_is_asked_for(state: Path, tmp_path: Path) -> None:
    keep(begun(), FIGURES, tmp_path / "out", remember=False)
    assert not state.exists()
    assert not (tmp_path / "out").exists()


DIFFERENT: list[dict[str, object]] = [
    {"memgauge_version": "0.2.0"},
    {"experiments": ["stream"]},
    {"parameters": {"stream": {"threads": "1"}}},
    {"budget_s": 30.0},
    {"precision": 0.02},
    {"system": msgspec.structs.replace(start().system, allowed_cpus=[0])},
    {"system": msgspec.structs.replace(start().system, machine_id="another")},
]


@pytest.mark.parametrize("changes", DIFFERENT, ids=lambda changes: next(iter(changes)))
def test_runs_made_otherwise_are_not_alike(changes: dict[str, object]) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    assert alike(begun(2, **changes), known()) == []


def test_a_machine_in_another_state_is_the_same_machine() -> None:
    after = msgspec.structs.replace(start().system, kernel="Linux 7.0", available_bytes=1)
    assert made_as(begun(1)) == made_as(begun(2, system=after))


def test_hosts_of_one_kind_with_one_home_are_kept_apart(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    monkeypatch.setattr(earlier_runs, "_host", lambda: "node-2")
    assert known() == []
    keep(begun(2), FIGURES, Path("out"), remember=True)
    assert len(list(state.iterdir())) == 2
    assert len(remembered()) == 2


def test_only_the_last_runs_are_kept() -> None:
    for number in range(MOST_RUNS + 3):
        keep(begun(number), FIGURES, Path("out"), remember=True)
    found = [one.run_id for one in alike(begun(999), known())]
    assert found == [f"r{number}" for number in range(3, MOST_RUNS + 3)]


def test_a_run_is_not_its_own_predecessor() -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    assert alike(begun(1), known()) == []


def test_runs_of_a_series_know_the_earlier_ones(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        run = tmp_path / f"run-{number}"
        run.mkdir()
        keep(begun(number), FIGURES, run, remember=False)
        assert (run / IN_RUN).exists()
    assert [one.run.run_id for one in known(tmp_path / "run-3")] == ["r1", "r2"]
    assert known(tmp_path / "run-1") == []
    assert known(tmp_path / "another") == []


def test_a_run_that_is_kept_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()
    keep(begun(1), FIGURES, tmp_path / "run-1", remember=True)
    assert len(alike(begun(2), known(tmp_path / "run-2"))) == 1


BROKEN = [
    (b"{", "it is damaged"),
    (b"", "it is damaged"),
    (b"\xff", "it is damaged"),
    (b"[" * 100_000, "it is damaged"),
    (b"{}", "it is damaged"),
    (b" " * (2 << 20), "the limit for such files"),
]


@pytest.mark.parametrize(("content", "why"), BROKEN, ids=range(len(BROKEN)))
def test_a_damaged_file_is_left_out_with_a_word_and_replaced(
    state: Path, content: bytes, why: str
) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (file,) = state.iterdir()
    file.write_bytes(content)
    found = known_before(Path("out"), MACHINE, remembered=True)
    assert found.runs == []
    (warning,) = found.warnings
    assert why in warning.message
    assert warning.message.endswith("its earlier runs are not used")
    assert why in remembered()[0]
    keep(begun(2), FIGURES, Path("out"), remember=True)
    assert [one.run.run_id for one in known()] == ["r2"]


@pytest.mark.parametrize("value", ["0", "-1", "1e31", "null", "NaN"])
def test_a_figure_that_none_can_be_makes_the_file_unusable(state: Path, value: str) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (file,) = state.iterdir()
    file.write_text(file.read_text(encoding="utf-8").replace("33.1", value), encoding="utf-8")
    assert known_before(Path("out"), MACHINE, remembered=True).warnings


def test_a_file_of_another_version_is_neither_used_nor_replaced(state: Path) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (file,) = state.iterdir()
    newer = file.read_text(encoding="utf-8").replace('"format": 1', '"format": 2')
    file.write_text(newer, encoding="utf-8")
    (warning,) = known_before(Path("out"), MACHINE, remembered=True).warnings
    assert "has format 2, which this version does not know" in warning.message
    with pytest.raises(SystemFailure, match="this run is not remembered"):
        keep(begun(2), FIGURES, Path("out"), remember=True)
    assert file.read_text(encoding="utf-8") == newer


def test_a_link_is_replaced_and_not_followed(state: Path, tmp_path: Path) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (file,) = state.iterdir()
    other = tmp_path / "other"
    other.write_text("mine", encoding="ascii")
    file.unlink()
    file.symlink_to(other)
    keep(begun(2), FIGURES, Path("out"), remember=True)
    assert other.read_text(encoding="ascii") == "mine"
    assert not file.is_symlink()


def test_a_fifo_is_not_waited_for(state: Path) -> None:
    keep(begun(1), FIGURES, Path("out"), remember=True)
    (file,) = state.iterdir()
    file.unlink()
    os.mkfifo(file)
    (warning,) = known_before(Path("out"), MACHINE, remembered=True).warnings
    assert "not a regular file" in warning.message
    with pytest.raises(SystemFailure, match="cannot be kept"):
        keep(begun(2), FIGURES, Path("out"), remember=True)


def test_what_is_remembered_is_listed_and_forgotten(state: Path) -> None:
    assert remembered() == ["no runs are remembered"]
    keep(begun(1), FIGURES, Path("out"), remember=True)
    keep(begun(2), FIGURES, Path("out"), remember=True)
    (line,) = remembered()
    assert line.startswith("node-1, Example Processor: 2 runs, begun 2026-01-02T03:00:01+00:00 to ")
    assert str(state) in line
    (said,) = forget()
    assert said.startswith("removed ")
    assert list(state.iterdir()) == []
    assert forget() == ["no runs are remembered"]


def test_without_a_home_nothing_is_known_and_keeping_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("memgauge.model.storage.user_directories._home", lambda: None)
    assert known() == []
    with pytest.raises(SystemFailure, match="no home directory"):
        keep(begun(), FIGURES, Path("out"), remember=True)


def test_the_record_takes_what_is_kept() -> None:
    run = EarlierRun(run_id="r1", started_at="2026-01-02T03:04:05+00:00", figures=FIGURES)
    line = msgspec.json.encode(begun(earlier=[run]))
    assert msgspec.json.decode(line, type=RunStart).earlier == [run]
