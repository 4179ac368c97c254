"""README and docs keep their word: their commands and examples run, or cannot run here and why.

`make docs-test` shows each command with what became of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from tests.documented import scene
from tests.documented.needs import NEEDS, need_of
from tests.documented.pages import ROOT, Shown, commands, examples, mentions
from tests.documented.parsed import require_understood
from tests.documented.shortened import shortened

from memgauge.experiments.registry import EXPERIMENTS
from memgauge.model.errors import ExitCode, RequestError

if TYPE_CHECKING:
    from tests.gpu_stand_in import GpuStandIn

pytestmark = pytest.mark.native

BUDGET = re.compile(r'budget="[^"]*"')
Run = Callable[[str], "subprocess.CompletedProcess[str]"]


def per_page(shown: tuple[Shown, ...]) -> list[object]:
    """A test for each, which workers share by page."""
    return [
        pytest.param(one, id=one.title, marks=pytest.mark.xdist_group(f"docs {one.page}"))
        for one in shown
    ]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scene.build_template(tmp_path_factory.mktemp("documented"))


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    """A copy of what the pages name, for one command."""
    return Path(shutil.copytree(template, tmp_path / "here"))


@pytest.fixture(scope="module")
def done_before() -> dict[str, subprocess.CompletedProcess[str]]:
    """What was run already: pages show some commands more than once."""
    return {}


@pytest.fixture
def run(
    place: Path,
    request: pytest.FixtureRequest,
    done_before: dict[str, subprocess.CompletedProcess[str]],
) -> Iterator[Run]:
    with scene.running() as pid:

        def one(text: str) -> subprocess.CompletedProcess[str]:
            usual = dict(os.environ)
            if "cuda:" in text:
                stand_in: GpuStandIn = request.getfixturevalue("gpu_stand_in")
                usual = stand_in.environment(devices=3, memory=1 << 28)
            if text not in done_before:
                done_before[text] = scene.shell(text, place, usual | {"RUNNING": str(pid)})
            return done_before[text]

        yield one


def test_the_pages_show_commands_and_examples() -> None:
    assert len(commands()) > 150
    assert len(examples()) > 15
    assert len(mentions()) > 50
    stems = {Path(one.page).stem for one in commands()}
    assert set(EXPERIMENTS) <= stems, "every experiment has a page with its command"


@pytest.mark.parametrize("shown", per_page(commands()))
def test_a_command_runs(shown: Shown, run: Run, place: Path) -> None:
    if "memgauge " in shown.text:
        require_understood(shown.text)
    text = shortened(shown.text)
    scene.arrange(place, shown, text)
    lacking = need_of(text)
    if lacking is None:
        require_done(run(text), place, refusal=scene.refusal_shown(shown))
        return
    need, reason = lacking
    if need.refusal is not None:
        done = run(text)
        require_refused(done, need.refusal)
    pytest.skip(f"{shown.title}: {reason}")


def require_done(done: subprocess.CompletedProcess[str], place: Path, refusal: str | None) -> None:
    """It did what it is for, or says what the page shows that it says."""
    if refusal is not None:
        require_refused(done, re.escape(refusal))
        return
    # Budgets are shortened: on a busy machine they may end before anything is measured.
    is_empty = done.returncode == ExitCode.FAILED and "nothing was measured" in done.stderr
    # What the stand-in of a GPU counts need not be what was moved.
    verifies = "counters verify" in str(done.args[-1])
    is_doubted = verifies and done.returncode == ExitCode.NOT_VERIFIED
    assert done.returncode == 0 or is_empty or is_doubted, done.stderr
    assert "Traceback" not in done.stderr
    written = re.search(r"--output (\S+)", str(done.args[-1]))
    assert (done.stdout + done.stderr).strip() or (written and (place / written[1]).is_file())


def require_refused(done: subprocess.CompletedProcess[str], pattern: str) -> None:
    is_lost = "profile: not recorded" in done.stderr  # its program ran, and had its own exit code
    refused = done.returncode in {ExitCode.CANNOT_BE_MET, ExitCode.PROFILE_FAILED}
    assert refused or is_lost, done.stderr
    assert "Traceback" not in done.stderr
    said = [line for line in done.stderr.splitlines() if line.startswith("memgauge: ")]
    assert len(said) == 1, done.stderr
    assert re.search(pattern, said[0]), said[0]


@pytest.mark.parametrize("shown", per_page(mentions()))
def test_a_command_in_a_sentence_is_understood(shown: Shown) -> None:
    with suppress(click.MissingParameter):  # a sentence may name a command without its run
        require_understood(shown.text)


@pytest.mark.parametrize("shown", per_page(examples()))
def test_an_example_runs(shown: Shown, place: Path) -> None:
    """With a smaller budget, where one is given: what it does is tested, not how well."""
    scene.arrange(place, shown, "")
    script = place / "example.py"
    script.write_text(BUDGET.sub('budget="1s"', shown.text), encoding="utf-8")
    done = scene.shell(f"python -W error {script}", place)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("memgauge stream --no-such-option", click.NoSuchOption),
        ("memgauge figures RUN --format gif", click.BadParameter),
        ("memgauge counters verify --regions 1s", click.NoSuchOption),
        ("mpirun -n 2 memgauge survey --onyl stream", click.NoSuchOption),
        ("memgauge stream --threads 0", RequestError),
        ("memgauge nothing", AssertionError),
    ],
)
def test_a_wrong_command_would_be_noticed(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        require_understood(text)


def test_what_the_table_of_needs_has_is_shown_somewhere() -> None:
    texts = [shortened(one.text) for one in commands()]
    unused = [need.pattern for need in NEEDS if not any(re.search(need.pattern, t) for t in texts)]
    assert not unused


def test_a_wrapped_command_and_its_answer_are_one() -> None:
    """Of a page that has both."""
    wrapped = [one for one in commands() if one.text.count("--precision") and "mpirun" in one.text]
    (found,) = wrapped
    assert found.text.endswith("--output survey")
    assert found.answer[0].startswith("cluster: 2 nodes")
    assert (ROOT / found.page).read_text(encoding="utf-8").splitlines()[found.line - 1][0] == "$"
