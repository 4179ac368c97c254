"""The documentation keeps its word: its examples run and its command lines are understood."""

import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import click
import pytest
from tests.integration.command import memgauge

from memgauge.commands.root import root
from memgauge.experiments.registry import EXPERIMENTS
from memgauge.model.errors import RequestError

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INDENTED = re.compile(r"^    memgauge (.+)$", re.MULTILINE)
INLINE = re.compile(r"`memgauge ([^`\n]+)`")
BUDGET = re.compile(r'budget="[^"]*"')
MEASURING = {"survey", *EXPERIMENTS}


def of_pages(pattern: re.Pattern[str]) -> list[Any]:
    return [
        pytest.param(found, id=f"{page.stem}-{at}")
        for page in PAGES
        for at, found in enumerate(pattern.findall(page.read_text(encoding="utf-8")), start=1)
    ]


def test_there_are_examples() -> None:
    assert len(of_pages(BLOCK)) > 3
    assert len(of_pages(INDENTED)) > 10
    stems = {page.stem for page in PAGES}
    assert set(EXPERIMENTS) <= stems, "every experiment has a page"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a run called RUN and a profile called PROFILE, as the pages call them."""
    directory = tmp_path_factory.mktemp("docs")
    for arguments in (
        "stream --kernel copy --threads 1 --array-bytes 8MiB --budget 1s --output RUN",
        "profile --quiet --components process --output PROFILE -- sleep 0.2",
    ):
        done = memgauge(*arguments.split(), cwd=directory)
        assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.native
@pytest.mark.parametrize("block", of_pages(BLOCK))
def test_an_example_runs(block: str, place: Path) -> None:
    """With a smaller budget, where one is given: what it does is tested, not how well."""
    script = BUDGET.sub('budget="2s"', dedent(block))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.fixture
def nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("experiment", "survey"):
        monkeypatch.setattr(f"memgauge.commands.{module}.measure", lambda *_, **__: 0)
    monkeypatch.setattr("memgauge.commands.survey.resume", lambda *_, **__: 0)


def understood(line: str) -> None:
    """Parse a command line; one that measures also has its values checked."""
    arguments = [word.split("|")[0] for word in shlex.split(line)]
    name = arguments[0]
    if name in MEASURING:
        root.main(arguments, prog_name="memgauge", standalone_mode=False)
        return
    command = root.get_command(click.Context(root), name)
    assert command is not None, name
    with suppress(click.exceptions.Exit):  # of an option that prints and ends
        command.make_context(name, arguments[1:])


@pytest.mark.native
@pytest.mark.usefixtures("nothing_is_measured")
@pytest.mark.parametrize("line", of_pages(INDENTED))
def test_a_command_line_is_understood(line: str) -> None:
    understood(line)


@pytest.mark.native
@pytest.mark.usefixtures("nothing_is_measured")
@pytest.mark.parametrize("line", of_pages(INLINE))
def test_a_command_named_in_a_sentence_is_understood(line: str) -> None:
    with suppress(click.MissingParameter):  # a sentence may name a command without its run
        understood(line)


@pytest.mark.native
@pytest.mark.usefixtures("nothing_is_measured")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("stream --no-such-option", click.NoSuchOption),
        ("figures RUN --format gif", click.BadParameter),
        ("stream --threads 0", RequestError),
        ("nothing", AssertionError),
    ],
)
def test_a_wrong_command_line_would_be_noticed(line: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        understood(line)
