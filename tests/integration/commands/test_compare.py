"""`memgauge compare` as a user meets it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.integration import command
from tests.unit.analysis.runs import records, start

import memgauge
from memgauge.model.errors import RequestError
from memgauge.model.records import AnyRecord, RunStart, Sample
from memgauge.model.storage.codec import encode

ROUNDS = 80
"""Enough for intervals."""


def compare(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return command.memgauge("compare", *arguments, cwd=cwd)


def slower(record: AnyRecord) -> AnyRecord:
    """Of a copy: every sample took a tenth longer."""
    if not isinstance(record, Sample) or "copy" not in record.point:
        return record
    threads = [
        msgspec.structs.replace(
            thread, end_ns=[1000 + round(1.1 * (end - 1000)) for end in thread.end_ns]
        )
        for thread in record.threads
    ]
    return msgspec.structs.replace(record, threads=threads)


def write(directory: Path, of: Iterator[AnyRecord]) -> None:
    directory.mkdir()
    named = (
        msgspec.structs.replace(one, run_id=directory.name) if isinstance(one, RunStart) else one
        for one in of
    )
    (directory / "records.jsonl").write_bytes(b"".join(map(encode, named)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories of runs: `one`, `again`, `slow` and `empty`, which has no points.

    `a4` to `a6` are more runs like `one`, `b7` to `b9` like `slow`; `series-a` and `series-b` hold
    them as `--repeat` does.
    """
    directory = tmp_path_factory.mktemp("compare")
    write(directory / "one", records(ROUNDS))
    write(directory / "again", records(ROUNDS, seed=2))
    write(directory / "slow", map(slower, records(ROUNDS, seed=3)))
    for seed in range(4, 10):
        change = slower if seed > 6 else lambda one: one
        write(directory / f"{'ab'[seed > 6]}{seed}", map(change, records(ROUNDS, seed=seed)))
    for side in "ab":
        (directory / f"series-{side}").mkdir()
        for number, run in enumerate(sorted(directory.glob(f"{side}[0-9]")), start=1):
            (directory / f"series-{side}" / f"run-{number}").symlink_to(run)
    write(directory / "empty", iter([start()]))
    (directory / "folder").mkdir()
    (directory / "text").write_text("no run\n", encoding="ascii")
    return directory


def test_two_runs_of_one_machine_are_the_same(runs: Path) -> None:
    done = compare("one", "again", "--all", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "its recorded properties are equal" in " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_page_opens_without_a_network(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = compare("reference:nvdimm-dram", "reference:nvdimm", "--html", str(page), cwd=runs)
    assert done.returncode == 0, done.stderr
    assert str(page) in done.stderr
    written = page.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in written
    assert "no single component" not in written
    assert "43.1" in written


def test_json_is_one_document_on_stdout_and_nothing_else(runs: Path) -> None:
    done = compare("one", "slow", "--json", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["kind"] == "comparison"
    rows = {row["name"]: row for row in document["pairs"][0]["rows"]}
    slow = rows["stream/copy/tuned/double/1t"]
    assert slow["verdict"] == "differs between these two runs"
    assert slow["ratio"]["high"] < 1
    assert not any(row["stands"] for row in rows.values())


def test_a_slower_run_fails_with_its_figures_named(runs: Path) -> None:
    done = compare("one", "slow", "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == 4
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "memgauge: slower by more than 5% between these runs: stream/copy/tuned/double/1t in slow"
    )


def test_a_gate_needs_no_share_at_the_end_of_the_line(runs: Path) -> None:
    done = compare("one", "slow", "--fail-if-slower", cwd=runs)
    assert done.returncode == 4
    assert "slower by more than 5% between these runs" in done.stderr


@pytest.mark.parametrize("other", ["one", "again"])
def test_a_run_that_is_not_slower_passes(runs: Path, other: str) -> None:
    done = compare("one", other, "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == 0, done.stderr


def test_a_slower_run_passes_a_wider_gate(runs: Path) -> None:
    assert compare("one", "slow", "--fail-if-slower", "20%", cwd=runs).returncode == 0


def test_figures_that_a_gate_cannot_judge_are_named(runs: Path) -> None:
    done = compare("one", "again", "reference:nvdimm", "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == 0
    assert done.stderr.startswith("memgauge: --fail-if-slower: not judged: ")


def test_only_some_figures(runs: Path) -> None:
    done = compare("one", "slow", "--only", "latency/*", "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "stream" not in done.stdout.partition("B against A")[2]


def test_the_library_is_listed_one_line_each(tmp_path: Path) -> None:
    done = compare("--list", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 12
    assert lines[0] == "reference:nvdimm-dram: STREAM on DRAM over 1 to 32 threads"


def test_several_runs_a_side_tell_what_is_slower(runs: Path) -> None:
    done = compare("a4,a5,a6", "b7,b8,b9", "--json", cwd=runs)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [run["name"] for run in document["sources"][1]["runs"]] == ["b7", "b8", "b9"]
    (pair,) = document["pairs"]
    assert len(pair["paces"]["baseline"]) == len(pair["paces"]["other"]) == 3
    rows = {row["name"]: row for row in pair["rows"]}
    slow = rows["stream/copy/tuned/double/1t"]
    assert (slow["verdict"], slow["stands"]) == ("slower", True)
    assert slow["ratio_apart_from_pace"]["value"] == pytest.approx(1 / 1.1, abs=0.03)
    assert all("copy" in name for name, row in rows.items() if row["stands"])


def test_a_side_of_several_runs_fits_80_columns(runs: Path) -> None:
    done = compare("a4,a5,a6", "b7,b8,b9", "--all", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "apart from pace" in " ".join(done.stdout.split())
    assert "Common pace" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        (("a4,a5,a6", "b7,b8,b9"), 4),
        (("a4,a5,a6", "b7"), 4),
        (("series-a", "series-b"), 4),
        (("a4", "b7,b8,b9"), 4),
        (("b7,b8,b9", "a4,a5,a6"), 0),
        (("a4,a5,a6", "one,again"), 0),
        (("a4,a5", "a6,one", "again,b7"), 0),
    ],
    ids=str,
)
def test_the_gate_of_several_runs(runs: Path, sides: tuple[str, ...], code: int) -> None:
    done = compare(*sides, "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == code, done.stderr
    if code:
        assert "memgauge: slower by more than 5%: stream/copy" in done.stderr


BAD_INPUT = [
    (("a4,a5", "b7"), "two runs and one do not show"),
    (("a4,a5,a4", "b7,b8"), "named twice"),
    (("a4,a5", "b7,a5"), "named twice"),
    (("a4,reference:nvdimm-dram", "b7,b8"), "a published table is one result"),
    (("a4,,a5", "b7,b8"), "a name is missing beside a comma"),
    (("a4,nowhere", "b7,b8"), "nowhere"),
    (("a4,empty", "b7,b8"), "'a4,empty': holds no figure"),
    ((), "no sources given"),
    (("one",), "1 source given"),
    (("one", "nowhere"), "nowhere"),
    (("one", "folder"), "folder"),
    (("one", "text"), "text: is neither a run nor the output of STREAM, "),
    (("one", "empty"), "'empty': holds no figure"),
    (("one", "nvdimm"), "write reference:nvdimm"),
    (("one", "reference:nvdim"), "choose from nvdimm-dram"),
    (("one", "reference:nvdimm-difference"), "compare nvdimm-dram with nvdimm"),
    (("one", "reference:hybrid12-tlb"), "compare runs that measured the same things"),
    (("one", "again", "--only", "none/*"), "--only 'none/*'"),
    (("one", "again", "--fail-if-slower", "5"), "--fail-if-slower"),
    (("one", "again", "--fail-if-slower", "-1%"), "-1"),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_INPUT, ids=lambda value: " ".join(value)[:40])
def test_bad_input_is_one_line_and_exit_code_2(
    runs: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = compare(*arguments, cwd=runs)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("memgauge: ")
    assert said in done.stderr


def test_a_gate_that_judges_nothing_does_not_pass(runs: Path) -> None:
    done = compare("one", "reference:nvdimm-dram", "--fail-if-slower", "5%", cwd=runs)
    assert done.returncode == 2
    assert "nothing can be judged" in done.stderr


def test_an_unwritable_page_is_one_line(runs: Path) -> None:
    done = compare("one", "again", "--html", "text/page.html", cwd=runs)
    assert done.returncode in {1, 2}
    assert done.stderr.count("\n") == 1
    assert "text/page.html" in done.stderr


def test_comparing_needs_no_native_core(runs: Path, tmp_path: Path) -> None:
    environment = command.without_core(tmp_path)
    done = command.memgauge("compare", "one", "again", cwd=runs, environment=environment)
    assert done.returncode == 0, done.stderr


def test_help_names_what_can_be_asked(tmp_path: Path) -> None:
    text = compare("--help", cwd=tmp_path).stdout
    for option in ("--list", "--only", "--html", "--json", "--fail-if-slower"):
        assert f"  {option} " in text


def test_from_python(runs: Path) -> None:
    compared = memgauge.compare(runs / "one", "reference:nvdimm-dram", only="stream/*")
    assert "B/A" in compared.text()
    assert compared.document()["sources"][1]["published"]
    assert memgauge.compare(memgauge.load(runs / "one"), runs / "slow").slower_than(0.05)
    several = memgauge.compare(
        [runs / "a4", memgauge.load(runs / "a5")], [str(runs / "b7"), runs / "b8"]
    )
    assert len(several.document()["sources"][0]["runs"]) == 2
    with pytest.raises(RequestError, match="a side without runs"):
        memgauge.compare([], [runs / "one"])
    with pytest.raises(RequestError, match="1 source"):
        memgauge.compare(runs / "one")
