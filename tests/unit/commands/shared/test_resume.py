"""A run's file does not choose what is created, written to or reserved when it is resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.unit.model import build

from memgauge.__main__ import main
from memgauge.commands.shared import resume
from memgauge.model.storage.codec import encode


class Measured:
    """Stands in for the measurement, which would open the memory."""

    def __init__(self) -> None:
        self.memories: list[str] = []

    def __call__(self, chosen: Any, *_: object, **__: object) -> int:
        self.memories = [str(memory) for _, one in chosen for memory in one.memories]
        return 0


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    made = Measured()
    monkeypatch.setattr(resume, "measure", made)
    return made


def a_run(directory: Path, **parameters: dict[str, str | bool | None]) -> str:
    start = msgspec.structs.replace(
        build.start(), experiments=list(parameters), parameters=parameters
    )
    directory.mkdir()
    (directory / "records.jsonl").write_bytes(encode(start))
    return str(directory)


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return error


@pytest.mark.native
def test_ordinary_memory_is_measured_on(tmp_path: Path, measured: Measured) -> None:
    run = a_run(tmp_path / "run", stream={"memory": "dram"}, latency={"memory": None})
    assert main(["survey", "--resume", run]) == 0
    assert measured.memories == ["dram", "dram"]


@pytest.mark.native
@pytest.mark.parametrize(
    "memory", ["file:{0}/victim", "pmemobj:{0}/victim", "devdax:/dev/dax0.0", "node:0", "shm:"]
)
def test_other_memory_is_used_only_if_it_is_named_again(
    memory: str, tmp_path: Path, measured: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = memory.format(tmp_path)
    run = a_run(tmp_path / "run", stream={"memory": memory})
    assert main(["survey", "--resume", run]) == 2
    error = refusal(capsys)
    assert f"was measured in '{memory[:57]}" in error
    assert f"add --memory {memory}" in error
    assert measured.memories == []
    assert not (tmp_path / "victim").exists()
    assert main(["survey", "--resume", run, "--memory", memory]) == 0
    assert measured.memories == [memory]


@pytest.mark.native
def test_each_memory_of_a_run_is_named(
    tmp_path: Path, measured: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path / "run", tiers={"a": "file:/a:file:/a", "b": "file:/b:file:/b"})
    assert main(["survey", "--resume", run, "--memory", "file:/a"]) == 2
    assert "add --memory file:/b" in refusal(capsys)
    assert main(["survey", "--resume", run, "--memory", "file:/a", "--memory", "file:/b"]) == 0
    assert set(measured.memories) == {"file:/a", "file:/b"}


@pytest.mark.native
def test_memory_that_the_run_did_not_use_is_refused(
    tmp_path: Path, measured: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path / "run", stream={"memory": "dram"})
    assert main(["survey", "--resume", run, "--memory", "file:/other"]) == 2
    assert "was not measured in 'file:/other'; leave it out" in refusal(capsys)
    assert main(["survey", "--resume", run, "--memory", "nonsense"]) == 2
    assert "is not a kind of memory" in refusal(capsys)
    assert measured.memories == []


@pytest.mark.native
def test_a_device_is_overwritten_only_if_that_is_said_again(
    tmp_path: Path, measured: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = "devdax:/dev/dax0.0"
    run = a_run(tmp_path / "run", stream={"memory": memory, "overwrite": True})
    words = ["survey", "--resume", run, "--memory", memory]
    assert main(words) == 2
    assert "add --overwrite" in refusal(capsys)
    assert measured.memories == []
    assert main([*words, "--overwrite"]) == 0
    assert measured.memories == [memory]


@pytest.mark.native
def test_pages_are_not_reserved_for_a_file(
    tmp_path: Path, measured: Measured, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path / "run", pages={"pages": "2m", "reserve_bytes": "1GiB"})
    assert main(["survey", "--resume", run]) == 2
    assert "start a new run" in refusal(capsys)
    assert measured.memories == []


def test_other_options_are_those_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["survey", "--resume", str(tmp_path), "--threads", "1"]) == 2
    assert "leave out all but --budget, --precision and --json" in refusal(capsys)


def test_a_survey_measures_one_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survey", "--memory", "dram", "--memory", "node:0"]) == 2
    assert "a survey measures one memory, and 2 are given" in refusal(capsys)
