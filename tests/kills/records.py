"""Run directories that were left: valid line by line, reported on, and resumed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from jsonschema import Draft202012Validator
from tests.kills.left import run_directories
from tests.kills.processes import called

from memgauge.model.storage.cluster import MANIFEST_NAME
from memgauge.model.storage.run_file import read_run
from memgauge.model.storage.run_reader import RECORDS_NAME

if TYPE_CHECKING:
    from tests.kills.place import Place
    from tests.kills.scenarios import Scenario

_NOTHING_MEASURED = ("contains no complete record", "no such file")


class Looked(msgspec.Struct, frozen=True):
    """What came of the run directories of one command."""

    wrong: list[str]
    runs: int = 0
    reported: int = 0
    resumed: int = 0


def look_at(scenario: Scenario, place: Place, *, resumed: bool) -> Looked:
    """Validate and report on each; and resume it, or look whether its record was closed."""
    wrong: list[str] = []
    reported = completed = 0
    directories = run_directories(place)
    for directory in directories:
        wrong += _invalid(directory)
        if not resumed and scenario.runs != "job":
            wrong += _open_record(directory)
        said = _report(directory, place)
        reported += said == "reported"
        if said not in {"reported", "nothing measured"}:
            wrong.append(said)
        if resumed and _can_resume(scenario) and said == "reported":
            failed = _resume(directory, scenario, place)
            completed += not failed
            wrong += failed
    wrong += _job(place)
    return Looked(wrong, len(directories), reported, completed)


def _can_resume(scenario: Scenario) -> bool:
    return scenario.runs == "measured" and not scenario.reserves


@cache
def _validator() -> Draft202012Validator:
    schema = Path(__file__).parents[2] / "docs/schema/run-2.json"
    return Draft202012Validator(json.loads(schema.read_bytes()))


def _lines(directory: Path) -> list[Any]:
    """All whole ones; the last of a killed run may be torn."""
    content = (directory / RECORDS_NAME).read_bytes()
    return [json.loads(line) for line in content.split(b"\n")[:-1]]


def _invalid(directory: Path) -> list[str]:
    try:
        lines = _lines(directory)
    except ValueError as error:
        return [f"{directory.name}: a whole line is no JSON: {error}"]
    # One of each kind and the last: each of thousands of samples would take minutes.
    chosen = {line.get("kind"): line for line in lines}
    return [
        f"{directory.name}: {kind}: {error.message[:200]}"
        for kind, line in chosen.items()
        for error in _validator().iter_errors(line)
    ]


def _open_record(directory: Path) -> list[str]:
    end = read_run(directory).end
    return [] if end is not None else [f"{directory.name}: the record is not closed"]


def _report(directory: Path, place: Place) -> str:
    done = called(place, "report", str(directory), "--format", "summary")
    lines = done.error.splitlines()
    if done.code == 0:
        return "reported"
    one_line = len(lines) == 1 and lines[0].startswith("memgauge: ")
    if one_line and any(why in lines[0] for why in _NOTHING_MEASURED) and not _lines(directory):
        return "nothing measured"
    return f"report {directory.name}: exit code {done.code}: {done.error}"


def _resume(directory: Path, scenario: Scenario, place: Place) -> list[str]:
    memory = () if scenario.memory is None else ("--memory", scenario.memory)
    words = ("survey", "--resume", str(directory), "--budget", "0.2s", *memory)
    done = called(place, *words)
    if done.code and not done.is_empty:
        return [f"--resume {directory.name}: exit code {done.code}: {done.error}"]
    end = read_run(directory).end
    whole = end is not None and end.status in {"complete", "budget"}
    return [] if whole else [f"--resume {directory.name}: not completed: {end}"]


def _job(place: Place) -> list[str]:
    """A cluster's combined run, from whatever is there."""
    wrong = []
    for manifest in place.work.glob(f"*/{MANIFEST_NAME}"):
        done = called(place, "report", str(manifest.parent), "--format", "summary")
        if done.code:
            wrong.append(f"report of the cluster: exit code {done.code}: {done.error}")
    return wrong
