"""`memgauge machines`: fitted to the width of the output."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from memgauge.commands import machines
from memgauge.commands.shared import output
from memgauge.reports.terminal.report import Look

pytestmark = pytest.mark.native


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("names", [[], ["power9-5mb", "ampere-altra"]])
def test_no_line_is_wider_than_the_output(
    columns: int, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "look_of_stdout", lambda: Look(columns=columns))
    done = CliRunner().invoke(machines.command, names, standalone_mode=False)
    assert done.exception is None
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    words = "".join(done.stdout.split())
    assert "power9-5mb:IBMPOWER9,22cores,allofthembusy:5MiBofL3foreach" in words
    assert all(line.startswith((" ", "assumed: ", "source: ")) or ": " in line for line in lines)


def test_an_output_without_unicode_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "look_of_stdout", lambda: Look(encoding="ascii"))
    done = CliRunner().invoke(machines.command, ["hybrid-12"], standalone_mode=False)
    assert done.exception is None
    assert done.stdout.isascii()
