"""`memgauge trend`: what it reads, what it refuses, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.store.nights import of_night, slowed, usual_records

from memgauge.commands.trend import command
from memgauge.model.errors import RequestError, RunFileError
from memgauge.model.storage.run_writer import RunWriter


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs of one machine, slower by 20% from the eighth on, and one of another."""
    place = tmp_path_factory.mktemp("fleet")
    usual = usual_records()
    for at in range(13):
        factor = (1.25 if 7 <= at < 12 else 1.0) * (1 + 0.002 * (at % 3))
        name = "young/only" if at == 12 else f"old/night{at:02}"
        with RunWriter(place / name) as writer:
            writer.write(of_night(slowed(usual, factor), f"run{at}", f"2026-03-{at + 1:02}"))
    return place


def trend(*words: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)


def test_runs_of_a_directory_are_of_the_machine_that_it_is_named_after(fleet: Path) -> None:
    document = json.loads(trend(fleet, "--json").stdout)
    assert {one["machine"]: one["runs"] for one in document["machines"]} == {"old": 12, "young": 1}
    assert any("young: too few runs to tell: 1 of" in one["text"] for one in document["verdicts"])


def test_a_slower_machine_fails_the_gate(fleet: Path) -> None:
    done = trend(fleet, "--fail-if-slower")
    assert done.return_value == 4
    assert "slower by more than 5%: old: all figures together" in done.stderr
    assert "too few runs to tell: young (1 runs)" in done.stderr
    assert trend(fleet, "--fail-if-slower", "30%").return_value == 0
    assert trend(fleet, "--recent", "1d", "--fail-if-slower").return_value == 0


def test_the_gate_never_passes_by_telling_nothing(fleet: Path) -> None:
    done = trend(fleet / "young", "--fail-if-slower")
    assert isinstance(done.exception, RequestError)
    assert "too few runs to tell: 1 of the 8" in str(done.exception)


def test_runs_are_added_to_a_store_and_its_trend_is_shown(fleet: Path, tmp_path: Path) -> None:
    pytest.importorskip("polars")
    store = tmp_path / "store"
    done = trend(fleet / "old", "--add-to", store, "--machine", "node17", "--json")
    assert done.exception is None
    assert "added: 12 runs of node17" in done.stderr
    by_store = json.loads(done.stdout)
    direct = json.loads(trend(fleet / "old", "--machine", "node17", "--json").stdout)
    assert by_store == direct
    assert "12 files into 1 month" in trend("--compact", store).stderr
    assert json.loads(trend(store, "--json").stdout) == direct


def test_only_and_since_select(fleet: Path) -> None:
    document = json.loads(trend(fleet / "old", "--only", "latency/*", "--json").stdout)
    names = {one["name"] for one in document["machines"][0]["levels"]}
    assert names
    assert all(name.startswith("latency/") for name in names)
    document = json.loads(trend(fleet, "--since", "5d", "--json").stdout)
    assert document["runs"] == 6


def test_the_page_is_written(fleet: Path, tmp_path: Path) -> None:
    page = tmp_path / "trend.html"
    assert trend(fleet, "--html", page).exception is None
    assert "Memory over time" in page.read_text()


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ((), RequestError, "no runs are named"),
        (("nowhere",), RunFileError, "nowhere"),
        (("EMPTY",), RequestError, "no run in"),
        (("FLEET", "--only", "nothing/*"), RequestError, "no figure matches --only"),
        (("FLEET", "--since", "soon"), RequestError, "--since 'soon' is not a time"),
        (("FLEET", "--recent", "0"), RequestError, "--recent '0' is zero"),
        (("FLEET", "--compact"), RequestError, "is not a store of figures"),
        (("FLEET", "--add-to", "EMPTY", "--machine", "a/b"), RequestError, "is not the name of a"),
    ],
)
def test_what_cannot_be_met_is_one_line(
    words: tuple[str, ...], error: type[Exception], message: str, fleet: Path, tmp_path: Path
) -> None:
    places = {"FLEET": fleet, "EMPTY": tmp_path}
    done = trend(*(places.get(word, word) for word in words))
    assert isinstance(done.exception, error)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
