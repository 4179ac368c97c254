"""`--remember`, and what runs of a series know of each other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.integration import command

import memgauge
from memgauge.model.errors import ExitCode

pytestmark = pytest.mark.native
# Ends after half a second, or on a busy machine when it has an interval. One variant: which of two
# the headline figure is of may differ between runs, and then so does what it is held against.
SMALL = (
    *("--kernel", "copy", "--array-bytes", "64KiB", "--threads", "1", "--variant", "standard"),
    *("--budget", "30s", "--precision", "0.25"),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def stream(place: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return command.memgauge("stream", *SMALL, *arguments, cwd=place)


def test_a_run_states_what_its_figures_vary_by_once_three_are_known(place: Path) -> None:
    for number in range(2):
        done = stream(place, "--remember", "--output", f"out{number}")
        assert done.returncode == 0, done.stderr
        assert " between " not in done.stdout
    done = stream(place, "--remember", "--json")
    (headline,) = json.loads(done.stdout)["headlines"]
    assert headline["label"] == "Bandwidth"
    assert headline["between_runs"]["runs"] == 3
    (line,) = command.memgauge("system", "--remembered", cwd=place).stdout.splitlines()
    assert ": 3 runs, begun " in line
    done = stream(place, "--remember", "--output", "last")
    assert "between 4 runs" in " ".join(done.stdout.split()), done.stdout
    shown = command.memgauge("report", "last", "--format", "html", cwd=place).stdout
    assert " between 4 runs</dd>" in shown


def test_nothing_is_kept_and_nothing_read_unless_it_is_asked_for(place: Path) -> None:
    for _ in range(3):
        assert stream(place, "--remember").returncode == 0
    kept = {file: file.read_bytes() for file in (place.parent / "state").rglob("*.json")}
    document = json.loads(stream(place, "--json").stdout)
    assert [one["between_runs"] for one in document["headlines"]] == [None]
    assert {f: f.read_bytes() for f in (place.parent / "state").rglob("*.json")} == kept


def test_a_run_without_headline_figures_says_that_nothing_is_kept(place: Path) -> None:
    done = command.memgauge("misses", "--budget", "1s", "--remember", cwd=place)
    assert done.returncode in {0, ExitCode.FAILED}, done.stderr  # or nothing was measured
    assert "--remember: the run has no headline figures that could be kept" in done.stderr
    assert not (place.parent / "state").exists()


def test_what_is_remembered_is_forgotten_on_request(place: Path) -> None:
    assert stream(place, "--remember").returncode == 0
    assert command.memgauge("system", "--forget", cwd=place).stdout.startswith("removed ")
    assert command.memgauge("system", "--remembered", cwd=place).stdout == (
        "no runs are remembered\n"
    )


def test_a_damaged_file_is_named_and_the_run_is_made(place: Path) -> None:
    assert stream(place, "--remember").returncode == 0
    (file,) = (place.parent / "state/memgauge/earlier-runs").iterdir()
    file.write_text("{", encoding="ascii")
    done = stream(place, "--remember", "--output", "out")
    assert done.returncode == 0
    assert "it is damaged: its earlier runs are not used" in done.stderr
    codes = [warning.code for warning in memgauge.load(place / "out").run.warnings]
    assert "earlier-runs-unusable" in codes


def test_a_run_that_cannot_be_kept_is_still_reported(place: Path) -> None:
    (place.parent / "state").write_text("no directory, not even for root", encoding="ascii")
    done = stream(place, "--remember")
    assert done.returncode == 0
    assert "the headline figures cannot be kept" in done.stderr
    assert "Bandwidth" in done.stdout


def test_runs_of_a_series_know_each_other_without_the_state_directory(place: Path) -> None:
    done = stream(place, "--repeat", 3, "--output", "side")
    assert done.returncode == 0, done.stderr
    assert "between 3 runs" in " ".join(done.stdout.split())
    assert not (place.parent / "state").exists()
    known = [len(memgauge.load(place / "side" / f"run-{at}").run.start.earlier) for at in (1, 2, 3)]
    assert known == [0, 1, 2]


REFUSED = [
    (("system", "--clean", "--forget"), "--clean and --forget are mutually exclusive"),
    (("system", "--remembered", "--json"), "--remembered prints lines of text"),
    (("survey", "--resume", "out", "--remember"), "--resume: a run is completed with the options"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=str)
def test_bad_requests_are_one_line(place: Path, words: tuple[str, ...], said: str) -> None:
    done = command.memgauge(*words, cwd=place)
    assert done.returncode == 2
    assert said in done.stderr
