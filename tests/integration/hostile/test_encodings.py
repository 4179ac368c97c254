"""Old locales: text degrades, documents stay UTF-8, and nothing fails for a character."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.integration.command import command
from tests.unit.analysis.runs import records

from memgauge.model.storage.run_writer import RunWriter

ENCODINGS: dict[str, dict[str, str]] = {
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "locale": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
SIGNS = "±µ─✓"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded without a measurement, in a directory whose name no old encoding has."""
    directory = tmp_path_factory.mktemp("runs") / "Läufe-中"
    with RunWriter(directory) as writer:
        writer.write(records(16))
    return directory


def printed(encoding: str, *arguments: object) -> bytes:
    done = subprocess.run(
        command(*arguments),
        env=os.environ | ENCODINGS[encoding],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_is_what_the_encoding_has(encoding: str, run: Path) -> None:
    for arguments in (
        ("report", run),
        ("report", "--format", "summary", run),
        ("compare", run, run),
    ):
        assert printed(encoding, *arguments).isascii()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pages_and_documents_are_utf_8(encoding: str, run: Path) -> None:
    page = printed(encoding, "report", "--format", "html", run).decode()
    assert page.startswith("<!doctype html>")
    assert any(sign in page for sign in SIGNS)
    assert json.loads(printed(encoding, "report", "--format", "json", run).decode())
    printed(encoding, "report", run)
    summary = (run / "summary.txt").read_text(encoding="utf-8")
    assert any(sign in summary for sign in SIGNS)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_name_that_the_encoding_lacks_is_shown_as_well_as_it_can(
    encoding: str, run: Path, tmp_path: Path
) -> None:
    written = printed(encoding, "figures", "--format", "json", "--output", tmp_path / "中", run)
    assert written.count(b"\n") == len(list((tmp_path / "中").iterdir()))
