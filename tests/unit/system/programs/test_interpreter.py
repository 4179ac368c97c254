"""Child interpreters run the package's module, and nothing that lies in the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memgauge.system.programs.interpreter import isolated

SIGN = "import os\nos.write(2, b'code of the directory ran')\n"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory full of modules that the package and Python import."""
    for name in ("click", "msgspec", "json", "runpy", "os", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text(SIGN, encoding="ascii")
    (tmp_path / "memgauge").mkdir()
    (tmp_path / "memgauge" / "__init__.py").write_text(SIGN, encoding="ascii")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ended(words: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, env=os.environ | environment, check=False, timeout=60
    )


def test_a_module_is_run_with_its_arguments(tmp_path: Path) -> None:
    done = ended(isolated("memgauge", ["--version"]))
    assert done.returncode == 0
    assert done.stdout.startswith("memgauge ")
    assert done.stderr == ""


@pytest.mark.parametrize("path", ["", ":", ".", "relative"])
def test_no_code_of_the_working_directory_runs(hostile: Path, path: str) -> None:
    done = ended(isolated("memgauge", ["--version"]), PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_directory_itself_is_not_handed_on(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `python -m` puts it first on the path of this process."""
    monkeypatch.setattr(sys, "path", [str(hostile), "", *sys.path])
    done = ended(isolated("memgauge", ["--version"]))
    assert (done.returncode, done.stderr) == (0, "")


def test_modules_are_found_where_this_process_found_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("import sys\nprint(sys.argv[1:])\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = ended(isolated("only_here", ["a", "-b"]))
    assert (done.stdout, done.stderr) == ("['a', '-b']\n", "")


def test_the_version_that_this_process_found_first_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not one that is installed too."""
    (tmp_path / "click.py").write_text("print('this one')\n", encoding="ascii")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = ended(isolated("click"))
    assert (done.returncode, done.stdout) == (0, "this one\n")
