"""Commands that need the native core, where there is none: one line, with what to install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memgauge

ENDS_WITH = (
    "this installation has no native core, so it can render reports but not measure: No module "
    "named "
    "'memgauge._core'; install memgauge with a C++20 compiler at hand: pip install . in its source"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all but what is compiled: what a missing file does, no stand-in does alike."""
    place = tmp_path_factory.mktemp("without-core")
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(Path(memgauge.__file__).parent, place / "memgauge", ignore=ignored)
    return place


def said(package: Path, *arguments: str, **variables: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    program = (
        "import sys\n"
        # Found before an editable installation's own finder, which knows the compiled one.
        "sys.meta_path[:] = [one for one in sys.meta_path if isinstance(one, type)]\n"
        f"sys.path.insert(0, {str(package)!r})\n"
        "from memgauge.commands.shared import rank_errors\n"
        "from memgauge.__main__ import main\n"
        "rank_errors.GRACE_S = 0.0\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=package,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["stream"], 2),
        (["survey"], 2),
        (["fft3d", "--size", "8"], 2),
        (["fft3d", "--help"], 2),
        (["counters"], 2),
        (["counters", "verify"], 2),
        (["counters", "explain", "x"], 2),
        (["profile", "--", "true"], 125),
    ],
)
def test_one_line_says_what_to_install(package: Path, arguments: list[str], code: int) -> None:
    name = "stream" if arguments == ["survey"] else arguments[0]
    assert said(package, *arguments) == (code, "", f"memgauge: {name}: {ENDS_WITH}\n")


def test_of_many_ranks_the_first_of_each_node_says_it(package: Path) -> None:
    ranks = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}
    line = f"memgauge: fft3d: {ENDS_WITH}\n"
    assert said(package, "fft3d", **ranks, OMPI_COMM_WORLD_LOCAL_RANK="0") == (2, "", line)
    assert said(package, "fft3d", **ranks, OMPI_COMM_WORLD_LOCAL_RANK="1") == (2, "", "")


def test_other_missing_modules_are_not_taken_for_it(package: Path) -> None:
    (package / "memgauge" / "commands" / "machines.py").write_text("import nothing_of_that_name\n")
    code, _, err = said(package, "machines")
    assert code == 1
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in err
