from pathlib import Path

import msgspec
import pytest
from tests.unit.analysis.cluster.nodes import manifest, manifest_node, node
from tests.unit.analysis.runs import records

from memgauge.__main__ import main
from memgauge.cluster.combined import (
    figures_of_node,
    load_combined,
    write_figures,
    write_manifest,
)
from memgauge.model.errors import RunFileError
from memgauge.model.records import RunEnd, RunStart
from memgauge.model.storage.cluster import (
    FIGURES_NAME,
    LAST_WORD,
    MANIFEST_NAME,
    NodeFigures,
    is_name,
    log_path,
    node_directory,
    read_figures,
    read_manifest,
)
from memgauge.model.storage.codec import encode


def records_of(directory: Path, name: str, *, until: int | None = None) -> Path:
    """A node's run of made-up records, killed after so many of them."""
    place = node_directory(directory, name)
    place.mkdir(parents=True)
    lines = [encode(one) for one in records(16)][:until]
    (place / "records.jsonl").write_bytes(b"".join(lines))
    return place


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = manifest(["one", "other"], unheard=[7])
    write_manifest(tmp_path, made)
    assert read_manifest(tmp_path) == made


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", ".hidden", "-x", "a b", "ä"])
def test_names_that_are_no_names_of_directories_are_refused(name: str, tmp_path: Path) -> None:
    assert not is_name(name)
    write_manifest(tmp_path, manifest([name]))
    with pytest.raises(RunFileError, match="names of nodes"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format_version": 1}', '{"format_version": "new"}', "\0" * 100]
)
def test_what_is_no_manifest_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / MANIFEST_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(RunFileError) as refused:
        load_combined(tmp_path)
    assert "\n" not in str(refused.value)
    assert MANIFEST_NAME in str(refused.value)


def test_a_later_version_is_named(tmp_path: Path) -> None:
    write_manifest(tmp_path, manifest(["one"], format_version=99))
    with pytest.raises(RunFileError, match="written by a later memgauge, in format version 99"):
        read_manifest(tmp_path)


def test_figures_of_a_node_are_used_as_its_own_analysis_made_them(tmp_path: Path) -> None:
    place = records_of(tmp_path, "one")
    assert write_figures(place) is None
    made = read_figures(place / FIGURES_NAME)
    assert made.ended == "budget"
    names = {one.name for one in made.figures}
    assert {"stream/triad/tuned/double/2t", "latency/DRAM/block-random/thp"} <= names
    assert not any(name.startswith("workingset/") for name in names)
    (place / "records.jsonl").unlink()
    write_manifest(tmp_path, manifest(["one"]))
    assert load_combined(tmp_path).cluster.figures == {"one": made}


@pytest.mark.parametrize("value", ["0", "-1", "1e300", "NaN", '"x"', "null"])
def test_figures_that_are_no_measurements_are_refused(value: str, tmp_path: Path) -> None:
    place = node_directory(tmp_path, "one")
    place.mkdir(parents=True)
    made = msgspec.json.encode(node()).decode()
    first = node().figures[0].value
    (place / FIGURES_NAME).write_text(made.replace(f'"value":{first}', f'"value":{value}', 1))
    write_manifest(tmp_path, manifest(["one"]))
    assert FIGURES_NAME in load_combined(tmp_path).cluster.missing["one"]


def test_figures_of_a_run_that_was_resumed_are_made_anew(tmp_path: Path) -> None:
    place = records_of(tmp_path, "one", until=600)
    assert write_figures(place) is None
    write_manifest(tmp_path, manifest(["one"]))
    before = load_combined(tmp_path).cluster.figures["one"]
    assert before.records_bytes == (place / "records.jsonl").stat().st_size
    more = b"".join(encode(one) for one in list(records(16))[600:])
    (place / "records.jsonl").write_bytes((place / "records.jsonl").read_bytes() + more)
    after = load_combined(tmp_path).cluster.figures["one"]
    assert (before.ended, after.ended) == (None, "budget")


def test_a_killed_node_is_combined_by_what_it_had_measured(tmp_path: Path) -> None:
    whole = len(list(records(16)))
    records_of(tmp_path, "killed", until=whole // 2)
    records_of(tmp_path, "begun", until=1)
    nodes = [
        manifest_node(name, state="cut short", why="the job was ended by SIGTERM")
        for name in ("killed", "begun", "never")
    ]
    write_manifest(tmp_path, manifest([], nodes=nodes))
    combined = load_combined(tmp_path)
    assert list(combined.cluster.figures) == ["killed"]
    assert combined.cluster.figures["killed"].ended is None
    assert combined.cluster.missing == {
        "begun": "its survey ended before anything was measured",
        "never": "the job was ended by SIGTERM",
    }
    assert "The survey of killed was ended early (the job was ended by SIGTERM)" in " ".join(
        combined.text().split()
    )


def test_a_budget_that_was_too_short_is_the_reason(tmp_path: Path) -> None:
    place = records_of(tmp_path, "hasty", until=1)
    end = RunEnd(status="budget", elapsed_s=21.0, rounds=0)
    with (place / "records.jsonl").open("ab") as file:
        file.write(encode(end))
    why = write_figures(place)
    assert why == "its budget of 1 min 00 s was spent on preparation; increase --budget"


def test_the_node_that_died_is_told_from_those_that_were_ended(tmp_path: Path) -> None:
    for name in ("dead", "ended"):
        records_of(tmp_path, name, until=600)
        log = log_path(tmp_path, name)
        log.parent.mkdir(exist_ok=True)
        log.write_text("preparing\n" + f"{LAST_WORD} SIGTERM\n" * (name == "ended"))
    nodes = [
        manifest_node(name, rank, state="cut short", why="the job was ended by SIGTERM")
        for rank, name in enumerate(("dead", "ended"))
    ]
    write_manifest(tmp_path, manifest([], nodes=nodes))
    known = load_combined(tmp_path).cluster.nodes
    assert known["dead"].why == "its leading rank, 0, died without reporting why"
    assert known["ended"].why == "the job was ended by SIGTERM"
    assert load_combined(tmp_path, ending=True).cluster.nodes["dead"].why == known["ended"].why


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "measuring"}, "it was measuring when the job was killed"),
        ({"state": "waiting"}, "it was waiting when the job was killed"),
        ({"directory": "/there/nodes/one"}, "its files are on that node, in /there/nodes/one"),
        ({}, "its files are lost"),
    ],
)
def test_why_a_node_has_no_figures(changes: dict[str, object], why: str, tmp_path: Path) -> None:
    assert figures_of_node(tmp_path, manifest_node("one", **changes)) == why


def test_corrupt_records_are_a_reason_and_stop_nobody(tmp_path: Path) -> None:
    place = records_of(tmp_path, "bad")
    (place / "records.jsonl").write_text("nonsense\n", encoding="utf-8")
    records_of(tmp_path, "good")
    (node_directory(tmp_path, "good") / FIGURES_NAME).write_bytes(msgspec.json.encode(node()))
    write_manifest(tmp_path, manifest(["bad", "good"]))
    combined = load_combined(tmp_path)
    assert list(combined.cluster.figures) == ["good"]
    assert "not a memgauge run" in combined.cluster.missing["bad"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    for name in ("one", "other"):
        assert write_figures(records_of(directory, name)) is None
    write_manifest(directory, manifest(["one", "other"]))
    return directory


def test_report_renders_a_combined_run(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(run)]) == 0
    assert "2 of 2 nodes measured" in capsys.readouterr().out
    assert (run / "summary.txt").is_file()
    assert (run / "report.html").is_file()
    for form in ("summary", "html", "json"):
        assert main(["report", str(run), "--format", form]) == 0
    assert main(["report", str(run), "--format", "stream"]) == 2
    assert "give the run of one node" in capsys.readouterr().err


def test_nodes_of_a_combined_run_are_compared_as_any_runs(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [str(run / "nodes" / name) for name in ("one", "other")]
    assert main(["compare", *places]) == 0
    assert "Comparison of memory figures" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["compare", "RUN", "RUN"], ["export", "RUN"]])
def test_what_takes_one_run_says_what_to_give(
    words: list[str], run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(run) if word == "RUN" else word for word in words]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "a combined run of many nodes; give the run of one" in error


def test_made_up_records_are_what_the_tests_take_them_for() -> None:
    made = list(records(16))
    assert isinstance(made[0], RunStart)
    assert isinstance(made[-1], RunEnd)
    assert isinstance(node(), NodeFigures)
