"""Standard streams that are closed, full, or whose reader left: each command does its work.

What is printed on a full or closed standard output is an error, as with GNU's tools; what cannot be
printed on standard error never changes the exit code.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.integration.command import command, without_rebuild
from tests.unit.analysis.runs import records

from memgauge.experiments.registry import EXPERIMENTS
from memgauge.model.storage.run_file import RunWriter, read_run

pytestmark = pytest.mark.native

PRINTING = [
    ("--help",),
    ("system",),
    ("system", "--json"),
    ("report", "RUN", "--format", "html"),
    ("export", "RUN"),
]
"""One for each way of printing: help, text, a document, a page, and rows one by one."""
PRINTING_ALIKE = [
    ("--version",),
    ("survey", "--help"),
    ("machines",),
    ("counters",),
    ("counters", "--json"),
    ("counters", "explain", "perf:page-faults"),
    ("region",),
    ("schema",),
    ("report", "RUN"),
    ("compare", "RUN", "RUN"),
    ("figures", "RUN", "--format", "json"),
]
"""In one of these ways, whatever the streams are."""
REFUSED = [("stream", "--nothing"), ("nothing",), ("report", "no-such-run")]
FAST = ("--budget", "20s", "--precision", "0.9", "--output", "new")
LATENCY = ("latency", *FAST)
STREAM = ("stream", "--array-bytes", "64KiB", "--kernel", "copy", "--threads", "1", *FAST)
SURVEY = ("survey", "--only", "latency", *FAST)
"""They end in the same way: each is tried on other streams."""
CLOSED = b"standard output: cannot be written: Bad file descriptor"
FULL = b"standard output: cannot be written: No space left on device"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return without_rebuild(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made")
    with RunWriter(place / "RUN") as writer:
        writer.write(records(8))
    return place


def done(
    arguments: tuple[str, ...], redirected: str, place: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirected}; exit ${{PIPESTATUS[0]}}', "bash", *command(*arguments)],
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
        check=False,
    )


def clean(error: bytes) -> bool:
    return not any(sign in error for sign in (b"Traceback", b"Exception ignored", b"Error:"))


STREAMS = [
    (">&-", 1, CLOSED),
    (">/dev/full", 1, FULL),
    ("<&- >&- 2>&-", 1, b""),
    (">/dev/full 2>/dev/full", 1, b""),
    ("2>&-", 0, b""),
    ("2>/dev/full", 0, b""),
    ("<&-", 0, b""),
    ("| head -c 0", 0, b""),
]
"""What becomes of the streams, the exit code, and what is said."""
MOST_TELLING = (">/dev/full", "<&- >&- 2>&-")
"""Streams that no command may get wrong however it prints: printing fails, and none is there."""


@pytest.mark.parametrize(
    ("arguments", "streams"),
    [
        *((arguments, STREAMS) for arguments in PRINTING),
        *((one, [s for s in STREAMS if s[0] in MOST_TELLING]) for one in PRINTING_ALIKE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_printed_is_an_error_and_what_can_be_is_printed(
    arguments: tuple[str, ...],
    streams: list[tuple[str, int, bytes]],
    made: Path,
    environment: dict[str, str],
) -> None:
    plain = done(arguments, "", made, environment)
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout
    for redirected, code, said in streams:
        run = done(arguments, redirected, made, environment)
        assert run.returncode == code, (redirected, run.stderr)
        assert said in run.stderr, redirected
        assert clean(run.stderr), (redirected, run.stderr)


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_is_refused_has_its_code_whether_or_not_it_can_be_said(
    arguments: tuple[str, ...], tmp_path: Path, environment: dict[str, str]
) -> None:
    for redirected in ("", ">&-", "2>&-", "2>/dev/full", "<&- >&- 2>&-", "| head -c 0"):
        run = done(arguments, redirected, tmp_path, environment)
        assert run.returncode == 2, (redirected, run.stderr)
        assert clean(run.stderr), (redirected, run.stderr)
        assert list(tmp_path.iterdir()) == [], redirected


@pytest.mark.parametrize(
    ("arguments", "redirected", "code"),
    [
        *((LATENCY, streams, code) for streams, code in [(">&-", 1), ("2>&-", 0)]),
        *((STREAM, streams, code) for streams, code in [(">/dev/full", 1), ("| head -c 0", 0)]),
        (SURVEY, "<&- >&- 2>&-", 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_what_was_measured_is_kept_and_reported_whoever_reads_the_summary(
    arguments: tuple[str, ...],
    redirected: str,
    code: int,
    tmp_path: Path,
    environment: dict[str, str],
) -> None:
    run = done(arguments, redirected, tmp_path, environment)
    assert run.returncode == code, run.stderr
    assert clean(run.stderr), run.stderr
    found = read_run(tmp_path / "new")
    assert found.end is not None
    assert found.notes == [], "nothing that was printed is among the records"
    assert {path.name for path in (tmp_path / "new").iterdir()} >= {"summary.txt", "report.html"}


def test_every_experiment_is_refused_in_the_same_way(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    for name, one in EXPERIMENTS.items():
        run = done((*one.words, "--nothing"), "<&- >&- 2>&-", tmp_path, environment)
        assert run.returncode == 2, name


@pytest.mark.parametrize("redirected", [">&-", ">/dev/full", "| head -c 0"])
def test_files_that_were_asked_for_are_written_whoever_reads_their_names(
    redirected: str, made: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    shutil.copytree(made / "RUN", tmp_path / "RUN")
    written = {}
    for place, change in (("plain", ""), ("other", redirected)):
        pictures = ("figures", "RUN", "--format", "json", "--output", place)
        done(pictures, change, tmp_path, environment)
        written[place] = {path.name for path in (tmp_path / place).iterdir()}
    assert written["other"] == written["plain"]
    assert len(written["plain"]) > 1
    done(("compare", "RUN", "RUN", "--html", "page.html"), redirected, tmp_path, environment)
    assert (tmp_path / "page.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
